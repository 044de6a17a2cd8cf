"""Sub-agents, which run beside a conversation: starting them, talking to them, ending them, and reporting their end
(TU-36). `turns.subagents` says who may do that.

Rule 1: a sub-agent is a session with a lane of its own. It begins with the commit that stores its row and its first
        turn, so a restart continues it like any turn.
Rule 2: its end is first stored, then reported once: to the agent that started it by a turn, and to the chat by a line.
Rule 3: a sub-agent that has started others has ended only when they have ended and it has been told.
Rule 4: it may do what its conversation may do at that moment, and never more.
"""

import asyncio
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.base import ShowsSubagents
from rejoinder.errors import Superseded
from rejoinder.events import Route
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.conversations import Conversation, Conversations
from rejoinder.runtime.services import Services
from rejoinder.runtime.session import subagent_reports as reports
from rejoinder.runtime.session.background import Background, BackgroundStarter
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import Session, agent_of, subagent_key, with_event
from rejoinder.store.base import PutSubagent, StoredSubagent, SubagentState, Verb, WriteOffSubagent
from rejoinder.turns.subagents import SpawnRequest, SpawnState, limit_reached, name_for, refusal

log = logging.getLogger(__name__)

ONE_DAY = timedelta(days=1)
INTERRUPTED = "It was interrupted and did not finish."
LOST = "Your sub-agent {name} could not finish: its stored data cannot be read."


class SubagentParent(Struct, frozen=True):
    """Who starts a sub-agent: a session, the agent in it, its place, and the people whose words led to it.

    `lifts`: whether all these people were owners. `key`: the same if the start is requested again after a restart."""

    session: str
    agent: str
    route: Route
    people: tuple[str, ...]
    lifts: bool
    key: str
    by_person: bool = False


class Subagents:
    def __init__(
        self,
        services: Services,
        sessions: Sessions,
        conversations: Conversations,
        lanes: Lanes,
        background: BackgroundStarter,
    ) -> None:
        self._services = services
        self._store = services.store
        self._sessions = sessions
        self._conversations = conversations
        self._lanes = lanes
        self._background = background
        self._running: dict[str, StoredSubagent] = {}  # by session
        self._lines: dict[str, Iterable[str]] = {}  # what sub-agents at work have done, by session
        self._telling: dict[str, StoredSubagent] = {}  # sub-agents whose end is being reported
        self._limited: dict[str, datetime] = {}  # conversations told of a limit, and their last message then
        self._starting = asyncio.Lock()  # names and limits depend on all that have been started

    # --- look-ups -------------------------------------------------------------------------------------

    def get(self, session: str) -> StoredSubagent | None:
        """The sub-agent at work in this session."""
        return self._running.get(session)

    def at(self, route: Route) -> list[StoredSubagent]:
        """The sub-agents at work for this place."""
        return [each for each in self._running.values() if each.route == route] if self._running else []

    async def session_of(self, session: str, agent: str) -> Session:
        """The session whose levels apply to questions asked here: for a sub-agent, that of its conversation."""
        kept = self._running.get(session)
        key = session if kept is None else kept.root
        return await self._sessions.find(key, agent, self._services.clock())

    def conversation_of(self, kept: StoredSubagent) -> Conversation | None:
        """The conversation in which it asks and in which its end is reported."""
        return self._conversations.at(kept.route)

    # --- starting ---------------------------------------------------------------------------------------

    async def start(self, wish: SpawnRequest, by: SubagentParent) -> StoredSubagent | str:
        """Returns the sub-agent, or the reason why there is none. Once this has begun, it goes on even if the run that
        wants the sub-agent ends: what is stored is also at work."""
        return await self._services.tasks.finish("subagent starts", lambda: self._start(wish, by))

    async def _start(self, wish: SpawnRequest, by: SubagentParent) -> StoredSubagent | str:
        async with self._starting:
            above = self._running.get(by.session)
            root, depth, route = (by.session, 0, by.route) if above is None else (above.root, above.depth, above.route)
            kept = await self._store.subagents(root)
            if (same := next((each for each in kept if each.key == by.key), None)) is not None:
                return same
            now = self._services.clock()
            touched = (await self._sessions.find(root, by.agent, now)).touched
            family = self._family(kept, by, depth, max(touched, now - ONE_DAY))
            if (why := refusal(wish, family)) is not None:
                if why == limit_reached(family) and not by.by_person:
                    await self._tell_limit(root, touched, route, why)
                return why
            name = name_for(wish, family.names)
            new = StoredSubagent(
                subagent_key(wish.agent, root, name),
                by.session,
                root,
                name,
                wish.agent,
                wish.task,
                route,
                now,
                by.key,
                depth + 1,
                by.by_person,
                by.people if above is None else above.people,
                by.lifts if above is None else above.lifts,
            )
            return await self._begin(new, wish.task, by.key) or new

    def _family(self, kept: tuple[StoredSubagent, ...], by: SubagentParent, depth: int, since: datetime) -> SpawnState:
        return SpawnState(
            self._services.settings.now.may_spawn(by.agent),
            depth,
            frozenset(each.name.lower() for each in kept),
            sum(each.is_running for each in kept),
            0 if by.by_person else sum(each.started > since and not each.by_person for each in kept),
        )

    async def _begin(self, kept: StoredSubagent, text: str, key: str, *, steer: bool = False) -> str | None:
        """Gives it a turn; returns the reason if it gets none."""
        turn = Background(
            id=key,
            agent=kept.agent,
            session=kept.session,
            text=text,
            subagent=True,
            answerable=kept.people,
            lifts=kept.lifts,
            steer=steer,
        )
        before = self._running.get(kept.session)
        self._running[kept.session] = kept
        try:
            why = await self._background.begin(turn, also=(PutSubagent(kept),), at_once=True)
        except Exception:
            self._has_not_begun(kept, before)
            raise
        if why is not None:
            self._has_not_begun(kept, before)
        elif kept.session in self._running:
            self._show(kept)
        elif (lane := self._lanes.get(kept.session)) is not None:  # it was stopped while it was stored
            await self._lanes.stop([lane])
        return why

    def _has_not_begun(self, kept: StoredSubagent, before: StoredSubagent | None) -> None:
        """Nothing is written: what was at work in its session still is."""
        if self._running.get(kept.session) is not kept:
            return  # it was stopped meanwhile
        if before is None:
            del self._running[kept.session]
        else:
            self._running[kept.session] = before

    async def _tell_limit(self, root: str, touched: datetime, route: Route, why: str) -> None:
        """Tells the chat of a limit, but only once until somebody writes there."""
        if self._limited.get(root) != touched:
            self._limited[root] = touched
            await self._say(route, f"_{why}_")

    # --- talking to sub-agents and ending them ----------------------------------------------------------

    async def send(self, kept: StoredSubagent, text: str, by: SubagentParent, *, steer: bool) -> str | None:
        """Tells a sub-agent something. From then on it also acts for the people who said it, and so never with more
        authority than they have. One that had ended acts for them alone."""
        at_work = sum(each.root == kept.root for each in self._running.values())
        if not kept.is_running and (why := limit_reached(SpawnState((), at_work=at_work))) is not None:
            return why
        people, lifts = (kept.people, kept.lifts) if kept.is_running else ((), True)
        again = replace(
            kept,
            state="running",
            ended=None,
            result="",
            told=True,
            people=tuple(dict.fromkeys((*people, *by.people))),
            lifts=lifts and by.lifts,
        )
        return await self._services.tasks.finish(
            "subagent is told", lambda: self._begin(again, text, by.key, steer=steer)
        )

    async def stop(self, route: Route, before: int | None = None) -> int:
        """Ends all sub-agents that work for this place; returns how many. `before`: only those at work before this
        event."""
        return await self.kill([each for each in self.at(route) if self._was_at_work(each, before)])

    def _was_at_work(self, kept: StoredSubagent, before: int | None) -> bool:
        """Whether it was at work before this event. A sub-agent that waits for others has started them, so it was there
        before them."""
        lane = self._lanes.get(kept.session)
        if before is None or (lane is not None and lane.has_from_before(before)):
            return True
        return any(self._was_at_work(each, before) for each in self._running.values() if each.parent == kept.session)

    async def stop_of(self, session: str) -> int:
        return await self.kill([each for each in self._running.values() if each.root == session])

    async def kill(self, kept: list[StoredSubagent]) -> int:
        """Ends these and all sub-agents they have started. The session that started one is told with its next turn."""
        doomed = {each.session: each for each in kept if each.session in self._running}
        for each in self._running.values():  # in the order they were started: parents first
            if each.parent in doomed:
                doomed[each.session] = each
        now = self._services.clock()
        for each in doomed.values():
            self._running.pop(each.session, None)
        # Lanes first: if the process died after the rows, a restart would resume work that no further stop finds.
        lanes = [lane for session in doomed if (lane := self._lanes.get(session)) is not None]
        await self._lanes.stop(lanes)
        over = [each for each in doomed.values() if each.session not in self._running]  # not told to go on meanwhile
        await self._write(*(PutSubagent(self._over(each, "killed", "", now, told=True)) for each in over))
        for each in doomed.values():
            self._lines.pop(each.session, None)
            self._show(each)
            if each.parent not in doomed:
                self._services.tasks.start("subagent stopped", self._note_stopped(each))
        return len(doomed)

    async def _note_stopped(self, kept: StoredSubagent) -> None:
        await self._note(kept.parent, self._agent_of(kept), f"Your sub-agent {kept.name} was stopped.")

    async def _note(self, parent: str, agent: str, event: str, *also: Verb[Any]) -> None:
        """Has the agent of the session told with its next turn."""
        async with self._sessions.changing(parent, agent, self._services.clock()) as held:
            session = with_event(held.session, event)
            try:
                await self._write(*also, *held.put_verbs(session))
            except Superseded:
                held.read_again()
                return
            held.mark_stored(session)

    # --- its turns ----------------------------------------------------------------------------------------

    def works(self, session: str, lines: Iterable[str]) -> None:
        """A turn of the sub-agent has begun; `lines` will say what it does."""
        self._lines[session] = lines

    def ending(self, session: str, turn: int, text: str, failure: str) -> StoredSubagent | None:
        """Its row after this turn; None if it does not end with it, because others work for it or it was killed."""
        kept, lane = self._running.get(session), self._lanes.get(session)
        under_way = (*self._running.values(), *self._telling.values())
        if kept is None or any(each.parent == session for each in under_way) or (lane is not None and lane.waiting):
            return None
        state: SubagentState = "failed" if failure else "ended"
        return replace(self._over(kept, state, failure or text, self._services.clock(), told=False), turn=turn)

    def ended(self, kept: StoredSubagent) -> None:
        """Called when its end has been written."""
        self._running.pop(kept.session, None)
        self._lines.pop(kept.session, None)
        self._telling[kept.session] = kept
        self._show(kept)
        self._services.tasks.start(f"subagent:{kept.name}", self._tell(kept), then=lambda: self._was_told(kept))

    def _was_told(self, kept: StoredSubagent) -> None:
        self._telling.pop(kept.session, None)

    def broke_off(self, session: str) -> None:
        """Called when its run was ended from outside, other than by a kill."""
        if (kept := self._running.get(session)) is not None:
            self._services.tasks.start(f"subagent:{kept.name}", self._interrupted(kept))

    async def _interrupted(self, kept: StoredSubagent) -> None:
        over = self._over(kept, "failed", INTERRUPTED, self._services.clock(), told=False)
        if self._running.pop(kept.session, None) is not None:
            await self._write(PutSubagent(over))
            self.ended(over)

    async def _tell(self, kept: StoredSubagent) -> None:
        """Reports the end to the session that started it, and to the chat."""
        above = self._running.get(kept.parent)
        verbs: list[Verb[Any]] = [PutSubagent(replace(kept, told=True))]
        conversation = self.conversation_of(kept)
        if conversation is not None:
            stem = f"{kept.session}/{kept.turn}/end"
            verbs.append(conversation.parts_to_say((reports.end_line(kept),), self._services.clock(), stem=stem))
        why = "the session that started it is gone"
        if above is not None or kept.depth == 1:
            turn = Background(
                id=f"{kept.session}/{kept.turn}/end",
                agent=self._agent_of(kept),
                session=kept.parent,
                text=reports.end_told(kept),
                untrusted=(kept.result,) if kept.result else (),
                target=kept.route if above is None else None,
                subagent=above is not None,
                answerable=kept.people,
                lifts=kept.lifts,
            )
            why = await self._background.begin(turn, also=tuple(verbs))
        if why is not None:
            log.info("%s has ended, but starts no turn: %s", kept.name, why)
            await self._write(*verbs)
            if above is not None:
                await self._interrupted(above)
        if conversation is not None:
            conversation.sender.wake(rows=True)

    def _agent_of(self, kept: StoredSubagent) -> str:
        """The agent of the session that started it."""
        above = self._running.get(kept.parent)
        return above.agent if above is not None else agent_of(kept.parent)

    # --- after a restart ----------------------------------------------------------------------------------

    async def load(self) -> None:
        """Reads which sub-agents an earlier process left at work, before their turns continue."""
        found = await self._store.open_subagents()
        self._running |= {each.session: each for each in found if each.is_running}
        self._telling |= {each.session: each for each in found if not each.is_running}

    async def write_off(self, session: str, root: str, why: str) -> None:
        """Ends a sub-agent whose row cannot be read, because nobody knows what it may do. The agent of its conversation
        is told (DU-14)."""
        log.error("%s has failed, because its stored data cannot be read: %s", session, why)
        await self._note(root, agent_of(root), LOST.format(name=session.rpartition(":")[2]), WriteOffSubagent(session))

    async def settle(self) -> None:
        """Called once the turns continue: reports ends that were not reported yet, and ends sub-agents that have no
        turn any more as failed."""
        for each in list(self._telling.values()):
            self.ended(each)
        for each in list(self._running.values()):
            others = (*self._running.values(), *self._telling.values())
            is_left = self._services.is_shared and agent_of(each.session) not in self._services.agents
            if is_left or self._lanes.get(each.session) is not None:
                continue
            if not any(other.parent == each.session for other in others):
                await self._interrupted(each)

    # --- for people -----------------------------------------------------------------------------------------

    async def listing(self, root: str) -> str:
        return reports.listing(await self._store.subagents(root), self._services.clock())

    async def info(self, kept: StoredSubagent) -> str:
        return reports.info(kept, self._services.clock())

    async def log(self, kept: StoredSubagent) -> str:
        return reports.log(kept, await self._store.transcript(kept.session, kept.started), *self.doing(kept.session))

    def doing(self, session: str) -> tuple[tuple[str, ...], str]:
        """What the sub-agent at work in this session has done and said so far in this turn."""
        lane = self._lanes.get(session) if session in self._running else None
        if lane is None or lane.run is None:
            return (), ""
        return tuple(self._lines.get(session, ())), "".join(lane.run.transcript.said)

    def _show(self, kept: StoredSubagent) -> None:
        """Makes a page that shows sub-agents beside a chat look again."""
        conversation = self.conversation_of(kept)
        if conversation is not None and can(channel := conversation.channel, ShowsSubagents):
            self._services.tasks.start("subagents shown", channel.subagents_changed(kept.route))

    async def find(self, root: str, name: str) -> StoredSubagent | None:
        known = {each.name.lower(): each for each in await self._store.subagents(root)}
        return known.get(name.lower())

    # --- writing ------------------------------------------------------------------------------------------------

    async def _say(self, route: Route, line: str) -> None:
        if (conversation := self._conversations.at(route)) is not None:
            await self._write(conversation.parts_to_say((line,), self._services.clock()))
            conversation.sender.wake(rows=True)

    async def _write(self, *verbs: Verb[Any]) -> None:
        if verbs:
            await WriteBatch(*verbs).insist(self._store)

    def _over(
        self, kept: StoredSubagent, state: SubagentState, result: str, now: datetime, *, told: bool
    ) -> StoredSubagent:
        lines = tuple(self._lines.get(kept.session, ()))
        return replace(kept, state=state, result=result, ended=now, lines=lines, told=told)
