"""How members look by default: a hue and initials derived from the name, always the same."""

import re
import zlib
from collections.abc import Mapping

from msgspec.structs import replace

from rejoinder.channels.web.nouns import Face, Member

OWNER = "you"
EVERYBODY = "all"
TOO_LIKE = 40


def face(id: str, name: str, emoji: str = "") -> Face:
    words = [word for word in re.split(r"[\W_]+", name) if word]
    initials = "".join(word[0] for word in words[:2]) if len(words) > 1 else "".join(words)[:2]
    return Face(hue=_hue(id), initials=initials.upper() or "?", emoji=emoji)


def _hue(id: str) -> int:
    return zlib.crc32(id.encode()) % 360


def agent_member(id: str, emoji: str = "") -> Member:
    name = id.replace("_", " ").replace("-", " ")
    shown = face(id, name, emoji)
    if abs(shown.hue - _hue(OWNER)) < TOO_LIKE:  # in a chat of two they should not look alike
        shown = replace(shown, hue=(shown.hue + 180) % 360)
    return Member(id, name[:1].upper() + name[1:], shown, agent=True)


def person_member(id: str, name: str) -> Member:
    return Member(id, name, face(id, name))


def person_id(name: str, agents: Mapping[str, object]) -> str:
    """The id of a person with this name. No name means the owner; an agent's name does not give that agent's id."""
    plain = re.sub(r"[\W_]+", "-", name.strip().casefold()).strip("-")
    if not plain:
        return OWNER
    return f"person-{plain}" if plain in agents or plain in (OWNER, EVERYBODY) else plain
