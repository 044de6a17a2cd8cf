"""Records a call of the bot with its answer, and answers it or fails to: the same for every fake."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
from aiohttp import web

from rejoinder.testing.platform.faults import Verb
from rejoinder.testing.platform.truth import Call


class NotedCall:
    """The part that differs for each platform: what it accepts and refuses, and in which words."""

    def __init__(self, note: Callable[[Call], None], verb: Verb, chat: str, name: str, payload: dict[str, Any]) -> None:
        self.chat = chat
        self._note = note
        self._verb = verb
        self.name = name
        self._payload = payload

    def nothing(self) -> None:
        self.write(0)

    def write(self, status: int, said: str = "", *, too_early: bool = False) -> None:
        self._note(
            Call(time.time(), self._verb, self.chat, status, self.name, self._payload, said, too_early=too_early)
        )


def json_answer(status: int, value: object, headers: dict[str, str] | None = None) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(status=status, body=body, content_type="application/json", headers=headers)


def hang_up(request: web.Request, note: NotedCall | None = None) -> web.Response:
    """Ends the connection without an answer; `note`: the call, which is recorded as unanswered."""
    if note is not None:
        note.nothing()
    if request.transport is not None:
        with suppress(OSError):
            request.transport.abort()
    return web.Response()
