"""Decides who may open the pages, and as which person.

Rule 1: the owner's token means the owner. Everybody else gets their own token with the owner's invitation.
Rule 2: a browser that logs in with a token gets a cookie signed with the hash of that token. So replacing or revoking a
        token ends the logins made with it, and no others.
Rule 3: if no login is needed (on loopback, without a token), people say themselves who they are.
"""

import base64
import binascii
import hmac
import time
from collections.abc import Iterable

from rejoinder.channels.web.avatars import OWNER, owner_named
from rejoinder.channels.web.logins import Invited, hashed
from rejoinder.channels.web.nouns import Person

COOKIE = "rejoinder_login"
LASTS = 30 * 24 * 3600
BEHIND_LOGIN = ("/console",)
"""Pages that need a login, other than the first one."""


def login_for(page: str) -> str:
    """The address of a login that leads back to this page, if it is one of ours."""
    return f"/login?to={page.removeprefix('/')}" if page in BEHIND_LOGIN else "/login"


class Login:
    """`owner` is the hash of the owner's token; None: no login is needed."""

    def __init__(self, owner: str | None, invited: Iterable[Invited] = ()) -> None:
        self._owner = owner
        self._people: dict[str, Person] = {}  # by the hash of their token
        self._tokens: dict[str, str] = {}  # the hash, by person
        self.know(invited)

    @property
    def needed(self) -> bool:
        return self._owner is not None

    def know(self, invited: Iterable[Invited]) -> set[str]:
        """From now on, these people and the owner have logins. Returns the people whose token is no longer valid."""
        before = self._tokens
        people = {} if self._owner is None else {self._owner: owner_named()}
        people |= {each.token: each.person for each in invited}
        self._people = people
        self._tokens = {person.id: token for token, person in people.items()}
        return {person for person, token in before.items() if self._tokens.get(person) != token}

    def by_token(self, token: str) -> Person | None:
        return self._people.get(hashed(token))

    def by_cookie(self, cookie: str) -> Person | None:
        until, _, rest = cookie.partition(".")
        who, _, signature = rest.partition(".")
        token = self._tokens.get(_read(who))
        if token is None or not hmac.compare_digest(signature.encode(), _sign(token, f"{until}.{who}").encode()):
            return None
        return self._people[token] if int(until) > time.time() else None

    def cookie(self, person: Person) -> str:
        payload = f"{int(time.time()) + LASTS}.{_written(person.id)}"
        return f"{payload}.{_sign(self._tokens[person.id], payload)}"


def is_owner(person: Person | None) -> bool:
    """None means that no login is needed: then everybody on this machine may do what the owner may."""
    return person is None or person.id == OWNER


def _sign(token: str, payload: str) -> str:
    return hmac.new(token.encode(), payload.encode(), "sha256").hexdigest()


def _written(id: str) -> str:
    """Encodes an id, because a cookie may contain only ASCII."""
    return base64.urlsafe_b64encode(id.encode("utf-8", "surrogatepass")).decode().rstrip("=")


def _read(who: str) -> str:
    try:
        return base64.urlsafe_b64decode(who + "=" * (-len(who) % 4)).decode("utf-8", "surrogatepass")
    except (binascii.Error, ValueError):
        return ""
