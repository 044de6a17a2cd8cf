"""Runs an agent for a request under `/v1`, whichever API it speaks.

Rule 1: a caller that hangs up stops the agent, streamed or not.
Rule 2: every failure is logged, with the sentence that the caller got.
Rule 3: parameters that have no effect are named in a header of the answer.
"""

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, cast

import anyio
import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from rejoinder.web.refusal import refuse
from rejoinder.web.services import PageServices, TokenUsage, Unanswered
from rejoinder.web.v1 import chat_completions, messages, responses
from rejoinder.web.v1.requests import AnswerIdentity, ApiFormat, Body, CompletionRequest, Stream, WrongRequest

log = logging.getLogger(__name__)

APIS: tuple[ApiFormat, ...] = (chat_completions, responses, messages)
IGNORED = "x-rejoinder-ignored"


def routes(services: PageServices) -> list[BaseRoute]:
    began = int(time.time())

    async def models(_: Request) -> Response:
        listed = [_model(agent, began) for agent in services.agents]
        ends = {"first_id": services.agents[0], "last_id": services.agents[-1]} if services.agents else {}
        return _json({"object": "list", "data": listed, "has_more": False, **ends})

    async def model(request: Request) -> Response:
        name = request.path_params["model"]
        return _json(_model(name, began)) if name in services.agents else _unknown(request, name, services)

    return [
        Route("/v1/models", models),
        Route("/v1/models/{model}", model),
        *(Route(api.path, _answering(api, services), methods=["POST"]) for api in APIS),
    ]


def _answering(api: ApiFormat, services: PageServices) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            wanted = api.read(_body(await request.body()))
        except WrongRequest as wrong:
            return refuse(api.path, 400, str(wrong), param=wrong.param)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
            return refuse(api.path, 400, str(problem))
        if wanted.model not in services.agents:
            return _unknown(request, wanted.model, services)
        made = AnswerIdentity(wanted.model)
        pieces = services.complete(wanted.model, wanted.conversation)
        headers = {IGNORED: ", ".join(wanted.ignored)} if wanted.ignored else {}
        if not wanted.stream:
            return await _whole(api, request, pieces, made, headers)
        events = _events(api.stream(made, wanted), pieces, wanted)
        return StreamingResponse(
            events, media_type="text/event-stream", headers={"cache-control": "no-store", **headers}
        )

    return answer


def _body(content: bytes) -> Body:
    document = msgspec.json.decode(content)
    if not isinstance(document, dict):
        raise WrongRequest("the request has to be a JSON object")
    return cast(Body, document)


async def _whole(
    api: ApiFormat,
    request: Request,
    pieces: AsyncGenerator[str | TokenUsage],
    made: AnswerIdentity,
    headers: dict[str, str],
) -> Response:
    response = Response(status_code=499)  # the caller hung up, so nobody reads it

    async def answer() -> None:
        nonlocal response
        texts: list[str] = []
        usage = TokenUsage()
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    if isinstance(piece, TokenUsage):
                        usage = piece
                    else:
                        texts.append(piece)
            response = _json(api.whole(made, "".join(texts), usage), headers=headers)
        except Unanswered as failure:
            _log(api.path, made.model, failure)
            response = refuse(api.path, 502, str(failure))
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(answer)
        while (await request.receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()
    return response


async def _events(
    stream: Stream, pieces: AsyncGenerator[str | TokenUsage], wanted: CompletionRequest
) -> AsyncIterator[bytes]:
    usage = TokenUsage()
    yield stream.opened()
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                if isinstance(piece, TokenUsage):
                    usage = piece
                else:
                    yield stream.piece(piece)
    except Unanswered as failure:
        _log("/v1", wanted.model, failure)
        yield stream.failed(str(failure))
        return
    yield stream.ended(usage)


def _log(path: str, model: str, failure: Unanswered) -> None:
    log.warning("%s: %s could not answer: %s", path, model, failure.detail or failure)


def _model(name: str, created: int) -> dict[str, Any]:
    """A model in a form that suits both OpenAI's and Anthropic's lists."""
    born = datetime.fromtimestamp(created, UTC).isoformat().replace("+00:00", "Z")
    openai = {"id": name, "object": "model", "created": created, "owned_by": "rejoinder"}
    return {**openai, "type": "model", "display_name": name, "created_at": born}


def _unknown(request: Request, name: str, services: PageServices) -> Response:
    why = f"no agent is called {name!r}; there are: {', '.join(services.agents)}"
    return refuse(request.url.path, 404, why, param="model", code="model_not_found")


def _json(document: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(document), headers=headers, media_type="application/json")
