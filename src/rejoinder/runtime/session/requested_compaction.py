"""Compaction on command: a turn that asks the agent nothing and shortens what it remembers of the session (TU-23).

Rule 1: a chore is queued in the session's lane like any message: earlier messages are answered first, later ones wait,
        other sessions are not affected, and `/stop` ends it.
Rule 2: one commit ends it: the summary that replaces the memory, what the next turn is told, and what people read.
"""

from time import monotonic
from typing import Literal

from rejoinder.agents.base import Agent
from rejoinder.errors import Superseded
from rejoinder.inbound.facts import Step
from rejoinder.runtime.services import Services
from rejoinder.runtime.session import notices
from rejoinder.runtime.session.compaction import Compaction, CompactionResult
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import with_event
from rejoinder.store.base import EndRun, Trace, said_about

SHORTENED = "The conversation has been shortened."
NOT_SHORTENED = "There was nothing to shorten, or it failed."


class RequestedCompaction:
    def __init__(self, services: Services, sessions: Sessions, compaction: Compaction) -> None:
        self._compaction = compaction
        self._sessions = sessions
        self._store = services.store
        self._clock = services.clock
        self._hooks = services.hooks

    async def run(self, run: Run, agent: Agent) -> None:
        began, ended = monotonic(), "cancelled"
        try:
            run.begun(can_steer=False)
            shortened = await self._compaction.shorten(run.session, agent, run.message.prompt or "")
            run.mark_ending()
            ended: Literal["answered", "failed", "cancelled"] = "failed" if shortened is None else "answered"
            await self._end(run, shortened, _step(agent, ended, began))
        finally:
            run.conversation.trace(run.trigger, (_step(agent, ended, began),))
            self._hooks.tell(run.turn_ended(run.claim.turn, ended), kept=True)  # its end is written elsewhere

    async def _end(self, run: Run, shortened: CompactionResult | None, step: Step) -> None:
        now, event = self._clock(), run.inputs[-1].event
        said = NOT_SHORTENED if shortened is None else SHORTENED
        batch = WriteBatch(
            EndRun(run.claim, "answered" if shortened is not None else "failed", now),
            run.conversation.parts_to_say((run.prefix(said),), now, stem=said_about(event)),
            Trace(event, now, (step,)),
            *self._hooks.kept(run.turn_ended(run.claim.turn, "failed" if shortened is None else "answered")),
        )
        async with self._sessions.changing(run.session, run.agent, now) as held:
            session = held.session
            if shortened is not None:
                session = with_event(session, shortened.note)
                batch.add_all(shortened.kept)
            batch.add_all(held.put_verbs(session))
            try:
                await batch.insist(self._store)
            except Superseded:
                held.read_again()  # the turn was stopped just as it ended
                return
            held.mark_stored(session)
        run.record_end()
        notices.wake((run.conversation,))


def _step(agent: Agent, ended: str, began: float) -> Step:
    return Step(f"compact {agent.name}", ended, None, monotonic() - began)
