"""A model provider on this machine: OpenAI's chat completions and responses, and Anthropic's messages.

    async with ModelServer() as server:
        agent = open_agent("helper", Settings(base_url=server.openai_url, model="any"))
        server.will(Say("Hello"), Refuse(429, retry_after=3), Break("Half an ans"))

Without a script it echoes the last thing the user said. Every request is kept in `requests`.
`python -m rejoinder.testing.model_server` serves it until interrupted, for a bot without a key.
"""

import asyncio
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct

from rejoinder.testing.model_dialects import DIALECTS, GOOGLE, Dialect


class Say(Struct, frozen=True):
    """A good answer. It streams in pieces of `pieces` characters, `pace` seconds apart."""

    text: str
    thought: str = ""
    tool: str | None = None
    """A tool that the model calls before the text (or instead of it, if there is none)."""
    arguments: str = "{}"
    """The arguments of the call, as JSON."""
    pieces: int = 12
    pace: float = 0.0


class Refuse(Struct, frozen=True):
    """An error instead of an answer. `code` and `message` default to what providers say with this status."""

    status: int
    code: str = ""
    message: str = ""
    retry_after: float | None = None


class Break(Struct, frozen=True):
    """The connection ends after this text, in the middle of the stream."""

    text: str = ""


class Garble(Struct, frozen=True):
    """The stream has this text, and then something that is not JSON."""

    text: str = ""


class Stall(Struct, frozen=True):
    """Sends this text and then nothing more, until the client leaves."""

    text: str = ""


class FailMidway(Struct, frozen=True):
    """Sends this text and then an error inside the stream, as overloaded providers do."""

    text: str = ""
    code: str = "overloaded_error"
    message: str = "Overloaded"


Answer = Say | Refuse | Break | Garble | Stall | FailMidway

# The providers' (code, message), by status. The words matter, because clients classify errors by them.
REFUSALS: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "Invalid request"),
    401: ("invalid_api_key", "Incorrect API key provided"),
    402: ("insufficient_quota", "Your credit balance is too low"),
    404: ("model_not_found", "The model does not exist"),
    429: ("rate_limit_exceeded", "Rate limit reached"),
    500: ("server_error", "The server had an error"),
    529: ("overloaded_error", "Overloaded"),
}
CONTEXT_OVERFLOW = Refuse(
    400, "context_length_exceeded", "This model's maximum context length is 8192 tokens; yours is longer"
)


class ModelRequest(Struct, frozen=True):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """The last thing that the user said."""
        return DIALECTS[self.path].asked(self.body)


class ModelServer:
    """Serves on a free port of loopback while its context is open."""

    def __init__(self, answer: Callable[[ModelRequest], Answer] | None = None, *, port: int = 0) -> None:
        self.requests: list[ModelRequest] = []
        self._departed = asyncio.Event()
        self._answer = answer or _echo
        self._script: deque[Answer] = deque()
        self._port = port
        self._runner: web.AppRunner | None = None
        self.url = ""

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    def will(self, *answers: Answer) -> None:
        """Sets the next answers, in order; after them it echoes again."""
        self._script.extend(answers)

    async def departed(self) -> None:
        """Returns when a client has left in the middle of an answer."""
        await self._departed.wait()

    async def __aenter__(self) -> "ModelServer":
        app = web.Application(client_max_size=64 << 20)
        for path in DIALECTS:
            app.router.add_post(path, self._serve)
        app.router.add_post(GOOGLE + "/{model}:{method}", self._serve)
        app.router.add_post("/v1/messages/count_tokens", self._count)
        app.router.add_get("/v1/models", self._models)
        # handler_cancellation: a handler has to notice that its client is gone.
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "echo", "object": "model"}]})

    async def _count(self, _: web.Request) -> web.Response:
        return web.json_response({"input_tokens": 7})

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info.get("method", "")
        if method == "countTokens":
            return web.json_response({"totalTokens": 7})
        path = GOOGLE if method else request.path
        dialect = DIALECTS[path]
        try:
            body = msgspec.json.decode(await request.read(), type=dict[str, Any])
        except msgspec.MsgspecError as problem:
            return _refusal(dialect, Refuse(400, message=f"The body is no JSON object: {problem}"))
        if method:
            body = {"model": request.match_info["model"], "stream": method.startswith("stream"), **body}
        received = ModelRequest(path, {key.lower(): value for key, value in request.headers.items()}, body)
        self.requests.append(received)
        answer = self._script.popleft() if self._script else self._answer(received)
        if isinstance(answer, Refuse):
            return _refusal(dialect, answer)
        if isinstance(answer, Say) and not body.get("stream"):
            return web.json_response(dialect.whole(str(body.get("model")), answer.text, answer.thought))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            await response.prepare(request)
            async for chunk in _stream(dialect, str(body.get("model")), answer):
                await response.write(chunk)
        except (asyncio.CancelledError, ConnectionError):
            self._departed.set()
            raise
        if isinstance(answer, Break) and request.transport is not None:
            request.transport.close()
        return response


async def _stream(dialect: type[Dialect], model: str, answer: Answer) -> AsyncIterator[bytes]:
    writing = dialect(model)
    yield writing.start()
    if isinstance(answer, Say):
        if answer.thought:
            yield writing.thought(answer.thought)
        if answer.tool is not None:
            yield writing.tool(answer.tool, answer.arguments)
        for start in range(0, len(answer.text), answer.pieces):
            if answer.pace:
                await asyncio.sleep(answer.pace)
            yield writing.text(answer.text[start : start + answer.pieces])
        yield writing.end("tool" if answer.tool is not None and not answer.text else "stop")
        return
    assert not isinstance(answer, Refuse)
    if answer.text:
        yield writing.text(answer.text)
    match answer:
        case Garble():
            yield b'data: {"choices": [{"delta": {"content": "ha\n\n'
        case FailMidway():
            yield writing.error(answer.code, answer.message)
        case Stall():
            await asyncio.Event().wait()
        case Break():
            return


def _echo(request: ModelRequest) -> Answer:
    return Say(request.text)


def _refusal(dialect: type[Dialect], refuse: Refuse) -> web.Response:
    code, message = REFUSALS.get(refuse.status, ("error", "Something went wrong"))
    headers = {} if refuse.retry_after is None else {"retry-after": f"{refuse.retry_after:g}"}
    document = dialect.refusal(refuse.code or code, refuse.message or message)
    return web.json_response(document, status=refuse.status, headers=headers)


async def _serve_forever(port: int) -> None:
    async with ModelServer(port=port) as server:
        sys.stdout.write(f"A model that echoes: {server.openai_url} (OpenAI), {server.url} (Anthropic)\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(_serve_forever(int(sys.argv[1]) if len(sys.argv) > 1 else 9000))
    except KeyboardInterrupt:
        sys.exit(130)
