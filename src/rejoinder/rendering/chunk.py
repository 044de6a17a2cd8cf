"""Cut a text into messages that a platform takes (DE-10, DE-11).

Rule 1: a cut falls after a paragraph, otherwise after a line, a sentence or a word. It falls elsewhere only if none of
these ends in the second half of what fits.
Rule 2: no cut falls inside a grapheme, an escape, an address, a link, a code span or words in bold, if these fit into
a message.
Rule 3: code and tables are cut at the ends of their lines, closed, and opened again with the fence or the head, which
count towards the length. Only a line of code that fits into no message is cut inside. The rest of a cut heading is a
heading again.
Rule 4: white space at a cut is dropped, but a line that begins a message keeps its indentation; if that would turn a
list item into code, the lines are moved to the left. Nothing else is dropped.
Rule 5: the last message has at least three lines, if the previous one can spare them. A text that fits is not changed.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from rejoinder.events import LengthUnit
from rejoinder.rendering.atoms import Atoms, is_inside_grapheme
from rejoinder.rendering.enclosures import Enclosure, enclosures, lists_and_code
from rejoinder.rendering.white_space import is_seen

_PARAGRAPH = re.compile(r"(?=\n[ \t\r]*\n)")
_LINE = re.compile(r"(?=\n)")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]*_]*(?=\s)|[。！？][」』）”’]*")
_WORD = re.compile(r"(?=\s)")
_BOUNDARIES = (_PARAGRAPH, _LINE, _SENTENCE, _WORD)
_BEYOND = 2  # so that the end of a line or a paragraph is found even at the very end of the room
_WHITE = re.compile(r"\s*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
_WHOLE_LINE = re.compile(r"(?:(?<=\n)|\A)[ \t]*\S")
_FEWEST_LAST_LINES = 3
_MOST_INDENTATION = 3  # of a line that is not code


class Chunk(Struct, frozen=True):
    """One message: a piece of the source, and the text that had to be put around it."""

    opening: str
    source: str
    closing: str
    columns: int = 0
    """By how many columns its lines are moved to the left, as long as they belong to the list that was cut."""

    @property
    def text(self) -> str:
        shown = self.source + self.closing
        return self.opening + (_moved(shown, self.columns) if self.columns else shown)


def length(text: str, unit: LengthUnit = "characters") -> int:
    """The length of the text as the platform counts it."""
    if text.isascii():  # then all units are the same
        return len(text)
    match unit:
        case "characters":
            return len(text)
        case "utf16":
            return len(text.encode("utf-16-le", "surrogatepass")) // 2
        case "bytes":
            return len(text.encode("utf-8", "surrogatepass"))


def cut(
    text: str, limit: int | None, unit: LengthUnit = "characters", rendered: Callable[[str], int] | None = None
) -> list[Chunk]:
    """The messages of a text, with added text kept apart; none if the text has no visible character.

    `rendered` returns a message's length in the platform's format.
    """
    if not is_seen(text):
        return []
    if limit is None or (length(text, unit) <= limit and (rendered is None or rendered(text) <= limit)):
        return [Chunk("", text, "")]
    return _Cutter(text, limit, unit, rendered).chunks()


def _indentation(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


def _is_among(at: int, places: list[tuple[int, int]]) -> bool:
    return any(start <= at < stop for start, stop in places)


def _moved(source: str, columns: int) -> str:
    """The source with its lines moved to the left, up to the first line that is indented less than that."""
    lines = source.split("\n")
    for number, line in enumerate(lines):
        if words := line.strip():
            if (indentation := _indentation(line)) < columns:
                if number:
                    break
                continue  # this line began in the previous message
            lines[number] = " " * (indentation - columns) + line[line.index(words[0]) :]
    return "\n".join(lines)


class _Cutter:
    def __init__(self, text: str, limit: int, unit: LengthUnit, rendered: Callable[[str], int] | None) -> None:
        self._text = text
        self._limit = limit
        self._unit: LengthUnit = unit
        self._rendered = rendered
        self._atoms = Atoms(text, limit, lambda atom: self._length(atom) <= limit)
        self._enclosures = [found for found in enclosures(text) if self._can_repeat(found)]
        self._starts = [found.start for found in self._enclosures]

    def _can_repeat(self, enclosure: Enclosure) -> bool:
        """Whether the fence line or the head can be repeated. One that fills half a message would leave little room for
        the rest."""
        opening = max(self._text[enclosure.start : enclosure.inside], enclosure.opening, key=self._length)
        around = opening + enclosure.closing
        return max(self._length(around), self._rendered(around) if self._rendered else 0) <= self._limit // 2

    def _length(self, text: str) -> int:
        return length(text, self._unit)

    def chunks(self) -> list[Chunk]:
        places: list[tuple[int, int]] = []
        at = self._line_start(0)
        while self._skip_white(at) < len(self._text):
            at, end = self._next(at)
            places.append((at, end))
            at = self._line_start(end)
        if len(places) > 1:
            places[-2:] = self._balanced(places[-2], places[-1])
        return [self._chunk(*place) for place in places]

    # --- one message ----------------------------------------------------------------------------

    def _next(self, at: int) -> tuple[int, int]:
        room = self._limit
        while True:
            place = self._place(at, room)
            chunk = self._chunk(*place)
            size = self._length(chunk.text) if chunk.columns else 0  # moving a line to the left expands its tabs
            if self._rendered:
                size = max(size, self._rendered(chunk.text))
            if size <= self._limit or room <= 1:
                return place
            room = max(1, min(room * 9 // 10, room * self._limit // size))

    def _place(self, at: int, room: int) -> tuple[int, int]:
        """Start and end of the next message, which may be as long as `room`."""
        room = max(1, room - self._length(self._opening(at)))
        end = self._fitting(at, room)
        visible = self._skip_white(at)
        if end <= visible:  # indentation that fills a whole message would make it empty
            at = visible
            end = max(self._fitting(at, room), at + 1)
        if end < len(self._text):
            end = self._cut(at, end, visible + 1, room)
        return at, end

    def _chunk(self, at: int, end: int) -> Chunk:
        source = self._text[at:end].rstrip()
        return Chunk(self._opening(at), source, self._closing(end), self._columns(at, source))

    def _columns(self, at: int, source: str) -> int:
        whole_line = _WHOLE_LINE.search(self._text, max(at - 1, 0), at + len(source))
        columns = _indentation(whole_line[0]) - _MOST_INDENTATION if whole_line else 0
        if whole_line is None or columns <= 0 or self._opening(at):
            return 0
        place, (lists, code) = whole_line.start(), self._lists_and_code
        return columns if _is_among(place, lists) and not _is_among(place, code) else 0

    @cached_property
    def _lists_and_code(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        return lists_and_code(self._text)

    def _opening(self, at: int) -> str:
        around = self._around(at)
        if around is None:
            return self._heading(at)
        if at < around.inside:
            return ""
        return around.opening if self._text[at - 1] in "\r\n" else around.opening + around.prefix

    def _heading(self, at: int) -> str:
        """The marks that make the rest of a heading cut here a heading again."""
        line = self._text.rfind("\n", 0, at) + 1
        marks = _HEADING.match(self._text, line, at)
        return marks[0] if marks and self._length(marks[0]) <= self._limit // 2 else ""

    def _closing(self, end: int) -> str:
        around = self._around(end)
        if around is None or end >= len(self._text) or not around.inside < end <= around.end:
            return ""
        return around.closing

    def _around(self, at: int) -> Enclosure | None:
        """The fence or the table around this place."""
        index = bisect_right(self._starts, at) - 1
        if index < 0 or not self._enclosures[index].start < at < self._enclosures[index].stop:
            return None
        return self._enclosures[index]

    # --- where to cut ---------------------------------------------------------------------------

    def _cut(self, at: int, end: int, least: int, room: int) -> int:
        half = max(at + (end - at) // 2, least)
        for boundary in _BOUNDARIES:
            legal = [place for place in self._boundaries(boundary, half, end) if self._is_legal(at, place, room)]
            if legal:
                return next((place for place in legal if not self._around(place)), legal[0])
        around = self._around(end)
        if around:
            for place in self._boundaries(_LINE, least, half):
                if self._is_legal(at, place, room):
                    return place
            if around.start >= least:
                return around.start
            closed = self._fitting(at, room - self._length(around.closing))
            last = len(self._text[at : around.end].rstrip()) + at - 1  # leaves some code for the next message
            least = max(least, around.inside + 1)  # two fences with nothing in between would look like a code span
            end = max(least, min(closed, last))
        return self._anywhere(at, end, least)

    def _boundaries(self, boundary: re.Pattern[str], first: int, end: int) -> list[int]:
        found = [match.end() for match in boundary.finditer(self._text, first, end + _BEYOND)]
        return [place for place in reversed(found) if place <= end]

    def _is_legal(self, at: int, place: int, room: int) -> bool:
        around = self._around(place)
        if around is None:
            return self._atoms.start_around(place) is None
        if self._text[place] != "\n" or place <= around.inside or not self._text[place : around.end].strip():
            return False  # no message ends with a bare fence or begins with the closing one
        return self._length(self._text[at:place].rstrip() + self._closing(place)) <= room

    def _anywhere(self, at: int, end: int, least: int) -> int:
        atom = self._atoms.start_around(end)
        if atom is not None and atom >= least:
            return atom
        place = end
        while place > least and is_inside_grapheme(self._text, at, place):
            place -= 1
        return end if is_inside_grapheme(self._text, at, place) else place

    # --- the last message -----------------------------------------------------------------------

    def _balanced(self, before: tuple[int, int], last: tuple[int, int]) -> list[tuple[int, int]]:
        """The last two messages, cut so that the last has enough lines if possible."""
        if self._lines(last) >= _FEWEST_LAST_LINES:
            return [before, last]
        at, end = before
        best: list[tuple[int, int]] | None = None
        for place in self._boundaries(_LINE, self._skip_white(at) + 1, end - 1):
            moved = (self._line_start(place), last[1])
            size = self._length(self._chunk(*moved).text)
            if size > self._limit:
                break
            if self._lines(moved) < _FEWEST_LAST_LINES or not self._is_legal(at, place, self._limit):
                continue
            if best is None or (_PARAGRAPH.match(self._text, place) and not self._around(place)):
                best = [(at, place), moved]
            if size > self._limit // 2:
                break
        if best is None or not all(self._fits(place) for place in best):
            return [before, last]
        return best

    def _lines(self, place: tuple[int, int]) -> int:
        return self._text[place[0] : place[1]].rstrip().count("\n") + 1

    def _fits(self, place: tuple[int, int]) -> bool:
        text = self._chunk(*place).text
        return self._length(text) <= self._limit and (self._rendered is None or self._rendered(text) <= self._limit)

    # --- white space and room -------------------------------------------------------------------

    def _skip_white(self, at: int) -> int:
        white = _WHITE.match(self._text, at)
        return white.end() if white else at

    def _line_start(self, at: int) -> int:
        """Where the next message begins: after white space, but before the indentation of a line."""
        visible = self._skip_white(at)
        newline = self._text.rfind("\n", at, visible)
        if newline >= 0:
            return newline + 1
        return visible if at else 0

    def _fitting(self, at: int, room: int) -> int:
        """The index after the last character that fits."""
        end = min(len(self._text), at + max(room, 1))  # no character is shorter than one unit
        left = room - self._length(self._text[at:end])
        while left < 0 and end > at:
            end -= 1
            left += self._length(self._text[end])
        return end
