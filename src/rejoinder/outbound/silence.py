"""Silence tokens: `NO_REPLY` and `HEARTBEAT_OK` at the edges of a reply (OD-41, OD-43, OD-45).

The filter sees the visible text of all segments of a turn, directives already taken out, and passes it on,
holding back only what may still be a token at an edge, with the white space before it.

Rule 1: an edge is the start of the reply, or its end: alone on the last line, or after the end of a sentence.
Rule 2: what stands in code or in a quoted line is never a token, unless the whole reply is NO_REPLY in back-ticks.
Rule 3: a token in the middle is text, and is released with the first character that proves it is one.
"""

import re
import unicodedata
from typing import Literal

from rejoinder.rendering.white_space import MOST_WHITE, WHITE, WHITES

SILENT = "NO_REPLY"
ACKNOWLEDGED = "HEARTBEAT_OK"

Mode = Literal["edges", "alone"]
Over = Literal["word", "segment", "reply", None]
"""What ends with the text being read: a word (white space follows), a segment, or the reply."""

_PAIRS = {"*": "*", "_": "_", '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`"}
_WRAPPING = "".join(_PAIRS)
_MOST_WRAPPING = 4  # more than anybody writes around a token: `"**` is three
_MOST_HELD = 2 * MOST_WHITE
_SENTENCE_END_UNSPACED = frozenset("。！？｡")  # of scripts that put no blank after a sentence
_SENTENCE_ENDS = frozenset(".!?…‽؟।") | _SENTENCE_END_UNSPACED
_CLOSING = "\"'”’»)]}*_"
_TOKEN = re.compile(f"{SILENT}|{ACKNOWLEDGED}")
_BEGINNINGS = sorted({token[:size] for token in (SILENT, ACKNOWLEDGED) for size in range(1, len(token))}, key=len)
_PARTIAL = re.compile(rf"[{re.escape(_WRAPPING)}]{{0,{_MOST_WRAPPING}}}(?:{'|'.join(_BEGINNINGS[::-1])})?\Z")
_TAIL = frozenset(SILENT + ACKNOWLEDGED + _WRAPPING)
_LONGEST = len(ACKNOWLEDGED) + _MOST_WRAPPING
_TRAILING = re.compile(rf"[.,:;!?…]{{0,3}}[{WHITE}]*")

_TEXT, _UNDECIDED = -1, -2


class Silence:
    """Text in, text without the tokens out. Once `silent` is true nothing more comes out."""

    def __init__(self, mode: Mode = "edges") -> None:
        self._mode: Mode = mode
        self._held = ""
        self._breaks = [0]  # the places in the held text, or at its end, where a segment began
        self._started = False  # a visible character was passed on
        self._tail = ""  # the last characters passed on
        self._line = ""  # the first characters of the line they stand in
        self.silent = False
        self.acknowledged = False

    def push(self, text: str, *, code: bool = False) -> str:
        """Takes more visible text and returns what, of it and of the held text, is certain to be text."""
        if self.acknowledged and not (self._started or self._held):
            text = text.lstrip(WHITE)  # it followed the token that began the reply, and is dropped with it
        if self.silent or not text:
            return ""
        if code:
            return self._pass(self._release() + text)
        if self._started and not self._held and not self._breaks and text[-1] not in _TAIL and not _has_token(text):
            return self._pass(text)
        return self._read(self._release() + text, over=None)

    def pause(self) -> str:
        """White space follows (held back elsewhere): a token that it cuts short is text."""
        return self._read(self._release(), over="word") if self._held else ""

    def next_segment(self) -> str:
        """A segment is over, which ends a line; held text that is not a whole token is text."""
        out = self._read(self._release(), over="segment") if self._held else ""
        self._breaks.append(len(self._held))
        return out

    def finish(self) -> str:
        """The reply is over; the held text is a token, or text after all."""
        return self._read(self._release(), over="reply") if self._held and not self.silent else ""

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held

    def _pass(self, text: str) -> str:
        if text:
            self._started = self._started or bool(text.strip(WHITE))
            self._breaks.clear()
            self._tail = (self._tail + text)[-8:]
            line_start = text.rfind("\n")
            if line_start >= 0:
                self._line = text[line_start + 1 : line_start + 9]
            elif len(self._line) < 8:
                self._line = (self._line + text)[:8]
        return text

    def _read(self, text: str, *, over: Over) -> str:
        """Passes on all of `text` except tokens, and holds what may become one."""
        out = ""
        done = at = 0
        has_token = _has_token(text)
        breaks = list(self._breaks)
        while True:
            start, token = self._next(text, at, has_token=has_token, whole=over is not None)
            if start < 0:
                return out + self._pass(text[done:])
            edge = start
            while edge > done and text[edge - 1] in WHITE:
                edge -= 1
            edge += (start - edge) // MOST_WHITE * MOST_WHITE  # white space past the limit is passed on
            out += self._pass(text[done:edge])
            done = edge
            new_line = not self._started or any(edge <= place <= start for place in breaks)
            where = self._edge(text[edge:start], text[start : start + _LONGEST], new_line=new_line)
            end = self._end(text, start, token, where, breaks, over) if where else _TEXT
            if self.silent:
                return out
            if end == _UNDECIDED and len(text) - done <= _MOST_HELD:
                self._held = text[done:]
                self._breaks = [place - done for place in breaks if place >= done]
                return out
            if end in (_TEXT, _UNDECIDED):
                at = text.index(token, start) + len(token) if token else start + 1
            else:
                done = at = end

    def _next(self, text: str, at: int, *, has_token: bool, whole: bool) -> tuple[int, str]:
        """Where the next token begins, including what is wrapped around it, and the token; '' if the text cuts it
        short."""
        found = _TOKEN.search(text, at) if has_token else None
        if found:
            start, least = found.start(), max(at, found.start() - _MOST_WRAPPING)
            while start > least and text[start - 1] in _PAIRS:
                start -= 1
            return start, found[0]
        if not whole and text[-1:] in _TAIL:
            partial = _PARTIAL.search(text, max(at, len(text) - _LONGEST))
            if partial and partial[0]:
                return partial.start(), ""
        return -1, ""

    def _edge(self, white: str, written: str, *, new_line: bool) -> Literal["first", "last", None]:
        """The edge of the reply that a token after this white space may be at."""
        line_start = white.rfind("\n")
        if line_start >= 0 or new_line:
            indent = white[line_start + 1 :]
            if "\t" in indent or indent.count(" ") >= 4:
                return None
            return "last" if self._started else "first"
        if self._line.lstrip(WHITE).startswith(">"):
            return None
        if not white:
            return "last" if written[0] == SILENT[0] and self._tail[-1:] in _SENTENCE_END_UNSPACED else None
        if written[0] == ACKNOWLEDGED[0]:
            return "last"  # HEARTBEAT_OK may follow any word
        return "last" if self._tail.rstrip(_CLOSING)[-1:] in _SENTENCE_ENDS else None

    def _end(self, text: str, start: int, token: str, where: str, breaks: list[int], over: Over) -> int:
        """Where the token at an edge ends, with what is dropped along with it; or `_TEXT`, or `_UNDECIDED`."""
        if not token:
            return _UNDECIDED
        at = text.index(token, start)
        wrapping = text[start:at]
        at += len(token)
        closing = "".join(_PAIRS[mark] for mark in reversed(wrapping))
        written = text[at : at + len(closing)]
        if written != closing:
            cut_short = over is None and len(written) < len(closing) and closing.startswith(written)
            return _UNDECIDED if cut_short else _TEXT
        at += len(closing)
        in_code = "`" in wrapping
        if in_code and (where != "first" or token == ACKNOWLEDGED):
            return _TEXT
        if token == ACKNOWLEDGED:
            return self._acknowledge(text, at, where, over)
        white_end = _white_end(text, at)
        is_last = white_end == len(text)
        if where == "first" and not in_code:
            line_over = "\n" in text[at:white_end] or any(at <= place <= white_end for place in breaks)
            line_over = line_over or (is_last and over in ("segment", "reply"))
            if not line_over and not is_last and not _is_punctuation(text[at : at + 1]):
                return _TEXT
            if self._mode == "edges" and (line_over or not is_last):
                self.silent = True
                return at
            if not is_last:
                end = _trailing_end(text, at)
                return end if end < len(text) else _UNDECIDED
        elif not is_last:
            return _TEXT
        if over != "reply":
            return _UNDECIDED
        self.silent = self._mode == "edges" or not self._started
        return len(text)

    def _acknowledge(self, text: str, at: int, where: str, over: Over) -> int:
        follows = text[at : at + 1]
        if follows.isalnum() or follows == "_":
            return _TEXT
        end = _trailing_end(text, at)
        is_last = end == len(text)
        if where == "last" and not is_last:
            return _TEXT
        if is_last and over != "reply" and not (where == "first" and over == "segment"):
            return _UNDECIDED
        self.acknowledged = True
        return end


def _has_token(text: str) -> bool:
    return len(text) >= len(SILENT) and (SILENT in text or ACKNOWLEDGED in text)


def _white_end(text: str, at: int) -> int:
    run = WHITES.match(text, at)
    return run.end() if run else at


def _trailing_end(text: str, at: int) -> int:
    """The index after the punctuation and white space that are dropped with a token."""
    trailing = _TRAILING.match(text, at)
    return trailing.end() if trailing else at


def _is_punctuation(character: str) -> bool:
    return character not in ("", "_", "'", "’") and unicodedata.category(character).startswith("P")
