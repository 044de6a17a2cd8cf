"""The layer for tags that need a block but stand outside one (OD-57).

Such a tag does nothing, and a problem says how to write it. If it is complete and alone on its lines, it is not shown
either, except for a body that was to be spoken. In a sentence, or without an end, it is text, and is reported too.
"""

from msgspec import Struct

from rejoinder.outbound.actions import LONGEST
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.line_reader import hold
from rejoinder.outbound.tag_reader import BLOCK, CLOSER, CLOSER_LENGTH, UNFINISHED_CLOSER, TagReader
from rejoinder.outbound.visible import VisibleText
from rejoinder.rendering.white_space import BLANKS

_MOST_BLANKS = 1024


class _Stray(Struct):
    """A stray tag. Its positions are counted from its `<`."""

    name: str
    escaped: bool
    behind_tag: int
    searched: int
    end: int = 0
    """The position after its closing tag, once that is found."""


class StrayReader(TagReader):
    __slots__ = ("_stray", "_told_outside")

    def __init__(self, visible: VisibleText, registry: Registry, *, has_trigger: bool) -> None:
        self._told_outside: set[str] = set()
        self._stray: _Stray | None = None  # the end of a segment ends it
        super().__init__(visible, registry, has_trigger=has_trigger)

    def _begin_stray(self, text: str, start: int, end: int, name: str, *, broken: str | None, escaped: bool) -> int:
        if broken or self._bare or self._offset + end <= self._without_body.get(name, 0):
            self._plain(text[start - escaped : end])
            self._tell_outside(name)
            return end
        size = end - start
        self._stray = _Stray(name, escaped, size, size, size if text.endswith("/>", start, end) else 0)
        self._step = self._in_stray
        return start - escaped

    def _in_stray(self, text: str, at: int, final: bool) -> int:
        stray = self._stray
        assert stray is not None
        start = at + stray.escaped
        if not stray.end and (gives_up := self._find_end(stray, text, start, final)) is not None:
            return self._stray_is_text(stray, text, at, gives_up) if gives_up else hold(at)
        end = start + stray.end
        blanks = BLANKS.match(text, end, end + _MOST_BLANKS)
        behind = blanks.end() if blanks else end
        if behind == len(text) and not final and behind - end < _MOST_BLANKS:
            return hold(at)
        if behind < len(text) and text[behind] != "\n":
            return self._stray_is_text(stray, text, at, end)
        self._stray, self._step = None, self._in_text
        if stray.escaped:
            self._plain(text[start:end])
            return end
        self._cut()
        self._tell_outside(stray.name)
        tag = self._registry.tags[stray.name].tag
        if tag is None or not tag.body_is_speech:
            return end
        self._remember(stray.name)  # its closing tag is taken out as well, and what is between is text
        return start + stray.behind_tag

    def _find_end(self, stray: _Stray, text: str, start: int, final: bool) -> int | None:
        """Finds the closing tag. None if it is found; 0 if more text has to decide; otherwise there is none before this
        position."""
        longest = start + LONGEST
        stop = min(len(text), longest + CLOSER_LENGTH)
        scan = start + stray.searched
        while (closer := CLOSER.search(text, scan, stop)) and closer.start() <= longest:
            if closer[1].lower() == stray.name:
                stray.end = closer.end() - start
                return None
            scan = closer.end()
        if len(text) > longest and not UNFINISHED_CLOSER.match(text, longest, stop):
            return longest
        if final:
            return len(text)
        stray.searched = max(scan - start, stop - start - CLOSER_LENGTH, stray.behind_tag)
        return 0

    def _stray_is_text(self, stray: _Stray, text: str, at: int, end: int) -> int:
        """Shows the tag and continues after it; up to `end`, other tags of its name are not examined again."""
        self._stray, self._step = None, self._in_text
        self._without_body[stray.name] = self._offset + end
        behind = at + stray.escaped + stray.behind_tag
        self._plain(text[at:behind])
        self._tell_outside(stray.name)
        return behind

    def _is_untold(self, name: str) -> bool:
        return name in self._registry.with_body and name not in self._told_outside

    def _tell_outside(self, name: str) -> None:
        if self._is_untold(name):
            self._told_outside.add(name)
            written = f"<{BLOCK}><{name} ...>...</{name}></{BLOCK}>"
            self._problem("outside_actions", f"<{name}> does nothing outside a block: write {written}")
