"""Records what the lanes do: everything they begin, steer, leave out or end is written before it takes effect (TU-10).

Rule 1: notes for the agent move from the session to the turn in the commit that begins the turn. So the agent is told
        once, and again only if a crash interrupts the turn.
Rule 2: a run is ended by its claim. A lost claim is not an error here: the run has been ended elsewhere.
Rule 3: a turn begins only when no other turn of its session runs. If the store answers `Busy`, the message waits and
        the session stays as it was. A message that waits like this can be stopped like any other.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.errors import Superseded
from rejoinder.events import PromptText, Route, without_sound
from rejoinder.inbound.message import InboundMessage
from rejoinder.runtime.services import Services
from rejoinder.runtime.session import notices
from rejoinder.runtime.session.payloads import TurnContext, pack_context, unpack_context
from rejoinder.runtime.session.prefixes import Prefix, Prefixes, no_prefix
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.sessions import HeldSession, Sessions
from rejoinder.runtime.session.turn_inputs import DroppedInput, GrantedTurn, ResumedTurn, TurnInput
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, is_untouched, turn_taken
from rejoinder.store.base import (
    AppendTranscript,
    BeginTurn,
    Busy,
    CloseTurn,
    DropInputs,
    EndRun,
    ReleaseRun,
    ResumeTurn,
    RunClaim,
    SteerInputs,
    Store,
    StoredPart,
    SummariseInputs,
    TranscriptEntry,
    WithdrawParts,
)
from rejoinder.turns.run_state import EndCause
from rejoinder.turns.signals import Reason, Start

log = logging.getLogger(__name__)

SMALLEST_STEP = timedelta(microseconds=1)
BUSY_PAUSE = 1.0
"""Seconds between two attempts to claim a busy session."""


class TurnBeginning(Struct, frozen=True):
    """What a turn begins with, when and where."""

    events: tuple[int, ...]
    route: Route
    heard: int
    now: datetime
    message: InboundMessage
    brings: bytes | None = None
    """The payload of its only event, if that enters the session with this turn."""


def begin_turn(
    batch: WriteBatch, held: HeldSession, session: Session, start: Start, beginning: TurnBeginning
) -> Callable[[], GrantedTurn | Busy]:
    """Adds the beginning of a turn to a batch, for the session as this batch leaves it.

    A background turn does not count as use of the session: a session ends when people have been away. A chore
    (`compacts`) asks the agent nothing, so the session keeps everything it has yet to tell the agent.
    """
    message, now, events, brings = beginning.message, beginning.now, beginning.events, beginning.brings
    if message.compacts:
        begun = batch.add(BeginTurn(held.key, beginning.route, events, now, tells=False, brings=brings))
        batch.add_all(held.put_verbs(session))
        return lambda: _granted(held, session, session, begun())
    turn_context = TurnContext(
        session.system_events,
        start.after_abort or session.aborted_last_run,
        is_untouched(session),
        start.overflow,
        start.passed_over,
    )
    context = pack_context(turn_context)
    begun = batch.add(BeginTurn(held.key, beginning.route, events, now, beginning.heard, context, brings=brings))
    # Always later than `started`, whatever the clock says: this is what distinguishes a first turn from later ones.
    touched = max(session.touched if message.background else now, session.started + SMALLEST_STEP)
    taken = turn_taken(session, touched)
    batch.add_all(held.put_verbs(taken))
    return lambda: _granted(held, session, taken, begun())


def _heard(run: Run) -> int:
    """How far this turn has heard its place: up to its own last message. Later messages are for the next turn
    (IN-32)."""
    numbers = [int(each.handle[1:]) for each in run.inputs if each.handle and each.conversation is run.conversation]
    return max(numbers, default=run.conversation.messages.count)


def _granted(held: HeldSession, before: Session, taken: Session, claim: RunClaim | Busy) -> GrantedTurn | Busy:
    held.mark_stored(taken)
    return GrantedTurn(claim, before) if isinstance(claim, RunClaim) else claim


async def give_back(held: HeldSession, before: Session, store: Store) -> None:
    """The session was busy: returns to it the notes that the turn would have told the agent."""
    await WriteBatch(*held.put_verbs(before)).insist(store)
    held.mark_stored(before)


class LaneJournal:
    def __init__(self, services: Services, sessions: Sessions, prefixes: Prefixes, questions: Questions) -> None:
        self._questions = questions
        self._store = services.store
        self._sessions = sessions
        self._prefixes = prefixes
        self._clock = services.clock
        self._hooks = services.hooks

    async def begin(self, run: Run) -> None:
        claim = partial(self._begin, run) if run.resumed is None else partial(self._resume, run, run.resumed)
        busy = await claim()
        if busy is not None:
            log.warning("%s: a turn waits until turn %d has ended", run.session, busy.turn)
        while busy is not None:
            run.claiming.pauses()
            await asyncio.sleep(BUSY_PAUSE)
            busy = await claim()

    async def _begin(self, run: Run) -> Busy | None:
        try:
            return await self._try_to_begin(run)
        except Superseded:  # the session was changed from outside the engine; this second try reads it again
            return await self._try_to_begin(run)

    async def _try_to_begin(self, run: Run) -> Busy | None:
        now, is_told = self._clock(), run.is_gathered and not run.message.listening
        prefix = await self._prefixes.of(run.message, run.session, run.agent) if is_told else no_prefix
        async with self._sessions.changing(run.session, run.agent, now) as held:
            batch, heard, before = WriteBatch(), _heard(run), held.session
            beginning = TurnBeginning(run.events, run.conversation.route, heard, now, run.message)
            granted = begin_turn(batch, held, before, run.start, beginning)
            if is_told:  # planned first, so that it is shown above this answer and below earlier ones
                batch.add_all((notices.answered_together(run.conversation, run.inputs, now, prefix),))
            run.claiming.sends()
            await batch.insist(self._store)
            answer = granted()
            if is_told:
                notices.wake((run.conversation,))
            if isinstance(answer, Busy):
                await give_back(held, before, self._store)
                return answer
            run.grant(answer)
        return None

    async def _resume(self, run: Run, resumed: ResumedTurn) -> Busy | None:
        """Begins a turn again, with the same notes for the agent."""
        turn, now = resumed.turn, self._clock()
        batch = WriteBatch()
        claimed = batch.add(ResumeTurn(turn.id))
        run.claiming.sends()
        await batch.insist(self._store)
        claim = claimed()
        if isinstance(claim, Busy):
            return claim
        session = await self._sessions.find(run.session, run.agent, now)
        run.grant(GrantedTurn(claim, _as_it_was(session, unpack_context(turn.payload))))
        return None

    async def record_steered(self, run: Run, inputs: tuple[TurnInput, ...]) -> None:
        events = _events(inputs)
        try:
            await WriteBatch(SteerInputs(run.claim, events)).insist(self._store)
        except Superseded:  # the run has ended meanwhile, but the agent did receive them
            await self._superseded(WriteBatch(DropInputs(run.session, events, "steered")))

    async def leave_out(
        self, session: str, agent: str, inputs: tuple[TurnInput, ...], reason: Reason | None
    ) -> tuple[DroppedInput, ...]:
        events, now = _events(inputs), self._clock()
        verb = SummariseInputs(session, events) if reason is None else DropInputs(session, events, reason)
        batch = WriteBatch(verb)
        planned_notices: list[tuple[TurnInput, Prefix, Callable[[], tuple[StoredPart, ...]]]] = []
        for each in inputs:
            prefix = await self._prefixes.of(each.message, session, agent)
            if (notice := notices.left_out_notice(each, reason, now, prefix)) is not None:
                planned_notices.append((each, prefix, batch.add(notice)))
        await self._superseded(batch)
        if not batch.is_written:
            # The run has just taken in one of them; the others are still left out, each separately.
            others = inputs if len(inputs) > 1 else ()
            alone = [await self.leave_out(session, agent, (each,), reason) for each in others]
            return tuple(each for group in alone for each in group)
        notices.wake(each.conversation for each, _, _ in planned_notices)
        return tuple(DroppedInput(each, planned()[0], prefix) for each, prefix, planned in planned_notices)

    async def end(self, run: Run) -> None:
        now, timed_out = self._clock(), run.state.cause is EndCause.TIMEOUT
        if run.state.runs_again:
            batch = WriteBatch(ReleaseRun(run.claim)) if run.granted is not None else WriteBatch()
        elif run.granted is None and run.resumed is not None:
            batch = self._giving_up(run, run.resumed, now)
        elif run.granted is None:
            batch = WriteBatch(DropInputs(run.session, run.events, "stopped"))
        else:
            turn = run.claim.turn
            batch = WriteBatch(WithdrawParts(turn), EndRun(run.claim, "failed" if timed_out else "stopped", now))
            batch.add_all((*transcript(run, now), *self._hooks.kept(run.turn_ended(turn, "cancelled"))))
        is_untold = run.state.runs_again or run.message.listening
        sentences = () if is_untold else notices.why_it_ended(timed_out, run.crashed)
        if sentences:
            batch.add_all((run.conversation.parts_to_say(map(run.prefix, sentences), now),))
        await self._superseded(batch)
        run.record_end()
        if batch.is_written:
            notices.wake((run.conversation,))
            self._hooks.rows_written()
        if run.resumed is not None and not run.state.runs_again:  # it may not have come so far as to do this itself
            self._questions.withdraw(run.resumed.turn.id, runs_again=False)

    def _giving_up(self, run: Run, resumed: ResumedTurn, now: datetime) -> WriteBatch:
        """Ends a turn that was stopped before it could be resumed: the next process must not resume it either, and what
        it had begun to say is removed."""
        turn = resumed.turn.id
        removed = notices.removed(run.conversation, now, resumed.parts)
        ended = self._hooks.kept(run.turn_ended(turn, "cancelled"))
        verbs = (WithdrawParts(turn), CloseTurn(turn, "stopped", now), removed, *ended)
        return WriteBatch(*verbs, then=lambda: notices.clear(run.conversation, resumed.parts))

    async def _superseded(self, batch: WriteBatch) -> None:
        """Writes a batch, unless its subject has been settled elsewhere meanwhile."""
        try:
            await batch.insist(self._store)
        except Superseded as lost:
            log.debug("%s", lost)


def transcript(run: Run, now: datetime) -> tuple[AppendTranscript, ...]:
    """What the agent received and said in this run."""
    if not run.transcript.told:
        return ()
    turn = run.claim.turn
    entries = [TranscriptEntry("user", without_sound(parts), now, turn) for parts in run.transcript.told]
    if said := "".join(run.transcript.said):
        entries.append(TranscriptEntry("agent", (PromptText(said),), now, turn))
    return (AppendTranscript(run.session, tuple(entries)),)


def _as_it_was(session: Session, context: TurnContext) -> Session:
    """The session as it was when the turn began, so that the agent is told the same again."""
    touched = session.started if context.begins else session.touched
    return replace(session, system_events=context.system_events, aborted_last_run=context.after_abort, touched=touched)


def _events(inputs: tuple[TurnInput, ...]) -> tuple[int, ...]:
    return tuple(each.event for each in inputs)
