"""The identity of members on the page: ids made from names, and a default look that is always the same."""

import re
import unicodedata
import zlib
from collections.abc import Iterable
from hashlib import blake2b

from msgspec.structs import replace

from rejoinder.channels.web.nouns import Avatar, Member, Person
from rejoinder.unicode_repair import one_line, repair_text

OWNER = "you"
OWNER_SHOWN, OWNER_SEEN = "You", "Owner"
"""The name of an owner who has given none, on the owner's own page and on everybody else's."""
EVERYBODY = "all"
NAMELESS = "Nameless"
TOO_LIKE = 40


def face(id: str, name: str, emoji: str = "") -> Avatar:
    words = [word for word in re.split(r"[\W_]+", name) if word]
    initials = "".join(word[0] for word in words[:2]) if len(words) > 1 else "".join(words)[:2]
    return Avatar(hue=_hue(id), initials=initials.upper() or "?", emoji=emoji)


def _hue(id: str) -> int:
    return zlib.crc32(id.encode()) % 360


def agent_member(id: str, emoji: str = "") -> Member:
    name = id.replace("_", " ").replace("-", " ")
    shown = face(id, name, emoji)
    if abs(shown.hue - _hue(OWNER)) < TOO_LIKE:  # in a chat of two they should not look alike
        shown = replace(shown, hue=(shown.hue + 180) % 360)
    return Member(id, name[:1].upper() + name[1:], shown, agent=True)


def person_member(person: Person) -> Member:
    return Member(person.id, person.name, face(person.id, person.name))


def seen_by_others(member: Member) -> Member:
    """An owner without a name is "You" only on their own page."""
    nameless = member.id == OWNER and member.name == OWNER_SHOWN
    return replace(member, name=OWNER_SEEN, face=face(OWNER, OWNER_SEEN)) if nameless else member


def person_id(name: str, agents: Iterable[str]) -> str:
    """The id of a person with this name: never the owner's, and never an agent's.

    Names that differ only in upper and lower case, or in spaces and dashes, are the same person. All other names are
    different people, even those that leave nothing for an id, such as an emoji.
    """
    said = "-".join(unicodedata.normalize("NFC", name).casefold().split())
    plain = re.sub(r"[\W_]+", "-", said).strip("-")
    if not plain or plain != said:
        mark = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
        plain = f"{plain}-{mark}" if plain else f"person-{mark}"
    return f"person-{plain}" if _is_reserved(plain, agents) else plain


def person_named(name: str, agents: Iterable[str]) -> Person:
    """The person with this name. If the owner or an agent has the same name, the person is shown as a guest."""
    shown = one_line(repair_text(name)) or NAMELESS
    like = _is_reserved(shown.casefold(), agents)
    return Person(person_id(name, agents), f"{shown} (guest)" if like else shown)


def owner_named(name: str = "") -> Person:
    return Person(OWNER, one_line(repair_text(name)) or OWNER_SHOWN)


def _is_reserved(plain: str, agents: Iterable[str]) -> bool:
    return plain in (OWNER, EVERYBODY) or plain in [agent.casefold() for agent in agents]
