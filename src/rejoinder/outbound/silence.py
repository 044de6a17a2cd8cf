"""Silence tokens: `NO_REPLY` and `HEARTBEAT_OK` as the first or the last word of a reply (OD-41, OD-43, OD-45).

The filter gets the visible text of all segments of a turn, without directives, and passes it on. It holds back only
what may still be a token at an edge, with the white space before it.

Rule 1: a token is a word of its own after white space, with or without mark-up, quotes or brackets around it.
Rule 2: the character after the first word decides about it; the last word waits for the end, with everything after it
        that is no word.
Rule 3: a word in code or in a quoted line is never a token, unless the whole reply is a token in back-ticks.
Rule 4: a token in the middle is text, and is released with the first character that proves it.
"""

import re
from typing import Literal

from rejoinder.rendering.white_space import MOST_WHITE, WHITE

SILENT = "NO_REPLY"
ACKNOWLEDGED = "HEARTBEAT_OK"

SilenceMode = Literal["edges", "alone"]
Over = Literal["word", "segment", "reply", None]
"""What ends at the end of the text being read: a word (white space follows), a segment, or the reply."""

_CLOSING_OF = dict(zip("*_~\"'“‘«„([{`", "*_~\"'”’»“)]}`", strict=True))
_MOST_AROUND = 64  # far more characters than anybody writes around a token
_MOST_WAITING = MOST_WHITE
_END_UNSPACED = frozenset("。！？｡")  # the ends of sentences in scripts that put no blank after them

_MARKS = re.escape("".join(_CLOSING_OF))
_MARK_UP = ("b", "strong", "i", "em", "u", "p")
_OPEN = rf"(?:[{_MARKS}]|<(?:{'|'.join(_MARK_UP)})>)"
_CLOSE = rf"(?:[{re.escape(''.join(set(_CLOSING_OF.values()) - {'`'}))}]|</[A-Za-z]{{1,10}}>)"
_STOPS = r"[.,:;!?…。！？｡、，；：—–-]"
_EITHER = f"{SILENT}|{ACKNOWLEDGED}"


def cut_short(*words: str) -> str:
    """Matches the beginnings of these words, the longest first."""
    beginnings = {word[:size] for word in words for size in range(1, len(word) + 1)}
    return "|".join(map(re.escape, sorted(beginnings, key=len, reverse=True)))


_TOKEN_CUT_SHORT = cut_short(SILENT, ACKNOWLEDGED)
_PARTIAL_TAG = rf"<(?:{cut_short(*_MARK_UP)})?"

_TOKEN = re.compile(_EITHER)
_OPENING = re.compile(rf"{_OPEN}*\Z")
_PARTIAL = re.compile(rf"{_OPEN}*(?:{_TOKEN_CUT_SHORT}|{_PARTIAL_TAG})?\Z")
_PARTIAL_IN_TAIL = re.compile(rf"(?:{_TOKEN_CUT_SHORT}|</?[A-Za-z]{{0,10}})\Z")
_NO_WORD = re.compile(r"(?:[^\w`<]|_|</?[A-Za-z]{1,10}>|<(?=[^/A-Za-z]))+")
_NO_WORD_AT_END = re.compile(r"(?:[^\w`<]|_|</?[A-Za-z]{1,10}>|<(?![/A-Za-z]))+")
_FOLLOWED = re.compile(r"['’]?\w")
_GOES_WITH = {
    True: re.compile(rf"(?:{_STOPS}|{_CLOSE}){{0,{_MOST_AROUND}}}"),
    False: re.compile(rf"{_STOPS}{{0,{_MOST_AROUND}}}"),
}
"""What is dropped after a token, with or without something around it."""
_UNFINISHED = re.compile(r"(?:</?[A-Za-z]{0,10})?\Z")
_TAKEN_OUT = re.compile(
    rf"[{WHITE}]*(?:{_OPEN}+(?:{_EITHER})(?:{_STOPS}|{_CLOSE}){{0,{_MOST_AROUND}}}|(?:{_EITHER}){_STOPS}{{0,{_MOST_AROUND}}})"
)
_LAST_OF_PARTIAL = frozenset(SILENT + ACKNOWLEDGED + "".join(_CLOSING_OF) + "<>")


class SilenceFilter:
    """Removes the tokens from text. Once `silent` is true it returns nothing more."""

    def __init__(self, mode: SilenceMode = "edges") -> None:
        self._mode: SilenceMode = mode
        self._held = ""  # text that may still become a token, with the white space before it
        self._waiting: list[str] = []  # a token and what followed it: the end of the reply, if no word comes
        self._waits = 0
        self._started = False  # a visible character was passed on
        self._trims = False  # a token was taken out at the start, and white space after it is dropped
        self._asked = False  # NO_REPLY was taken out
        self._last = "\n"  # the last character read
        self._line = ""  # the first characters of the line it stands in
        self.silent = False
        self.acknowledged = False

    def push(self, text: str, *, code: bool = False) -> str:
        """Takes more visible text and returns the part of it and of the held text that is certain to be text."""
        if self._trims:
            text = text.lstrip(WHITE)
            self._trims = not text
        if self.silent or not text:
            return ""
        if code:
            return self._release() + self._pass(text)
        if not (self._held or self._waiting or _may_hold_token(text)):
            return self._pass(text)
        return self._read(text, over=None)

    def pause(self) -> str:
        """White space follows (it is held back elsewhere): a token that it cuts short is text."""
        return self._decide("word")

    def next_segment(self) -> str:
        """A segment is over, which ends a line; held text that is not a whole token is text."""
        out = self._decide("segment")
        self._last, self._line = "\n", ""
        return out

    def finish(self) -> str:
        """The reply is over; the held text is a token, or text after all."""
        out = self._decide("reply")
        if self._waiting:
            tail = "".join(self._waiting)
            self._waiting.clear()
            self._take_note(tail)
            if not (self._asked and self._mode == "edges"):
                out += _TAKEN_OUT.sub("", tail).rstrip(WHITE)
        self.silent = self.silent or (self._asked and (self._mode == "edges" or not self._started))
        return "" if self.silent and not self._started else out

    def _decide(self, over: Over) -> str:
        """The part of the held text that is text; none if it is only the mark-up around a removed token."""
        return self._read("", over=over) if self._held and not (self.silent or self._trims) else ""

    def _release(self) -> str:
        """Everything held back is text after all."""
        waiting = "".join(self._waiting)
        self._waiting.clear()
        self._waits = 0
        held, self._held = self._held, ""
        return waiting + (self._pass(held) if held else "")

    def _pass(self, text: str) -> str:
        if text:
            self._started = self._started or bool(text.strip(WHITE))
            self._follow(text)
        return text

    def _follow(self, text: str) -> None:
        self._last = text[-1]
        line_start = text.rfind("\n")
        if line_start >= 0:
            self._line = text[line_start + 1 : line_start + 9]
        elif len(self._line) < 8:
            self._line = (self._line + text)[:8]

    # --- reading --------------------------------------------------------------------------------

    def _read(self, text: str, *, over: Over) -> str:
        """Passes on all of `text` except tokens, and holds what may become one."""
        text, self._held = self._held + text, ""
        out, at = "", 0
        has_token = SILENT in text or ACKNOWLEDGED in text
        while at < len(text):
            if self._waiting:
                more, at = self._read_tail(text, at, over)
                out += more
                continue
            found = _TOKEN.search(text, at) if has_token else None
            if found:
                word = _word_start(_OPENING, text, max(at, found.start() - _MOST_AROUND), found.start())
            elif over is None:
                word = _word_start(_PARTIAL, text, max(at, len(text) - _MOST_AROUND), len(text))
            else:
                word = len(text)
            white = word
            while white > at and text[white - 1] in WHITE:
                white -= 1
            white += (word - white) // MOST_WHITE * MOST_WHITE  # white space beyond the limit is passed on
            out += self._pass(text[at:white])
            at = white
            if word == len(text):
                out += self._pass(text[at:])
                break
            token_at = found.start() if found else word
            if not self._is_edge(text[white:word], is_plain=word == token_at, first=text[word]):
                at = found.end() if found else len(text)
                out += self._pass(text[white:at])
            elif found is None or (end := self._token_end(text, word, found, over)) is None:
                self._held = text[at:]
                break
            elif end == 0:
                at = found.end()
                out += self._pass(text[white:at])
            elif self.silent:
                break
            elif self._started:
                self._wait(text[white : found.end()])
                at = found.end()
            else:
                text, at = self._without_first(text, word, found, end), 0
        return out

    def _is_edge(self, white: str, *, is_plain: bool, first: str) -> bool:
        """Whether a word after this white space may be a token: not in the middle of one, in code or in a quote."""
        if (white[-1:] or self._last) not in WHITE:
            return is_plain and first == SILENT[0] and self._last in _END_UNSPACED
        line_start = white.rfind("\n")
        return not _is_inert(white[line_start + 1 :] if line_start >= 0 else self._line + white)

    def _token_end(self, text: str, word: int, found: re.Match[str], over: Over) -> int | None:
        """Where a token at an edge ends, including what is removed with it; 0 if it is text; None if more text has to
        decide."""
        opening, end = text[word : found.start()], found.end()
        if "`" in opening:
            return self._code_end(text, opening, end, over)
        behind = end
        while behind < len(text) and text[behind] == "_" and behind - end < opening.count("_"):
            behind += 1
        follows = text[behind : behind + 2]
        if _FOLLOWED.match(follows):
            return 0
        if over is None and follows in ("", "'", "’"):
            return None
        if self._started:
            return end
        if found[0] == SILENT and self._mode == "edges":
            self.silent = True
            return end
        goes = _GOES_WITH[bool(opening)].match(text, end)
        end = goes.end() if goes else end
        return None if over is None and _UNFINISHED.match(text, end) else end

    def _code_end(self, text: str, opening: str, end: int, over: Over) -> int | None:
        """The end of a token in back-ticks, which counts only if it is the whole reply."""
        closing = "".join(_CLOSING_OF.get(mark, "") for mark in reversed(opening))
        written = text[end:].rstrip(WHITE)
        if self._started or not (closing.startswith(written) if over is None else written == closing):
            return 0
        if over != "reply":
            return None
        self.silent = text.startswith(SILENT, end - len(SILENT))
        return len(text)

    def _without_first(self, text: str, word: int, found: re.Match[str], end: int) -> str:
        """The text without a token at its start. Mark-up that was opened before the token and is closed later stays."""
        self._take_note(found[0])
        opening, behind = text[word : found.start()], text[found.end() : end]
        rest = text[end:].lstrip(WHITE)
        kept = "" if re.search(_CLOSE, behind) or "`" in opening else opening
        self._trims = not rest
        if rest:
            return kept + rest
        self._held = kept
        return ""

    def _take_note(self, tokens: str) -> None:
        self._asked = self._asked or SILENT in tokens
        self.acknowledged = self.acknowledged or ACKNOWLEDGED in tokens

    # --- after a token --------------------------------------------------------------------------

    def _read_tail(self, text: str, at: int, over: Over) -> tuple[str, int]:
        """Keeps waiting while no word comes; otherwise the waiting text is text. Returns it and the place reached."""
        run = (_NO_WORD if over is None else _NO_WORD_AT_END).match(text, at)
        if run:
            self._wait(run[0])
            at = run.end()
        if self._waits <= _MOST_WAITING:
            if at == len(text):
                return "", at
            found = _TOKEN.match(text, at)
            if found and not _is_inert(self._line):
                behind = found.end()
                while self._last == "_" and text.startswith("_", behind) and behind - found.end() < _MOST_AROUND:
                    behind += 1
                follows = text[behind : behind + 2]
                if over is None and follows in ("", "'", "’"):
                    self._held = text[at:]
                    return "", len(text)
                if not _FOLLOWED.match(follows):
                    self._wait(found[0])
                    return "", found.end()
            elif over is None and _PARTIAL_IN_TAIL.match(text, at):
                self._held = text[at:]
                return "", len(text)
        return self._release(), at

    def _wait(self, text: str) -> None:
        self._waiting.append(text)
        self._waits += len(text)
        self._follow(text)


def _may_hold_token(text: str) -> bool:
    return (
        text[-1] in _LAST_OF_PARTIAL
        or ("<" in text and text.find("<", -12) >= 0)
        or ("_" in text and (SILENT in text or ACKNOWLEDGED in text))
    )


def _is_inert(line: str) -> bool:
    """Whether a line with this beginning is a quote or code (OD-36)."""
    begun = line.lstrip(WHITE)
    indent = line[: len(line) - len(begun)]
    return "\t" in indent or indent.count(" ") >= 4 or begun.startswith((">", "```"))


def _word_start(opening: re.Pattern[str], text: str, at: int, end: int) -> int:
    found = opening.search(text, at, end)
    return found.start() if found else end
