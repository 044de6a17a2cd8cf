"""How far each place, a channel or a thread, has been read: pure.

Rule 1: the position in a place only moves forward, and never past a message that could not be stored: after a gap,
        history is read from there (CH-30).
Rule 2: while other programs take a share of the events (`share`), and in a place whose history could not be read, only
        messages from history move the position: an event does not prove that those before it arrived.
Rule 3: delivered messages are remembered for a while, so that a message that arrives in two ways is delivered once.
"""

from collections.abc import Iterable
from datetime import datetime

from rejoinder.bounded import Bounded
from rejoinder.events import Inbound

MOST_REMEMBERED = 5000
MOST_READ = 150
"""After a gap, this many places are read: those that were active last."""
MOST_NEW = 50
"""How many of these may be places from which no message has come yet."""
BETWEEN = "/"
ON_ITS_WAY = 120
"""Seconds: a message may be stored at most this much later than messages that were written after it."""
BY_OUR_CLOCK = ("native", "button")
"""Entries whose time is that of our own clock: Slack does not say when a command was given or a button pressed."""


def place_of(message: Inbound) -> str:
    return message.chat.id if message.thread is None else f"{message.chat.id}{BETWEEN}{message.thread}"


def split(place: str) -> tuple[str, str | None]:
    """The channel and the thread."""
    channel, _, thread = place.partition(BETWEEN)
    return channel, thread or None


def later(one: str, other: str) -> bool:
    """Whether one timestamp is later than the other; Slack does not pad them."""
    return number(one) > number(other)


def number(ts: str) -> tuple[int, int]:
    """A timestamp as a value to compare; anything that is not a timestamp comes first."""
    seconds, _, rest = ts.partition(".")
    return (int(seconds) if seconds.isdecimal() else 0, int(rest.ljust(6, "0")[:6]) if rest.isdecimal() else 0)


def in_order(messages: Iterable[Inbound]) -> list[Inbound]:
    """Messages that arrived together, in the order of each chat: Slack does not promise an order when it sends
    again."""
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
        self._is_shared = False
        self._began = ""
        self._read: dict[str, str] = {}
        self._unread: set[str] = set()
        self._missed: dict[str, tuple[str, str]] = {}
        self._delivered: Bounded[str, None] = Bounded(MOST_REMEMBERED)

    def recall(self, stored: dict[str, str], began: str) -> None:
        """`began`: when a gateway listened for the first time."""
        self._began = began
        for place, ts in stored.items():
            if place not in self._read or later(ts, self._read[place]):
                self._read[place] = ts

    def recall_new(self, places: Iterable[str], ts: str) -> None:
        """Adds places that are not known yet, `MOST_NEW` at a time; they count as read up to `ts`."""
        for place in [each for each in places if each not in self._read][:MOST_NEW]:
            self._read[place] = ts

    @property
    def heard_until(self) -> str:
        """Until when an unknown place counts as read: a message there from before this time would have been stored, and
        a later one went to a process that did not store it."""
        newest = max(self._read.values(), key=number, default="")
        return max(self._began, f"{number(newest)[0] - ON_ITS_WAY}.000000", key=number)

    def share(self, *, is_shared: bool) -> None:
        """Sets whether events may go to other programs instead of us."""
        self._is_shared = is_shared

    def fresh(self, messages: Iterable[Inbound]) -> list[Inbound]:
        """The messages that were not delivered yet, each once."""
        found: dict[str, Inbound] = {}
        for message in messages:
            if message.event_id not in self._delivered:
                found.setdefault(message.event_id, message)
        return list(found.values())

    def moved_by(self, messages: Iterable[Inbound], *, is_history: bool = False) -> dict[str, str]:
        """How far each place will have been read when these are stored. `is_history`: nothing is missing between
        them."""
        own = {message.event_id for message in messages}
        moved: dict[str, str] = {}
        for message in messages:
            if message.entry != "text":
                continue
            place = place_of(message)
            if not is_history and (self._is_shared or place in self._unread):
                if place not in self._read:  # from now on the history of this place is read
                    moved[place] = self.heard_until
                continue
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
        """These could not be stored: their places stay where they are until the messages come again or are read."""
        for message in messages:
            if message.entry == "text":
                self._missed[message.event_id] = (place_of(message), message.message_id)

    @property
    def has_missed(self) -> bool:
        """Whether the history may have messages that we do not have."""
        return bool(self._missed or self._unread)

    def not_read(self, place: str) -> None:
        """The history of this place could not be read, and has to be read later from the same position."""
        self._unread.add(place)

    def read_again(self, place: str) -> None:
        """The history was read up to now, so nothing is missing in this place."""
        self._unread.discard(place)
        self._missed = {id: where for id, where in self._missed.items() if where[0] != place}

    def latest(self) -> list[tuple[str, str]]:
        """The places that were active last, each with how far it has been read."""
        held: dict[str, str] = {}
        for place, ts in self._missed.values():
            if place not in self._read:
                held.setdefault(place, f"{number(ts)[0] - 1}.000000")
        everywhere = {**held, **self._read}
        return sorted(everywhere.items(), key=lambda each: number(each[1]), reverse=True)[:MOST_READ]
