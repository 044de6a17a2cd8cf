"""Any endpoint that speaks chat completions: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp and their kin.

The model remembers nothing, so the agent keeps the conversation of each session and sends it along. It runs
no tools; tool calls that an endpoint runs by itself are shown.
"""

import base64
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from msgspec import Struct, field

from rejoinder.agents.base import (
    AgentEvent,
    Done,
    ModelSelected,
    TextDelta,
    Thought,
    ToolEnded,
    ToolStarted,
    Usage,
)
from rejoinder.agents.endpoint import Endpoint, decoded, server_events, stopped_in_the_middle
from rejoinder.agents.failures import RunFailed, failed, failed_stream
from rejoinder.agents.guard import guarded
from rejoinder.agents.history import Exchange, Histories
from rejoinder.agents.think import think_setting
from rejoinder.events import PromptImage, PromptPart, PromptText, Turn

NO_TOOLS = "the model asked for a tool, and this agent runs none"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[agents.NAME]` with `kind = "openai"`."""

    model: str
    base_url: str = "https://api.openai.com/v1"
    api_key: str = ""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Aliases: the name people say after /model, and the name the endpoint knows."""
    fallbacks: tuple[str, ...] = ()
    system_prompt: str = ""
    history_tokens: int = 100_000
    idle_timeout: float = 300.0
    hard_timeout: float = 1800.0
    think: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Own cells of the /think table: level, and what it adds to the request."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Added to every request as it is: temperature, top_p, provider settings."""
    headers: dict[str, str] = field(default_factory=dict[str, str])


def open_agent(name: str, settings: Settings) -> "OpenAIAgent":
    return OpenAIAgent(name, settings)


class OpenAIAgent:
    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.models = (settings.model, *settings.models)
        self.fallbacks = settings.fallbacks
        self._settings = settings
        self._histories = Histories(settings.history_tokens)
        key = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._endpoint = Endpoint(settings.base_url, {**key, **settings.headers}, settings.api_key)

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        limits = self._settings
        return guarded(self._events(turn), idle=limits.idle_timeout, hard=limits.hard_timeout)

    def forget(self, session: str) -> None:
        self._histories.forget(session)

    async def close(self) -> None:
        await self._endpoint.close()

    async def _events(self, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        past = self._histories.before(turn.session, turn.parts)
        body = request_body(self._settings, turn, past)
        reading = ChatReading(self._settings.api_key)
        try:
            async with self._endpoint.post("/chat/completions", body) as response:
                yield ModelSelected(body["model"])
                if response.content_type == "application/json":
                    for event in reading.whole(decoded(await response.read())):
                        yield event
                else:
                    async with aclosing(server_events(response)) as told:
                        async for server_event in told:
                            for event in reading.feed(server_event.data):
                                yield event
                            if reading.complete:
                                break
            for event in reading.finish():
                yield event
        finally:
            # Also when it was cancelled: people have seen what was said so far, so the model has to know it.
            self._histories.remember(turn.session, turn.parts, reading.answer)


def request_body(settings: Settings, turn: Turn, past: tuple[Exchange, ...]) -> dict[str, Any]:
    wanted = turn.model or settings.model
    messages: list[dict[str, Any]] = []
    if system := turn.system or settings.system_prompt:
        messages.append({"role": "system", "content": system})
    unanswered: tuple[PromptPart, ...] = ()
    for exchange in past:
        unanswered += exchange.parts
        if exchange.answer:
            messages.append({"role": "user", "content": _content(unanswered)})
            messages.append({"role": "assistant", "content": exchange.answer})
            unanswered = ()
    messages.append({"role": "user", "content": _content(unanswered + turn.parts)})
    return {
        "model": settings.models.get(wanted, wanted),
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        **settings.options,
        **think_setting("openai", turn.think, settings.think),
    }


def _content(parts: tuple[PromptPart, ...]) -> str | list[dict[str, Any]]:
    """Plain text where there is only text: many endpoints take nothing else."""
    if all(isinstance(part, PromptText) for part in parts):
        return "\n\n".join(part.text for part in parts if isinstance(part, PromptText))
    content: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case PromptText(text):
                content.append({"type": "text", "text": text})
            case PromptImage(mime, data):
                url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
                content.append({"type": "image_url", "image_url": {"url": url}})
    return content


_STOP: dict[str, Done] = {"length": Done("limit"), "content_filter": Done("refused")}


class ChatReading:
    """One answer as it streams in: `feed` the data of each event, `finish` when the stream has ended."""

    def __init__(self, secret: str = "") -> None:
        self.complete = False
        self._said: list[str] = []
        self._secret = secret
        self._tools: dict[int, str] = {}
        self._stop: str | None = None

    @property
    def answer(self) -> str:
        return "".join(self._said)

    def feed(self, data: str) -> list[AgentEvent]:
        if data.strip() == "[DONE]":
            self.complete = True
            return []
        return self._take(decoded(data), "delta")

    def whole(self, document: dict[str, Any]) -> list[AgentEvent]:
        """The answer of an endpoint that does not stream."""
        self._stop = "stop"
        return self._take(document, "message")

    def finish(self) -> list[AgentEvent]:
        if self._stop is None and not self.complete:
            raise stopped_in_the_middle()
        wants_tool = bool(self._tools) and self._stop in ("tool_calls", "function_call")
        ended = self._end_tools(ok=not wants_tool)
        if wants_tool and not self.answer.strip():
            return [*ended, failed("format", NO_TOOLS)]
        return [*ended, _STOP.get(self._stop or "", Done())]

    def _take(self, document: dict[str, Any], key: str) -> list[AgentEvent]:
        if error := document.get("error"):
            raise RunFailed(failed_stream(error, self._secret))
        events: list[AgentEvent] = []
        for choice in document.get("choices") or ():
            said = choice.get(key) or {}
            # Two spellings of the same thing: one by DeepSeek and vLLM, one by OpenRouter and Ollama.
            if thought := said.get("reasoning_content") or said.get("reasoning"):
                events.append(Thought(thought))
            if text := said.get("content") or said.get("refusal"):
                events += self._end_tools(ok=True)
                self._said.append(text)
                events.append(TextDelta(text))
            for place, call in enumerate(said.get("tool_calls") or ()):
                events += self._tool(call.get("index", place), call)
            self._stop = choice.get("finish_reason") or self._stop
        if usage := document.get("usage"):
            spent = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
            events.append(Usage(*spent, context_tokens=sum(spent)))
        return events

    def _tool(self, index: int, call: dict[str, Any]) -> list[AgentEvent]:
        name = (call.get("function") or {}).get("name")
        if index in self._tools or not name:
            return []
        self._tools[index] = call.get("id") or f"call-{index}"
        return [ToolStarted(self._tools[index], name)]

    def _end_tools(self, ok: bool) -> list[AgentEvent]:
        ended: list[AgentEvent] = [ToolEnded(id, ok, "" if ok else NO_TOOLS) for id in self._tools.values()]
        self._tools.clear()
        return ended
