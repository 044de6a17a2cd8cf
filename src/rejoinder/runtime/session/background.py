"""Turns that no message triggers: heartbeats and scheduled jobs (TU-28).

They go through the same lanes as all turns, one after the other, and wait for the turn that runs. They answer no
message: their words go to their target; without one, the words are stored and logged.
"""

import asyncio
import logging
from collections import deque
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents.base import CanForget
from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome
from rejoinder.crashpoint import crashpoint
from rejoinder.events import Chat, Inbound, Part, Route, Sender, SessionStarted
from rejoinder.inbound.scheduled import refusal, scheduled_message
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.conversations import Conversation, Conversations
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.payloads import pack
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import start_over
from rejoinder.store.base import CreateOwnEvent, Destination, PutAgentSession, Tick, Verb
from rejoinder.turns.modes import Mode
from rejoinder.unicode_repair import one_line

log = logging.getLogger(__name__)

MOST_KEPT = 1000


class Background(Struct, frozen=True, kw_only=True):
    """A turn that no message triggers. `session`: the session whose memory it uses. `target`: where its words go."""

    id: str
    agent: str
    session: str
    text: str
    target: Route | None = None
    model: str | None = None
    new_session: bool = False
    """Whether a new session starts with this turn."""
    heartbeat: bool = False
    subagent: bool = False
    """Whether it is a turn of a sub-agent, whose words are not posted (TU-36)."""
    answerable: tuple[str, ...] = ()
    """Who may answer questions asked in it."""
    lifts: bool = True
    """Whether only words of the operator or of owners led to it, so that a looser policy of the session applies to
    it."""
    untrusted: tuple[str, ...] = ()
    """Additional texts from untrusted sources."""
    steer: bool = False
    """Whether it joins a turn under way, if the agent can do that."""

    def inbound(self, route: Route) -> Inbound:
        """The turn as an event without a sender."""
        return Inbound(
            route.channel,
            event_id=self.id,
            message_id="",
            chat=Chat(route.chat),
            sender=Sender(""),
            text=self.text,
            account=route.account,
            thread=route.thread,
            entry="cron",
            untrusted_context=self.untrusted,
        )


class BackgroundStarter:
    """Begins turns without a message: one commit writes the turn, as a row like any message, and the tick that caused
    it.

    None begins before recovery is over: turns left by an earlier process come first, and must be queued only once.
    """

    def __init__(
        self,
        services: Services,
        conversations: Conversations,
        nowhere: "DiscardChannel",
        sessions: Sessions,
        queueing: Queueing,
        lanes: Lanes,
        recovered: asyncio.Event,
    ) -> None:
        self._agents = services.agents
        self._settings = services.settings
        self._conversations = conversations
        self._nowhere = nowhere
        self._sessions = sessions
        self._queueing = queueing
        self._lanes = lanes
        self._store = services.store
        self._clock = services.clock
        self._hooks = services.hooks
        self._recovered = recovered

    async def begin(
        self, turn: Background, tick: Tick | None = None, also: tuple[Verb[Any], ...] = (), *, at_once: bool = False
    ) -> str | None:
        """Returns None once the turn is in its session's queue, or the reason why it gets none; then nothing is
        written.

        `also`: verbs to write with it. `at_once`: does not wait for recovery, as an earlier process left nothing in
        this session.
        """
        if not at_once:
            await self._recovered.wait()
        if (speaker := self._agents.get(turn.agent)) is None:
            return f"there is no agent {turn.agent}"
        conversation, now, rules = self._place(turn), self._clock(), self._settings.now.rules
        inbound = turn.inbound(conversation.route)
        message = scheduled_message(inbound, turn.agent, turn.model, rules, heartbeat=turn.heartbeat)
        message = replace(message, subagent=turn.subagent, answerable=turn.answerable, lifts=turn.lifts)
        await conversation.open(now)
        async with self._sessions.changing(turn.session, turn.agent, now) as held:
            is_new, new_session = held.is_new, turn.new_session and not held.is_new
            session = start_over(held.session, now) if new_session else held.session
            if (why := refusal(message, session, rules, now)) is not None:
                return why
            to = Destination(held.key, pack(message, turn.agent, (), inbound))
            batch = WriteBatch(*held.put_verbs(session), *also)
            started = SessionStarted(session.key, session.agent, conversation.route, session.started)
            if is_new:
                batch.add_all(self._hooks.kept(started))
            originated = batch.add(CreateOwnEvent(inbound, to, now, tick))
            if new_session:
                batch.add_all((PutAgentSession(held.key, None),))
            await batch.write(self._store)
            crashpoint("K4")
            held.mark_stored(session)
        if is_new:
            self._hooks.tell(started, kept=True)
        if new_session and can(speaker, CanForget):
            speaker.forget(session.key)
        if (event := originated()) is not None:
            queue = self._queueing.of(conversation.route.channel, session)
            in_line = self._queueing.in_line(message, session)
            if turn.steer:
                in_line = replace(in_line, settings=replace(queue, mode=Mode.STEER_BACKLOG))
            turn_input = self._queueing.turn_input(event.id, message, turn.agent, conversation, (), None)
            self._lanes.arrive(session.key, turn.agent, queue, turn_input, in_line)
        return None

    def _place(self, turn: Background) -> Conversation:
        if turn.target is not None:
            if (conversation := self._conversations.at(turn.target)) is not None:
                return conversation
            log.warning("%s: there is no channel %s for the answer", turn.session, turn.target.channel)
        conversation = self._conversations.at(self._nowhere.route(turn.session))
        assert conversation is not None, "nowhere is always there"
        return conversation


class DiscardChannel:
    """The channel for words that have no target, so that they are never lost silently."""

    name = "nowhere"
    limits = Limits()

    def __init__(self) -> None:
        self.kept: deque[Part] = deque(maxlen=MOST_KEPT)
        self._count = 0

    def route(self, session: str) -> Route:
        return Route(self.name, session)

    async def listen(self, deliver: Inlet) -> None:
        """No messages arrive here."""

    async def send(self, part: Part) -> Outcome:
        self._count += 1
        self.kept.append(part)
        words = one_line(part.text)  # an agent must not be able to forge log lines
        log.warning("%s: a background turn has no target; its answer is stored: %s", part.route.chat, words)
        return Delivered(f"kept-{self._count}")
