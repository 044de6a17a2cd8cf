"""How a token becomes a person: the logins, and how guesses are slowed down."""

from starlette.types import Scope

from rejoinder.channels.web.nouns import Person
from rejoinder.web.addresses import Addresses
from rejoinder.web.login import Login
from rejoinder.web.throttle import Throttle


class Wrong(Exception):
    """This is nobody's token."""


class TooMany(Wrong):
    """Nor were many before it, from the same address."""


class Entrance:
    def __init__(self, login: Login, addresses: Addresses) -> None:
        self.login = login
        self.addresses = addresses
        self._throttle = Throttle()

    async def by_token(self, token: str, scope: Scope) -> Person:
        """Raises `Wrong`. The right token is never refused."""
        if (person := self.login.by_token(token)) is not None:
            return person
        raise TooMany if await self._throttle.failed(self.addresses.of(scope)) else Wrong
