"""The contract of a channel: messages come in through `deliver`, parts go out through `send`.

The smallest channel fits on a screen: `name`, `limits`, `listen(deliver)`, `send(part)`. What it can do
beyond that it says by having the method: `isinstance(channel, CanReact)`. No call raises for what the platform
said: that is an `Outcome`.
"""

from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from rejoinder.events import Attachment, Inbound, LengthUnit, Part, Route


class Limits(Struct, frozen=True):
    """How long one message may be, counted as the platform counts."""

    length: int | None = None
    unit: LengthUnit = "characters"


# --- what became of a call (DE-31, DE-32) -------------------------------------------------------


class Delivered(Struct, frozen=True):
    """The platform has it, under this id."""

    message: str


Refusal = Literal["formatting", "target", "gone", "account", "other"]


class Rejected(Struct, frozen=True):
    """The platform will never take it like this.

    `formatting`: the same words would be taken plain. `target`: the message it replies to or edits is not
    there. `gone`: the chat is closed to us. `account`: our token is, and with it every chat.
    """

    reason: str
    why: Refusal = "other"


class RetryAfter(Struct, frozen=True):
    """It was surely not taken: try again, after so many seconds where the platform says."""

    seconds: float | None = None
    reason: str = ""
    limited: bool = False
    """We were too fast: nothing goes to this chat meanwhile, and it is no attempt."""
    everywhere: bool = False
    """The limit is the whole account's."""


class Unknown(Struct, frozen=True):
    """It may or may not have arrived: the one dangerous outcome."""

    reason: str


Outcome = Delivered | Rejected | RetryAfter | Unknown


# --- the channel --------------------------------------------------------------------------------


class Inlet(Protocol):
    """Where a channel puts what its platform tells."""

    async def __call__(self, *messages: Inbound, cursor: str | None = None) -> None:
        """Returns when they are safe, and only then may they be confirmed to the platform.

        How far the platform has been read is kept in the same transaction, also when there is no message (DU-1).
        """
        ...

    async def cursor(self) -> str | None:
        """How far this channel had been read."""
        ...


class Channel(Protocol):
    name: str
    limits: Limits

    async def listen(self, deliver: Inlet) -> None:
        """Runs until the channel is closed."""
        ...

    async def send(self, part: Part) -> Outcome: ...


@runtime_checkable
class KeepsKeys(Protocol):
    """Takes a part of the same key once, however often it is sent; `send` answers with the first one's id."""

    keeps_keys: Literal[True]


@runtime_checkable
class CanFind(Protocol):
    """Can look up whether a part of unknown fate arrived."""

    async def find(self, part: Part) -> Outcome:
        """Delivered, RetryAfter (surely not there: send it again), or Unknown (it could not be told)."""
        ...


@runtime_checkable
class CanClose(Protocol):
    """Holds connections that are to be closed in good order."""

    async def close(self) -> None: ...


@runtime_checkable
class CanCheck(Protocol):
    """Can look whether its platform would serve it now, without reading or saying anything."""

    async def check(self) -> str:
        """What was found, in a few words; raises ChannelStopped when it would not."""
        ...


@runtime_checkable
class KnowsItself(Protocol):
    """Knows under which id and name the bot stands on the platform, so that a mention of it is one of us."""

    own_id: str
    own_name: str


@runtime_checkable
class TellsTrouble(Protocol):
    """Knows why nothing can be read for the time being, though it goes on trying; empty when all is well."""

    @property
    def trouble(self) -> str: ...


@runtime_checkable
class PrefersQueue(Protocol):
    """Has a queue mode that suits it better than the usual one, unless somebody chooses (TU-4)."""

    queue_mode: str


@runtime_checkable
class ShowsMenu(Protocol):
    """Has a menu of commands of the platform's own. It is filled in, name and help, before `listen`."""

    menu: tuple[tuple[str, str], ...]


@runtime_checkable
class CanReact(Protocol):
    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        """`author`: the agent whose sign it is; empty: the gateway's own."""
        ...


@runtime_checkable
class CanSendFiles(Protocol):
    """Shows files with a message. It keeps them before the message that names them is planned: what is sent under a
    key is the same whenever it is sent, though the agent may have changed the file since (DU-4)."""

    file_limit: int
    """Bytes."""

    async def kept_file(self, key: str) -> Attachment | None:
        """What was kept under this key."""
        ...

    async def keep_file(self, key: str, file: Attachment) -> Attachment:
        """The same without its content and with the id by which a part names it."""
        ...


@runtime_checkable
class CanFetch(Protocol):
    """Leaves the files of a message on the platform. They are asked for when an agent is about to read the message, so
    nobody makes us load anything who is not let in."""

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        """Its content; None when it has more bytes than this, or cannot be had."""
        ...


@runtime_checkable
class CanEdit(Protocol):
    async def edit(self, route: Route, message: str, part: Part) -> Outcome: ...


@runtime_checkable
class CanDelete(Protocol):
    async def delete(self, route: Route, message: str) -> Outcome: ...


@runtime_checkable
class CanType(Protocol):
    async def typing(self, route: Route, *, author: str = "") -> None:
        """`author`: the agent that is at work."""
        ...


@runtime_checkable
class CanStream(Protocol):
    """Shows a message while it is written: opened by `begin`, grown by `append`, whole after `complete`."""

    async def begin(self, part: Part) -> Outcome: ...

    async def append(self, route: Route, message: str, text: str) -> None: ...

    async def complete(self, route: Route, message: str) -> None: ...


@runtime_checkable
class CanPreview(Protocol):
    """Shows what is being written without making a message of it: it goes by itself, or when the message comes."""

    def previews(self, route: Route) -> bool:
        """Whether it can there."""
        ...

    async def preview(self, part: Part, draft: int) -> Outcome:
        """In place of what was shown for the same draft before."""
        ...


@runtime_checkable
class PacesFrames(Protocol):
    """In some places a message that is being written may be changed less often than elsewhere."""

    def frame_rate(self, route: Route) -> tuple[int, float] | None:
        """How many changes it takes there at once, and how many a second from then on."""
        ...


@runtime_checkable
class TellsAgents(Protocol):
    """Delivers what an agent of ours says as a bot's message, so that the others of the room hear it (IN-25)."""

    tells_agents: Literal[True]


@runtime_checkable
class CanNote(Protocol):
    """Tells the operator something that is no message of the chat, where the operator is who reads it."""

    async def note(self, route: Route, text: str) -> None: ...
