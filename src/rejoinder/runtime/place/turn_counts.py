"""How many turns each group and each person in it has had today (IN-33): read from the store once, then counted on."""

from datetime import date, datetime, time

from rejoinder.bounded import Bounded
from rejoinder.events import Inbound, Route
from rejoinder.store.base import Store

MOST_COUNTED = 10_000


class TurnCounts:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._turns: Bounded[tuple[date, str, str, str, str | None], int] = Bounded(MOST_COUNTED)

    async def of_group(self, inbound: Inbound, now: datetime) -> int:
        return await self._count(inbound, None, now)

    async def of_sender(self, inbound: Inbound, now: datetime) -> int:
        return await self._count(inbound, inbound.sender.id, now)

    def add(self, inbound: Inbound, now: datetime) -> None:
        """Adds a turn to the counts in memory; other counts are read from the store when they are needed."""
        if not self._turns:
            return
        for sender in (None, inbound.sender.id):
            if (known := self._turns.get(key := _key(inbound, sender, now))) is not None:
                self._turns[key] = known + 1

    async def _count(self, inbound: Inbound, sender: str | None, now: datetime) -> int:
        key = _key(inbound, sender, now)
        if key not in self._turns:
            midnight = datetime.combine(now.date(), time(), now.tzinfo)
            route = Route(inbound.channel, inbound.chat.id, None, inbound.account)
            self._turns[key] = await self._store.turns_since(midnight, route, sender)
        return self._turns[key]


def _key(inbound: Inbound, sender: str | None, now: datetime) -> tuple[date, str, str, str, str | None]:
    return (now.date(), inbound.channel, inbound.account, inbound.chat.id, sender)
