"""One session, one order (IN-76): what was accepted first enters it first, from whichever place it was said.

A place decides its messages one after the other; but several may share a session, and one of them may take longer to
decide. Whoever waits here waits for what was accepted before it alone, so nobody waits in a circle.
"""

import asyncio
from collections.abc import Iterable

from msgspec import Struct

from rejoinder.inbound.rules import Rules
from rejoinder.store.base import InboxEvent


class Ticket:
    """The place of one message in the lines of the sessions it may enter."""

    def __init__(self, keys: tuple[str, ...], before: "tuple[Ticket, ...]") -> None:
        self.keys = keys
        self.over = asyncio.Event()
        self._before = before

    async def turn(self) -> None:
        """Returns when all before it have entered, or ended elsewhere."""
        for ticket in self._before:
            await ticket.over.wait()

    def give_back(self) -> None:
        self._before = ()  # else each would keep all that ever came before it
        self.over.set()


class Arrival(Struct, frozen=True, eq=False):
    """What somebody typed in one go, and waits to be decided. `ticket` is for the sessions of all agents here."""

    events: tuple[InboxEvent, ...]
    ticket: Ticket
    rules: Rules
    """Those that held when it came: it is decided by the same."""


class Precedence:
    def __init__(self) -> None:
        self._last: dict[str, Ticket] = {}

    def ticket(self, keys: Iterable[str]) -> Ticket:
        keys = tuple(keys)
        ticket = Ticket(keys, tuple([last for key in keys if (last := self._last.get(key)) is not None]))
        for key in keys:
            self._last[key] = ticket
        return ticket

    def give_back(self, ticket: Ticket) -> None:
        """Its message has entered, or never will."""
        for key in ticket.keys:
            if self._last.get(key) is ticket:
                del self._last[key]
        ticket.give_back()
