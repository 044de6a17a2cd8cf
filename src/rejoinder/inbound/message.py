"""A message on its way through the stages: its content, its sender, what was found in its text, what was decided."""

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
    """`text` is the sender's own. Removed parts are kept as spans, so that the text is cut only once."""

    inbound: Inbound
    facts: Facts
    text: str = ""
    framed_text: str | None = None  # the channel's own words for the agent, where they differ from `text`
    actor: Actor = Actor("stranger")
    refusal: str | None = "nobody has been asked"  # why access is refused; None if let in
    addressed: Addressed = "none"
    reading: InboundReading = NOTHING_READ
    removed_spans: tuple[tuple[int, int], ...] = ()
    choices: dict[str, Any] = {}  # directives for this turn alone, by name
    prompt: str | None = None  # replaces the text, once a stage has written one
    agents: tuple[str, ...] = ()  # the agents it wakes
    listening: bool = False  # the agent sees it and must not answer
    heartbeat: bool = False  # a turn of the agent's own (TU-26)
    compacts: bool = False  # its turn compacts the session, and asks the agent nothing else (TU-23)
    subagent: bool = False  # a turn of a sub-agent, whose words are not posted (TU-36)
    answerable: tuple[str, ...] = ()  # who may answer questions in a turn that no person's message began
    lifts: bool = True  # for such a turn: only words of the operator or of owners led to it

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
        """Whether it is not part of the conversation of people here, so that it carries none of that along."""
        return self.compacts or self.inbound.entry == "cron"

    @property
    def brings_files(self) -> bool:
        """Whether it has files besides its words; the recording a transcript was made from does not count (IN-9)."""
        spoken = self.actor.source == "transcript"
        return any(not (spoken and file.mime.startswith("audio/")) for file in self.inbound.attachments)

    @property
    def names_of_ours(self) -> frozenset[str]:
        """The words by which the text mentions us."""
        me = self.facts.me.id
        return frozenset([mention.token for mention in self.inbound.mentions if mention.token and mention.id == me])

    @property
    def is_owners_alone(self) -> bool:
        """Whether an owner wrote it in a chat where nobody else reads."""
        return self.actor.role == "owner" and not self.in_group

    @property
    def awaits_answer(self) -> bool:
        """Whether a person certainly expects an answer (OD-44): in a direct chat, or in a group where they addressed
        the agent."""
        if self.background or self.inbound.sender.is_bot:
            return False
        return not self.in_group or self.addressed in ("mention", "reply")

    @property
    def in_group(self) -> bool:
        return self.inbound.chat.kind != "direct"


def text_without_directives(message: InboundMessage) -> str:
    """The sender's text without the directives and commands in it, and without our own name."""
    text = remove(message.text, [(token.start, token.end) for token in message.reading.tokens])
    for name in message.names_of_ours:
        text = text.replace(name, " ")
    return text.strip()


def without_spans(message: InboundMessage, spans: tuple[tuple[int, int], ...], **changes: Any) -> InboundMessage:
    """The message without these spans of its text."""
    return replace(message, removed_spans=tuple(sorted((*message.removed_spans, *spans))), **changes)
