"""Read every way: one helper feeds a reply whole, one character at a time and at every split, and keeps the frames."""

from collections.abc import Iterator
from typing import Any

from rejoinder import Directive, Problem, Reading, ReplyReader, Text
from rejoinder.events import ReplyEvent


def cuts(text: str) -> Iterator[list[str]]:
    """The ways one text can be cut that find most mistakes."""
    yield [text]
    yield list(text)
    for at in range(1, len(text)):
        yield [text[:at], text[at:]]


def events_of(pieces: list[str], **options: Any) -> tuple[list[ReplyEvent], list[str]]:
    """The events of a reply fed in these pieces, and what people had seen after each of them."""
    reader = ReplyReader(**options)
    events: list[ReplyEvent] = []
    frames: list[str] = []
    for piece in pieces:
        events += reader.feed(piece)
        frames.append(_shown(events))
    events += reader.finish()
    return events, frames


def read_every_way(text: str, **options: Any) -> Reading:
    """The reading of a text, after asserting that every way of cutting it gives the same events and only frames
    that the whole text begins with."""
    whole, _ = events_of([text], **options)
    shown = _shown(whole)
    for pieces in cuts(text):
        events, frames = events_of(pieces, **options)
        assert joined(events) == joined(whole), f"cut as {pieces}"
        for frame in frames:
            assert shown.startswith(frame), f"{frame!r} was shown on the way to {shown!r}"
    return Reading.of(whole)


def joined(events: list[ReplyEvent]) -> list[ReplyEvent]:
    """Neighbouring texts made one: where a text is cut into events means nothing."""
    out: list[ReplyEvent] = []
    for event in events:
        if isinstance(event, Text) and out and isinstance(before := out[-1], Text):
            out[-1] = Text(before.text + event.text)
        else:
            out.append(event)
    return out


def _shown(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def said(*directives: Directive) -> list[tuple[str, dict[str, Any], str | None]]:
    return [(directive.name, directive.args, directive.body) for directive in directives]


def codes(reading: Reading) -> list[str]:
    return [problem.code for problem in reading.problems if isinstance(problem, Problem)]
