"""JSON-RPC 2.0 with one peer, line by line, without sockets, tasks or clocks: lines go in, lines go out.

Rule 1: messages are handled in the order they came; an answer never overtakes the notifications before it.
Rule 2: the peer's ids are opaque: numbers or strings, sent back as they came.
Rule 3: an answer to a request we did not make is ignored.
Rule 4: a line that is not a JSON object is noise, kept for the operator and otherwise ignored.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from rejoinder.documents import is_object
from rejoinder.unicode_repair import encode_as_received, from_json

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

_MESSAGE = msgspec.json.Decoder(dict[str, Any])


class RpcError(Exception):
    """The peer answered with an error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})" + (f": {data}" if data else ""))
        self.code = code


class PeerGone(Exception):
    """The peer is no longer there to answer."""


class Handler(Protocol):
    """Receives what the peer sends. It answers a request with `Peer.answer` or `Peer.refuse`."""

    def requested(self, id: Any, method: str, params: Any) -> None: ...

    def notified(self, method: str, params: Any) -> None: ...

    def noise(self, line: str) -> None: ...


class Peer:
    def __init__(self, send: Callable[[bytes], None], handler: Handler) -> None:
        self._send = send
        self._handler = handler
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._next = 0
        self._gone: PeerGone | None = None

    def ask(self, method: str, params: Any) -> "asyncio.Future[Any]":
        """Sends a request. The future gets the result, Refused, or PeerGone."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._gone is not None:
            answer.set_exception(self._gone)
            return answer
        self._next += 1
        number = self._next
        self._asked[number] = answer
        answer.add_done_callback(lambda _: self._asked.pop(number, None))
        self._write({"id": number, "method": method, "params": params})
        return answer

    def tell(self, method: str, params: Any) -> None:
        self._write({"method": method, "params": params})

    def answer(self, id: Any, result: Any) -> None:
        self._write({"id": id, "result": result})

    def refuse(self, id: Any, code: int, message: str) -> None:
        self._write({"id": id, "error": {"code": code, "message": message}})

    def gone(self, reason: str) -> None:
        """Fails all pending requests, and every later one at once."""
        self._gone = PeerGone(reason)
        for answer in list(self._asked.values()):
            if not answer.done():
                answer.set_exception(self._gone)

    def take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = from_json(line, _MESSAGE)
        except msgspec.MsgspecError:
            self._handler.noise(line[:2000].decode("utf-8", "replace"))
            return
        method = message.get("method")
        if method is None:
            self._answered(message)
        elif not isinstance(method, str):
            self._handler.noise(line[:2000].decode("utf-8", "replace"))
        elif "id" in message:
            self._handler.requested(message["id"], method, message.get("params"))
        else:
            self._handler.notified(method, message.get("params"))

    def _answered(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        # Checks the type because True == 1 and 1.0 == 1, but neither is an id of ours.
        answer = self._asked.get(number) if type(number) is int else None
        if answer is None or answer.done():
            return
        error = message.get("error")
        if error is None:
            answer.set_result(message.get("result"))
        elif is_object(error):
            code = error.get("code")
            refused = RpcError(code if isinstance(code, int) else 0, str(error.get("message")), error.get("data"))
            answer.set_exception(refused)
        else:
            answer.set_exception(RpcError(0, str(error)))

    def _write(self, message: dict[str, Any]) -> None:
        if self._gone is None:
            self._send(encode_as_received({"jsonrpc": "2.0", **message}))
