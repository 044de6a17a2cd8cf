"""A message on its way through the stages: what came, who sent it, what was read in it, what was decided."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Inbound, Route
from rejoinder.inbound.directives.removal import remove
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.gate import Actor
from rejoinder.inbound.reading import NOTHING_READ, Reading

Addressed = Literal["direct", "mention", "reply", "pattern", "none"]


class Message(Struct, frozen=True):
    """`text` is the sender's own; what stages take out is kept as spans, so that it is cut only once."""

    inbound: Inbound
    facts: Facts
    text: str = ""
    around: str | None = None  # the channel's own words for the agent, where they differ from `text`
    actor: Actor = Actor("stranger")
    refusal: str | None = "nobody has been asked"  # why access is refused; None: let in
    addressed: Addressed = "none"
    reading: Reading = NOTHING_READ
    taken: tuple[tuple[int, int], ...] = ()
    choices: dict[str, Any] = {}  # directives for this turn alone, by name
    prompt: str | None = None  # stands in the place of the text, once a stage wrote one
    agents: tuple[str, ...] = ()  # whom it wakes
    listening: bool = False  # the agent sees it and must not answer
    heartbeat: bool = False  # a turn the agent has for itself (TU-26)
    compacts: bool = False  # its turn shortens the session's memory, and asks the agent nothing else (TU-23)

    @property
    def agent_text(self) -> str:
        """What the agent gets to read."""
        if self.prompt is not None:
            return self.prompt
        text = remove(self.text, self.taken)
        if self.around is None:
            return text
        return self.around.replace(self.text, text, 1) if self.taken else self.around

    @property
    def command_authorised(self) -> bool:
        """Whether its sender may use commands; nobody may before an authoriser has said who it is (IN-4)."""
        return self.actor.role in ("owner", "sender")

    @property
    def route(self) -> Route:
        return self.inbound.route

    @property
    def background(self) -> bool:
        """Nobody wrote it: a turn of the clock (TU-28)."""
        return self.inbound.entry == "cron"

    @property
    def stands_alone(self) -> bool:
        """No part of what people say here: it takes nothing of that along."""
        return self.background or self.compacts

    @property
    def brings_files(self) -> bool:
        """Whether there is more than its words; the recording they were spoken into is not more (IN-9)."""
        spoken = self.actor.source == "transcript"
        return any(not (spoken and file.mime.startswith("audio/")) for file in self.inbound.attachments)

    @property
    def in_group(self) -> bool:
        return self.inbound.chat.kind != "direct"


def take(message: Message, spans: tuple[tuple[int, int], ...], **changes: Any) -> Message:
    """The message without these spans of its text."""
    return replace(message, taken=tuple(sorted((*message.taken, *spans))), **changes)
