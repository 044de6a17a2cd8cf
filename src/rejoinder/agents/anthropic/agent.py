"""The messages API: how to ask, and how to read the streamed answer."""

import base64
from typing import Any

from msgspec import Raw, Struct

from rejoinder.agents.anthropic import Settings
from rejoinder.agents.anthropic.thinking import THINK, WAYS
from rejoinder.agents.base import MAX_ANSWER_CHARS, AgentEvent, Done, TextDelta, Thought, ToolEnded, ToolStarted, Usage
from rejoinder.agents.endpoint import decoded, no_answer, reads, stopped_in_the_middle
from rejoinder.agents.failures import RunFailed, failed_stream
from rejoinder.agents.history import BoundedText
from rejoinder.agents.model_agent import ModelAgent, end_of_answer
from rejoinder.agents.thinking_levels import Setting
from rejoinder.events import PromptAudio, PromptImage, PromptPart, PromptText, Turn

VERSION = "2023-06-01"


class AnthropicAgent(ModelAgent):
    thinking = WAYS
    _models_path = "/v1/models"

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings, settings.api_key, "/v1/messages", _headers)
        self._settings = settings

    def _content(self, parts: tuple[PromptPart, ...]) -> list[dict[str, Any]]:
        return [_part(part) for part in parts]

    def _request(
        self, turn: Turn, model: str, messages: list[Raw], thinking: Setting, options: Setting
    ) -> dict[str, Any]:
        settings = self._settings
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": settings.max_tokens,
            "messages": messages,
            "stream": True,
            **options,
            **thinking,
        }
        if "thinking" in thinking and turn.think is not None:
            body["max_tokens"] += thinking["thinking"].get("budget_tokens", THINK[turn.think].tokens)
        if system := turn.system or settings.system_prompt:
            body["system"] = system
        return body

    def _reading(self, secret: str) -> "MessageReading":
        return MessageReading(secret, self._settings.max_answer_chars)


def _headers(key: str) -> dict[str, str]:
    return {"anthropic-version": VERSION, "x-api-key": key}


def _part(part: PromptPart) -> dict[str, Any]:
    match part:
        case PromptText(text):
            # The API refuses an empty block.
            return {"type": "text", "text": text if text.strip() else "."}
        case PromptImage(mime, data):
            source = {"type": "base64", "media_type": mime, "data": base64.b64encode(data).decode()}
            return {"type": "image", "source": source}
        case PromptAudio(mime):
            return {"type": "text", "text": f"[A recording ({mime}) that you cannot hear.]"}


_STOP: dict[str, Done] = {
    "max_tokens": Done("limit"),
    "model_context_window_exceeded": Done("limit"),
    "refusal": Done("refused"),
}
_TOOLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class _Usage(Struct, frozen=True):
    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None

    def given(self) -> int:
        """The input tokens: those read from or written to the cache count too."""
        counts = (self.input_tokens, self.cache_read_input_tokens, self.cache_creation_input_tokens)
        return sum(count or 0 for count in counts)


class _Piece(Struct, frozen=True):
    """A content block or a piece of one."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    text: str | None = None
    thinking: str | None = None
    stop_reason: str | None = None


class _Message(Struct, frozen=True):
    content: list[_Piece] | None = None
    stop_reason: str | None = None
    usage: _Usage | None = None
    error: Any = None


class _Event(Struct, frozen=True):
    type: str = ""
    message: _Message | None = None
    content_block: _Piece | None = None
    delta: _Piece | None = None
    usage: _Usage | None = None
    error: Any = None


_EVENT, _MESSAGE = reads(_Event), reads(_Message)


class MessageReading:
    def __init__(self, secret: str = "", most: int = MAX_ANSWER_CHARS) -> None:
        self.complete = False
        self._secret = secret
        self._said = BoundedText(most)
        self._tools: list[str] = []
        self._stop: str | None = None
        self._given = 0

    @property
    def answer(self) -> str:
        return str(self._said)

    def feed(self, data: str) -> list[AgentEvent]:
        event = decoded(data, _EVENT)
        match event.type:
            case "error":
                raise RunFailed(failed_stream(event.error, self._secret))
            case "message_start":
                usage = event.message.usage if event.message is not None else None
                self._given = usage.given() if usage is not None else 0
            case "content_block_start":
                return self._block(event.content_block or _Piece())
            case "content_block_delta":
                return self._piece(event.delta or _Piece())
            case "message_delta":
                self._stop = (event.delta or _Piece()).stop_reason or self._stop
                return self._usage(event.usage)
            case "message_stop":
                self.complete = True
            case _:
                pass  # pings, block ends, and event types yet to be invented: the answer does not depend on them
        return []

    def whole(self, data: bytes) -> list[AgentEvent]:
        message = decoded(data, _MESSAGE)
        if message.error:
            raise RunFailed(failed_stream(message.error, self._secret))
        if message.content is None:
            raise no_answer("it has no content", data)
        self.complete = True
        self._stop = message.stop_reason
        events: list[AgentEvent] = []
        for block in message.content or ():
            events += self._block(block)
        return [*events, *self._usage(message.usage)]

    def finish(self) -> list[AgentEvent]:
        # Some endpoints give a stop reason but never send message_stop.
        if self._stop is None and not self.complete:
            raise stopped_in_the_middle()
        wanted, done = self._stop == "tool_use", _STOP.get(self._stop or "", Done())
        return end_of_answer(self, self._tools, wanted=wanted, done=done)

    def _block(self, block: _Piece) -> list[AgentEvent]:
        if block.type in _TOOLS:
            self._tools.append(block.id or f"call-{len(self._tools)}")
            return [ToolStarted(self._tools[-1], block.name or block.type)]
        # A tool call followed by text was run by the endpoint, and has ended.
        ended: list[AgentEvent] = []
        if block.type == "text":
            ended += [ToolEnded(id, True) for id in self._tools]
            self._tools.clear()
        return [*ended, *self._piece(block)]

    def _piece(self, piece: _Piece) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        if piece.thinking:
            events.append(Thought(piece.thinking))
        if piece.text and piece.type in ("text", "text_delta"):
            self._said.add(piece.text)
            events.append(TextDelta(piece.text))
        return events

    def _usage(self, usage: _Usage | None) -> list[AgentEvent]:
        if usage is None:
            return []
        given, output = usage.given() or self._given, usage.output_tokens or 0
        return [Usage(given, output, context_tokens=given + output)]
