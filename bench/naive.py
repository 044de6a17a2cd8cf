"""The obvious way to read agent output, for comparison only: keep all text, search it again at each piece.

Regular expressions find header, code, blocks and tags; what looks unfinished at the end is held back; what
has been shown is cut off the front of the result. It reads typical replies rightly. It costs the square of
the length when streamed, and an expression that fails at each of n openers costs that by itself.
"""

import re
from typing import NamedTuple

_HEADER = re.compile(r"\s*\[\[\s*([a-z][a-z0-9_-]*)\s*(?::\s*([^\]\n]*?)\s*)?\]\][ \t]*\n?")
_CODE_OR_BLOCK = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)|<actions\b[^>]*>(?P<children>.*?)</actions>[ \t]*\n?", re.S | re.I
)
_CHILD = re.compile(
    r"<(?P<name>[a-z][a-z-]*)(?P<attributes>(?:\s+[\w-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+))*)\s*"
    r"(?:/>|>(?P<body>.*?)</(?P=name)>|>)",
    re.S | re.I,
)
_ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_BARE = re.compile(r"^[ \t]*<(react|reply|send-file)\b([^>]*?)/?>[ \t]*(?:\n|\Z)", re.M | re.I)
_NO_REPLY = re.compile(r"<no-reply\s*/?>(?:\s*</no-reply>)?", re.I)
_UNFINISHED = re.compile(r"<actions\b(?:(?!</actions>).)*\Z|<[^>\n]*\Z|\[\[?[^\]]*\]?\Z", re.S | re.I)


class NaiveReading(NamedTuple):
    text: str
    directives: list[tuple[str, dict[str, str], str | None]]
    silent: bool


def naive_read(text: str) -> NaiveReading:
    """Reads a whole reply."""
    directives: list[tuple[str, dict[str, str], str | None]] = []
    begin = 0
    while header := _HEADER.match(text, begin):
        directives.append((header[1], {"value": header[2] or "true"}, None))
        begin = header.end()

    def take_block(found: re.Match[str]) -> str:
        if found["code"]:
            return found["code"]
        for child in _CHILD.finditer(found["children"]):
            directives.append((child["name"].lower(), _attributes(child["attributes"]), child["body"]))
        return ""

    def take_bare(found: re.Match[str]) -> str:
        directives.append((found[1].lower(), _attributes(found[2]), None))
        return ""

    visible = _CODE_OR_BLOCK.sub(take_block, text[begin:])
    visible = _BARE.sub(take_bare, visible)
    visible, markers = _NO_REPLY.subn("", visible)
    visible = visible.strip("\n")
    silent = visible.strip() == "NO_REPLY" or bool(markers and not visible.strip())
    return NaiveReading("" if silent else visible, directives, silent)


def _attributes(source: str) -> dict[str, str]:
    return {name: double or single or plain for name, double, single, plain in _ATTRIBUTE.findall(source)}


class NaiveReader:
    """The same, streamed: every piece reads everything again."""

    def __init__(self) -> None:
        self._text = ""
        self._shown = ""

    def feed(self, piece: str) -> str:
        """What has become visible with this piece."""
        self._text += piece
        unfinished = _UNFINISHED.search(self._text)
        settled = self._text[: unfinished.start()] if unfinished else self._text
        return self._show(naive_read(settled).text)

    def finish(self) -> NaiveReading:
        reading = naive_read(self._text)
        self._show(reading.text)
        return reading

    def _show(self, visible: str) -> str:
        if "NO_REPLY".startswith(visible.strip()) or not visible.startswith(self._shown):
            return ""
        new = visible[len(self._shown) :]
        self._shown = visible
        return new
