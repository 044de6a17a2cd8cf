"""Handles turns that an earlier owner of the shard had begun: each is run again, reported as interrupted, quarantined
or closed."""

import logging
from typing import Any, Literal

from msgspec import MsgspecError

from rejoinder.errors import Unreadable
from rejoinder.events import Step, TurnEnded
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.outbox import Outbox
from rejoinder.runtime.session import notices
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.runtime.session.payloads import message_of, unpack
from rejoinder.runtime.session.prefixes import Prefix
from rejoinder.runtime.session.quarantine import PLANNED_BEFORE
from rejoinder.runtime.session.turn_inputs import ResumedTurn, TurnInput
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import CloseTurn, Input, OpenTurn, Verb, WithdrawParts
from rejoinder.turns.suspicion import RerunPolicy, rerun_policy

log = logging.getLogger(__name__)


class OpenTurns:
    def __init__(self, parts: SessionParts, outbox: Outbox) -> None:
        services = parts.services
        self._store = services.store
        self._hooks = services.hooks
        self._agents = services.agents
        self._settings = services.settings
        self._clock = services.clock
        self._is_shared = services.is_shared
        self._parts = parts
        self._outbox = outbox
        self.resumed: set[int] = set()
        """The turns that run again."""

    async def resume(self, turns: tuple[OpenTurn, ...]) -> None:
        for open in sorted(turns, key=_in_turn):
            try:
                await self._go_on(open)
            except (MsgspecError, Unreadable) as problem:
                if self._is_shared:
                    self._leave(open, str(problem))
                    continue
                turn, about = open.turn, open.inputs[-1].event.inbound.message_id
                await self._parts.queue.quarantine.put_unreadable_turn(
                    turn.session, turn.id, about, turn.route, problem, open.parts
                )

    async def _go_on(self, open: OpenTurn) -> None:
        turn = open.turn
        conversation = self._parts.conversations.at(turn.route)
        inputs = [put for put in open.inputs if put.state in ("taken", "steered")]
        if turn.state == "answered":
            await self._close(open, "answered", PLANNED_BEFORE)
        elif conversation is None or not inputs or (decided := unpack(inputs[0].payload)).agent not in self._agents:
            gone = "its channel or its agent is no longer configured"
            if self._is_shared:
                return self._leave(open, gone)
            await self._close(open, "dropped", gone, *self._removal(open, conversation))
        elif (on_crash := self._settings.now.on_crash) != "rerun":
            if on_crash == "ask" and not decided.listening:
                about, prefix = inputs[-1].event.inbound.message_id, await self._prefix(inputs[-1])
                notice = notices.interrupted(conversation, about, self._clock(), open.parts, prefix)
            else:
                notice = notices.removed(conversation, self._clock(), open.parts)
            await self._close(open, "dropped", "a restart interrupted it", WithdrawParts(turn.id), notice)
            notices.wake((conversation,))
            notices.clear(conversation, open.parts)
        elif rerun_policy(turn.crashes, turn.alone) is RerunPolicy.NEVER:
            asked_for = [put.event.inbound for put in inputs]
            prefix = None if decided.listening else await self._prefix(inputs[-1])
            await self._parts.queue.quarantine.put_turn(turn, asked_for, open.parts, conversation, prefix)
        else:
            session = await self._parts.sessions.find(turn.session, decided.agent, self._clock())
            await conversation.open(self._clock())
            turn_inputs = tuple(self._parts.queue.backlogs.turn_input(put, conversation) for put in inputs)
            in_line = tuple(self._parts.queue.settings.in_line(each.message, session) for each in turn_inputs)
            queue = self._parts.queue.settings.of(turn.route.channel, session)
            said_at = (each.message.inbound.own_route for each in turn_inputs)
            lane = self._parts.queue.lanes.lane(turn.session, decided.agent, queue, turn.route, *said_at)
            self.resumed.add(turn.id)
            lane.resume(turn_inputs, in_line, ResumedTurn(turn, open.parts, self._outbox.said(open.parts)))
            if lane.held_back:
                await self._held_back(turn.session, turn_inputs, lane.held_back)

    def _leave(self, open: OpenTurn, why: str) -> None:
        """Leaves a turn that another process on the store may be able to handle (SC-25)."""
        log.warning("%s: turn %d is left to other processes: %s", open.turn.session, open.turn.id, why)

    async def _held_back(self, session: str, turn_inputs: tuple[TurnInput, ...], why: str) -> None:
        log.warning("%s: %s", session, why)
        for each in turn_inputs:
            known = [step for traced in await self._store.trace(each.event) for step in traced.steps]
            each.conversation.trace(each.message.inbound.message_id, (*known, Step("lane", "waits", why)))

    def _removal(self, open: OpenTurn, conversation: Conversation | None) -> tuple[Verb[Any], ...]:
        """Verbs that remove what this turn had begun to say: nobody will finish it."""
        if conversation is None:
            return ()
        notices.clear(conversation, open.parts)
        return WithdrawParts(open.turn.id), notices.removed(conversation, self._clock(), open.parts)

    async def _prefix(self, put: Input) -> Prefix:
        decided = unpack(put.payload)
        return await self._parts.prefixes.of(message_of(decided, put.event.inbound), put.session, decided.agent)

    async def _close(
        self, open: OpenTurn, outcome: Literal["answered", "dropped"], detail: str, *also: Verb[Any]
    ) -> None:
        """Ends a turn without running it. The parts of an answered turn are rows of their own and are still delivered.

        `also`: verbs to write with its end.
        """
        now = self._clock()
        ended = _turn_ended(open, outcome, detail)
        closed = CloseTurn(open.turn.id, outcome, now, detail)
        await WriteBatch(closed, *also, *self._hooks.kept(ended)).write(self._store)
        self._hooks.tell(ended, kept=True)


def _in_turn(open: OpenTurn) -> tuple[bool, int, int]:
    """The order in which turns run again: first those that must run alone. Among suspects, those involved in the fewest
    crashes come first: they probably end, and the others are then left by themselves."""
    turn = open.turn
    when = rerun_policy(turn.crashes, turn.alone)
    return when is not RerunPolicy.FIRST, turn.alone, turn.crashes if when is not RerunPolicy.AT_ONCE else 0


def _turn_ended(open: OpenTurn, outcome: Literal["answered", "dropped"], detail: str) -> TurnEnded:
    turn, messages = open.turn, [put.event.inbound.message_id for put in open.inputs]
    agent = unpack(open.inputs[0].payload).agent if open.inputs else ""
    ended, why = ("answered", None) if outcome == "answered" else ("cancelled", detail)
    last, others = (messages[-1], tuple(messages[:-1])) if messages else ("", ())
    return TurnEnded(turn.session, agent, turn.route, last, ended, why, others, turn.id)
