"""The store against a model of it in a page of dictionaries, with crashes in between (TU-2, DU-11, DU-13)."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from rejoinder.errors import Superseded
from rejoinder.events import Route
from rejoinder.store.base import (
    IN_FLIGHT,
    PART_MOVES,
    PART_STATES,
    YIELDING,
    Accept,
    BeginTurn,
    BuryPart,
    Busy,
    ClaimPart,
    CloseTurn,
    Destination,
    DropInputs,
    EndRun,
    HoldPart,
    MarkSent,
    MarkUnknown,
    NotBefore,
    PlanParts,
    ReleaseRun,
    ResendPart,
    ResumeTurn,
    RetryPart,
    RouteEvent,
    RunClaim,
    SettleEvent,
    StoredPart,
    SummariseInputs,
    Verb,
)
from rejoinder.store.sqlite import open_store
from rejoinder.testing.store_contract.given import NOW, SOON, an_inbound, an_intent

SESSIONS = ("s", "t")
PLACES = (Route("telegram", "chat-1"), Route("telegram", "chat-1", "thread-1"))
sessions = st.sampled_from(SESSIONS)
places = st.sampled_from(PLACES)
numbers = st.integers(0, 8)
REACTIONS = {3, 6}
"""The parts of these numbers."""


class StoreModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.loop = asyncio.Runner()
        self.store = self.loop.run(self.open())
        self.events: dict[int, str] = {}  # number -> state
        self.ids: dict[int, int] = {}  # number -> id
        self.inputs: dict[tuple[int, str], str] = {}  # (number, session) -> state
        self.turns: dict[int, tuple[str, str, int]] = {}  # turn -> session, state, attempts
        self.active: dict[str, RunClaim] = {}
        self.stale: list[RunClaim] = []
        self.parts: dict[str, StoredPart] = {}  # as the store last showed it
        self.stale_parts: list[StoredPart] = []

    async def open(self) -> Any:
        self.shared = open_store(f"sqlite:{self.folder / 'rejoinder.db'}")
        lease = await self.shared.claim(0, "this")
        assert lease is not None
        self.generation = lease.generation
        return self.shared.owned(lease)

    def write(self, *verbs: Verb[Any]) -> Any:
        """What comes back, or None when it lost."""
        try:
            return self.loop.run(self.store.write(*verbs))
        except Superseded:
            return Superseded

    def teardown(self) -> None:
        self.loop.run(self.shared.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    # --- inbound ------------------------------------------------------------------------------------

    @rule(batch=st.lists(numbers, max_size=4))
    def accept(self, batch: list[int]) -> None:
        new = self.write(Accept(tuple(map(an_inbound, batch)), NOW))
        expected = [number for number in dict.fromkeys(batch) if number not in self.events]
        assert [event.inbound for event in new] == [an_inbound(number) for number in expected]
        for number, event in zip(expected, new, strict=True):
            self.events[number], self.ids[number] = "new", event.id

    @rule(number=numbers, to=st.sets(sessions))
    def decide(self, number: int, to: set[str]) -> None:
        id = self.ids.get(number, 999)
        verb = RouteEvent(id, tuple(map(Destination, sorted(to)))) if to else SettleEvent(id, "why")
        done = self.write(verb)
        assert (done is None) == (self.events.get(number) == "new")
        if done is None:
            self.events[number] = "routed" if to else "settled"
            self.inputs |= {(number, session): "waiting" for session in to}

    @rule(number=numbers, session=sessions, drop=st.booleans())
    def pass_over(self, number: int, session: str, drop: bool) -> None:
        event = (self.ids.get(number, 999),)
        done = self.write(DropInputs(session, event, "full") if drop else SummariseInputs(session, event))
        allowed = ("waiting", "summarised") if drop else ("waiting",)
        assert (done is None) == (self.inputs.get((number, session)) in allowed)
        if done is None:
            self.inputs[number, session] = "dropped" if drop else "summarised"

    # --- turns --------------------------------------------------------------------------------------

    def took(self, run: RunClaim) -> None:
        assert run.generation > max((old.generation for old in self.stale), default=0)
        self.active[run.session] = run

    @rule(session=sessions, chosen=st.sets(numbers, min_size=1, max_size=3))
    def begin(self, session: str, chosen: set[int]) -> None:
        events = tuple(self.ids.get(number, 999) for number in sorted(chosen))
        begun = self.write(BeginTurn(session, PLACES[0], events, NOW))
        if session in self.active:
            assert begun == Busy(self.active[session].turn)
        elif any(self.inputs.get((number, session)) != "waiting" for number in chosen):
            assert begun is Superseded
        else:
            self.turns[begun.turn] = (session, "open", 1)
            self.took(begun)
            told = {key for key, state in self.inputs.items() if key[1] == session and state == "summarised"}
            self.inputs |= {(number, session): "taken" for number in chosen} | dict.fromkeys(told, "told")

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(sorted(self.turns)))
        session, state, attempts = self.turns[turn]
        resumed = self.write(ResumeTurn(turn))
        if state not in ("open", "answered"):
            assert resumed is Superseded
        elif session in self.active:
            assert resumed == Busy(self.active[session].turn)
        else:
            counted = attempts + (state == "open")
            assert (resumed.attempt, resumed.answered) == (counted, state == "answered")
            self.turns[turn] = (session, state, counted)
            self.took(resumed)

    @precondition(lambda self: self.turns)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(sorted(self.turns)))
        session, state, attempts = self.turns[turn]
        is_claimed = any(run.turn == turn for run in self.active.values())
        done = self.write(CloseTurn(turn, "stopped", NOW))
        assert (done is None) == (state in ("open", "answered") and not is_claimed)
        if done is None:
            self.turns[turn] = (session, "closed", attempts)

    @rule(session=sessions, release=st.booleans())
    def end(self, session: str, release: bool) -> None:
        for stale in self.stale:
            assert self.write(EndRun(stale, "answered", NOW)) is Superseded
        run = self.active.pop(session, None)
        if run is None:
            return
        assert self.write(ReleaseRun(run) if release else EndRun(run, "answered", NOW)) is None
        _, state, attempts = self.turns[run.turn]
        kept = (session, state, attempts - (state == "open"))
        self.turns[run.turn] = kept if release else (session, "closed", attempts)
        self.stale.append(run)

    # --- outbound -----------------------------------------------------------------------------------

    @rule(number=numbers, place=places, session=st.none() | sessions, final=st.booleans(), at_once=st.booleans())
    def plan(self, number: int, place: Route, session: str | None, final: bool, at_once: bool) -> None:
        run = self.active.get(session) if session else None
        known = self.parts.get(f"key-{number}")
        kind = YIELDING if number in REACTIONS else "text"
        before = [part for part in self.parts.values() if part.route == place and part.state in IN_FLIGHT]
        waits = any(kind == YIELDING or part.kind != YIELDING for part in before)
        asked = an_intent(number, known.route if known else place, kind=kind)
        (part,) = self.write(PlanParts((asked,), NOW, run, final, at_once))
        assert part.body == f"part {number}".encode()
        if known is not None:
            assert part == known
        else:
            assert part.state == ("sending" if at_once and not waits else "planned")
            self.parts[part.key] = part
        if run is not None and final:
            self.turns[run.turn] = (run.session, "answered", self.turns[run.turn][2])

    @rule(place=places, late=st.booleans())
    def claim(self, place: Route, late: bool) -> None:
        now = SOON if late else NOW
        got = self.write(ClaimPart(place, now))
        here = [part for part in self.parts.values() if part.route == place and part.state in IN_FLIGHT]
        first = min(here, key=lambda part: (part.kind == YIELDING, part.id), default=None)
        if first is None or first.state not in ("planned", "retry"):
            assert got is None
        elif first.retry_at is not None and first.retry_at > now:
            assert got == NotBefore(first.retry_at)
        else:
            assert (got.key, got.body, got.state) == (first.key, first.body, "sending")
            assert got.generation > max(part.generation for part in self.parts.values())
            self.show(got)

    @precondition(lambda self: self.parts)
    @rule(data=st.data(), stale=st.booleans())
    def move(self, data: st.DataObject, stale: bool) -> None:
        choices = self.stale_parts if stale and self.stale_parts else [*self.parts.values()]
        part = data.draw(st.sampled_from(choices))
        verb = data.draw(
            st.sampled_from(
                [
                    MarkSent(part, f"receipt-{part.id}", NOW),
                    MarkUnknown(part, "timeout"),
                    RetryPart(part, SOON, "502"),
                    HoldPart(part),
                    ResendPart(part),
                    BuryPart(part, "403"),
                ]
            )
        )
        before, (sources, target) = self.parts[part.key], PART_MOVES[type(verb)]
        done = self.write(verb)
        is_current = (part.state, part.generation) == (before.state, before.generation)
        assert (done is not Superseded) == (is_current and part.state in sources)
        if done is not Superseded:
            self.refresh()
            assert self.parts[part.key].state == target

    def show(self, part: StoredPart) -> None:
        self.stale_parts.append(self.parts[part.key])
        self.parts[part.key] = part

    def refresh(self) -> None:
        for part in self.loop.run(self.store.parts_in(*PART_STATES)):
            if part != self.parts[part.key]:
                self.show(part)

    # --- crashes ------------------------------------------------------------------------------------

    @rule()
    def crash(self) -> None:
        generation = self.generation
        self.loop.run(self.shared.close())
        self.store = self.loop.run(self.open())
        assert self.generation > generation
        self.stale += self.active.values()
        self.active.clear()
        before = {key: part.state for key, part in self.parts.items()}
        self.refresh()
        becomes = {"sending": "unknown"}
        assert {key: part.state for key, part in self.parts.items()} == {
            key: becomes.get(state, state) for key, state in before.items()
        }

    @invariant()
    def nothing_is_lost_and_nothing_is_twice(self) -> None:
        census = self.loop.run(self.store.count_rows())
        recovery = self.loop.run(self.store.recover(NOW))
        assert census.runs == len(self.active)
        assert sum(census.events.values()) == len(self.events)
        new = [number for number, state in self.events.items() if state == "new"]
        assert {event.id for event in recovery.events} == {self.ids[number] for number in new}
        found = [put.event.id for line in recovery.backlogs for put in (*line.gathered, *line.singly)]
        untold = [key for key, state in self.inputs.items() if state in ("waiting", "summarised")]
        assert sorted(found) == sorted(self.ids[number] for number, _ in untold)
        open_turns = {turn for turn, (_, state, _) in self.turns.items() if state in ("open", "answered")}
        assert {left.turn.id for left in recovery.turns} == open_turns
        assert [left.turn.id for left in recovery.turns] == sorted(open_turns)
        assert {part.key for part in recovery.unknown} == {
            part.key for part in self.parts.values() if part.state == "unknown"
        }


TestStoreModel = StoreModel.TestCase
TestStoreModel.settings = settings(max_examples=10, stateful_step_count=30, deadline=None)


class LongStories(StoreModel):
    """The same, for longer."""


TestLongStories = pytest.mark.deep(LongStories.TestCase)
TestLongStories.settings = settings(max_examples=300, stateful_step_count=50, deadline=None)
