"""`POST /v1/chat/completions`, as OpenAI's clients speak it."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from rejoinder.web.refusal import openai_error
from rejoinder.web.services import ApiMessage, TokenUsage
from rejoinder.web.v1.requests import (
    NO_TOOLS,
    AnswerIdentity,
    Body,
    CompletionRequest,
    RefusedParameter,
    WrongRequest,
    checked,
    ignored,
    inline_image,
    unsupported_part,
)

path = "/v1/chat/completions"


class ImageUrl(Struct, frozen=True):
    url: str


class ContentPart(Struct, frozen=True):
    type: str
    text: str = ""
    image_url: ImageUrl | None = None


class ChatMessage(Struct, frozen=True):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | tuple[ContentPart, ...] | None = None


class StreamOptions(Struct, frozen=True):
    include_usage: bool = False


class ChatRequest(Struct, frozen=True):
    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool | None = None
    stream_options: StreamOptions | None = None


KNOWN = frozenset(ChatRequest.__struct_fields__)
REFUSED = {
    "tools": RefusedParameter(NO_TOOLS),
    "functions": RefusedParameter(NO_TOOLS),
    "tool_choice": RefusedParameter(NO_TOOLS, lambda value: value in (None, "none", "auto")),
    "function_call": RefusedParameter(NO_TOOLS, lambda value: value in (None, "none", "auto")),
    "n": RefusedParameter("an agent gives one answer: leave out n", lambda value: value in (None, 1)),
    "response_format": RefusedParameter(
        "agents answer in text: leave out response_format", lambda value: value in (None, {"type": "text"})
    ),
    "logprobs": RefusedParameter("agents give no probabilities: leave out logprobs"),
    "audio": RefusedParameter("answers are text: leave out audio"),
    "modalities": RefusedParameter("answers are text", lambda value: value in (None, ["text"])),
}
TAKEN = ("text", "image_url")
"""The types of content that a message may have."""
ROLES = {"developer": "system"}


def read(body: Body) -> CompletionRequest:
    unused = ignored(body, KNOWN, REFUSED)
    request = msgspec.convert(body, ChatRequest)
    conversation = checked(tuple(map(_api_message, request.messages)), "messages")
    options = request.stream_options
    with_usage = options is not None and options.include_usage
    return CompletionRequest(request.model, conversation, bool(request.stream), with_usage, unused)


def _api_message(message: ChatMessage) -> ApiMessage:
    if message.role in ("tool", "function"):
        raise WrongRequest("agents here use their own tools: tool results are not accepted", "messages")
    role = ROLES.get(message.role, message.role)
    if message.content is None or isinstance(message.content, str):
        return ApiMessage(role, message.content or "")
    for part in message.content:
        if part.type not in TAKEN:
            raise unsupported_part(part.type, TAKEN)
    text = "\n".join(part.text for part in message.content if part.type == "text")
    return ApiMessage(role, text, tuple(inline_image(part.image_url.url) for part in message.content if part.image_url))


def whole(made: AnswerIdentity, text: str, usage: TokenUsage) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return _document(made, "chat.completion", [choice], usage=_usage(usage))


class ChatStream:
    def __init__(self, made: AnswerIdentity, *, with_usage: bool) -> None:
        self._made = made
        self._with_usage = with_usage

    def opened(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def ended(self, usage: TokenUsage) -> bytes:
        last = _document(self._made, "chat.completion.chunk", [], usage=_usage(usage))
        return self._chunk({}, "stop") + (_event(last) if self._with_usage else b"") + b"data: [DONE]\n\n"

    def failed(self, why: str) -> bytes:
        return _event(openai_error(502, why))

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        more = {"usage": None} if self._with_usage else {}
        return _event(_document(self._made, "chat.completion.chunk", [choice], **more))


def stream(made: AnswerIdentity, wanted: CompletionRequest) -> ChatStream:
    return ChatStream(made, with_usage=wanted.with_usage)


def _document(made: AnswerIdentity, kind: str, choices: list[Any], **more: Any) -> dict[str, Any]:
    head = {"id": f"chatcmpl-{made.id}", "object": kind, "created": made.created, "model": made.model}
    return {**head, "choices": choices, **more}


def _usage(usage: TokenUsage) -> dict[str, int]:
    total = usage.input_tokens + usage.output_tokens
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": total}


def _event(document: Any) -> bytes:
    return b"data: " + msgspec.json.encode(document) + b"\n\n"
