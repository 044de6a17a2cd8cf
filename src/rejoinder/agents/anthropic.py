"""Anthropic's messages, streamed, with thinking. Any endpoint that speaks them will do."""

import base64
from typing import Any

from rejoinder.agents.base import AgentEvent, Done, TextDelta, Thought, ToolEnded, ToolStarted, Usage
from rejoinder.agents.endpoint import decoded, stopped_in_the_middle
from rejoinder.agents.failures import RunFailed, failed_stream
from rejoinder.agents.history import Exchange
from rejoinder.agents.model_agent import ModelAgent, ModelSettings, asked_and_answered, end_of_answer
from rejoinder.agents.think import think_setting
from rejoinder.events import PromptImage, PromptPart, PromptText, Turn

VERSION = "2023-06-01"


class Settings(ModelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[agents.NAME]` with `kind = "anthropic"`."""

    base_url: str = "https://api.anthropic.com"
    max_tokens: int = 8192
    """Of the answer; what /think allows for thinking is added to it."""


def open_agent(name: str, settings: Settings) -> "AnthropicAgent":
    return AnthropicAgent(name, settings)


class AnthropicAgent(ModelAgent):
    def __init__(self, name: str, settings: Settings) -> None:
        headers = {"anthropic-version": VERSION}
        if settings.api_key:
            headers["x-api-key"] = settings.api_key
        super().__init__(name, settings, "/v1/messages", headers)
        self._settings = settings

    def _request(self, turn: Turn, past: tuple[Exchange, ...]) -> dict[str, Any]:
        return request_body(self._settings, turn, past)

    def _reading(self) -> "MessageReading":
        return MessageReading(self._settings.api_key)


def request_body(settings: Settings, turn: Turn, past: tuple[Exchange, ...]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for parts, answer in asked_and_answered(past, turn.parts):
        messages.append({"role": "user", "content": _content(parts)})
        if answer:
            messages.append({"role": "assistant", "content": answer})
    body: dict[str, Any] = {
        "model": settings.known_as(turn.model),
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

    def whole(self, document: dict[str, Any]) -> list[AgentEvent]:
        self.complete = True
        self._stop = document.get("stop_reason")
        events: list[AgentEvent] = []
        for block in document.get("content") or ():
            if thought := block.get("thinking"):
                events.append(Thought(thought))
            events += self._block(block)
        given = _input_tokens(document.get("usage") or {})
        output = (document.get("usage") or {}).get("output_tokens") or 0
        return [*events, Usage(given, output, context_tokens=given + output)]

    def finish(self) -> list[AgentEvent]:
        if not self.complete:
            raise stopped_in_the_middle()
        wanted, done = self._stop == "tool_use", _STOP.get(self._stop or "", Done())
        return end_of_answer(self.answer, self._tools, wanted=wanted, done=done)

    def _block(self, block: dict[str, Any]) -> list[AgentEvent]:
        kind = block.get("type")
        if kind in _TOOLS:
            self._tools.append(block.get("id") or f"call-{len(self._tools)}")
            return [ToolStarted(self._tools[-1], block.get("name") or kind)]
        if kind == "text":
            # A tool that is followed by text was run by the endpoint, and is over.
            ended: list[AgentEvent] = [ToolEnded(id, True) for id in self._tools]
            self._tools.clear()
            return [*ended, *self._text(block.get("text"))]
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


def _input_tokens(usage: dict[str, Any]) -> int:
    """What was read from or written to the cache was input too."""
    keys = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(usage.get(key) or 0 for key in keys)
