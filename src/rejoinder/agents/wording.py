"""A conversation in the words of a model's API: what was said is encoded once, not with every turn behind it."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from rejoinder.agents.base import Exchange
from rejoinder.events import PromptPart

Content = Callable[[tuple[PromptPart, ...]], Any]
"""What an API calls the content of a question."""


class Wording:
    """Question and answer by turns: a question that got none joins the next one, for roles alternate."""

    def __init__(self) -> None:
        self._past: tuple[Exchange, ...] = ()
        self._messages: list[Raw] = []
        self._waiting: tuple[PromptPart, ...] = ()

    def messages(self, past: tuple[Exchange, ...], parts: tuple[PromptPart, ...], content: Content) -> list[Raw]:
        """`past` is mostly what it was the last time, less the oldest, and what has been said since."""
        if past[: len(self._past)] != self._past:
            self._drop_before(past)
        for exchange in past[len(self._past) :]:
            self._waiting += exchange.parts
            if exchange.answer:
                self._messages += _message("user", content(self._waiting)), _message("assistant", exchange.answer)
                self._waiting = ()
        self._past = past
        return [*self._messages, _message("user", content(self._waiting + parts))]

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
