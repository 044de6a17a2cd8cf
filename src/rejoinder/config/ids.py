"""Whom a list means. Ids stay; a name can be given up and taken by somebody else, so names are refused."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from rejoinder.config.wording import did_you_mean, shown

Whom = Literal["person", "group"]


class Shape(NamedTuple):
    """What an id looks like on a platform, and how to say so."""

    pattern: re.Pattern[str]
    advice: str


_NUMBER = re.compile(r"-?[0-9]+")
_SNOWFLAKE = re.compile(r"[0-9]{5,20}")

SHAPES: Mapping[tuple[str, Whom], Shape] = {
    ("telegram", "person"): Shape(_NUMBER, 'a number such as "123456789"'),
    ("telegram", "group"): Shape(_NUMBER, 'a number such as "-1001234567890"'),
    ("discord", "person"): Shape(_SNOWFLAKE, 'a number such as "80351110224678912"'),
    ("discord", "group"): Shape(_SNOWFLAKE, 'a number such as "41771983423143937"'),
    ("slack", "person"): Shape(re.compile(r"[A-Z][A-Z0-9]{2,}"), 'letters and digits such as "U045VRZFT"'),
    ("slack", "group"): Shape(re.compile(r"[A-Z][A-Z0-9]{2,}"), 'letters and digits such as "C024BE91L"'),
    ("matrix", "person"): Shape(re.compile(r"@[^:\s]+:\S+"), 'the full form such as "@anna:matrix.org"'),
    ("matrix", "group"): Shape(re.compile(r"!\S+"), 'the room\'s internal id such as "!abc:matrix.org"'),
}
ELSEWHERE = Shape(re.compile(r"[^@#\s]\S*"), "one word that does not begin with @ or #")


def objection(entry: str, whom: Whom, kinds: Mapping[str, str], channel: str | None = None) -> str | None:
    """What is wrong with an entry of a list, or None. `kinds` names the kind of each channel one may name.

    In a list that belongs to a `channel` the bare id is enough; elsewhere the entry must name its channel.
    """
    named, id = split(entry)
    if named is None and channel is None:
        return f'{shown(entry)} does not say on which channel; write channel:id, for example "telegram:123456789"'
    if named is not None and named not in kinds:
        guess = did_you_mean(named, kinds, f"there are: {', '.join(sorted(kinds))}")
        return f"{shown(entry)} begins with {shown(named)}, which is no channel; {guess}"
    if named is not None and channel is not None and named not in (channel, kinds[channel]):
        return f"{shown(entry)} is of another channel; this list is about {shown(channel)}"
    kind = kinds[named or channel or ""]
    shape = SHAPES.get((kind, whom), ELSEWHERE)
    if shape.pattern.fullmatch(id):
        return None
    learn = "; /whoami tells people theirs" if whom == "person" else ""
    return f"{shown(entry)} is no id; names can change hands, so use the id: on {kind} that is {shape.advice}{learn}"


def split(entry: str) -> tuple[str | None, str]:
    """The channel an entry names, if any, and the id: `id`, `channel:id` or `channel:account:id`.

    It reads what `session.entries_for` writes: after the channel an account and an id, unless it has no
    colon or begins like a Matrix id.
    """
    if entry.startswith(("@", "!", "#")) or ":" not in entry:
        return None, entry
    channel, rest = entry.split(":", 1)
    if ":" in rest and not rest.startswith(("@", "!", "#")):
        _, rest = rest.split(":", 1)
    return channel, rest
