"""What must hold for the reading of any text, whoever wrote it: shared by the tests and the fuzz target.

A plan is a reply as it arrives: segments, each a list of pieces. As bytes, its first line says how to cut
(each character's low four bits: a piece of so many characters, 0 for the next segment, over and over), the
rest is the text. So the files of the corpus can be read and written by hand.
"""

import re
from collections.abc import Iterable
from itertools import cycle

from rejoinder import Problem, ReplyReader, Silent, Text
from rejoinder.events import ReplyEvent

Plan = list[list[str]]

SILENCE_TOKENS = ("NO_REPLY", "HEARTBEAT_OK")
_CODE_OR_ESCAPE = re.compile(r"[`~\\\t]| {4}")
_QUOTE = re.compile("^[\\s\ufeff\u200b]*>", re.M)
_BROKEN = re.compile(r"<[a-z-]+\s[^>]*<", re.I)
_KNOWN = re.compile(r"</?(?:actions|react|reply|no-reply|send-file|send-message|voice|handoff)\b[^<>]*>", re.I)
_ALWAYS_OBEYED = re.compile(r"<actions>|<no-reply\s*/>", re.I)


def plan(data: bytes) -> Plan:
    """Reads a plan; bytes that are not UTF-8 become lone surrogates."""
    cuts, _, rest = data.partition(b"\n")
    text = rest.decode("utf-8", "surrogateescape")
    sizes = [cut & 15 for cut in cuts]
    if not any(sizes):
        return [[text]]
    segments: Plan = [[]]
    begin = 0
    for size in cycle(sizes):
        if begin >= len(text):
            return segments
        if size:
            segments[-1].append(text[begin : begin + size])
            begin += size
        elif segments[-1]:
            segments.append([])
    raise AssertionError("a cycle does not end")


def read(segments: Plan) -> list[ReplyEvent]:
    """The events of a plan, neighbouring texts joined."""
    reader = ReplyReader()
    events: list[ReplyEvent] = []
    for number, pieces in enumerate(segments):
        if number:
            events += reader.next_segment()
        for piece in pieces:
            events += reader.feed(piece)
    events += reader.finish()
    return _joined(events)


def _joined(events: Iterable[ReplyEvent]) -> list[ReplyEvent]:
    joined: list[ReplyEvent] = []
    for event in events:
        if isinstance(event, Text) and joined and isinstance(last := joined[-1], Text):
            joined[-1] = Text(last.text + event.text)
        elif not isinstance(event, Text) or event.text:
            joined.append(event)
    return joined


def check(segments: Plan) -> None:
    """Raises AssertionError when the reading of a plan breaks a promise."""
    whole = ["".join(pieces) for pieces in segments]
    events = read(segments)
    assert events == read([[text] for text in whole]), "another chunking gives other events (OD-2)"
    assert events == read([list(text) for text in whole]), "one by one gives other events (OD-2)"

    said = "".join(whole)
    shown = "".join(event.text for event in events if isinstance(event, Text))
    assert _is_subsequence(shown, said), "something is shown that was not said (OD-4)"
    assert Silent() not in events[:-1], "silence is the last word (OD-1)"
    for event in events:
        assert not isinstance(event, Problem) or event.detail, "a problem without a word of what it is"

    if not set(said) & set("[<\\") and not any(token in said for token in SILENCE_TOKENS):
        assert shown == said, "plain text has changed (OD-4)"
    if len(whole) == 1 and not _may_show_a_directive(said, shown):
        assert not _ALWAYS_OBEYED.search(shown), "a directive is shown (OD-3)"


def _may_show_a_directive(said: str, shown: str) -> bool:
    """Code, a quote, a backslash or a broken tag around it can make one content; and taking one out can put
    another together that was never said (`<act<actions>ions>`)."""
    return bool(
        _CODE_OR_ESCAPE.search(said)
        or _QUOTE.search(shown)
        or _BROKEN.search(said)
        or _ALWAYS_OBEYED.search(_KNOWN.sub("", said))
    )


def _is_subsequence(short: str, long: str) -> bool:
    rest = iter(long)
    return all(character in rest for character in short)
