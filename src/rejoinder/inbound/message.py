"""A message on its way through the stages: what came, who sent it, what was read in it, what was decided."""

from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Inbound, Route
from rejoinder.inbound.directives.removal import remove
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.gate import Actor
from rejoinder.inbound.reading import NOTHING_READ, InboundReading

Addressed = Literal["direct", "mention", "reply", "pattern", "none"]


class InboundMessage(Struct, frozen=True):
    """`text` is the sender's own. What stages remove is kept as spans, so that the text is cut only once."""

    inbound: Inbound
    facts: Facts
    text: str = ""
    framed_text: str | None = None  # the channel's own words for the agent, where they differ from `text`
    actor: Actor = Actor("stranger")
    refusal: str | None = "nobody has been asked"  # why access is refused; None: let in
    addressed: Addressed = "none"
    reading: InboundReading = NOTHING_READ
    removed_spans: tuple[tuple[int, int], ...] = ()
    choices: dict[str, Any] = {}  # directives for this turn alone, by name
    prompt: str | None = None  # replaces the text, once a stage has written one
    agents: tuple[str, ...] = ()  # those it wakes
    listening: bool = False  # the agent sees it and must not answer
    heartbeat: bool = False  # a turn the agent has for itself (TU-26)
    compacts: bool = False  # its turn compacts the session, and asks the agent nothing else (TU-23)
    subagent: bool = False  # a turn of a sub-agent: nothing of it is posted (TU-36)
    answerable: tuple[str, ...] = ()  # who may answer what is asked in a turn that no person's message began
    lifts: bool = True  # of such a turn: only the operator's or owners' words led to it

    @property
    def agent_text(self) -> str:
        """What the agent gets to read."""
        if self.prompt is not None:
            return self.prompt
        text = remove(self.text, self.removed_spans)
        if self.framed_text is None:
            return text
        return self.framed_text.replace(self.text, text, 1) if self.removed_spans else self.framed_text

    @property
    def command_authorised(self) -> bool:
        """Whether the sender may use commands; false until their role has been established (IN-4)."""
        return self.actor.role in ("owner", "sender")

    @property
    def route(self) -> Route:
        return self.inbound.route

    @property
    def background(self) -> bool:
        """Whether no person wrote it: a scheduled turn (TU-28)."""
        return self.inbound.entry == "cron"

    @property
    def stands_alone(self) -> bool:
        """Whether it is no part of the conversation of people here, and so carries none of it along."""
        return self.compacts or self.inbound.entry == "cron"

    @property
    def brings_files(self) -> bool:
        """Whether it has files besides its words; the recording a transcript was made from does not count (IN-9)."""
        spoken = self.actor.source == "transcript"
        return any(not (spoken and file.mime.startswith("audio/")) for file in self.inbound.attachments)

    @property
    def names_of_ours(self) -> frozenset[str]:
        """How the text mentions us."""
        me = self.facts.me.id
        return frozenset([mention.token for mention in self.inbound.mentions if mention.token and mention.id == me])

    @property
    def in_group(self) -> bool:
        return self.inbound.chat.kind != "direct"


def text_without_directives(message: InboundMessage) -> str:
    """The sender's text without any of the directives and commands that were read in it, nor our own name."""
    text = remove(message.text, [(token.start, token.end) for token in message.reading.tokens])
    for name in message.names_of_ours:
        text = text.replace(name, " ")
    return text.strip()


def without_spans(message: InboundMessage, spans: tuple[tuple[int, int], ...], **changes: Any) -> InboundMessage:
    """The message without these spans of its text."""
    return replace(message, removed_spans=tuple(sorted((*message.removed_spans, *spans))), **changes)
