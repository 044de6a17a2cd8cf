"""What an answer replies to, and what its agent may do there."""

from msgspec import Struct

from rejoinder.errors import StoreUnavailable
from rejoinder.events import NewThread, ReplyContext, Route
from rejoinder.media_services import CanLoadFiles
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.runtime.answer.reach import Reach
from rejoinder.runtime.answer.speaking import Speech
from rejoinder.runtime.folders import OutboxFolder
from rejoinder.runtime.outbox.conversations import Conversation


class AnswerContext(Struct, frozen=True):
    """What an answer replies to. `texts`: everything that people wrote for this turn."""

    trigger: str
    agent: str
    person: str = ""
    person_name: str = ""
    direct: bool = True
    other_bot: bool = False
    peers: tuple[str, ...] = ()
    """Our other agents in this room."""
    texts: tuple[str, ...] = ()
    granted: frozenset[str] = frozenset()
    reach: Reach | None = None
    """Where the agent may send besides this chat; None: anywhere."""
    folder: OutboxFolder | None = None
    """The folder from which the agent's files are sent."""
    loads_files: CanLoadFiles | None = None
    """Loads files that the agent names by their address; None: it may only send files from its folder."""
    directives: Registry = default_registry()
    speech: Speech | None = None
    """How the answer may be spoken; None: there is no text-to-speech."""
    opens: NewThread | None = None
    """The thread that the answer opens (CH-2); it hangs under the message being answered."""
    reply_context: ReplyContext | None = None
    """The platform's own way to answer that message (CH-3)."""
    is_message: bool = True
    """Whether its trigger is a message in the chat; a command from the platform's own menu is not."""

    @property
    def addressed(self) -> tuple[str, ...]:
        """Whom the answer may mention (DE-34); by name only in a group, as a direct chat needs no mention."""
        if not self.person:
            return ()
        return (self.person,) if self.direct or not self.person_name else (self.person, f"@{self.person_name}")

    async def out_of_reach(self, route: Route, here: Conversation) -> str | None:
        """Why the agent may not send there (OD-52); None if it may."""
        if self.reach is None:
            return None
        try:
            return await self.reach.refusal(route, here.route, self.agent, here.store)
        except StoreUnavailable as fault:
            return str(fault)
