"""What passes between a lane and its driver: events go in, actions come out."""

from typing import Literal, final

from msgspec import Struct

from rejoinder.turns.backlog import QueuedMessage, Summary
from rejoinder.turns.modes import QueueSettings

# --- events -------------------------------------------------------------------------------------


@final
class MessageArrived(Struct, frozen=True):
    """A message for this session. A message the lane already holds has no effect."""

    message: QueuedMessage


class RunStarted(Struct, frozen=True):
    """The agent has begun the turn."""

    run: int
    can_steer: bool = False


class RunEnded(Struct, frozen=True):
    """The run is over, however it ended: answered, failed, aborted, or timed out."""

    run: int


class SteerTaken(Struct, frozen=True):
    run: int
    ids: tuple[str, ...]


class SteerRefused(Struct, frozen=True):
    """The run did not take the messages in: too late, compacting, or no longer there."""

    run: int
    ids: tuple[str, ...]


class DebounceElapsed(Struct, frozen=True):
    """The time of WakeAfter has passed since the message `after`."""

    after: str


class QueueSettingsChanged(Struct, frozen=True):
    """The queue's settings have changed. Waiting messages stay, but no longer wait for quiet."""

    settings: QueueSettings


class Stop(Struct, frozen=True):
    """Abort the run and clear the lane. `later`: messages that came after the request; they stay if they wait."""

    later: tuple[str, ...] = ()


Event = (
    MessageArrived | RunStarted | RunEnded | SteerTaken | SteerRefused | DebounceElapsed | QueueSettingsChanged | Stop
)

# --- actions ------------------------------------------------------------------------------------


class Start(Struct, frozen=True):
    """Run a turn with these messages. `run` is its generation: output under any other number is discarded."""

    run: int
    ids: tuple[str, ...]
    overflow: Summary = Summary()
    passed_over: Summary = Summary()
    after_abort: bool = False


class Steer(Struct, frozen=True):
    """Offer these messages to the running agent; at most one offer is open."""

    run: int
    ids: tuple[str, ...]


class Steered(Struct, frozen=True):
    """The run has taken them in: they get no turn of their own."""

    run: int
    ids: tuple[str, ...]


class Abort(Struct, frozen=True):
    """End this run. Nothing it says from now on may reach users."""

    run: int


class WakeAfter(Struct, frozen=True):
    ms: int
    after: str


class Summarise(Struct, frozen=True):
    """These messages were dropped from a full backlog; the agent is told of each in one line."""

    ids: tuple[str, ...]


Reason = Literal["overflow", "interrupted", "stopped"]


class Discard(Struct, frozen=True):
    ids: tuple[str, ...]
    reason: Reason


Action = Start | Steer | Steered | Abort | WakeAfter | Summarise | Discard
