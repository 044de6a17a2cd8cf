"""One session's lane: what to do when a message arrives, a run begins or ends, or a user says stop.

Rule 1: every decision about starting, waiting, steering, aborting and discarding is made here and in the grids of
        phases.py, which say what each event does in each phase.
Rule 2: it knows no clock, task or agent. `step(lane, event)` returns the new lane and the actions to
        perform; the RunStarted event says whether the agent can be steered.
Rule 3: the driver that performs the actions reports their results: one RunEnded for each Start, however the run ended,
        SteerTaken or SteerRefused for each Steer, and DebounceElapsed for each WakeAfter. A report that comes late or
        twice is harmless.
Rule 4: a message is in exactly one place: it waits, is offered to the run, or is in the turn. It leaves the queue by
        exactly one action: Start (in a turn), Steered, Summarise or Discard (dropped with a reason).
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.turns.backlog import (
    Line,
    QueuedMessage,
    Summary,
    WaitingMessage,
    admit,
    after_quiet,
    buffer_of,
    estimate_tokens,
    ready_batch,
    settings_of,
    traits_of,
    without,
)
from rejoinder.turns.modes import MODES, QueueSettings
from rejoinder.turns.phases import (
    ABORTING,
    AT_WORK,
    GATHERING,
    IDLE,
    INTERRUPT,
    OFFER,
    ON_ARRIVAL,
    ON_EVENT,
    RUNNING,
    SETTLING,
    START,
    STARTING,
    OnEvent,
    Phase,
)
from rejoinder.turns.signals import (
    Abort,
    Action,
    DebounceElapsed,
    Discard,
    Event,
    MessageArrived,
    QueueSettingsChanged,
    Reason,
    RunEnded,
    RunStarted,
    Start,
    Steer,
    Steered,
    SteerRefused,
    SteerTaken,
    Stop,
    Summarise,
    WakeAfter,
)

# --- the lane -----------------------------------------------------------------------------------


class Lane(Struct, frozen=True):
    settings: QueueSettings = QueueSettings()
    phase: Phase = IDLE
    run: int = 0
    turn: tuple[QueuedMessage, ...] = ()
    can_steer: bool = False
    waiting: Line = ()
    overflow: Summary = Summary()
    passed_over: Summary = Summary()
    after_abort: bool = False

    @property
    def offered(self) -> tuple[QueuedMessage, ...]:
        return tuple([each.message for each in self.waiting if each.offered]) if self.waiting else ()


Decision = tuple[Lane, tuple[Action, ...]]


def step(lane: Lane, event: Event) -> Decision:
    """The only entry point: takes a lane and an event, returns the new lane and the actions to perform."""
    if type(event) is MessageArrived:  # not `isinstance`: for a Struct a negative answer takes ten times as long
        return _arrive(lane, event.message)
    if _is_stale(lane, event):
        return lane, ()
    if type(event) is Stop and event.later:
        return _stop_late(lane, event.later)
    return _ANSWERS[ON_EVENT[lane.phase, type(event)]](_absorb(lane, event))


def start_of(lane: Lane, message: QueuedMessage) -> Start | None:
    """The turn that this message would start at once; None if it would have to wait."""
    starts = ON_ARRIVAL[lane.phase, settings_of(message, lane.settings).mode] is START
    return _turn(lane, (message,)) if starts else None


def may_speak(lane: Lane, run: int) -> bool:
    """Whether output under this generation may still reach people (TU-20)."""
    return run == lane.run and lane.phase in AT_WORK


def _arrive(lane: Lane, message: QueuedMessage) -> Decision:
    if (lane.turn or lane.waiting) and _holds(lane, message.id):
        return lane, ()
    do = ON_ARRIVAL[lane.phase, settings_of(message, lane.settings).mode]
    if do is START:
        return _start(lane, (message,), ())
    if do is INTERRUPT:
        return _interrupt(lane, message)
    if do is OFFER:
        return _then(_hold(lane, message), _offer)
    return _then(_hold(lane, message), _drain if lane.phase is GATHERING else _stay)


def _absorb(lane: Lane, event: Event) -> Lane:
    """Records the facts in an event, whatever the phase does with it."""
    if type(event) is RunStarted:
        return replace(lane, can_steer=event.can_steer)
    if type(event) is DebounceElapsed:
        return replace(lane, waiting=after_quiet(lane.waiting, event.after))
    if type(event) is QueueSettingsChanged:
        # With another grouping the timers would belong to other buffers, so no message waits for them now.
        rested = tuple(replace(each, quiet=True) for each in lane.waiting)
        return replace(lane, settings=event.settings, waiting=rested)
    return lane


def _is_stale(lane: Lane, event: Event) -> bool:
    if type(event) is RunStarted or type(event) is RunEnded:
        return event.run != lane.run
    if type(event) is SteerTaken or type(event) is SteerRefused:
        return event.run != lane.run or event.ids != _ids(lane.offered)
    return False


def _holds(lane: Lane, id: str) -> bool:
    return any(message.id == id for message in (*lane.turn, *(each.message for each in lane.waiting)))


# --- carrying out the grids' answers ------------------------------------------------------------


def _stay(lane: Lane) -> Decision:
    return lane, ()


def _hold(lane: Lane, message: QueuedMessage) -> Decision:
    settings = settings_of(message, lane.settings)
    patient = MODES[settings.mode].debounced and settings.debounce_ms > 0
    admitted = admit(lane.waiting, WaitingMessage(message, quiet=not patient), lane.settings)
    lane = replace(
        lane,
        waiting=admitted.line,
        overflow=lane.overflow.telling(admitted.summarised, at_most=settings.cap),
    )
    actions: list[Action] = []
    if admitted.summarised:
        actions.append(Summarise(_ids(admitted.summarised)))
    if admitted.dropped:
        actions.append(Discard(_ids(admitted.dropped), "overflow"))
    if patient and message not in admitted.dropped:
        actions.append(WakeAfter(settings.debounce_ms, message.id))
    return lane, tuple(actions)


def _drain(lane: Lane) -> Decision:
    """Hands off in one step: starts what is ready, otherwise waits for quiet, otherwise becomes idle.

    Taking the last message and freeing the lane are one step, so no message can get lost in between.
    """
    if not lane.waiting:
        return replace(lane, phase=IDLE), ()
    batch = ready_batch(lane.waiting, lane.settings)
    if not batch:
        return replace(lane, phase=GATHERING), ()
    return _start(lane, batch, without(lane.waiting, batch))


def _start(lane: Lane, batch: tuple[QueuedMessage, ...], rest: Line) -> Decision:
    """Starts a turn with the summaries for its agent; each summary is told once."""
    start = _turn(lane, batch)
    if batch[0].chore:
        return replace(lane, phase=STARTING, run=start.run, turn=batch, waiting=rest), (start,)
    if rest:  # the previous run did not take them in
        rest = tuple([replace(each, refused=True) for each in rest])
    return Lane(lane.settings, STARTING, start.run, batch, lane.can_steer, rest), (start,)


def _turn(lane: Lane, batch: tuple[QueuedMessage, ...]) -> Start:
    run, ids = lane.run + 1, (batch[0].id,) if len(batch) == 1 else _ids(batch)
    if batch[0].chore:  # a chore tells the agent nothing, so the summaries stay for the next turn
        return Start(run, ids)
    return Start(run, ids, lane.overflow, lane.passed_over, lane.after_abort)


def _begin(lane: Lane) -> Decision:
    return _offer(replace(lane, phase=RUNNING))


def _end(lane: Lane) -> Decision:
    lane = replace(lane, turn=(), can_steer=False)
    return (replace(lane, phase=SETTLING), ()) if lane.offered else _drain(lane)


def _offer(lane: Lane) -> Decision:
    """Offers the run the first messages of its buffer, as far as their mode steers and they may join it."""
    if not lane.can_steer or not lane.waiting or lane.offered:
        return lane, ()
    here = lane.turn[0]
    home = buffer_of(here, lane.settings)
    batch: list[QueuedMessage] = []
    for each in lane.waiting:
        message = each.message
        if buffer_of(message, lane.settings) != home:
            continue
        # A message from another route would be answered in the wrong place.
        if message.route != here.route or not _wants_in(lane, each) or len(batch) == lane.settings.max_batch:
            break
        batch.append(message)
    if not batch:
        return lane, ()
    marked = tuple(replace(each, offered=each.message in batch) for each in lane.waiting)
    return replace(lane, waiting=marked), (Steer(lane.run, _ids(batch)),)


def _wants_in(lane: Lane, waiting: WaitingMessage) -> bool:
    mode = settings_of(waiting.message, lane.settings).mode
    steers = ON_ARRIVAL[RUNNING, mode] is OFFER
    return steers and (not waiting.refused or traits_of(waiting.message, lane.settings).offered_again)


def _taken(lane: Lane) -> Decision:
    taken = lane.offered
    turn = (*lane.turn, *taken) if lane.phase is RUNNING else ()
    joined = replace(lane, turn=turn, waiting=without(lane.waiting, taken)), (Steered(lane.run, _ids(taken)),)
    return _then(joined, _drain if lane.phase is SETTLING else _offer)


def _refused(lane: Lane) -> Decision:
    """The message is not offered again: with an agent that always refuses, this would never end."""
    back = (replace(each, offered=False, refused=True) if each.offered else each for each in lane.waiting)
    back = replace(lane, waiting=tuple(back))
    return _drain(back) if lane.phase is SETTLING else _stay(back)


def _interrupt(lane: Lane, message: QueuedMessage) -> Decision:
    decision = _discard(lane, "interrupted")
    newest = replace(decision[0], waiting=(WaitingMessage(message),))
    if lane.phase is ABORTING:
        follow = _stay
    elif lane.phase in AT_WORK:
        follow = _abort
    else:
        follow = _drain
    return _then((newest, decision[1]), follow)


def _discard(lane: Lane, reason: Reason) -> Decision:
    """Discards everything that waits, including an open offer: the run's answer to that will be ignored as late."""
    gone = tuple(each.message for each in lane.waiting)
    if not gone:
        return lane, ()
    told = (message for message in gone if not message.chore)
    passed_over = lane.passed_over.telling(told, at_most=lane.settings.cap)
    return replace(lane, waiting=(), passed_over=passed_over), (Discard(_ids(gone), reason),)


def _abort(lane: Lane) -> Decision:
    asked = not all(message.chore for message in lane.turn)
    return replace(lane, phase=ABORTING, after_abort=lane.after_abort or asked), (Abort(lane.run),)


def _clear(lane: Lane) -> Decision:
    """After a stop the next turn is not told what was waiting."""
    cleared, actions = _discard(lane, "stopped")
    return replace(cleared, overflow=Summary(), passed_over=Summary()), actions


def _stop_late(lane: Lane, later: tuple[str, ...]) -> Decision:
    """Takes the later messages out, stops the lane, and puts them back; an open offer of them is over."""
    kept = tuple([replace(each, offered=False) for each in lane.waiting if each.message.id in later])
    earlier = tuple([each for each in lane.waiting if each.message.id not in later])
    stopped, actions = step(replace(lane, waiting=earlier), Stop())
    back = replace(stopped, waiting=kept)
    return _then((back, actions), _drain if stopped.phase is IDLE else _stay)


_ANSWERS: Final[dict[OnEvent, Callable[[Lane], Decision]]] = {
    OnEvent.NOTHING: _stay,
    OnEvent.BEGIN: _begin,
    OnEvent.END: _end,
    OnEvent.TAKEN: _taken,
    OnEvent.REFUSED: _refused,
    OnEvent.DRAIN: _drain,
    OnEvent.REVIEW: _offer,
    OnEvent.CLEAR: lambda lane: _clear(lane) if lane.phase is ABORTING else _then(_clear(lane), _drain),
    OnEvent.ABORT: lambda lane: _then(_clear(lane), _abort),
}


def _then(decision: Decision, follow: Callable[[Lane], Decision]) -> Decision:
    lane, actions = follow(decision[0])
    return lane, decision[1] + actions


def _ids(messages: Iterable[QueuedMessage]) -> tuple[str, ...]:
    return tuple([message.id for message in messages])


# --- senders change waiting messages (CH-8) -----------------------------------------------------


def revised(lane: Lane, id: str, text: str | None) -> Lane:
    """The lane with a new text for a waiting message or, if None, without the message. A message that was offered to
    the run does not change, because the agent may already have it."""
    line = (
        replace(each, message=replace(each.message, text=text or "", tokens=estimate_tokens((text or "",))))
        if each.message.id == id and text is not None and not each.offered
        else each
        for each in lane.waiting
        if each.message.id != id or text is not None or each.offered
    )
    return replace(lane, waiting=tuple(line))


def waits(lane: Lane, id: str) -> bool:
    """Whether the message is in the queue and has not been offered to the run."""
    return any(each.message.id == id and not each.offered for each in lane.waiting)
