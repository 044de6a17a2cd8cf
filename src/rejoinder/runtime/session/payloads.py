"""What is stored of a message that waits for its turn, so that a restart makes no decision twice (DU-2, TU-10)."""

import msgspec
from msgspec import Struct

from rejoinder.events import EarlierMessage, Inbound
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.gate import Actor
from rejoinder.inbound.message import Addressed, InboundMessage
from rejoinder.session import ExecChoice, QueueChoice
from rejoinder.turns.backlog import Summary
from rejoinder.unicode_repair import as_json


class Decided(Struct, frozen=True, omit_defaults=True):
    """A decided message, without what its inbox row contains."""

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
    """Only if deciding changed it."""


class TurnContext(Struct, frozen=True, omit_defaults=True):
    """What a turn tells the agent besides its messages; the session forgets it when the turn begins."""

    system_events: tuple[str, ...] = ()
    after_abort: bool = False
    begins: bool = False
    overflow: Summary = Summary()
    passed_over: Summary = Summary()


_decided = msgspec.msgpack.Decoder(Decided)
_told = msgspec.msgpack.Decoder(TurnContext)
_encoder = msgspec.msgpack.Encoder()


def pack(message: InboundMessage, agent: str, overheard: tuple[EarlierMessage, ...], came: Inbound) -> bytes:
    choices = dict(message.choices)
    decided = Decided(
        agent=agent,
        me=message.facts.me,
        actor=message.actor,
        text=message.text,
        around=message.around,
        prompt=message.prompt,
        addressed=message.addressed,
        taken=message.taken,
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
    return _encode(decided)


def repack(decided: Decided) -> bytes:
    return _encode(decided)


def unpack(payload: bytes) -> Decided:
    return _decided.decode(payload)


def message_of(decided: Decided, came: Inbound) -> InboundMessage:
    choices = {"queue": decided.queue, "exec": decided.exec, **decided.choices}
    return InboundMessage(
        inbound=decided.inbound or came,
        facts=Facts(decided.me),
        text=decided.text,
        around=decided.around,
        actor=decided.actor,
        refusal=None,
        addressed=decided.addressed,
        taken=decided.taken,
        choices={name: choice for name, choice in choices.items() if choice is not None},
        prompt=decided.prompt,
        agents=(decided.agent,),
        listening=decided.listening,
        heartbeat=decided.heartbeat,
        compacts=decided.compacts,
        subagent=decided.subagent,
        answerable=decided.answerable,
        lifts=decided.lifts,
    )


def _encode(value: Struct) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(msgspec.json.decode(as_json(value)))


def pack_told(told: TurnContext) -> bytes:
    return _encode(told)


def unpack_told(payload: bytes) -> TurnContext:
    return _told.decode(payload) if payload else TurnContext()
