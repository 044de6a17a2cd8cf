"""Finds the person to whom a token belongs, and slows down guesses."""

from collections.abc import Callable, Mapping

from starlette.types import Scope

from rejoinder.channels.web.nouns import Person
from rejoinder.web.addresses import Addresses
from rejoinder.web.login import Login
from rejoinder.web.throttle import Throttle


class WrongToken(Exception):
    """The token belongs to nobody."""


class TooManyAttempts(WrongToken):
    """The token is wrong, and so were many before it from the same address."""


class AccessCheck:
    """`own`: paths that have their own tokens, each with a function that returns the holder of a token."""

    def __init__(
        self, login: Login, addresses: Addresses, own: Mapping[str, Callable[[str], str | None]] | None = None
    ) -> None:
        self.login = login
        self.addresses = addresses
        self.own = own or {}
        self._throttle = Throttle()

    async def by_token(self, token: str, scope: Scope) -> Person:
        """The person with this token. Raises `WrongToken`. The right token is never refused."""
        if (person := self.login.by_token(token)) is not None:
            return person
        raise await self._guessed(scope)

    async def holder(self, token: str, scope: Scope) -> str:
        """The holder of this token, at a path with its own tokens. Raises `WrongToken`."""
        if (holder := self.own[scope["path"]](token)) is not None:
            return holder
        raise await self._guessed(scope)

    async def _guessed(self, scope: Scope) -> WrongToken:
        return TooManyAttempts() if await self._throttle.failed(self.addresses.of(scope)) else WrongToken()
