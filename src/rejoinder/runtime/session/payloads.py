"""What is stored of a message that waits for its turn, so that no decision is made twice after a restart (DU-2,
TU-10)."""

import msgspec
from msgspec import Struct

from rejoinder.events import EarlierMessage, Inbound
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.gate import Actor
from rejoinder.inbound.message import Addressed, InboundMessage
from rejoinder.session import ExecChoice, QueueChoice
from rejoinder.turns.backlog import Summary
from rejoinder.unicode_repair import as_json


class StoredInput(Struct, frozen=True, omit_defaults=True):
    """A decided message that waits for its turn, without the contents of its inbox row."""

    agent: str
    me: OwnIdentity
    actor: Actor
    text: str = ""
    around: str | None = None
    prompt: str | None = None
    addressed: Addressed = "none"
    taken: tuple[tuple[int, int], ...] = ()
    choices: dict[str, str] = {}
    queue: QueueChoice | None = None
    exec: ExecChoice | None = None
    listening: bool = False
    heartbeat: bool = False
    compacts: bool = False
    subagent: bool = False
    answerable: tuple[str, ...] = ()
    lifts: bool = True
    overheard: tuple[EarlierMessage, ...] = ()
    inbound: Inbound | None = None
    """Set only if the decision changed it."""


class TurnContext(Struct, frozen=True, omit_defaults=True):
    """What a turn tells the agent besides its messages. The session forgets it when the turn begins."""

    system_events: tuple[str, ...] = ()
    after_abort: bool = False
    begins: bool = False
    overflow: Summary = Summary()
    passed_over: Summary = Summary()


NOTHING_TOLD = TurnContext()

_inputs = msgspec.msgpack.Decoder(StoredInput)
_contexts = msgspec.msgpack.Decoder(TurnContext)
_encoder = msgspec.msgpack.Encoder()


def pack(message: InboundMessage, agent: str, overheard: tuple[EarlierMessage, ...], came: Inbound) -> bytes:
    choices = dict(message.choices)
    stored = StoredInput(  # with more than 15 keywords Python would build a dictionary
        agent,
        message.facts.me,
        message.actor,
        message.text,
        message.framed_text,
        message.prompt,
        message.addressed,
        message.removed_spans,
        queue=choices.pop("queue", None),
        exec=choices.pop("exec", None),
        choices=choices,
        listening=message.listening,
        heartbeat=message.heartbeat,
        compacts=message.compacts,
        subagent=message.subagent,
        answerable=message.answerable,
        lifts=message.lifts,
        overheard=overheard,
        inbound=None if message.inbound is came or message.inbound == came else message.inbound,
    )
    return _encode(stored)


def repack(stored: StoredInput) -> bytes:
    return _encode(stored)


def unpack(payload: bytes) -> StoredInput:
    return _inputs.decode(payload)


def message_of(stored: StoredInput, came: Inbound) -> InboundMessage:
    choices = {"queue": stored.queue, "exec": stored.exec, **stored.choices}
    return InboundMessage(
        inbound=stored.inbound or came,
        facts=Facts(stored.me),
        text=stored.text,
        framed_text=stored.around,
        actor=stored.actor,
        refusal=None,
        addressed=stored.addressed,
        removed_spans=stored.taken,
        choices={name: choice for name, choice in choices.items() if choice is not None},
        prompt=stored.prompt,
        agents=(stored.agent,),
        listening=stored.listening,
        heartbeat=stored.heartbeat,
        compacts=stored.compacts,
        subagent=stored.subagent,
        answerable=stored.answerable,
        lifts=stored.lifts,
    )


def _encode(value: Struct) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(msgspec.json.decode(as_json(value)))


def pack_context(context: TurnContext) -> bytes:
    return b"" if context == NOTHING_TOLD else _encode(context)


def unpack_context(payload: bytes) -> TurnContext:
    return _contexts.decode(payload) if payload else NOTHING_TOLD
