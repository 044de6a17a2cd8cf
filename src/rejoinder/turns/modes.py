"""The six ways to treat a message that arrives while the agent is busy, and which one applies (TU-3, TU-4).

`MODES` says how each mode treats waiting messages; `ON_ARRIVAL` in lane.py says what an arrival does in each phase.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final

from msgspec import Meta, Struct
from msgspec.structs import replace


class Mode(StrEnum):
    STEER = "steer"
    FOLLOWUP = "followup"
    COLLECT = "collect"
    INTERRUPT = "interrupt"
    STEER_BACKLOG = "steer-backlog"
    QUEUE = "queue"


class DropPolicy(StrEnum):
    """Which message goes when the backlog is full (TU-5)."""

    OLD = "old"
    NEW = "new"
    SUMMARIZE = "summarize"


class Grouping(StrEnum):
    """Who may share a turn (TU-6): everybody in the session, or only messages of the same sender."""

    SESSION = "session"
    SENDER = "sender"


class Traits(Struct, frozen=True):
    meaning: str
    gathers: bool = False
    """Whether several waiting messages become one turn."""
    debounced: bool = True
    """Whether waiting messages start only after their senders have been quiet for a while."""
    capped: bool = True
    """Whether `cap` bounds the backlog; `drop` says which message goes."""
    offered_again: bool = False
    """Whether a message that the run refused is offered to it again with the next arrival."""


MODES: Final[dict[Mode, Traits]] = {
    Mode.STEER: Traits(
        "goes into the running agent at its next step; where the agent cannot be steered, as `followup`",
        offered_again=True,
    ),
    Mode.FOLLOWUP: Traits("runs after it, one turn per message"),
    Mode.COLLECT: Traits(
        "is gathered until quiet, then one turn; only messages of the same route are gathered", gathers=True
    ),
    Mode.INTERRUPT: Traits(
        "aborts it and runs; waiting messages are discarded, and the prompt says so", debounced=False, capped=False
    ),
    Mode.STEER_BACKLOG: Traits(
        "goes into the running agent; a message the run did not take in is kept and runs as `followup`, never both"
    ),
    Mode.QUEUE: Traits("plain FIFO: `followup` without debounce, cap or drop", debounced=False, capped=False),
}


class QueueSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of one lane. The defaults are the last layer of TU-4."""

    mode: Mode = Mode.COLLECT
    debounce_ms: Annotated[int, Meta(ge=0)] = 1000
    cap: Annotated[int, Meta(ge=1)] = 20
    drop: DropPolicy = DropPolicy.SUMMARIZE
    grouping: Grouping = Grouping.SESSION
    max_batch: Annotated[int, Meta(ge=1)] = 10
    max_batch_tokens: Annotated[int, Meta(ge=1)] = 24_000


class QueueOverride(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One layer of queue settings: None leaves a field to the layers below."""

    mode: Mode | None = None
    debounce_ms: Annotated[int, Meta(ge=0)] | None = None
    cap: Annotated[int, Meta(ge=1)] | None = None
    drop: DropPolicy | None = None
    grouping: Grouping | None = None
    max_batch: Annotated[int, Meta(ge=1)] | None = None
    max_batch_tokens: Annotated[int, Meta(ge=1)] | None = None


def not_steered(settings: QueueSettings) -> QueueSettings | None:
    """The settings for a message with directives for its turn, which must not join a running turn that began without
    them. None if it gets a turn of its own in this mode anyway."""
    return replace(settings, mode=Mode.FOLLOWUP) if settings.mode in (Mode.STEER, Mode.STEER_BACKLOG) else None


@lru_cache(maxsize=1024)
def resolve(
    *,
    inline: QueueOverride | None = None,
    session: QueueOverride | None = None,
    channel: QueueOverride | None = None,
    gateway: QueueOverride | None = None,
    plugin: QueueOverride | None = None,
) -> QueueSettings:
    """TU-4: inline directive > session > channel > global > the channel plug-in's default > default.

    Each field is looked up separately: `/queue cap=5` changes the cap and leaves the session's mode alone.
    """
    layers = [layer for layer in (inline, session, channel, gateway, plugin) if layer is not None]
    chosen: dict[str, Any] = {}
    for field in QueueSettings.__struct_fields__:
        said = [value for layer in layers if (value := getattr(layer, field)) is not None]
        if said:
            chosen[field] = said[0]
    return QueueSettings(**chosen)
