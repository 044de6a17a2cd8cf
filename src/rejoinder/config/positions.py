"""The line of each key and each list item in a TOML text.

The standard library reads the values but not their positions. This file reads a text that the library has already
accepted, so it need not check anything: it walks once from start to end, in linear time.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping

Path = tuple[str | int, ...]

# Each alternative begins with a different character and the text is known to be well-formed, so nothing is tried twice.
# (Possessive quantifiers would enforce this, but CPython 3.11.2 handles them wrongly.)
_BLANK = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\n]+|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^"\\]+|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']+|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]+|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_PLAIN_VALUE = re.compile(r"[^,\]}#\n]*")


def positions(text: str) -> Mapping[Path, int]:
    """Path of each key, table and list item to the number of the line where it is first named."""
    walk = _Walk(text.replace("\r\n", "\n"))
    walk.document()
    return walk.found


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, int] = {}
        self.lengths: dict[Path, int] = {}
        """How many elements each array of tables has so far."""
        self.line_starts = [0, *(newline.end() for newline in re.finditer("\n", text))]

    def document(self) -> None:
        table: Path = ()
        while self.skip(_GAP) < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)

    def header(self) -> Path:
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        path: Path = ()
        for part, offset in self.key():
            if path in self.lengths:
                path = (*path, self.lengths[path] - 1)
            path = (*path, part)
            self.note(path, offset)
        if brackets == 2:
            index = self.lengths.get(path, 0)
            self.lengths[path] = index + 1
            path = (*path, index)
            self.note(path, self.at)
        elif path in self.lengths:
            path = (*path, self.lengths[path] - 1)
        self.skip(_BLANK)
        self.at += brackets
        return path

    def pair(self, path: Path) -> None:
        for part, offset in self.key():
            path = (*path, part)
            self.note(path, offset)
        self.at += len("=")
        self.skip(_BLANK)
        self.value(path)

    def key(self) -> list[tuple[str, int]]:
        """The parts of a key and where each begins; skips the blanks after it."""
        parts: list[tuple[str, int]] = []
        while True:
            start = self.skip(_BLANK)
            if self.text[start] in "\"'":
                end = self.skip(_STRING)
                parts.append((_unquoted(self.text[start:end]), start))
            else:
                end = self.skip(_BARE_KEY)
                parts.append((self.text[start:end], start))
            if self.text[self.skip(_BLANK)] != ".":
                return parts
            self.at += 1

    def value(self, path: Path) -> None:
        match self.text[self.at]:
            case '"' | "'":
                self.skip(_STRING)
            case "[":
                self.at += 1
                index = 0
                while self.text[self.skip(_GAP)] != "]":
                    self.note((*path, index), self.at)
                    self.value((*path, index))
                    self.comma()
                    index += 1
                self.at += 1
            case "{":
                self.at += 1
                while self.text[self.skip(_GAP)] != "}":
                    self.pair(path)
                    self.comma()
                self.at += 1
            case _:
                self.skip(_PLAIN_VALUE)

    def comma(self) -> None:
        if self.text[self.skip(_GAP)] == ",":
            self.at += 1

    def skip(self, pattern: re.Pattern[str]) -> int:
        matched = pattern.match(self.text, self.at)
        self.at = matched.end() if matched else self.at
        return self.at

    def note(self, path: Path, offset: int) -> None:
        if path not in self.found:
            self.found[path] = bisect_right(self.line_starts, offset)


def _unquoted(key: str) -> str:
    if "\\" not in key:
        return key[1:-1]
    return tomllib.loads(f"key = {key}")["key"]
