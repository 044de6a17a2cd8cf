"""The typing signs of one conversation, which must not be shown after its last words (TU-24).

Rule 1: no sign begins while words are on their way, or just after: they may have been the last.
Rule 2: words do not wait for signs. When words are posted, signs on their way are called back before the words are
        committed. A sign that has not left yet then does not leave, and one that has left is ahead of the words by a
        commit. If a platform still takes it after the words, it stays until it fades, after five to ten seconds.
"""

import asyncio
from math import inf
from typing import Self


class TypingCalls:
    def __init__(self) -> None:
        self._calls: set[asyncio.Task[None]] = set()
        self._words = 0  # calls with words that are under way
        self._ended = -inf  # when the last of them ended

    def add(self, call: "asyncio.Task[None]") -> None:
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    def call_back(self) -> None:
        """Words are about to be sent: cancels the signs on their way."""
        for call in self._calls:
            call.cancel()

    def speaking(self) -> Self:
        """Marks that words are being sent, for the duration of the block."""
        return self

    def __enter__(self) -> None:
        self._words += 1

    def __exit__(self, *_: object) -> None:
        self._words -= 1
        self._ended = asyncio.get_running_loop().time()

    def is_quiet(self, seconds: float) -> bool:
        """Whether no words are being sent, and none have been for this many seconds."""
        return not self._words and asyncio.get_running_loop().time() - self._ended >= seconds
