"""Live updates for browsers on other processes: the words of a growing message, and who is typing (SC-14).

Rule 1: nothing here is stored. If an update is lost, the text stops growing, and is shown when it is complete.
Rule 2: waiting updates are merged, and their size is limited.
Rule 3: each update says how far the log was, and is shown after everything that was logged before it.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from rejoinder.channels.base import MOST_LIVE_BYTES
from rejoinder.channels.web.protocol import Delta, SubagentsChanged, TypingNow, encode

ROOM = MOST_LIVE_BYTES - 100
"""Bytes for the frames of one update."""
PIECE = MOST_LIVE_BYTES // 8
"""Characters of one piece of a text; in JSON, a character may take six bytes."""
MOST_WORDS = 64_000
"""Characters that may wait. A message that would exceed this is not updated any more until it is complete."""
MOST_SIGNS = 100
MOST_AHEAD = 200
"""Updates that may wait for the log."""


class TextGrew(Struct, frozen=True, tag="grew", array_like=True):
    """A message that was `at` UTF-16 units long has grown by these words."""

    message: str
    at: int
    text: str


class LiveFrame(Struct, frozen=True, tag="sign", array_like=True):
    """A frame for the browsers of one person, or of everybody, or of everybody but one."""

    frame: str
    audience: str | None
    but: str | None


class LiveNews(Struct, frozen=True, array_like=True):
    """`seq`: the last event of the log that was written before."""

    seq: int
    frames: tuple[TextGrew | LiveFrame, ...] = ()


_decode = msgspec.json.Decoder(LiveNews).decode


class _Words:
    def __init__(self, at: int) -> None:
        self.at = at
        self.pieces: list[str] = []


class LiveOutlet:
    """Collects the next updates for other processes."""

    def __init__(self) -> None:
        self._seq = 0
        self._words: dict[str, _Words] = {}
        self._waiting = 0
        self._lost: set[str] = set()  # messages that are not updated any more
        self._signs: dict[LiveFrame, None] = {}
        self._news = asyncio.Event()

    def logged(self, seq: int) -> None:
        """Called when this process has written the event with this number."""
        self._seq = max(self._seq, seq)
        self._news.set()

    def show(self, frame: Delta | TypingNow | SubagentsChanged, audience: str | None, but: str | None) -> None:
        if isinstance(frame, Delta):
            return self._grow(frame)
        if len(self._signs) < MOST_SIGNS:
            self._signs[LiveFrame(encode(frame).decode(), audience, but)] = None
            self._news.set()

    def _grow(self, delta: Delta) -> None:
        id = delta.message
        if id in self._lost:
            return
        if self._waiting + len(delta.text) > MOST_WORDS:
            self._forget(id)
            self._lost.add(id)
            return
        self._words.setdefault(id, _Words(delta.at)).pieces.append(delta.text)
        self._waiting += len(delta.text)
        self._news.set()

    def ended(self, message: str) -> None:
        """Called when a message is complete: everybody finds it in the log."""
        self._lost.discard(message)
        self._forget(message)

    def _forget(self, message: str) -> None:
        if (words := self._words.pop(message, None)) is not None:
            self._waiting -= sum(map(len, words.pieces))

    async def take(self) -> tuple[str, ...]:
        """Waits for updates and returns all of them, each with at most `MOST_LIVE_BYTES` bytes."""
        await self._news.wait()
        self._news.clear()
        frames: list[TextGrew | LiveFrame] = [*self._signs, *self._grown()]
        self._signs.clear()
        self._words.clear()
        self._waiting = 0
        return tuple(_packed(self._seq, frames))

    def _grown(self) -> Iterator[TextGrew]:
        for id, words in self._words.items():
            at, text = words.at, "".join(words.pieces)
            for start in range(0, len(text), PIECE):
                piece = text[start : start + PIECE]
                yield TextGrew(id, at, piece)
                at += utf16(piece)


def _packed(seq: int, frames: list[TextGrew | LiveFrame]) -> Iterator[str]:
    """As few updates as possible, but at least one, which says how far the log is."""
    together: list[TextGrew | LiveFrame] = []
    size = 0
    for frame in frames:
        length = len(msgspec.json.encode(frame)) + 1
        if length > ROOM:
            continue
        if together and size + length > ROOM:
            yield msgspec.json.encode(LiveNews(seq, tuple(together))).decode()
            together, size = [], 0
        together.append(frame)
        size += length
    yield msgspec.json.encode(LiveNews(seq, tuple(together))).decode()


class LiveInlet:
    """Shows updates from other processes, in their place among the events of the log."""

    def __init__(self, show: Callable[[TextGrew | LiveFrame], None]) -> None:
        self._show = show
        self._ahead: deque[LiveNews] = deque(maxlen=MOST_AHEAD)

    def hear(self, said: str, told_to: int) -> bool:
        """Returns whether the log has to be read first. An update of another version that cannot be read is ignored."""
        try:
            news = _decode(said)
        except msgspec.DecodeError:
            return False
        if news.seq > told_to:
            self._ahead.append(news)
            return True
        for frame in news.frames:
            self._show(frame)
        return False

    def told(self, told_to: int) -> None:
        """Called when the browsers have all events of the log up to this one."""
        while self._ahead and self._ahead[0].seq <= told_to:
            for frame in self._ahead.popleft().frames:
                self._show(frame)


def utf16(text: str) -> int:
    """The length as a browser counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
