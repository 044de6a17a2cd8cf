"""A conversation in the format of a model's API: each exchange is encoded once, not again with every later turn."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from rejoinder.agents.base import Exchange
from rejoinder.events import PromptPart

Content = Callable[[tuple[PromptPart, ...]], Any]
"""Turns a question into the `content` of the API."""


class AlternatingMessages:
    """Roles have to alternate, so a question without an answer is joined to the next one."""

    def __init__(self) -> None:
        self._past: tuple[Exchange, ...] = ()
        self._messages: list[Raw] = []
        self._waiting: tuple[PromptPart, ...] = ()
        self._asked: tuple[tuple[PromptPart, ...], Raw] | None = None  # the last question, in the form of a message

    def messages(self, past: tuple[Exchange, ...], parts: tuple[PromptPart, ...], content: Content) -> list[Raw]:
        """`past` is usually that of the last call without the oldest exchanges, plus the newest ones."""
        if past[: len(self._past)] != self._past:
            self._drop_before(past)
        for exchange in past[len(self._past) :]:
            self._waiting += exchange.parts
            if exchange.answer:
                self._messages += self._question(self._waiting, content), _message("assistant", exchange.answer)
                self._waiting = ()
        self._past = past
        return [*self._messages, self._question(self._waiting + parts, content)]

    def _question(self, parts: tuple[PromptPart, ...], content: Content) -> Raw:
        """Keeps this turn's question, which is part of the past in the next turn."""
        if self._asked is None or self._asked[0] != parts:
            self._asked = parts, _message("user", content(parts))
        return self._asked[1]

    def _drop_before(self, past: tuple[Exchange, ...]) -> None:
        gone = next((at for at, known in enumerate(self._past) if past and known is past[0]), 0)
        kept = self._past[gone:]
        if past[: len(kept)] == kept and all(exchange.answer for exchange in self._past[:gone]):
            self._past = kept
            del self._messages[: 2 * gone]
        else:
            self._past, self._messages, self._waiting = (), [], ()


def _message(role: str, content: Any) -> Raw:
    return Raw(msgspec.json.encode({"role": role, "content": content}))
