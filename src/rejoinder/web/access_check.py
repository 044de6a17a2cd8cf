"""How a token becomes a person: the logins, and how guesses are slowed down."""

from collections.abc import Callable, Mapping

from starlette.types import Scope

from rejoinder.channels.web.nouns import Person
from rejoinder.web.addresses import Addresses
from rejoinder.web.login import Login
from rejoinder.web.throttle import Throttle


class WrongToken(Exception):
    """This is nobody's token."""


class TooManyAttempts(WrongToken):
    """Nor were many before it, from the same address."""


class AccessCheck:
    """`own`: paths that have tokens of their own, each with whose a token is."""

    def __init__(
        self, login: Login, addresses: Addresses, own: Mapping[str, Callable[[str], str | None]] | None = None
    ) -> None:
        self.login = login
        self.addresses = addresses
        self.own = own or {}
        self._throttle = Throttle()

    async def by_token(self, token: str, scope: Scope) -> Person:
        """Raises `WrongToken`. The right token is never refused."""
        if (person := self.login.by_token(token)) is not None:
            return person
        raise await self._guessed(scope)

    async def holder(self, token: str, scope: Scope) -> str:
        """Whose token it is, at a path with tokens of its own. Raises `WrongToken`."""
        if (holder := self.own[scope["path"]](token)) is not None:
            return holder
        raise await self._guessed(scope)

    async def _guessed(self, scope: Scope) -> WrongToken:
        return TooManyAttempts() if await self._throttle.failed(self.addresses.of(scope)) else WrongToken()
