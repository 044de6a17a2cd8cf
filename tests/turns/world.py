"""Everything around a lane that the lane must get along with, as a value: inbox, runtime, timers, crashes.

`World` performs the actions of a lane and checks, at each step, what TU-1, TU-2, TU-5, TU-9, TU-20 promise.
A broken promise is an AssertionError with the world in which it happened.
"""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Route
from rejoinder.turns.backlog import QueuedMessage, Summary, WaitingMessage, buffer_of
from rejoinder.turns.lane import Decision, Lane, may_speak, step
from rejoinder.turns.modes import QueueSettings
from rejoinder.turns.phases import Phase
from rejoinder.turns.signals import (
    Abort,
    Action,
    DebounceElapsed,
    Discard,
    Event,
    MessageArrived,
    QueueSettingsChanged,
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

HERE = Route("fake", "here")
THERE = Route("fake", "there")

OPEN = ""
IN_TURN = "in a turn"
ANSWERED = "answered"
STEERED = "steered"
SUMMARISED = "summarised"


def with_waiting(settings: QueueSettings, waiting: tuple[QueuedMessage, ...], run: int, overflow: Summary) -> Decision:
    """A lane in which nothing runs and these messages have waited long enough: the oldest start."""
    line = tuple(map(WaitingMessage, waiting))
    return step(Lane(settings, Phase.GATHERING, run, waiting=line, overflow=overflow), DebounceElapsed(""))


class World(Struct, frozen=True):
    lane: Lane
    messages: tuple[QueuedMessage, ...] = ()
    places: tuple[str, ...] = ()
    """Where each message has ended, by position; OPEN as long as it has not."""
    run: int = 0
    """The run at work, 0 for none."""
    begun: bool = False
    inside: tuple[str, ...] = ()
    """What the run has been given: its turn, and what was steered into it."""
    offers: tuple[Steer, ...] = ()
    timers: frozenset[str] = frozenset()
    untold: tuple[str, ...] = ()
    """Messages that were summarised and whose summary no turn has carried yet."""

    # --- what may happen next -------------------------------------------------------------------

    def duties(self) -> Iterator[Event]:
        """What the runtime owes the lane: each of these will happen, in any order."""
        if self.run and not self.begun:
            yield RunStarted(self.run, can_steer=True)
            yield RunStarted(self.run, can_steer=False)
        if self.run:
            yield RunEnded(self.run)
        for offer in self.offers:
            yield SteerTaken(offer.run, offer.ids)
            yield SteerRefused(offer.run, offer.ids)
        for id in sorted(self.timers):
            yield DebounceElapsed(id)

    # --- what happens ---------------------------------------------------------------------------

    def after(self, event: Event) -> "World":
        world = self
        match event:
            case MessageArrived(message=message):
                if message not in world.messages:
                    world = replace(world, messages=(*world.messages, message), places=(*world.places, OPEN))
            case RunStarted():
                world = replace(world, begun=True)
            case RunEnded():
                world = world.ended()
            case SteerTaken(run=run, ids=ids) | SteerRefused(run=run, ids=ids):
                world = replace(world, offers=tuple(o for o in world.offers if (o.run, o.ids) != (run, ids)))
            case DebounceElapsed(after=id):
                world = replace(world, timers=world.timers - {id})
            case Stop():
                world = replace(world, untold=())
            case QueueSettingsChanged():
                pass
        lane, actions = step(self.lane, event)
        assert not (isinstance(event, SteerRefused) and any(isinstance(a, Steer) for a in actions)), "spin"
        if isinstance(event, MessageArrived) and self.lane.phase is Phase.IDLE and world is not self:
            assert [a.ids for a in actions if isinstance(a, Start)] == [(event.message.id,)], "added delay"
        world = replace(world, lane=lane).perform(actions)
        if isinstance(event, SteerTaken):
            assert all(world.place(id) not in (IN_TURN, ANSWERED) for id in event.ids), "steered and run: both"
        return world

    def place(self, id: str) -> str:
        return next(place for m, place in zip(self.messages, self.places, strict=True) if m.id == id)

    def routes(self, ids: tuple[str, ...]) -> set[Route]:
        return {message.route for message in self.messages if message.id in ids}

    def ended(self) -> "World":
        """The run is over; what it was asked is answered, if it was still allowed to speak."""
        if may_speak(self.lane, self.run):
            self = self.moved(self.inside, {IN_TURN: ANSWERED, STEERED: STEERED})
        return replace(self, run=0, begun=False, inside=())

    def crashed(self) -> "World":
        """The gateway died. Rows survive: its turn is resumed in a fresh lane, then what waits arrives again, the
        messages of one place after the other, as `Backlogs` queues them."""
        turn, left_out = self.those(self.inside), self.those(self.untold)
        overflow = Summary().telling(left_out, at_most=self.lane.settings.cap)
        phase, run = (Phase.STARTING, 1) if self.run else (Phase.IDLE, 0)
        lane = Lane(self.lane.settings, phase, run, turn, overflow=overflow)
        world = replace(self, lane=lane, run=run, begun=False, offers=(), timers=frozenset[str]())
        both = list(zip(self.messages, self.places, strict=True))
        there = list(dict.fromkeys(message.route for message, place in both if place == OPEN))
        # From now on the order of the queue is the order of arrival.
        both.sort(key=lambda each: there.index(each[0].route) if each[1] == OPEN else -1)
        world = replace(world, messages=tuple(m for m, _ in both), places=tuple(place for _, place in both))
        for message, place in both:
            if place == OPEN:
                world = world.after(MessageArrived(message))
        return world

    def those(self, ids: tuple[str, ...]) -> tuple[QueuedMessage, ...]:
        return tuple(message for message in self.messages if message.id in ids)

    def perform(self, actions: tuple[Action, ...]) -> "World":
        world = self
        for action in actions:
            world = world.performed(action)
        return world

    def performed(self, action: Action) -> "World":
        match action:
            case Start(run=run, ids=ids, overflow=overflow):
                assert self.run == 0, "two runs at once"
                assert len(self.routes(ids)) == 1, "a turn of no route, or of several"
                assert overflow.count == len(self.untold), "a summary that tells a wrong number"
                world = replace(self.placed(ids, IN_TURN), run=run, begun=False, inside=ids, untold=())
                return world.in_order(ids)
            case Steer():
                assert self.run == action.run, "steered into a run that is not at work"
                assert self.begun, "steered into a run that has not begun"
                assert self.routes((*self.inside, *action.ids)) == self.routes(self.inside), "wrong place"
                doubled = {id for offer in self.offers if offer.run == action.run for id in offer.ids}
                assert doubled.isdisjoint(action.ids), "offered twice"
                return replace(self.in_order(action.ids), offers=(*self.offers, action))
            case Steered(run=run, ids=ids):
                world = self.placed(ids, STEERED)
                return replace(world, inside=(*world.inside, *ids)) if run == world.run else world
            case Abort(run=run):
                assert run == self.run, "aborted a run that is not at work"
                return self
            case WakeAfter(after=id):
                return replace(self, timers=self.timers | {id})
            case Summarise(ids=ids):
                return replace(self.placed(ids, SUMMARISED), untold=(*self.untold, *ids))
            case Discard(ids=ids, reason=reason):
                return self.placed(ids, f"dropped: {reason}")

    # --- the promises ---------------------------------------------------------------------------

    def placed(self, ids: tuple[str, ...], place: str) -> "World":
        assert len(set(ids)) == len(ids), f"twice in one action: {ids}"
        # Timers of what has left are of no consequence, as `check` sees: fewer worlds to visit.
        return replace(self.moved(ids, {OPEN: place}), timers=self.timers - set(ids))

    def moved(self, ids: tuple[str, ...], to: dict[str, str]) -> "World":
        places = list(self.places)
        position = {message.id: at for at, message in enumerate(self.messages)}
        for id in ids:
            before = places[position[id]]
            assert before in to, f"{id} is {before or 'open'} and cannot become one of {to}"
            places[position[id]] = to[before]
        return replace(self, places=tuple(places))

    def in_order(self, ids: tuple[str, ...]) -> "World":
        """FIFO: nothing older of the same buffer is left behind."""
        settings = self.lane.settings
        at = [message.id for message in self.messages].index
        assert list(ids) == sorted(ids, key=at), f"out of order: {ids}"
        home = buffer_of(self.messages[at(ids[-1])], settings)
        for message, place in zip(self.messages[: at(ids[-1])], self.places, strict=False):
            waits = place == OPEN and message.id not in ids and buffer_of(message, settings) == home
            assert not waits, f"{message.id} was overtaken by {ids}"
        return self

    def check(self) -> None:
        lane = self.lane
        held = [each.message.id for each in lane.waiting]
        lost = {m.id for m, place in zip(self.messages, self.places, strict=True) if place == OPEN} - set(held)
        assert not lost, f"lost: {lost}"
        assert len(set(held)) == len(held), "one message in two places"
        restless = {each.message.id for each in lane.waiting if not each.quiet}
        assert restless <= self.timers, "waits for a timer that nobody set"
        assert lane.phase is not Phase.GATHERING or restless, "waits for nothing"
        busy = lane.phase in (Phase.STARTING, Phase.RUNNING, Phase.ABORTING)
        assert busy == bool(self.run), "the lane and the runtime disagree about the run"
        if lane.run:
            last = lane.run - 1
            for late in (RunEnded(last), RunStarted(last), SteerTaken(last, ("m0",)), DebounceElapsed("gone")):
                assert step(lane, late) == (lane, ()), "an abandoned run still has a say"
            assert not may_speak(lane, lane.run - 1)

    def check_end(self) -> None:
        """Nobody owes anything any more: every message has its place and the lane is free (TU-2, TU-9)."""
        assert self.lane.phase is Phase.IDLE, f"stranded in {self.lane.phase}"
        assert OPEN not in self.places


def world(settings: QueueSettings) -> World:
    return World(Lane(settings=settings))


def message(
    number: int,
    *,
    sender: str = "ann",
    route: Route = HERE,
    tokens: int = 1,
    text: str | None = None,
    settings: QueueSettings | None = None,
) -> QueuedMessage:
    said = f"text {number}" if text is None else text
    return QueuedMessage(f"m{number}", route, sender, text=said, tokens=tokens, settings=settings)
