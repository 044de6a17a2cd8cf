"""The reader turns pieces of agent output into `Text`, `Directive`, `Problem` and finally `Silent` (OD-1 to OD-45).

Rule 1: no character is looked at twice, except in a bounded, counted hold; there is no other look-ahead.
Rule 2: text that may still become a directive is held back, with the white space before it; everything else is passed
        on.
Rule 3: text that turns out not to be a directive is shown, byte for byte.
Rule 4: nothing here raises on input, waits, or acts.

It consists of layers, each a file that knows those below it: `line_reader.py` walks the text and knows the line,
`code_reader.py` knows code, `tag_reader.py` tags, `stray_reader.py` misplaced ones, and this file headers and
the three verbs. Beside the layers, each
without state or with its own: `header.py` says what `[[key:value]]` is, `actions.py` what one tag is, `code_spans.py`
what closes a fence or a span, `silence.py` handles the tokens, `gap.py` and `visible.py` text and white space.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from rejoinder.events import Directive, ReplyEvent
from rejoinder.outbound import actions, header
from rejoinder.outbound.code_spans import QUIET_TICKS
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Declaration, Registry
from rejoinder.outbound.line_reader import hold
from rejoinder.outbound.silence import SilenceFilter, SilenceMode
from rejoinder.outbound.stray_reader import StrayReader
from rejoinder.outbound.tag_reader import BLOCK
from rejoinder.outbound.visible import VisibleText
from rejoinder.rendering.white_space import BLANKS, WHITE, WHITES, WITHOUT_WIDTH

_MOST_UNFAMILIAR = 100  # how many unknown header lines are kept, to be shown if nothing else is


class ReplyReader(StrayReader):
    """Reads one turn of one agent.

    `feed(piece)`, `next_segment()` where the agent called a tool or began a new message, and `finish()` return the
    events that have become certain. However the text is cut, the events are the same, once adjacent text is joined.
    """

    __slots__ = (
        "_finished_silent",
        "_key_written",
        "_last_line",
        "_last_line_escaped",
        "_lines",
        "_over",
        "_silence",
        "_taking_text",
        "_unfamiliar",
    )

    def __init__(
        self,
        *,
        registry: Registry | None = None,
        silence: SilenceMode = "edges",
        has_trigger: bool = True,
        heartbeat: bool = False,
        ack_max_chars: int = 300,
    ) -> None:
        registry = registry or default_registry()
        self._silence = SilenceFilter(silence)
        self._lines = header.line_patterns(registry)
        self._taking_text: dict[str, Directive] = {}  # directives that take the answer's text as their body
        self._last_line: re.Match[str] | None = None  # a flag that counts if this was the last line
        self._last_line_escaped = False
        self._unfamiliar: list[str] = []
        self._key_written = False
        self._over = False
        self._finished_silent = False
        visible = VisibleText(self._silence, heartbeat=heartbeat, ack_max_chars=ack_max_chars)
        super().__init__(visible, registry, has_trigger=has_trigger)

    # --- the verbs ------------------------------------------------------------------------------

    @property
    def silent(self) -> bool:
        """Whether the reply asks for silence, as far as that is known."""
        return self._finished_silent or self._silence.silent

    def feed(self, piece: str) -> list[ReplyEvent]:
        """Takes more of the agent's text, cut anywhere."""
        if self._is_flowing() and _is_plain(piece) and "\n" not in piece and piece.strip(WHITE):
            self._offset += len(piece)
            return self._visible.flow(piece)
        if self._is_opened_by(piece):
            self._header = False
            self._follow_line(piece)
            self._offset += len(piece)
            return self._visible.flow(piece)
        if not self._over:
            self._advance(self._rest + piece if self._rest else piece, final=False)
        return self._visible.take()

    def next_segment(self) -> list[ReplyEvent]:
        """The agent called a tool or began a new message: the next text may begin with a header."""
        self._end_segment()
        self._begin_segment()
        return self._visible.take()

    def finish(self) -> list[ReplyEvent]:
        """The turn is over. Any later text is not read."""
        if not self._over:
            self._over = True
            self._end_segment()
            otherwise = "" if self._key_written else "".join(self._unfamiliar).rstrip("\r\n")
            self._finished_silent = self._visible.finish(
                marker=self._marker, otherwise=otherwise, taking_text=tuple(self._taking_text.values())
            )
            self._step = _unread  # a bound method here would be a reference cycle that keeps the reader alive
        return self._visible.take()

    def _end_segment(self) -> None:
        if self._rest:
            self._advance(self._rest, final=True)
        self._end_tags()
        self._end_last_line()
        self._visible.end_segment()

    def _is_flowing(self) -> bool:
        """Whether we are in the middle of a line of plain text. Then `feed` takes a fast path, as for most pieces."""
        return not (self._rest or self._header or self._in_block or self._ticks.open or self._bare or self._over) and (
            self._step == self._in_text and self._line_is_known
        )

    def _is_opened_by(self, piece: str) -> bool:
        """Whether plain text begins here. Most answers begin like this, and many have only this piece."""
        return (
            self._header
            and not (self._rest or self._prefix or self._in_block or self._ticks.open or self._bare or self._over)
            and self._step == self._in_text
            and piece[:1].isalpha()
            and piece[0] not in self._lines.initials
            and self._is_quiet(piece)
        )

    # --- text and its interruptions -------------------------------------------------------------

    def _in_text(self, text: str, at: int, final: bool) -> int:
        """Goes from mark to mark and shows the text in between in one piece. For hostile text most of the time is spent
        here."""
        if self._header:
            at = self._skip_white(text, at)
            if at == len(text):
                return at
            if text[at] in "[\\" and self._indent < 4 and (to := self._in_header(text, at, final)) is not None:
                return to
        if not self._prefix:
            if text[at] == " " and (blanks := self._lines.blanks.match(text, at)):
                at = blanks.end()
                self._plain(blanks[0])
            if text[at] in self._lines.initials and (to := self._in_line(text, at, final)) is not None:
                return to
        if not (at or self._ticks.open) and self._is_quiet(text):
            self._follow_line(text)
            self._show(text)
            return len(text)
        begin = seen = at  # the text is shown up to `begin`, the line followed up to `seen`
        search = self._search()
        while found := search(text, at):
            hit, end = found.span()
            mark = text[hit]
            if seen < hit:
                if not self._line_is_known or text.find("\n", seen, hit) >= 0:
                    self._follow_line(text[seen:hit])
                seen = hit
            if mark == "\n":
                if self._ticks.fence:
                    break
                self._ticks.end_line()
                at, search = end, self._search()
                if self._lines.new_line.match(text, hit):
                    self._follow_line(text[seen:end])
                    self._show(text[begin:end])
                    return end
            elif self._is_inert():
                at = text.find("\n", hit)
                if at < 0:
                    at = len(text)
            elif self._offset + hit < self._resolved_until and (mark == "`" or self._code_end(hit)):
                at = self._code_end(hit) or hit + 1
            elif mark == "`":
                if found.lastgroup != "quiet":
                    if end == len(text) and not final:
                        break
                    self._count_ticks(hit, end)
                    search = self._search()
                at = end
            elif mark == "~":
                if self._opens_fence(hit, end) or (end == len(text) and not final):
                    break
                at = end
            elif (
                mark == "<"
                and self._in_block
                and not (self._ticks.open or self._scanner)
                and (noise_end := self._noise_end(text, found))
            ):
                if begin < hit:
                    self._show(text[begin:hit])
                self._cut()
                at = begin = seen = noise_end
                if self._header:
                    return at
            elif mark == "<" and not self._in_block and found[1] and not self._is_tag(found[1].lower()):
                if self._is_untold(found[1].lower()):
                    if begin < hit:
                        self._show(text[begin:hit])
                        begin = hit
                    if self._ticks.open:
                        return self._hold_in_ticks(hit)
                    self._tell_outside(found[1].lower())
                at = hit + 1
            elif mark == "\\" and end == len(text) and final:
                at = end
            elif mark == "\\" and self._in_block and found[4] and not (self._ticks.open or self._scanner):
                if begin < hit:
                    self._show(text[begin:hit])
                begin = seen = hit + 1
                at = found.end(4)
            else:
                break
        else:
            self._follow_line(text[seen:])
            self._show(text[begin:])
            return len(text)
        if begin < hit:
            self._show(text[begin:hit])
        return self._at_mark(text, hit, found, final)

    def _search(self) -> Callable[[str, int], re.Match[str] | None]:
        return _interruption(self._registry, self._in_block, bool(self._ticks.open)).search

    def _at_mark(self, text: str, at: int, found: re.Match[str], final: bool) -> int:
        """Something other than text begins here, or may turn out to begin here when more text has come."""
        mark = text[at]
        if mark == "\n":
            return self._open_fence_with_ticks(at)
        if mark in "`~":
            return self._begin_run(mark, at)
        if mark == "<":
            return self._in_tag(text, at, final, found)
        if found.end() == len(text):
            return hold(at)
        return self._in_tag(text, at, final, actions.TAG.match(text, at + 1))

    # --- headers --------------------------------------------------------------------------------

    def _skip_white(self, text: str, at: int) -> int:
        """Skips white space at the start of a segment."""
        white = WHITES.match(text, at) if text[at] in WHITE else None
        if white is None:
            return at
        blanks = white[0]
        self._follow_line(blanks if blanks.isascii() else blanks.translate(WITHOUT_WIDTH))
        self._visible.white(blanks, in_block=self._in_block)
        return white.end()

    def _in_header(self, text: str, at: int, final: bool) -> int | None:
        """Reads a line that begins with `[[`, or with `\\[[`; None if something else begins here."""
        escaped = text[at] == "\\"
        start = at + escaped
        brackets = text[start : start + 2]
        if brackets != "[[":
            return hold(at) if not final and "[[".startswith(brackets) else None
        begin = start + 2
        stop = min(len(text), start + header.LONGEST)
        close = text.find("]]", begin, stop)
        newline = text.find("\n", begin, close if close >= 0 else stop)
        if newline >= 0 or close < 0:
            unfinished = newline < 0 and not final and stop - start < header.LONGEST
            return hold(at) if unfinished and header.may_become(text[begin:], self._registry) else None
        line = header.classify(text[begin:close], self._registry)
        end = behind = close + 2
        if isinstance(line, header.UnknownDirective):
            blanks = BLANKS.match(text, end, stop)
            behind = blanks.end() if blanks else end
            if behind == len(text) and not final and not self._behind_known and behind - start < header.LONGEST:
                return hold(at)
            alone = text[behind : behind + 1] == "\n" or (final and behind == len(text))
            if not alone or self._behind_known:
                return None
        if line is None:
            return None
        if escaped:
            self._plain(text[start:end])
            return end
        self._cut()
        if isinstance(line, header.KnownDirective):
            self._behind_known = True
            self._obey_key(line)
        else:
            if len(self._unfamiliar) < _MOST_UNFAMILIAR:
                self._unfamiliar.append(text[start : behind + 1])
            if self._visible.tells_problems:
                hint = self._suggest(line.key, (*self._registry.keys, *self._registry.flags))
                self._visible.problem("unknown_key", f"[[{line.key}]] is not a known key{hint}", level="debug")
        return end

    def _in_line(self, text: str, at: int, final: bool) -> int | None:
        """Reads a line of the content that may be a directive (OD-58); None if it is not."""
        if self._cut_on_line or self._is_inert():
            return None
        escaped = text[at] == "\\"
        start = at + escaped
        stop = min(len(text), start + header.LONGEST)
        newline = text.find("\n", start, stop)
        line = text[start : newline if newline >= 0 else stop]
        if newline < 0 and stop - start == header.LONGEST:
            return None
        if newline < 0 and not final:
            return hold(at) if not line or self._lines.unfinished.fullmatch(line) else None
        if (flag := self._lines.flag.fullmatch(line)) and not self._header:
            self._follow_line(line)
            self._visible.tentative(text[at : start + len(line)])
            self._last_line, self._last_line_escaped = flag, escaped
            return start + len(line)
        if (named := self._lines.named.fullmatch(line)) and self._obey_line(named, escaped=escaped):
            if escaped:
                self._plain(line)
            return start + len(line)
        return None

    def _obey_line(self, named: re.Match[str], *, escaped: bool) -> bool:
        declared = self._registry.lines[named[1]]
        assert declared.line is not None
        argument = self._registry.argument_of(declared.line)
        try:
            value = argument.check(next(filter(None, named.groups()[1:])))
        except ValueError:
            return False
        if not escaped:
            self._cut()
            self._spelled(f"{named[1]}:", declared)
            self._directive(declared, Directive(declared.name, {argument.name: value}))
        return True

    def _spelled(self, written: str, declared: Declaration) -> None:
        tag = f"<{declared.tag.name}>" if declared.tag else declared.name
        self._visible.problem("other_spelling", f"{written} is read as {tag}", level="info")

    def _end_last_line(self) -> None:
        """The segment is over: a flag on its last line counts, unless a backslash made it content."""
        flag, self._last_line = self._last_line, None
        if flag is None or not self._visible.end_tentative(flag[0] if self._last_line_escaped else ""):
            return
        if not self._last_line_escaped:
            self._visible.problem("other_spelling", f"[[{flag[1]}]] belongs on the first line", level="info")
            self._obey_key(header.KnownDirective(*self._registry.flags[flag[1]]))

    def _obey_key(self, line: header.KnownDirective) -> None:
        key = line.declared.key
        assert key is not None
        self._key_written = True
        args: dict[str, Any] = {}
        try:
            if key.argument:
                args[key.argument.name] = key.argument.check(line.value)
            elif line.value:
                raise ValueError("it takes no value")
        except ValueError as reason:
            self._problem("invalid_value", f"[[{key.name}:{line.value[:40]}]] dropped: {reason}")
            return
        directive = Directive(line.declared.name, args)
        if key.instead_of_tag:
            self._spelled(f"[[{key.name}:...]]", line.declared)
            self._taking_text[key.name] = directive
            self._visible.keep()
        else:
            self._directive(line.declared, directive)

    def _is_quiet(self, text: str) -> bool:
        """Whether nothing in it interrupts text. This is true of most agent text, and it is the fastest test."""
        return (
            _is_plain(text)
            and "[[" not in text
            and text[-1] not in self._lines.ends
            and not (":" in text and any(map(text.__contains__, self._registry.lines)))
        )


@lru_cache(maxsize=64)
def _interruption(registry: Registry, in_block: bool, in_ticks: bool) -> re.Pattern[str]:
    """A pattern for what interrupts plain text outside or inside a block, without or with an open back-tick span.

    Each alternative begins with one fixed character, so that `re` can skip to these quickly. Compiling a pattern takes
    as long as reading a short reply, and most replies need none.
    """
    tag = actions.ANY_TAG if in_block else actions.tags_named((BLOCK, *sorted(registry.tags)))
    marks = rf"{tag}|\\(?={tag}|\Z)"
    line = header.line_patterns(registry).begins
    return re.compile(rf"{marks}|``*|\n" if in_ticks else rf"{marks}|{QUIET_TICKS}|``*|~~~+|~~?\Z|{line}", re.ASCII)


def _unread(text: str, at: int, final: bool) -> int:
    return len(text)


def _is_plain(text: str) -> bool:
    """Whether nothing in it interrupts text in the middle of a line."""
    return "<" not in text and "`" not in text and "\\" not in text and "~" not in text
