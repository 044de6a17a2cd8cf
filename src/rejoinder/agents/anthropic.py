"""Anthropic's messages, streamed, with thinking. Any endpoint that speaks them will do.

The model remembers nothing, so the agent keeps the conversation of each session and sends it along.
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

VERSION = "2023-06-01"
NO_TOOLS = "the model asked for a tool, and this agent runs none"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[agents.NAME]` with `kind = "anthropic"`."""

    model: str
    base_url: str = "https://api.anthropic.com"
    api_key: str = ""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Aliases: the name people say after /model, and the name the endpoint knows."""
    fallbacks: tuple[str, ...] = ()
    system_prompt: str = ""
    max_tokens: int = 8192
    """Of the answer; what /think allows for thinking is added to it."""
    history_tokens: int = 100_000
    idle_timeout: float = 300.0
    hard_timeout: float = 1800.0
    think: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """Own cells of the /think table: level, and what it adds to the request."""
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    """Added to every request as it is."""
    headers: dict[str, str] = field(default_factory=dict[str, str])


def open_agent(name: str, settings: Settings) -> "AnthropicAgent":
    return AnthropicAgent(name, settings)


class AnthropicAgent:
    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.models = (settings.model, *settings.models)
        self.fallbacks = settings.fallbacks
        self._settings = settings
        self._histories = Histories(settings.history_tokens)
        headers = {"anthropic-version": VERSION}
        if settings.api_key:
            headers["x-api-key"] = settings.api_key
        self._endpoint = Endpoint(settings.base_url, {**headers, **settings.headers}, settings.api_key)

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
        reading = MessageReading(self._settings.api_key)
        try:
            async with self._endpoint.post("/v1/messages", body) as response:
                yield ModelSelected(body["model"])
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
    unanswered: tuple[PromptPart, ...] = ()
    for exchange in past:
        unanswered += exchange.parts
        if exchange.answer:
            messages.append({"role": "user", "content": _content(unanswered)})
            messages.append({"role": "assistant", "content": exchange.answer})
            unanswered = ()
    messages.append({"role": "user", "content": _content(unanswered + turn.parts)})
    body: dict[str, Any] = {
        "model": settings.models.get(wanted, wanted),
        "max_tokens": settings.max_tokens,
        "messages": messages,
        "stream": True,
        **settings.options,
        **think_setting("anthropic", turn.think, settings.think),
    }
    body["max_tokens"] += body.get("thinking", {}).get("budget_tokens", 0)
    if system := turn.system or settings.system_prompt:
        body["system"] = system
    return body


def _content(parts: tuple[PromptPart, ...]) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case PromptText(text):
                # The API refuses a block of nothing.
                content.append({"type": "text", "text": text if text.strip() else "."})
            case PromptImage(mime, data):
                source = {"type": "base64", "media_type": mime, "data": base64.b64encode(data).decode()}
                content.append({"type": "image", "source": source})
    return content


_STOP: dict[str, Done] = {
    "max_tokens": Done("limit"),
    "model_context_window_exceeded": Done("limit"),
    "refusal": Done("refused"),
}
_TOOLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class MessageReading:
    """One answer as it streams in: `feed` the data of each event, `finish` when the stream has ended."""

    def __init__(self, secret: str = "") -> None:
        self.complete = False
        self._secret = secret
        self._said: list[str] = []
        self._tools: list[str] = []
        self._stop: str | None = None
        self._input_tokens = 0

    @property
    def answer(self) -> str:
        return "".join(self._said)

    def feed(self, data: str) -> list[AgentEvent]:
        document = decoded(data)
        match document.get("type"):
            case "error":
                raise RunFailed(failed_stream(document.get("error"), self._secret))
            case "message_start":
                self._input_tokens = _input_tokens((document.get("message") or {}).get("usage") or {})
            case "content_block_start":
                return self._block(document.get("content_block") or {})
            case "content_block_delta":
                return self._delta(document.get("delta") or {})
            case "message_delta":
                self._stop = (document.get("delta") or {}).get("stop_reason") or self._stop
                if usage := document.get("usage"):
                    output = usage.get("output_tokens") or 0
                    given = _input_tokens(usage) or self._input_tokens
                    return [Usage(given, output, context_tokens=given + output)]
            case "message_stop":
                self.complete = True
            case _:
                pass  # pings, block ends, and what will be invented: an answer does not depend on them
        return []

    def finish(self) -> list[AgentEvent]:
        if not self.complete:
            raise stopped_in_the_middle()
        wants_tool = bool(self._tools) and self._stop == "tool_use"
        ended = self._end_tools(ok=not wants_tool)
        if wants_tool and not self.answer.strip():
            return [*ended, failed("format", NO_TOOLS)]
        return [*ended, _STOP.get(self._stop or "", Done())]

    def _block(self, block: dict[str, Any]) -> list[AgentEvent]:
        kind = block.get("type")
        if kind in _TOOLS:
            self._tools.append(block.get("id") or f"call-{len(self._tools)}")
            return [ToolStarted(self._tools[-1], block.get("name") or kind)]
        if kind == "text":
            return [*self._end_tools(ok=True), *self._text(block.get("text"))]
        return []

    def _delta(self, delta: dict[str, Any]) -> list[AgentEvent]:
        match delta.get("type"):
            case "text_delta":
                return self._text(delta.get("text"))
            case "thinking_delta" if thought := delta.get("thinking"):
                return [Thought(thought)]
            case _:
                return []

    def _text(self, text: str | None) -> list[AgentEvent]:
        if not text:
            return []
        self._said.append(text)
        return [TextDelta(text)]

    def _end_tools(self, ok: bool) -> list[AgentEvent]:
        ended: list[AgentEvent] = [ToolEnded(id, ok, "" if ok else NO_TOOLS) for id in self._tools]
        self._tools.clear()
        return ended


def _input_tokens(usage: dict[str, Any]) -> int:
    """What was read from or written to the cache was input too."""
    keys = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(usage.get(key) or 0 for key in keys)
