"""The line through the house: inbox -> stages -> lane -> agent run -> delivery.

Per session first in, first out, and at most one active run. A lane is there while it has work: the moment
it runs dry it is gone, in the same step, so no message can be left behind in one that has just ended.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable

from msgspec import Struct

from rejoinder.agents.base import Agent, AgentEvent, Done, Failed, SegmentEnded, TextDelta, ToolStarted
from rejoinder.channels.base import CanType, Channel
from rejoinder.events import Inbound, PromptText, Route, Turn
from rejoinder.runtime.delivery import Answer, Conversation
from rejoinder.runtime.inbox import Inbox
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.stages import StartTurn, StopRun, decide

log = logging.getLogger(__name__)

ABORTED = "Agent was aborted."
NOTHING_RUNS = "Nothing is running."
CRASHED = "{agent} failed and could not answer."


class Waiting(Struct, frozen=True):
    """A turn that waits, and the message that asked for it."""

    turn: Turn
    trigger: str


class Lane:
    """One session: what waits, and what runs."""

    def __init__(self) -> None:
        self.waiting: deque[Waiting] = deque()
        self.run: asyncio.Task[None] | None = None


class Engine:
    def __init__(self, agent: Agent, channels: Iterable[Channel], runs: Runs) -> None:
        self._agent = agent
        self._channels = {channel.name: channel for channel in channels}
        self._runs = runs
        self._inbox = Inbox()
        self._conversations: dict[Route, Conversation] = {}
        self._lanes: dict[Route, Lane] = {}

    async def accept(self, message: Inbound) -> None:
        """What a channel calls with each message; returns when it is safe, not when it is answered."""
        if not self._inbox.take(message):
            return
        conversation = self._conversation(message)
        match decide(message):
            case StopRun():
                await self._stop(conversation)
            case StartTurn(message=final):
                handle = conversation.messages.add(final.message_id, final.text)
                turn = _turn(self._agent.name, conversation, final, handle)
                self._enqueue(conversation, Waiting(turn, final.message_id))

    def _conversation(self, message: Inbound) -> Conversation:
        route = Route(message.channel, message.chat.id, message.thread, message.account)
        if route not in self._conversations:
            self._conversations[route] = Conversation(self._channels[message.channel], route)
        return self._conversations[route]

    def _enqueue(self, conversation: Conversation, item: Waiting) -> None:
        lane = self._lanes.get(conversation.route)
        if lane is None:
            lane = self._lanes[conversation.route] = Lane()
            self._runs.start(f"lane:{item.turn.session}", self._drain(conversation, lane))
        lane.waiting.append(item)

    async def _drain(self, conversation: Conversation, lane: Lane) -> None:
        try:
            while lane.waiting:
                item = lane.waiting.popleft()
                lane.run = self._runs.start(f"run:{item.turn.session}", self._run(conversation, item))
                await self._runs.wait(lane.run)
        finally:
            del self._lanes[conversation.route]

    async def _stop(self, conversation: Conversation) -> None:
        lane = self._lanes.get(conversation.route)
        if lane is not None:
            lane.waiting.clear()
            if lane.run is not None:
                await self._runs.cancel(lane.run)
        await conversation.send(ABORTED if lane is not None else NOTHING_RUNS)

    async def _run(self, conversation: Conversation, item: Waiting) -> None:
        answer = Answer(conversation, self._agent.name, item.trigger)
        if isinstance(conversation.channel, CanType):
            await conversation.channel.typing(conversation.route)
        try:
            await self._relay(item.turn, answer)
        except asyncio.CancelledError:
            await answer.abandon()
            raise
        except Exception as error:  # an agent may be anybody's code
            log.exception("%s failed in %s", self._agent.name, item.turn.session)
            await answer.fail(CRASHED.format(agent=self._agent.name), f"{type(error).__name__}: {error}")

    async def _relay(self, turn: Turn, answer: Answer) -> None:
        events = self._agent.run(turn)
        try:
            failed = await self._feed(events, answer)
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()  # ends the run on the agent's side too, now and not at the next collection
        if failed is None:
            await answer.finish()
        else:
            log.warning("%s failed (%s): %s", self._agent.name, failed.kind, failed.detail or failed.sentence)
            await answer.fail(failed.sentence, failed.detail)

    async def _feed(self, events: AsyncIterator[AgentEvent], answer: Answer) -> Failed | None:
        async for event in events:
            match event:
                case TextDelta(text=text):
                    await answer.feed(text)
                case SegmentEnded() | ToolStarted():
                    await answer.next_segment()
                case Failed():
                    return event
                case Done():
                    return None
                case _:
                    pass  # thoughts, plans and usage are not shown
        return None


def _turn(agent: str, conversation: Conversation, message: Inbound, handle: str) -> Turn:
    """TU-30: a block that says who wrote what under which handle, then the text as it came."""
    route, messages = conversation.route, conversation.messages
    sender: dict[str, object] = {
        "schema": "rejoinder.sender.v1",
        "sender_id": message.sender.id,
        "sender_name": message.sender.name,
        "display_name": message.sender.display_name,
        "channel": message.channel,
        "channel_id": message.chat.id,
        "is_bot": message.sender.is_bot,
        "message_id": message.message_id,
        "handle": handle,
    }
    if message.reply_to is not None and (quoted := messages.find(message.reply_to.message_id)) is not None:
        sender["reply_to"] = {"handle": messages.handle(quoted), "text": messages.text(quoted)}
    where = ":".join(filter(None, (route.channel, route.account, route.chat, route.thread)))
    return Turn(
        session=f"{agent}:{where}",
        parts=(PromptText(json.dumps(sender, ensure_ascii=False)), PromptText(message.text)),
    )
