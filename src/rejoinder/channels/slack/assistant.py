"""An app that is an assistant: each thread of a direct chat is a conversation with a status, a title and prompts to
begin with (CH-32). None of it is worth failing for."""

import asyncio
import logging
from typing import Any

from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.outcomes import Ok, Refused
from rejoinder.channels.slack.wire import Assistant, AssistantThread
from rejoinder.events import Route

log = logging.getLogger(__name__)

SCOPE = "assistant:write"
STATUS = "is thinking..."
SECONDS = 5.0
MOST_PROMPTS, LONGEST_TITLE = 4, 75
NEVER = frozenset({"unknown_method", "missing_scope", "not_allowed_token_type"})


class AssistantThreads:
    def __init__(self, called: str, api: Api, prompts: tuple[str, ...]) -> None:
        self._called = called
        self._api = api
        self._prompts = prompts[:MOST_PROMPTS]
        self._refused: set[str] = set()
        self._opened: asyncio.Queue[AssistantThread] = asyncio.Queue()

    async def typing(self, route: Route) -> None:
        """Slack shows a status in threads only; it goes with the next message."""
        if route.thread is not None:
            await self._say("assistant.threads.setStatus", route.chat, route.thread, {"status": STATUS})

    async def title(self, route: Route, title: str) -> None:
        if route.thread is not None:
            await self._say("assistant.threads.setTitle", route.chat, route.thread, {"title": title[:LONGEST_TITLE]})

    def started(self, event: Assistant) -> None:
        """Notes it: the event must not wait for the call before it is acknowledged (CH-5)."""
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

    async def _say(self, method: str, channel: str, thread: str, what: dict[str, Any]) -> None:
        if method in self._refused:
            return
        answer = await self._api.call(method, {"channel_id": channel, "thread_ts": thread, **what}, SECONDS)
        if isinstance(answer, Refused) and answer.error in NEVER:
            self._refused.add(method)
        if not isinstance(answer, Ok):
            log.debug("%s: %s: %s", self._called, method, answer)
