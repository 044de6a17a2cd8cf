"""How many turns each group and each person in it has had today (IN-33). In memory, until the store keeps it."""

from collections import Counter
from datetime import date

from rejoinder.events import Inbound


class Tally:
    def __init__(self) -> None:
        self._day: date | None = None
        self._turns: Counter[tuple[str, ...]] = Counter()

    def add(self, inbound: Inbound, today: date) -> None:
        self._turn_page(today)
        self._turns.update((_group(inbound), _person(inbound)))

    def of_group(self, inbound: Inbound, today: date) -> int:
        self._turn_page(today)
        return self._turns[_group(inbound)]

    def of_sender(self, inbound: Inbound, today: date) -> int:
        self._turn_page(today)
        return self._turns[_person(inbound)]

    def _turn_page(self, today: date) -> None:
        if self._day != today:
            self._day = today
            self._turns.clear()


def _group(inbound: Inbound) -> tuple[str, ...]:
    return (inbound.channel, inbound.account, inbound.chat.id)


def _person(inbound: Inbound) -> tuple[str, ...]:
    return (*_group(inbound), inbound.sender.id)
