"""`/v1`: any agent of the house behind the OpenAI API, which most tools speak. Directives are stripped."""

import base64
import binascii
import secrets
import time
from collections.abc import AsyncIterator
from typing import Any, Literal

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from rejoinder.web.house import Asked, House, Unanswered, Usage
from rejoinder.web.refusal import error


class ImageUrl(Struct, frozen=True):
    url: str


class ContentPart(Struct, frozen=True):
    type: str
    text: str = ""
    image_url: ImageUrl | None = None


class ChatMessage(Struct, frozen=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[ContentPart, ...] | None = None


class StreamOptions(Struct, frozen=True):
    include_usage: bool = False


class ChatRequest(Struct, frozen=True):
    """The part of the request that has a meaning here; sampling options are the agent's own business and ignored."""

    model: str
    messages: tuple[ChatMessage, ...]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None


TAKEN = ("text", "image_url")
"""What a message may be made of."""


class Wrong(Exception):
    """A request that cannot be answered; the text says why."""


def routes(house: House) -> list[BaseRoute]:
    began = int(time.time())

    async def models(_: Request) -> Response:
        listed = [_model(agent, began) for agent in house.agents]
        return _json({"object": "list", "data": listed})

    async def model(request: Request) -> Response:
        name = request.path_params["model"]
        return _json(_model(name, began)) if name in house.agents else _unknown(name, house)

    async def completions(request: Request) -> Response:
        try:
            wanted = msgspec.json.decode(await request.body(), type=ChatRequest)
            asked = tuple(map(_asked, wanted.messages))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, Wrong) as problem:
            return _error(400, str(problem))
        if wanted.model not in house.agents:
            return _unknown(wanted.model, house)
        if not any(each.role == "user" for each in asked):
            return _error(400, "there is no message of a user to answer", "messages")
        if wanted.n not in (None, 1):
            return _error(400, "an agent gives one answer: leave out n", "n")
        answer = house.complete(wanted.model, asked)
        made = _Made(f"chatcmpl-{secrets.token_hex(12)}", int(time.time()), wanted.model)
        if not wanted.stream:
            return await _whole(answer, made)
        with_usage = wanted.stream_options is not None and wanted.stream_options.include_usage
        return StreamingResponse(
            _pieces(answer, made, with_usage), media_type="text/event-stream", headers={"cache-control": "no-store"}
        )

    return [
        Route("/v1/models", models),
        Route("/v1/models/{model}", model),
        Route("/v1/chat/completions", completions, methods=["POST"]),
    ]


class _Made(Struct, frozen=True):
    id: str
    created: int
    model: str

    def document(self, kind: str, choices: list[Any], **more: Any) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices, **more}


async def _whole(answer: AsyncIterator[str | Usage], made: _Made) -> Response:
    pieces: list[str] = []
    usage = Usage()
    try:
        async for piece in answer:
            if isinstance(piece, Usage):
                usage = piece
            else:
                pieces.append(piece)
    except Unanswered as failure:
        return _error(502, str(failure))
    message = {"role": "assistant", "content": "".join(pieces), "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return _json(made.document("chat.completion", [choice], usage=_usage(usage)))


async def _pieces(answer: AsyncIterator[str | Usage], made: _Made, with_usage: bool) -> AsyncIterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _event(made.document("chat.completion.chunk", [choice], **({"usage": None} if with_usage else {})))

    usage = Usage()
    yield chunk({"role": "assistant", "content": ""})
    try:
        async for piece in answer:
            if isinstance(piece, Usage):
                usage = piece
            else:
                yield chunk({"content": piece})
    except Unanswered as failure:
        yield _event(error(502, str(failure)))
        return
    yield chunk({}, "stop")
    if with_usage:
        yield _event(made.document("chat.completion.chunk", [], usage=_usage(usage)))
    yield b"data: [DONE]\n\n"


def _asked(message: ChatMessage) -> Asked:
    role = {"developer": "system", "tool": "user"}.get(message.role, message.role)
    if message.content is None or isinstance(message.content, str):
        return Asked(role, message.content or "")
    for part in message.content:
        if part.type not in TAKEN:
            raise Wrong(f"content of the type {part.type!r} cannot be taken; there are: {', '.join(TAKEN)}")
    text = "\n".join(part.text for part in message.content if part.type == "text")
    images = tuple(_image(part.image_url.url) for part in message.content if part.image_url is not None)
    return Asked(role, text, images)


def _image(url: str) -> tuple[str, bytes]:
    """Takes only inline images: fetching one would be a request on the caller's behalf."""
    head, _, data = url.partition(",")
    if not (head.startswith("data:image/") and head.endswith(";base64")):
        raise Wrong("an image has to come along as a data: address")
    try:
        return head.removeprefix("data:").removesuffix(";base64"), base64.b64decode(data, validate=True)
    except binascii.Error:
        raise Wrong("an image is not valid base64") from None


def _model(name: str, created: int) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": created, "owned_by": "rejoinder"}


def _usage(usage: Usage) -> dict[str, int]:
    total = usage.input_tokens + usage.output_tokens
    return {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens, "total_tokens": total}


def _unknown(name: str, house: House) -> Response:
    there = ", ".join(house.agents)
    return _error(404, f"no agent is called {name!r}; there are: {there}", "model", "model_not_found")


def _error(status: int, why: str, param: str | None = None, code: str | None = None) -> Response:
    return _json(error(status, why, param, code), status)


def _json(document: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(document), status, media_type="application/json")


def _event(document: Any) -> bytes:
    return b"data: " + msgspec.json.encode(document) + b"\n\n"
