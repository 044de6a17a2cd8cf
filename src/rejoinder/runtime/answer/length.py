"""Cuts an answer that is longer than people would read, and saves the whole of it in a file if the agent may send
files.

Rule 1: at most `AT_ONCE` characters are held in memory: text beyond the limit is written to the file as it comes.
Rule 2: the file contains what people would have seen, without directives and secrets.
"""

import asyncio
import logging

from rejoinder.errors import FileRefused
from rejoinder.runtime.folders import OutboxFolder

log = logging.getLogger(__name__)

AT_ONCE = 1_000_000
"""How many characters are written to the file in one go."""
_LOOK_BACK = 200
"""How far before the limit to look for the end of a word."""


class AnswerLength:
    """`most`: after how many characters the answer is cut. `stem`: unique to the turn."""

    def __init__(self, most: int, folder: OutboxFolder | None, stem: str) -> None:
        self.is_over = False
        self._most = self._left = most
        self._folder = folder
        self._name = f"answer-{stem}.txt"
        self._waiting: list[str] = []
        self._size = 0
        self._is_begun = False

    def take(self, text: str) -> str:
        """Returns as much of the text as may still be shown, and keeps the rest for the file."""
        if len(text) <= self._left:
            self._left -= len(text)
            return text
        shown = text[: _end_of_word(text, self._left)]
        self.is_over, self._left = True, -1
        if self._folder is not None:
            self._waiting.append(text[len(shown) :])
            self._size += len(text) - len(shown)
        return shown

    @property
    def is_full(self) -> bool:
        return self._size >= AT_ONCE

    async def write(self, shown: str) -> None:
        """Writes the text beyond the limit to the file, which begins with the text that was shown."""
        folder, text = self._folder, "".join(self._waiting)
        self._waiting.clear()
        self._size = 0
        if folder is None or not self.is_over:
            return
        begun, self._is_begun = self._is_begun, True
        try:
            await asyncio.to_thread(folder.write, self._name, text if begun else shown + text, begun)
        except FileRefused as refusal:
            log.warning("the full answer cannot be saved: %s", refusal)
            self._folder = None

    @property
    def file(self) -> str | None:
        """The name of the file with the whole answer, if there is one."""
        return self._name if self._folder is not None and self._is_begun else None

    @property
    def sentence(self) -> str:
        where = f" The full answer is in the file {self.file}." if self.file is not None else ""
        return f"_(The answer was cut here: it is longer than {self._most:,} characters.{where})_"


def _end_of_word(text: str, most: int) -> int:
    most = max(most, 0)
    near = max(0, most - _LOOK_BACK)
    return max(text.rfind("\n", near, most), text.rfind(" ", near, most)) + 1 or most
