"""Who may open the pages: everybody on this machine; from elsewhere, people who have the token.

The token is printed once and kept as a hash. A browser that showed it carries a cookie signed with that hash: a
new token ends every login.
"""

import hashlib
import hmac
import secrets
import time
from collections import deque
from ipaddress import ip_address

COOKIE = "rejoinder_login"
LASTS = 30 * 24 * 3600
BEHIND_LOGIN = ("/console",)
"""Pages other than the first one."""
MOST_FAILURES, FAILURES_WITHIN = 10, 60.0


def login_for(page: str) -> str:
    """The login that leads back to a page of ours, and to nothing else."""
    return f"/login?to={page.removeprefix('/')}" if page in BEHIND_LOGIN else "/login"


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    return secrets.token_urlsafe(24)


def hashed(token: str) -> str:
    """The token is long and random, or the operator's own choice: it is never kept as it is."""
    return hashlib.scrypt(token.encode(), salt=b"rejoinder web token", n=2**12, r=8, p=1, dklen=32).hex()


class Login:
    """`kept` is the hash of the token; None: nobody has to log in."""

    def __init__(self, kept: str | None) -> None:
        self._kept = kept
        self._failures: deque[float] = deque(maxlen=MOST_FAILURES)
        self._known: str | None = None  # the token once it was right: an API client costs one hash, not many

    @property
    def needed(self) -> bool:
        return self._kept is not None

    def takes(self, token: str) -> bool:
        """Whether this is the token. After many wrong ones no new login is accepted for a while."""
        if self._kept is None:
            return True
        if self._known is not None and hmac.compare_digest(self._known.encode(), token.encode()):
            return True
        now = time.monotonic()
        if len(self._failures) == MOST_FAILURES and now - self._failures[0] < FAILURES_WITHIN:
            return False
        if hmac.compare_digest(hashed(token), self._kept):
            self._known = token
            return True
        self._failures.append(now)
        return False

    def cookie(self) -> str:
        until = str(int(time.time()) + LASTS)
        return f"{until}.{self._sign(until)}"

    def knows(self, cookie: str) -> bool:
        if self._kept is None:
            return True
        until, _, signature = cookie.partition(".")
        if (
            not until.isascii()
            or not until.isdecimal()
            or not hmac.compare_digest(signature.encode(), self._sign(until).encode())
        ):
            return False
        return int(until) > time.time()

    def _sign(self, until: str) -> str:
        return hmac.new((self._kept or "").encode(), until.encode(), "sha256").hexdigest()
