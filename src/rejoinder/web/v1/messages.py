"""`POST /v1/messages`, as Anthropic's clients speak it."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from rejoinder.web.refusal import anthropic_error
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
    image,
    unsupported_part,
)

path = "/v1/messages"


class Source(Struct, frozen=True):
    type: str
    media_type: str = ""
    data: str = ""


class Block(Struct, frozen=True):
    type: str
    text: str = ""
    source: Source | None = None


class Message(Struct, frozen=True):
    role: Literal["user", "assistant"]
    content: str | tuple[Block, ...]


class MessagesRequest(Struct, frozen=True):
    model: str
    messages: tuple[Message, ...]
    system: str | tuple[Block, ...] = ""
    stream: bool | None = None


KNOWN = frozenset(MessagesRequest.__struct_fields__)
REFUSED = {
    "tools": RefusedParameter(NO_TOOLS),
    "tool_choice": RefusedParameter(NO_TOOLS, lambda value: value in (None, {"type": "none"}, {"type": "auto"})),
    "mcp_servers": RefusedParameter(NO_TOOLS),
    "container": RefusedParameter("there are no containers here: leave this out"),
    "output_config": RefusedParameter(
        "agents answer in text: leave out output_config.format",
        lambda value: not isinstance(value, dict) or "format" not in value,
    ),
}
TAKEN = ("text", "image")


def read(body: Body) -> CompletionRequest:
    unused = ignored(body, KNOWN, REFUSED)
    request = msgspec.convert(body, MessagesRequest)
    system = _api_message("system", request.system)
    conversation = checked(tuple(_api_message(each.role, each.content) for each in request.messages), "messages")
    whole = (system, *conversation) if system.text else conversation
    return CompletionRequest(request.model, whole, bool(request.stream), True, unused)


def _api_message(role: str, content: str | tuple[Block, ...]) -> ApiMessage:
    if isinstance(content, str):
        return ApiMessage(role, content)
    for block in content:
        if block.type not in TAKEN:
            raise unsupported_part(block.type, TAKEN)
    text = "\n".join(block.text for block in content if block.type == "text")
    return ApiMessage(role, text, tuple(_image(block) for block in content if block.type == "image"))


def _image(block: Block) -> tuple[str, bytes]:
    if block.source is None or block.source.type != "base64":
        raise WrongRequest("an image must be sent as base64", "messages")
    return image(block.source.media_type, block.source.data)


def whole(made: AnswerIdentity, text: str, usage: TokenUsage) -> dict[str, Any]:
    return _document(made, [{"type": "text", "text": text}], "end_turn", _usage(usage))


class MessagesStream:
    """The events of one message; the text is its only block. The usage is known only at the end."""

    def __init__(self, made: AnswerIdentity) -> None:
        self._made = made

    def opened(self) -> bytes:
        return _event("message_start", message=_document(self._made, [], None, _usage(TokenUsage()))) + _event(
            "content_block_start", index=0, content_block={"type": "text", "text": ""}
        )

    def piece(self, text: str) -> bytes:
        return _event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})

    def ended(self, usage: TokenUsage) -> bytes:
        return (
            _event("content_block_stop", index=0)
            + _event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage=_usage(usage))
            + _event("message_stop")
        )

    def failed(self, why: str) -> bytes:
        return b"event: error\ndata: " + msgspec.json.encode(anthropic_error(502, why)) + b"\n\n"


def stream(made: AnswerIdentity, wanted: CompletionRequest) -> MessagesStream:
    return MessagesStream(made)


def _document(made: AnswerIdentity, content: list[Any], stopped: str | None, usage: dict[str, int]) -> dict[str, Any]:
    return {
        "id": f"msg_{made.id}",
        "type": "message",
        "role": "assistant",
        "model": made.model,
        "content": content,
        "stop_reason": stopped,
        "stop_sequence": None,
        "usage": usage,
    }


def _usage(usage: TokenUsage) -> dict[str, int]:
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def _event(kind: str, **fields: Any) -> bytes:
    document = {"type": kind, **fields}
    return b"event: " + kind.encode() + b"\ndata: " + msgspec.json.encode(document) + b"\n\n"
