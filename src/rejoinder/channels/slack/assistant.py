"""An app that is an assistant: each thread of a direct chat is a conversation with a status, a title and suggested
prompts (CH-32). A failure here never fails the answer."""

import asyncio
import logging
from typing import Any

from rejoinder.bounded import Bounded
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.outcomes import Ok, Refused
from rejoinder.channels.slack.wire import Assistant, AssistantThread
from rejoinder.events import Route

log = logging.getLogger(__name__)

SCOPE = "assistant:write"
STATUS = "is thinking..."
SECONDS = 5.0
MOST_PROMPTS, LONGEST_TITLE, MOST_SHOWN = 4, 75, 1000
NEVER = frozenset({"unknown_method", "missing_scope", "not_allowed_token_type"})


class AssistantThreads:
    def __init__(self, section: str, api: Api, prompts: tuple[str, ...]) -> None:
        self._section = section
        self._api = api
        self._prompts = prompts[:MOST_PROMPTS]
        self._refused: set[str] = set()
        self._shown: Bounded[tuple[str, str], None] = Bounded(MOST_SHOWN)  # where a status is shown, as far as we know
        self._opened: asyncio.Queue[AssistantThread] = asyncio.Queue()

    async def typing(self, route: Route) -> None:
        """Slack shows a status only in threads, and removes it with the next message."""
        if route.thread is not None and await self._status(route.chat, route.thread, STATUS):
            self._shown[route.chat, route.thread] = None

    async def stop_typing(self, route: Route) -> None:
        """Removes the status if no message has done so: the agent may have chosen silence, been stopped or failed."""
        place = (route.chat, route.thread or "")
        if place in self._shown:
            del self._shown[place]
            await self._status(*place, "")

    def said(self, chat: str, thread: str | None) -> None:
        """A message was sent there, so Slack has removed the status."""
        self._shown.pop((chat, thread or ""), None)

    async def _status(self, chat: str, thread: str, status: str) -> bool:
        return await self._say("assistant.threads.setStatus", chat, thread, {"status": status})

    async def title(self, route: Route, title: str) -> None:
        if route.thread is not None:
            await self._say("assistant.threads.setTitle", route.chat, route.thread, {"title": title[:LONGEST_TITLE]})

    def started(self, event: Assistant) -> None:
        """Only notes the thread: the event must be acknowledged without waiting for the calls (CH-5)."""
        if self._prompts:
            self._opened.put_nowait(event.assistant_thread)

    async def offer_prompts(self) -> None:
        """Runs for ever."""
        prompts = [{"title": each[:LONGEST_TITLE], "message": each} for each in self._prompts]
        while True:
            thread = await self._opened.get()
            await self._say(
                "assistant.threads.setSuggestedPrompts", thread.channel_id, thread.thread_ts, {"prompts": prompts}
            )

    async def _say(self, method: str, channel: str, thread: str, what: dict[str, Any]) -> bool:
        """Returns whether Slack accepted it."""
        if method in self._refused:
            return False
        answer = await self._api.call(method, {"channel_id": channel, "thread_ts": thread, **what}, SECONDS)
        if isinstance(answer, Refused) and answer.error in NEVER:
            self._refused.add(method)
        if not isinstance(answer, Ok):
            log.debug("%s: %s: %s", self._section, method, answer)
        return isinstance(answer, Ok)
