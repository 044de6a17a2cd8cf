"""The line through the house: inbox -> stages -> lane, effects and answers.

Messages of one place are decided one after the other, in the order in which they came; who accepts them
waits for none of it.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import perf_counter

from msgspec.structs import asdict, replace

from rejoinder.agents.base import Agent
from rejoinder.channels.base import Channel
from rejoinder.events import Inbound, MessageReceived, SessionStarted
from rejoinder.inbound import BEFORE_SESSION, resume
from rejoinder.inbound.finalise import arrived
from rejoinder.inbound.message import Message
from rejoinder.inbound.outcome import Continue, Walk, walk
from rejoinder.inbound.rules import channel_rules
from rejoinder.runtime.access import Access
from rejoinder.runtime.conversations import Conversation, Conversations
from rejoinder.runtime.effects import Effects
from rejoinder.runtime.facts import World
from rejoinder.runtime.hooks import Hooks
from rejoinder.runtime.inbox import Inbox
from rejoinder.runtime.lanes import Asked, Lanes
from rejoinder.runtime.outbox import Outbox
from rejoinder.runtime.presence import StatusSigns
from rejoinder.runtime.questions import Questions
from rejoinder.runtime.relay import Watcher
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.sessions import MemorySessions, Sessions
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.slots import Slots
from rejoinder.runtime.tally import Tally
from rejoinder.runtime.work import Workers
from rejoinder.session import QueueChoice, Session, session_key
from rejoinder.store.base import Store
from rejoinder.turns import backlog
from rejoinder.turns.backlog import estimate_tokens
from rejoinder.turns.modes import Drop, Mode, QueueOverride, QueueSettings, resolve

log = logging.getLogger(__name__)


NOBODY = Watcher()


def utc_now() -> datetime:
    return datetime.now(UTC)


class Engine:
    def __init__(
        self,
        agents: Mapping[str, Agent],
        channels: Mapping[str, Channel],
        runs: Runs,
        settings: RuntimeSettings,
        store: Store,
        sessions: Sessions | None = None,
        clock: Callable[[], datetime] = utc_now,
        watcher: Watcher = NOBODY,
        hooks: Hooks | None = None,
    ) -> None:
        self._settings = settings
        self._runs = runs
        self._clock = clock
        self._inbox = Inbox()
        self._tally = Tally()
        self._sessions = sessions or MemorySessions()
        self._tell = (hooks or Hooks()).tell
        self.outbox = Outbox(channels, store, runs, settings, clock, self._tell)
        self._conversations = Conversations(channels, self.outbox, settings.channel)
        questions, access = Questions(runs, settings.question_seconds), Access(settings.rules)
        workers = Workers(agents, self._sessions, settings, runs, questions, clock, watcher, self._tell)
        self._lanes = Lanes(workers, runs, Slots(settings.limits), settings.lease)
        self._effects = Effects(
            agents, self._lanes, self._sessions, questions, access, settings.show_config, self._tell
        )
        self._world = World(settings, self._lanes, workers, access, self._tally)

    async def accept(self, message: Inbound) -> None:
        """What a channel calls with each message; returns when it is safe, not when it is answered."""
        if not self._inbox.take(message):
            return
        self._tell(MessageReceived(message))
        conversation = self._conversations.of(message)
        conversation.arrived.append(message)
        if len(conversation.arrived) == 1:
            self._runs.start(f"decide:{message.channel}:{message.chat.id}", self._decide_in_order(conversation))

    async def _decide_in_order(self, conversation: Conversation) -> None:
        while conversation.arrived:
            try:
                await self._decide(conversation.arrived[0], conversation)
            except Exception:  # one message must not hold up those behind it
                log.exception("a message of %s could not be decided", conversation.channel.name)
            finally:
                conversation.arrived.popleft()

    async def _decide(self, inbound: Inbound, conversation: Conversation) -> None:
        now, rules = self._clock(), self._settings.rules
        agent = channel_rules(rules, inbound.channel).agent.name
        key = session_key(inbound, rules.settings.session, agent)
        conversation.heard(inbound, now.date())
        message = arrived(inbound, self._world.facts(inbound, conversation, key, agent, now.date()))
        decided = walk(BEFORE_SESSION, message, None, rules, now, perf_counter)
        if isinstance(decided.outcome, Continue):
            session = await self._sessions.find(key, agent, now)
            decided = resume(decided, session, rules, now, perf_counter)
            changed = decided.session is not None and decided.session != session
            if changed or isinstance(decided.outcome, Continue):
                await self._begin(session, now, conversation)
            if decided.session is not None and changed:
                await self._sessions.save(decided.session)
                self._lanes.obey(key, self._queue(inbound.channel, decided.session))
        conversation.trace(inbound.message_id, decided.trace)
        await self._act(decided, conversation, agent)

    async def _begin(self, session: Session, now: datetime, conversation: Conversation) -> None:
        """A session that was only just made begins when there is something to remember: a choice, or a turn."""
        if session.started == now:
            await self._sessions.save(session)
            self._tell(SessionStarted(session.key, session.agent, conversation.route))

    async def _act(self, decided: Walk, conversation: Conversation, agent: str) -> None:
        answered = [
            said
            for effect in decided.effects
            if (said := await self._effects.perform(effect, conversation, agent)) is not None
        ]
        for reply in answered or decided.replies:
            await conversation.send(reply)
        if isinstance(decided.outcome, Continue) and decided.session is not None:
            await self._enqueue(decided.message, decided.session, conversation)

    async def _enqueue(self, message: Message, session: Session, conversation: Conversation) -> None:
        """A turn for each agent the message wakes: in a room, every one has a session and a lane of its own."""
        inbound = message.inbound
        overheard, conversation.overheard = conversation.overheard, ()
        if not message.listening:
            self._tally.add(inbound, self._clock().date())
        for agent in message.agents:
            if agent != session.agent:
                key = session_key(inbound, self._settings.rules.settings.session, agent)
                now = self._clock()
                session = await self._sessions.find(key, agent, now)
                await self._begin(session, now, conversation)
            id = f"{inbound.channel}/{inbound.account}/{inbound.event_id}"
            handle = conversation.messages.handle(inbound.message_id)
            asked = Asked(id, message, conversation, handle, overheard, self._signs(message, conversation))
            self._lanes.arrive(
                session.key, agent, self._queue(inbound.channel, session), asked, self._waiting(asked, session)
            )

    def _waiting(self, asked: Asked, session: Session) -> backlog.Message:
        message, choice = asked.message, asked.message.choices.get("queue")
        channel = message.inbound.channel
        return backlog.Message(
            asked.id,
            message.route,
            message.inbound.sender.id,
            message.agent_text,
            estimate_tokens((message.agent_text,), len(message.inbound.attachments)),
            None if choice is None else self._queue(channel, session, choice),
        )

    def _queue(self, channel: str, session: Session, inline: QueueChoice | None = None) -> QueueSettings:
        """TU-4: who has a say about this session's queue, the nearest first."""
        here = self._settings.channel(channel)
        return resolve(
            inline=_override(inline),
            session=_override(session.queue),
            channel=here.queue,
            gateway=self._settings.queue,
            plugin=here.plugin_queue,
        )

    def _signs(self, message: Message, conversation: Conversation) -> StatusSigns | None:
        status = self._settings.channel(message.inbound.channel).status
        if not status.enabled:
            return None
        return StatusSigns(self._runs, conversation, message.inbound.message_id, status)


def _override(choice: QueueChoice | None) -> QueueOverride | None:
    if choice is None:
        return None
    said = QueueOverride(**{**asdict(choice), "mode": None, "drop": None})
    return replace(said, mode=choice.mode and Mode(choice.mode), drop=choice.drop and Drop(choice.drop))
