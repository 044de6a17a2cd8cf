"""The people whom the owner has invited: each has a login token of their own, of which only the hash is kept.

Functions on a connection to the room log: the gateway calls them on the writer's thread, `rejoinder pair` beside it.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Iterable

from msgspec import Struct

from rejoinder.channels.web.faces import OWNER, person_named
from rejoinder.channels.web.nouns import Person
from rejoinder.errors import BadUse

LONGEST_NAME = 40
HASH = "sha256:"


class Invited(Struct, frozen=True):
    """One login beside the owner's."""

    person: Person
    token: str
    """Its hash."""
    made: int
    """Milliseconds since 1970."""


def new_token() -> str:
    return secrets.token_urlsafe(24)


def hashed(token: str) -> str:
    """What is kept is random and long, so one round is enough: no dictionary contains it."""
    return f"{HASH}{hashlib.sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def is_hash(kept: str) -> bool:
    """Whether it is one that we make today; an earlier version made others."""
    return kept.startswith(HASH)


def invited(db: sqlite3.Connection) -> tuple[Invited, ...]:
    rows = db.execute("SELECT person, name, token, made FROM logins ORDER BY made, person").fetchall()
    return tuple(Invited(Person(id, name), token, made) for id, name, token, made in rows)


def invite(db: sqlite3.Connection, name: str, agents: Iterable[str], now: int) -> tuple[Person, str]:
    """The person and their token, which is not shown again. An earlier token of theirs ends.

    Raises `BadUse` for a name that nobody can have.
    """
    if not name.strip() or len(name) > LONGEST_NAME:
        raise BadUse(f"a name has 1 to {LONGEST_NAME} characters")
    person, token = person_named(name, agents), new_token()
    other = db.execute("SELECT name FROM logins WHERE person = ? AND name <> ?", (person.id, person.name)).fetchone()
    if other is not None and other[0].casefold() != person.name.casefold():
        raise BadUse(f"{other[0]} is invited already and has the id {person.id}; choose another name")
    db.execute("INSERT OR REPLACE INTO logins VALUES (?, ?, ?, ?)", (person.id, person.name, hashed(token), now))
    return person, token


def revoke(db: sqlite3.Connection, who: str, agents: Iterable[str]) -> Person:
    """Ends the login of the person with this name or id. Raises `BadUse` when there is none."""
    wanted = {who, person_named(who, agents).id}
    found = next((each.person for each in invited(db) if each.person.id in wanted), None)
    if found is None:
        owner = "; the owner's own token ends with `rejoinder run --new-token`" if who.casefold() == OWNER else ""
        raise BadUse(f"nobody called {who} is invited{owner}")
    db.execute("DELETE FROM logins WHERE person = ?", (found.id,))
    return found


def invitation(address: str, token: str) -> str:
    """The link that logs its holder in."""
    return f"{address}/join/{token}"
