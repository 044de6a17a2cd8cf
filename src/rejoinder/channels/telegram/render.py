"""Telegram: the text without any mark, and entities beside it, in UTF-16 units.

No parse mode, so there is nothing to escape and nothing Telegram could fail to parse. Its rules for entities: code
contains no other format, and only a quotation may contain code; quotations do not nest; an entity is not empty and has
no blanks at its ends; Telegram reads the first hundred. Links are http and https only: `tg://user` would notify a
person.
"""

from bisect import bisect_left

from rejoinder.events import Entity, EntityType, Rendering, TableStyle
from rejoinder.rendering.chunk import length
from rejoinder.rendering.layout import Mark, StyledRun, TextBlock, layout

_Format = tuple[EntityType, str]
"""The type of an entity, and its address, language or number."""

_KINDS: dict[Mark, EntityType] = {"bold": "bold", "italic": "italic", "strike": "strikethrough"}
_MOST_UNITS, _MOST_ENTITIES = 4096, 100


def render(source: str, tables: TableStyle) -> Rendering:
    text = _Text()
    for block in layout(source, tables):
        text.add(block)
    return text.finish()


def plain(source: str) -> Rendering:
    return Rendering(source)


def size(rendering: Rendering) -> int:
    """The length in UTF-16 units; a text with too many entities counts as too long, in proportion."""
    return max(length(rendering.text, "utf16"), len(rendering.entities) * _MOST_UNITS // _MOST_ENTITIES)


class _Text:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._at = 0
        self._open: dict[_Format, int] = {}
        self._spans: list[tuple[_Format, int, int]] = []

    def add(self, block: TextBlock) -> None:
        around: list[_Format] = [("blockquote", str(block.quote))] if block.quote else []
        self._keep(around)
        self._write(block.gap)
        for run in block.runs:
            inner: list[_Format] = [("pre", block.language)] if block.language is not None else _formats(run)
            self._keep(around + inner)
            self._write(run.text)

    def _keep(self, formats: list[_Format]) -> None:
        """Sets the formats from here on. A format inside one that ends is closed with it and reopened, so that entities
        nest and never overlap."""
        opened = list(self._open)
        ending = next((index for index, known in enumerate(opened) if known not in formats), len(opened))
        for known in opened[ending:]:
            self._spans.append((known, self._open.pop(known), self._at))
        for new in formats:
            self._open.setdefault(new, self._at)

    def _write(self, text: str) -> None:
        self._pieces.append(text)
        self._at += len(text)

    def finish(self) -> Rendering:
        self._keep([])
        text = "".join(self._pieces).rstrip()
        units = _Units(text)
        entities: list[Entity] = []
        for (kind, detail), start, end in self._spans:
            inner = text[start:end]
            if kind != "pre":
                start += len(inner) - len(inner.lstrip())
            end = start + len(text[start:end].rstrip())
            if end > start:
                entities.append(_entity(kind, detail, units.at(start), units.at(end)))
        return Rendering(text, tuple(sorted(entities, key=lambda entity: (entity.offset, -entity.length, entity.type))))


class _Units:
    """Offsets in UTF-16 units; may be asked for in any order."""

    def __init__(self, text: str) -> None:
        self._wide = [index for index, character in enumerate(text) if character > "\uffff"]

    def at(self, index: int) -> int:
        return index + bisect_left(self._wide, index)


def _formats(run: StyledRun) -> list[_Format]:
    if run.code and not run.link:  # Telegram allows only one of the two, and losing the address would be worse
        return [("code", "")]
    formats: list[_Format] = [(_KINDS[mark], "") for mark in run.marks]
    return [*formats, ("text_link", run.link)] if run.link else formats


def _entity(kind: EntityType, detail: str, start: int, end: int) -> Entity:
    url = detail if kind == "text_link" else ""
    language = detail if kind == "pre" else ""
    return Entity(kind, start, end - start, url, language)
