"""One session, one order (IN-76): messages enter a session in the order of their acceptance, from whichever place they
come.

Each place decides its messages one after the other, but several places may share a session, and one of them may take
longer to decide. A message waits only for messages accepted before it, so there can be no deadlock.
"""

import asyncio

from msgspec import Struct

from rejoinder.events import Step
from rejoinder.inbound.rules import ChannelRules, Rules
from rejoinder.store.base import InboxEvent


class Ticket:
    """The position of one message in the queues of the sessions it may enter."""

    def __init__(self, keys: tuple[str, ...], before: "tuple[Ticket, ...]") -> None:
        self.keys = keys
        self.before = before
        """The tickets of earlier messages for the same sessions."""
        self._over = False
        self._waited_for: asyncio.Event | None = None  # made on demand: few tickets are waited for

    async def turn(self) -> None:
        """Returns when every earlier message has entered its session, or has ended without entering."""
        for ticket in self.before:
            await ticket._end()

    def give_back(self) -> None:
        self.before = ()  # otherwise each ticket would keep all earlier ones alive
        self._over = True
        if self._waited_for is not None:
            self._waited_for.set()

    async def _end(self) -> None:
        if self._over:
            return
        if self._waited_for is None:
            self._waited_for = asyncio.Event()
        await self._waited_for.wait()


class Arrival(Struct, frozen=True, eq=False):
    """The messages a sender typed in one go, waiting to be decided. `ticket` covers the sessions of all agents here."""

    events: tuple[InboxEvent, ...]
    channel: ChannelRules
    members: tuple[str, ...]
    """Our agents in the place where it was said; a room has several."""
    ticket: Ticket
    rules: Rules
    """The rules in effect when it came; it is decided by these."""
    understood: tuple[Step, ...] = ()
    """The steps of understanding its media, if that was needed before the decision."""
    is_spoken: bool = False
    """Whether the speech it requested has been made, or could not be made."""


class AcceptanceOrder:
    def __init__(self) -> None:
        self._last: dict[str, Ticket] = {}

    def ticket(self, keys: tuple[str, ...]) -> Ticket:
        ticket = Ticket(keys, tuple([last for key in keys if (last := self._last.get(key)) is not None]))
        for key in keys:
            self._last[key] = ticket
        return ticket

    def give_back(self, ticket: Ticket) -> None:
        """Releases the ticket: its message has entered its session, or never will."""
        for key in ticket.keys:
            if self._last.get(key) is ticket:
                del self._last[key]
        ticket.give_back()
