"""`POST /v1/responses`, OpenAI's newer API. Nothing is stored, so a request has to contain its whole conversation."""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from rejoinder.web.services import ApiMessage, TokenUsage
from rejoinder.web.v1.requests import (
    NO_TOOLS,
    AnswerIdentity,
    Body,
    CompletionRequest,
    RefusedParameter,
    checked,
    ignored,
    inline_image,
    unsupported_part,
)

path = "/v1/responses"


class InputPart(Struct, frozen=True):
    type: str
    text: str = ""
    image_url: str | None = None


class InputItem(Struct, frozen=True):
    role: Literal["system", "developer", "user", "assistant"] = "user"
    content: str | tuple[InputPart, ...] = ""
    type: str = "message"


class ResponsesRequest(Struct, frozen=True):
    model: str
    input: str | tuple[InputItem, ...]
    instructions: str | None = None
    stream: bool | None = None


NOT_KEPT = "nothing is stored here: send the whole conversation as input"
KNOWN = frozenset({*ResponsesRequest.__struct_fields__, "store"})
REFUSED = {
    "tools": RefusedParameter(NO_TOOLS),
    "tool_choice": RefusedParameter(NO_TOOLS, lambda value: value in (None, "none", "auto")),
    "previous_response_id": RefusedParameter(NOT_KEPT),
    "conversation": RefusedParameter(NOT_KEPT),
    "background": RefusedParameter("answers come with the request: leave out background"),
    "prompt": RefusedParameter("there are no stored prompts here: leave out prompt"),
    "text": RefusedParameter("agents answer in text: leave out text.format", lambda value: _is_plain(value)),
}
TEXTS = ("input_text", "output_text", "text")
TAKEN = ("input_text", "output_text", "input_image")


def _is_plain(text: Any) -> bool:
    return not isinstance(text, dict) or text.get("format") in (None, {"type": "text"})  # pyright: ignore[reportUnknownMemberType]


def read(body: Body) -> CompletionRequest:
    unused = ignored(body, KNOWN, REFUSED)
    request = msgspec.convert(body, ResponsesRequest)
    items = (InputItem("user", request.input),) if isinstance(request.input, str) else request.input
    system = (ApiMessage("system", request.instructions),) if request.instructions else ()
    conversation = checked((*system, *map(_api_message, items)), "input")
    return CompletionRequest(request.model, conversation, bool(request.stream), True, unused)


def _api_message(item: InputItem) -> ApiMessage:
    if item.type != "message":
        raise unsupported_part(item.type, ("message",))
    role = "system" if item.role == "developer" else item.role
    if isinstance(item.content, str):
        return ApiMessage(role, item.content)
    for part in item.content:
        if part.type not in TAKEN:
            raise unsupported_part(part.type, TAKEN)
    text = "\n".join(part.text for part in item.content if part.type in TEXTS)
    images = tuple(inline_image(part.image_url or "") for part in item.content if part.type == "input_image")
    return ApiMessage(role, text, images)


def whole(made: AnswerIdentity, text: str, usage: TokenUsage) -> dict[str, Any]:
    return _document(made, "completed", [_message(made, [_text(text)])], _usage(usage))


class ResponsesStream:
    """The events of one response, numbered; the text is one part of one message."""

    def __init__(self, made: AnswerIdentity) -> None:
        self._made = made
        self._number = -1
        self._pieces: list[str] = []

    def opened(self) -> bytes:
        begun = {"response": _document(self._made, "in_progress", [])}
        message = _message(self._made, [], "in_progress")
        return (
            self._event("response.created", **begun)
            + self._event("response.in_progress", **begun)
            + self._event("response.output_item.added", output_index=0, item=message)
            + self._event("response.content_part.added", **self._place(), part=_text(""))
        )

    def piece(self, text: str) -> bytes:
        self._pieces.append(text)
        return self._event("response.output_text.delta", **self._place(), delta=text, logprobs=[])

    def ended(self, usage: TokenUsage) -> bytes:
        text = "".join(self._pieces)
        message = _message(self._made, [_text(text)])
        return (
            self._event("response.output_text.done", **self._place(), text=text, logprobs=[])
            + self._event("response.content_part.done", **self._place(), part=_text(text))
            + self._event("response.output_item.done", output_index=0, item=message)
            + self._event("response.completed", response=whole(self._made, text, usage))
        )

    def failed(self, why: str) -> bytes:
        failed = {**_document(self._made, "failed", []), "error": {"code": "server_error", "message": why}}
        return self._event("response.failed", response=failed)

    def _place(self) -> dict[str, Any]:
        return {"item_id": f"msg_{self._made.id}", "output_index": 0, "content_index": 0}

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        document = {"type": kind, "sequence_number": self._number, **fields}
        return b"event: " + kind.encode() + b"\ndata: " + msgspec.json.encode(document) + b"\n\n"


def stream(made: AnswerIdentity, wanted: CompletionRequest) -> ResponsesStream:
    return ResponsesStream(made)


def _document(
    made: AnswerIdentity, status: str, output: list[Any], usage: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "id": f"resp_{made.id}",
        "object": "response",
        "created_at": made.created,
        "status": status,
        "model": made.model,
        "output": output,
        "usage": usage,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": False,
        "previous_response_id": None,
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "none",
        "tools": [],
        "top_p": None,
    }


def _message(made: AnswerIdentity, content: list[Any], status: str = "completed") -> dict[str, Any]:
    return {"type": "message", "id": f"msg_{made.id}", "role": "assistant", "status": status, "content": content}


def _text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(usage: TokenUsage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
