"""Finds what people must never see: each oracle takes the ground truth and returns what is wrong, in words, or an empty
list.

`expected` has, for each chat and in the order of the questions, a text that occurs only in that answer.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from msgspec import Struct

from rejoinder.channels.base import Limits
from rejoinder.config.kinds import channel_kind
from rejoinder.outbound.directives import default_registry
from rejoinder.rendering.chunk import length
from rejoinder.testing.platform.truth import BOT, Call, Frame, Seen, by_bot, standing

Expected = Mapping[str, Sequence[str]]


def lost(frames: Sequence[Frame], expected: Expected) -> list[str]:
    """Answers that are missing."""
    return [f"{chat}: {mark}" for chat, mark in _marks(expected) if not _with(frames, chat, mark)]


def duplicated(frames: Sequence[Frame], expected: Expected) -> list[str]:
    """Answers that appear twice."""
    return [f"{chat}: {mark}" for chat, mark in _marks(expected) if len(_with(frames, chat, mark)) > 1]


def wrong_chat(frames: Sequence[Frame], expected: Expected) -> list[str]:
    """Answers that were seen, even for a moment, in a chat that had not asked."""
    return [
        f"{mark} of {chat} was seen in {frame.chat}"
        for chat, mark in _marks(expected)
        for frame in by_bot(frames)
        if frame.chat != chat and mark in frame.text
    ]


def out_of_order(frames: Sequence[Frame], expected: Expected) -> list[str]:
    """Answers that come before the answer to an earlier question."""
    wrong: list[str] = []
    for chat, marks in expected.items():
        texts = [seen.text for seen in standing(frames) if seen.chat == chat and seen.by == BOT]
        places = {mark: next((at for at, text in enumerate(texts) if mark in text), None) for mark in marks}
        there = [(mark, place) for mark in marks if (place := places[mark]) is not None]
        wrong += [
            f"{chat}: {later} before {earlier}"
            for (earlier, first), (later, second) in pairwise(there)
            if second < first
        ]
    return wrong


def leaked(frames: Sequence[Frame]) -> list[str]:
    """Bytes of a directive in any frame."""
    found = [(frame, _directive().search(frame.text)) for frame in by_bot(frames) if frame.kind != "reaction"]
    return [f"{frame.chat} {frame.message}: {match[0]!r} in {frame.text!r}" for frame, match in found if match]


def typing_after_final(frames: Sequence[Frame], calls: Sequence[Call] = ()) -> list[str]:
    """Typing signs and previews that no message followed. `calls`: a message that is sent once more under its key
    counts as following, too, though people see nothing new."""
    last: dict[str, Frame] = {}
    for frame in by_bot(frames):
        if frame.kind in ("message", "edit", "typing", "preview"):
            last[frame.chat] = frame
    sent = {call.chat: call.at for call in calls if call.verb == "send" and call.status == 200}
    left = [(chat, frame.at) for chat, frame in last.items() if frame.kind in ("typing", "preview")]
    return [chat for chat, at in left if sent.get(chat, -1.0) < at]


def over_length(frames: Sequence[Frame], limits: Limits) -> list[str]:
    """Messages longer than the platform shows."""
    most = limits.length
    return [
        f"{frame.chat} {frame.message}"
        for frame in by_bot(frames)
        if most is not None and length(frame.text, limits.unit) > most
    ]


def mentions_fired(frames: Sequence[Frame]) -> list[str]:
    """People who were pinged."""
    return [f"{frame.chat} {frame.message}: {', '.join(frame.pinged)}" for frame in by_bot(frames) if frame.pinged]


def refused(calls: Sequence[Call]) -> list[str]:
    """Requests that the platform refused because of their form."""
    return [f"{call.name}: {call.said}" for call in calls if call.status == 400]


def too_early(calls: Sequence[Call]) -> list[str]:
    """Requests made while the platform had said to wait."""
    return [f"{call.name} to {call.chat}" for call in calls if call.too_early]


class Verdict(Struct, frozen=True):
    """All of these, for a table: how many answers were expected, and what is wrong with them."""

    messages: int
    lost: list[str]
    duplicated: list[str]
    wrong_chat: list[str]
    out_of_order: list[str]
    leaked: list[str]
    typing_after_final: list[str]
    over_length: list[str]
    mentions_fired: list[str]

    @property
    def is_clean(self) -> bool:
        return not any(getattr(self, name) for name in self.__struct_fields__[1:])


def judge(frames: Sequence[Frame], expected: Expected, of: str, calls: Sequence[Call] = ()) -> Verdict:
    """`of`: the platform."""
    return Verdict(
        messages=sum(map(len, expected.values())),
        lost=lost(frames, expected),
        duplicated=duplicated(frames, expected),
        wrong_chat=wrong_chat(frames, expected),
        out_of_order=out_of_order(frames, expected),
        leaked=leaked(frames),
        typing_after_final=typing_after_final(frames, calls),
        over_length=over_length(frames, channel_kind(of).limits),
        mentions_fired=mentions_fired(frames),
    )


def _marks(expected: Expected) -> list[tuple[str, str]]:
    return [(chat, mark) for chat, marks in expected.items() for mark in marks]


def _with(frames: Sequence[Frame], chat: str, mark: str) -> list[Seen]:
    return [seen for seen in standing(frames) if seen.chat == chat and seen.by == BOT and mark in seen.text]


@cache
def _directive() -> re.Pattern[str]:
    """What agents write and people must never see: `[[`, and the beginning of any tag."""
    tags = {declared.tag.name for declared in default_registry().declarations if declared.tag} | {"actions"}
    return re.compile(r"\[\[|\]\]|</?(?:" + "|".join(sorted(map(re.escape, tags))) + r")\b")
