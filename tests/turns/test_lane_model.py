"""The lane against everything that can happen to it.

First a search: every sequence of events of up to five messages, in every mode and drop policy, with no luck
involved. Then Hypothesis: longer stories with crashes, duplicates, and settings that change under way.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rejoinder.events import Route
from rejoinder.turns.backlog import QueuedMessage
from rejoinder.turns.lane import step
from rejoinder.turns.modes import DropPolicy, Grouping, Mode, QueueSettings
from rejoinder.turns.signals import MessageArrived, QueueSettingsChanged, RunEnded, RunStarted, Stop
from tests.turns.world import HERE, THERE, World, message, world

# --- the search ---------------------------------------------------------------------------------

SAME_ROUTE = tuple(message(n) for n in range(5))
TWO_ROUTES = tuple(message(n, route=THERE if n in (2, 4) else HERE) for n in range(5))
MIXED = tuple(
    message(n, settings=QueueSettings(mode=mode, cap=2, max_batch=2) if mode else None)
    for n, mode in enumerate((None, None, Mode.STEER, Mode.INTERRUPT, Mode.FOLLOWUP))
)
TWO_SENDERS = tuple(message(n, sender="bob" if n in (1, 3) else "ann") for n in range(5))


def next_worlds(
    now: World, script: tuple[QueuedMessage, ...], stops: int, changes: tuple[QueueSettings, ...], crashes: int
) -> Iterator[tuple[World, int, tuple[QueueSettings, ...], int]]:
    if len(now.messages) < len(script):
        yield now.after(MessageArrived(script[len(now.messages)])), stops, changes, crashes
    for event in now.duties():
        yield now.after(event), stops, changes, crashes
    if stops:
        yield now.after(Stop()), stops - 1, changes, crashes
    for change in changes:
        yield now.after(QueueSettingsChanged(change)), stops, (), crashes
    if crashes:
        yield now.crashed(), stops, changes, crashes - 1


def search(
    start: World,
    script: tuple[QueuedMessage, ...],
    *,
    stops: int = 0,
    changes: tuple[QueueSettings, ...] = (),
    crashes: int = 0,
) -> int:
    """Visit every reachable world once and count them. `World` raises where a promise is broken."""
    first = (start, stops, changes, crashes)
    seen = {first}
    todo = [first]
    while todo:
        now, *budget = todo.pop()
        if len(now.messages) == len(script) and not any(True for _ in now.duties()):
            now.check_end()
        for following in next_worlds(now, script, *budget):
            assert following[0].lane.run <= (1 + crashes) * len(script), "runs without progress"
            if following not in seen:
                following[0].check()
                seen.add(following)
                todo.append(following)
    return len(seen)


SMALL = {"cap": 2, "max_batch": 2}  # small enough that five messages reach every limit
every_policy = pytest.mark.parametrize("drop", DropPolicy)
every_mode = pytest.mark.parametrize("mode", Mode)


@every_mode
@every_policy
def test_every_story_of_five_messages_ends_well(mode: Mode, drop: DropPolicy) -> None:
    """TU-1, TU-2, TU-9: whatever the order of arrivals, runs, steering, timers and a stop."""
    assert search(world(QueueSettings(mode=mode, drop=drop, **SMALL)), SAME_ROUTE, stops=1) > 50


@every_mode
@every_policy
@pytest.mark.parametrize("script", [TWO_ROUTES, MIXED], ids=["two routes", "inline modes"])
def test_every_story_of_unlike_messages_ends_well(
    mode: Mode, drop: DropPolicy, script: tuple[QueuedMessage, ...]
) -> None:
    """TU-3, TU-4: messages of another route, and messages with a mode of their own, in between."""
    assert search(world(QueueSettings(mode=mode, drop=drop, **SMALL)), script) > 20


@every_mode
@every_policy
def test_every_story_of_two_senders_ends_well(mode: Mode, drop: DropPolicy) -> None:
    """TU-6: with a buffer for each sender, still one run at a time and FIFO for each."""
    settings = QueueSettings(mode=mode, drop=drop, grouping=Grouping.SENDER, **SMALL)
    assert search(world(settings), TWO_SENDERS) > 20


@every_mode
@every_policy
def test_every_change_of_mode_keeps_what_waits(mode: Mode, drop: DropPolicy) -> None:
    """TU-4: four messages and a change to any other mode at any moment."""
    others = tuple(QueueSettings(mode=other, drop=drop, **SMALL) for other in Mode if other is not mode)
    assert search(world(QueueSettings(mode=mode, drop=drop, **SMALL)), SAME_ROUTE[:4], changes=others) > 50


@every_mode
@every_policy
def test_every_crash_is_survived(mode: Mode, drop: DropPolicy) -> None:
    """TU-2: the gateway dies at any moment and comes back; what was unfinished is run again, once."""
    assert search(world(QueueSettings(mode=mode, drop=drop, **SMALL)), SAME_ROUTE[:4], crashes=1) > 50


def test_after_a_crash_a_turn_is_resumed_as_it_was() -> None:
    """TU-2: what waited does not join it, and is queued in its order."""
    before = world(QueueSettings(mode=Mode.COLLECT, debounce_ms=0))
    for each in SAME_ROUTE[:3]:
        before = before.after(MessageArrived(each))
    after = before.crashed()
    assert (after.run, after.inside, after.begun) == (1, ("m0",), False)
    assert [each.message.id for each in after.lane.waiting] == ["m1", "m2"]
    assert after.after(RunStarted(1, can_steer=False)).after(RunEnded(1)).inside == ("m1", "m2")


@pytest.mark.deep
@every_mode
@every_policy
@pytest.mark.parametrize("grouping", Grouping)
def test_every_story_with_stop_change_and_crash(mode: Mode, drop: DropPolicy, grouping: Grouping) -> None:
    """TU-1 to TU-9 all at once: four messages, a stop, a change of mode or grouping, and a crash."""
    changes = tuple(
        QueueSettings(mode=other, drop=drop, grouping=group, **SMALL) for other in Mode for group in Grouping
    )
    settings = QueueSettings(mode=mode, drop=drop, grouping=grouping, **SMALL)
    assert search(world(settings), TWO_SENDERS[:4], stops=1, changes=changes, crashes=1) > 50


# --- random stories -----------------------------------------------------------------------------

settings_of_any_kind = st.builds(
    QueueSettings,
    mode=st.sampled_from(Mode),
    debounce_ms=st.sampled_from([0, 1000]),
    cap=st.integers(1, 4),
    drop=st.sampled_from(DropPolicy),
    grouping=st.sampled_from(Grouping),
    max_batch=st.integers(1, 4),
    max_batch_tokens=st.integers(1, 20),
)


class LaneStories(RuleBasedStateMachine):
    """TU-2 over long stories: crash, duplicate, cancel, steer, mode change, overflow, lease expiry."""

    world: World

    @initialize(settings=settings_of_any_kind)
    def open(self, settings: QueueSettings) -> None:
        self.world = world(settings)

    @rule(
        sender=st.sampled_from(["ann", "bob", "cem"]),
        route=st.sampled_from([HERE, HERE, THERE]),
        tokens=st.integers(0, 30),
        settings=st.none() | st.none() | settings_of_any_kind,
    )
    def arrive(self, sender: str, route: Route, tokens: int, settings: QueueSettings | None) -> None:
        number = len(self.world.messages)
        said = message(number, sender=sender, route=route, tokens=tokens, settings=settings)
        self.world = self.world.after(MessageArrived(said))

    @precondition(lambda self: self.world.lane.waiting or self.world.lane.turn)
    @rule(data=st.data())
    def arrive_again(self, data: st.DataObject) -> None:
        lane = self.world.lane
        held = [*lane.turn, *(each.message for each in lane.waiting)]
        assert step(lane, MessageArrived(data.draw(st.sampled_from(held)))) == (lane, ())

    @precondition(lambda self: any(True for _ in self.world.duties()))
    @rule(data=st.data())
    def something_comes_due(self, data: st.DataObject) -> None:
        """A run begins or ends, its lease runs out, an offer is answered, a quiet time is over."""
        self.world = self.world.after(data.draw(st.sampled_from(list(self.world.duties()))))

    @rule()
    def stop(self) -> None:
        self.world = self.world.after(Stop())

    @rule(settings=settings_of_any_kind)
    def change(self, settings: QueueSettings) -> None:
        before = {each.message.id for each in self.world.lane.waiting}
        self.world = self.world.after(QueueSettingsChanged(settings))
        lane = self.world.lane
        assert before <= {m.id for m in lane.turn} | {each.message.id for each in lane.waiting}

    @rule()
    def crash(self) -> None:
        self.world = self.world.crashed()

    @invariant()
    def promises_hold(self) -> None:
        if hasattr(self, "world"):
            self.world.check()

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        enough = 20 * (len(self.world.messages) + 1)
        while (duty := next(self.world.duties(), None)) and enough:
            self.world = self.world.after(duty)
            enough -= 1
        assert enough, "it spins: duties without end"
        self.world.check_end()


TestLaneStories = LaneStories.TestCase
TestLaneStories.settings = hypothesis_settings(max_examples=100, stateful_step_count=40, deadline=None)
