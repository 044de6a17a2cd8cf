"""The people whom the owner has invited: each has their own login token, of which only the hash is stored.

Pure: it takes the stored records by the people's ids, and returns records to store. The gateway, and a `rejoinder pair`
that runs beside it, store them as facts of the kind `LOGINS`.
"""

import hashlib
import secrets
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct

from rejoinder.channels.web.avatars import OWNER, person_named
from rejoinder.channels.web.nouns import Person
from rejoinder.errors import BadUse

LOGINS = "logins"
LONGEST_NAME = 40
HASH = "sha256:"


class Invited(Struct, frozen=True):
    """One login beside the owner's."""

    person: Person
    token: str
    """Its hash."""
    made: int
    """Milliseconds since 1970."""


_decode = msgspec.json.Decoder(Invited).decode


def new_token() -> str:
    return secrets.token_urlsafe(24)


def hashed(token: str) -> str:
    """The hash of a token. Tokens are random and long, so one round is enough: no dictionary contains them."""
    return f"{HASH}{hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def is_hash(kept: str) -> bool:
    """Whether this is a hash of today's form; an earlier version had another one."""
    return kept.startswith(HASH)


def invited(kept: Mapping[str, bytes]) -> tuple[Invited, ...]:
    return tuple(sorted(map(_decode, kept.values()), key=lambda each: (each.made, each.person.id)))


def invite(kept: Mapping[str, bytes], name: str, agents: Iterable[str], now: int) -> tuple[Person, str, bytes]:
    """Returns the person, their token, which is not shown again, and the record to store. An earlier token of theirs
    ends.

    Raises `BadUse` for a name that is not allowed.
    """
    if not name.strip() or len(name) > LONGEST_NAME:
        raise BadUse(f"a name has 1 to {LONGEST_NAME} characters")
    person, token = person_named(name, agents), new_token()
    if (other := kept.get(person.id)) is not None:
        shown = _decode(other).person.name
        if shown.casefold() != person.name.casefold():
            raise BadUse(f"{shown} is invited already and has the id {person.id}; choose another name")
    return person, token, msgspec.json.encode(Invited(person, hashed(token), now))


def found(kept: Mapping[str, bytes], who: str, agents: Iterable[str]) -> Person:
    """The invited person with this name or id. Raises `BadUse` when there is none."""
    wanted = {who, person_named(who, agents).id}
    person = next((each.person for each in invited(kept) if each.person.id in wanted), None)
    if person is None:
        owner = "; the owner's own token ends with `rejoinder run --new-token`" if who.casefold() == OWNER else ""
        raise BadUse(f"nobody called {who} is invited{owner}")
    return person


def invitation(address: str, token: str) -> str:
    """The link that logs its holder in."""
    return f"{address}/join/{token}"
