"""The text of an answer as it grows: keeps paragraphs apart, removes secrets, adds the prefix, and cuts what is too
long.

Rule 1: what people see only grows, and every frame is a prefix of the final text (DE-1).
Rule 2: what the gateway itself adds goes through here too, each as a paragraph of its own.
"""

import asyncio
from collections.abc import Callable

from rejoinder.agents.base import MAX_ANSWER_CHARS
from rejoinder.outbound.secret_filter import SecretFilter
from rejoinder.rendering.enclosures import closing_of
from rejoinder.rendering.white_space import is_seen
from rejoinder.runtime.answer.drafting import Drafting
from rejoinder.runtime.answer.length import AnswerLength

ENOUGH_TO_REVEAL = 4096
"""How many characters of a hidden answer are collected before they are searched for secrets."""
ENOUGH_TO_PREFIX = 24
"""Characters needed to know whether an answer begins with its prefix, a list or a fence (DE-5)."""


class GrowingText:
    """`prefix`: what is shown before an answer that begins with these words; None: no prefix. `is_hidden`: nothing is
    shown before the answer is complete."""

    def __init__(
        self, drafting: Drafting, length: AnswerLength, prefix: Callable[[str], str] | None, *, is_hidden: bool
    ) -> None:
        self.has_words = False
        self.is_hidden = is_hidden
        self._drafting = drafting
        self._length = length
        self._prefix = prefix
        self._unprefixed: str | None = None if prefix is None else ""
        self._worn = 0  # characters of the prefix as it is shown, which are not part of the agent's words
        self._secret_filter = SecretFilter()
        self._unseen: list[str] = []  # hidden text whose secrets have not been removed yet
        self._unseen_size = 0
        self._end = ""  # the last two characters of the text, to count the newlines it ends in
        self._between_segments = False

    @property
    def words(self) -> str:
        """The part of the agent's text that has been passed on."""
        return self._drafting.draft.text[self._worn :] if self._unprefixed is None else self._unprefixed

    def add(self, text: str) -> None:
        if self._between_segments and self.has_words:
            text = text.lstrip("\n")
            if not text:
                return
            text = "\n" * (2 - _trailing_newlines(self._end)) + text  # segments are paragraphs
        self._between_segments = False
        self.has_words = self.has_words or is_seen(text)
        self._grow(text)

    def add_paragraph(self, text: str) -> None:
        """Adds a paragraph."""
        self._between_segments = True
        self.add(text)
        self._between_segments = True

    def append_to_paragraph(self, more: str) -> None:
        """Appends a few characters to the paragraph that was added last."""
        if self._between_segments:
            self._grow(more)

    def end_segment(self) -> None:
        if not self.is_hidden:
            self._pass_on(self._secret_filter.end_word())
        self._between_segments = True

    def pass_on_rest(self) -> None:
        self._pass_on(self._secret_filter.finish(self._take_unseen() if self._unseen else ""), whole=True)

    @property
    def is_full(self) -> bool:
        """Whether enough text beyond the limit has been collected to be worth writing to the file."""
        return self._length.is_full

    async def write_full(self) -> None:
        await self._length.write(self.words)

    @property
    def is_over(self) -> bool:
        """Whether the answer is too long."""
        return self._length.is_over

    async def cut(self) -> AnswerLength:
        """Adds a sentence at the end of an answer that is too long. Returns what is known about its length and its
        file."""
        await self._length.write(self.words)
        # The new length leaves room for what the gateway itself adds.
        cut, self._length = self._length, AnswerLength(MAX_ANSWER_CHARS, None, "")
        closing = await asyncio.to_thread(closing_of, self.words)
        self._drafting.grow(f"{closing}\n\n{cut.sentence}")
        self._between_segments = True
        return cut

    def _grow(self, text: str) -> None:
        self._end = (self._end + text)[-2:]
        if self.is_hidden:
            self._unseen.append(text)
            self._unseen_size += len(text)
            if self._unseen_size < ENOUGH_TO_REVEAL:
                return
            text = self._take_unseen()
        if seen := self._secret_filter.feed(text):
            self._pass_on(seen)

    def _take_unseen(self) -> str:
        text = "".join(self._unseen)
        self._unseen.clear()
        self._unseen_size = 0
        return text

    def _pass_on(self, seen: str, *, whole: bool = False) -> None:
        if not seen and self._unprefixed is None:
            return
        seen = self._length.take(seen)
        if self._prefix is not None and self._unprefixed is not None:
            self._unprefixed += seen
            if len(self._unprefixed.lstrip()) < ENOUGH_TO_PREFIX and not whole:
                return
            words, self._unprefixed = self._unprefixed, None
            before = self._prefix(words)
            self._worn = len(before)
            seen = before + words.lstrip()
        if seen:
            self._drafting.grow(seen)


def _trailing_newlines(end: str) -> int:
    return 2 if end == "\n\n" else 1 if end.endswith("\n") else 0
