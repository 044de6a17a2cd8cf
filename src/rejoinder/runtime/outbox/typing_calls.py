"""The typing signs of one conversation, beside its words: none is to be shown after the last of them (TU-24).

Rule 1: none begins while words are on their way, or just after: they may have been the last.
Rule 2: words wait for no sign. Those on their way are called back when words are posted, before these are committed:
        a sign that has not left yet does not leave, and one that has left is ahead of the words by a commit. A platform
        could still take it after them; then it stands there until it fades, after five to ten seconds.
"""

import asyncio
from math import inf
from typing import Self


class TypingCalls:
    def __init__(self) -> None:
        self._calls: set[asyncio.Task[None]] = set()
        self._words = 0  # calls with words that are under way
        self._ended = -inf  # when the last one did

    def add(self, call: "asyncio.Task[None]") -> None:
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    def call_back(self) -> None:
        """Words are about to be sent: ends those on their way."""
        for call in self._calls:
            call.cancel()

    def speaking(self) -> Self:
        """While this is open the platform is given something to show."""
        return self

    def __enter__(self) -> None:
        self._words += 1

    def __exit__(self, *_: object) -> None:
        self._words -= 1
        self._ended = asyncio.get_running_loop().time()

    def is_quiet(self, seconds: float) -> bool:
        """Whether nothing is given to it now, and nothing has been for so long."""
        return not self._words and asyncio.get_running_loop().time() - self._ended >= seconds
