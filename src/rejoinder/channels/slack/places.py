"""How far each place, a channel or a thread, has been read: pure.

Rule 1: a place moves forward only, and never past a message that could not be stored: after a gap history is read from
        there (CH-30).
Rule 2: what was delivered is remembered for a while, so that a message that comes by two ways is delivered once.
"""

from collections.abc import Iterable
from datetime import datetime

from rejoinder.bounded import Bounded
from rejoinder.events import Inbound

MOST_REMEMBERED = 5000
MOST_READ = 100
"""After a gap the places that were active last are read."""
BETWEEN = "/"
BY_OUR_CLOCK = ("native", "button")
"""Slack does not say when a command was given or a button pressed."""


def place_of(message: Inbound) -> str:
    return message.chat.id if message.thread is None else f"{message.chat.id}{BETWEEN}{message.thread}"


def split(place: str) -> tuple[str, str | None]:
    """The channel and the thread."""
    channel, _, thread = place.partition(BETWEEN)
    return channel, thread or None


def later(one: str, other: str) -> bool:
    """Whether one timestamp is after the other; Slack pads none of them."""
    return number(one) > number(other)


def number(ts: str) -> tuple[int, int]:
    """As it is compared; what is no timestamp comes before all."""
    seconds, _, rest = ts.partition(".")
    return (int(seconds) if seconds.isdecimal() else 0, int(rest.ljust(6, "0")[:6]) if rest.isdecimal() else 0)


def in_order(messages: Iterable[Inbound]) -> list[Inbound]:
    """What came together, as it was said in each chat: Slack promises no order for what it sends again."""
    found = list(messages)
    by_chat: dict[str, list[int]] = {}
    for at, message in enumerate(found):
        if message.sent_at is not None and message.entry not in BY_OUR_CLOCK:
            by_chat.setdefault(message.chat.id, []).append(at)
    for places in by_chat.values():
        said = sorted((found[at] for at in places), key=lambda each: each.sent_at or datetime.min)
        for at, message in zip(places, said, strict=True):
            found[at] = message
    return found


class Places:
    def __init__(self) -> None:
        self._read: dict[str, str] = {}
        self._missed: dict[str, tuple[str, str]] = {}
        self._delivered: Bounded[str, None] = Bounded(MOST_REMEMBERED)

    def recall(self, stored: dict[str, str]) -> None:
        for place, ts in stored.items():
            if place not in self._read or later(ts, self._read[place]):
                self._read[place] = ts

    def recall_new(self, places: Iterable[str], ts: str) -> None:
        """Places of which nothing is known yet: they count as read up to then."""
        for place in places:
            self._read.setdefault(place, ts)

    def fresh(self, messages: Iterable[Inbound]) -> list[Inbound]:
        """Those that were not delivered yet, each once."""
        found: dict[str, Inbound] = {}
        for message in messages:
            if message.event_id not in self._delivered:
                found.setdefault(message.event_id, message)
        return list(found.values())

    def moved_by(self, messages: Iterable[Inbound]) -> dict[str, str]:
        """How far each place will have been read when these are stored."""
        own = {message.event_id for message in messages}
        moved: dict[str, str] = {}
        for message in messages:
            if message.entry != "text":
                continue
            place = place_of(message)
            before = moved.get(place) or self._read.get(place, "")
            held = [ts for id, (where, ts) in self._missed.items() if where == place and id not in own]
            if later(message.message_id, before) and not any(later(message.message_id, ts) for ts in held):
                moved[place] = message.message_id
        return moved

    def stored(self, messages: Iterable[Inbound], moved: dict[str, str]) -> None:
        self._read |= moved
        for message in messages:
            self._delivered[message.event_id] = None
            self._missed.pop(message.event_id, None)

    def missed(self, messages: Iterable[Inbound]) -> None:
        """They could not be stored: their places stay where they are until they come again or are read."""
        for message in messages:
            if message.entry == "text":
                self._missed[message.event_id] = (place_of(message), message.message_id)

    @property
    def has_missed(self) -> bool:
        return bool(self._missed)

    def read_again(self, place: str) -> None:
        """History was read up to now, so nothing is missing there."""
        self._missed = {id: where for id, where in self._missed.items() if where[0] != place}

    def latest(self) -> list[tuple[str, str]]:
        """The places that were active last, each with how far it has been read."""
        held: dict[str, str] = {}
        for place, ts in self._missed.values():
            if place not in self._read:
                held.setdefault(place, f"{number(ts)[0] - 1}.000000")
        everywhere = {**held, **self._read}
        return sorted(everywhere.items(), key=lambda each: number(each[1]), reverse=True)[:MOST_READ]
