"""The limits of an account, which the engines of all shards of a process share, and processes among them (SC-13).

Each process has the part of an account's budget that it has of the shards. A part that grows is filled as time passes,
so what the last owner has spent is not spent again. A process may always make one call at a time.

When the platform refuses an account, its rows are kept and it pauses, in memory only: a restart, perhaps with another
token, tries at once. While the refusal lasts, one call at a time tries whether it is over, at growing intervals.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from msgspec import Struct

from rejoinder.channels.base import Channel
from rejoinder.outbound.budget import Bucket, Rate, refill, share_of

FIRST_REFUSAL: Final = 5.0
LONGEST_REFUSAL: Final = 60.0
TRY_SECONDS: Final = 2.0
"""Seconds for which other calls wait for the one that tries a refused account."""


def _nothing() -> None:
    """Nobody else uses the account."""


class OneChat:
    """The limits that all conversations of one chat share: to the platform its threads are the same chat."""

    def __init__(self) -> None:
        self.until = 0.0
        self.bucket: Bucket | None = None
        self.frames: Bucket | None = None


class AccountPace:
    """One account of one channel: the limits that all its conversations share."""

    def __init__(
        self, channel: Channel, rate: Rate | None, chat_rate: Rate | None, changed: Callable[[], None] = _nothing
    ) -> None:
        self.channel = channel
        self.rate = rate
        """The part of it that this process may use."""
        self.chat_rate = chat_rate
        self._whole_rate = rate
        self.until = 0.0
        self.trouble = ""  # why the platform refuses this account, until it accepts a call again (DE-32)
        self.bucket: Bucket | None = None
        self._chats: WeakValueDictionary[str, OneChat] = WeakValueDictionary()
        self._refusals = 0
        self._is_trying = False
        self.refused_until = 0.0
        self._changed = changed
        """Called when the platform has refused or accepted the account, or told it to wait."""
        self._told = False  # another process said what holds

    def take_share(self, part: float, since: float) -> None:
        """This process may make so much of the account's calls, and what it has gained, since then (SC-13)."""
        if self._whole_rate is None or self.rate is None:
            return
        now = asyncio.get_running_loop().time()
        rate = share_of(self._whole_rate, part)
        had = refill(self.bucket, self.rate, now).left if self.bucket is not None else (now - since) * rate.per_second
        self.rate, self.bucket = rate, Bucket(min(had, rate.burst), now)

    def chat(self, id: str) -> OneChat:
        return self._chats.setdefault(id, OneChat())

    def refuse(self, why: str) -> float:
        """The platform refused the account. Returns the seconds to pause; concurrent refusals count as one."""
        now = asyncio.get_running_loop().time()
        if not self.trouble or self._is_trying:
            self.refused_until = now + min(LONGEST_REFUSAL, FIRST_REFUSAL * 2**self._refusals)
            self._refusals = min(self._refusals + 1, 10)
        self.trouble, self._is_trying, self._told = why, False, False
        self._changed()
        return max(0.0, self.refused_until - now)

    def try_again(self) -> None:
        """A call is about to be made; a refused account makes only one at a time."""
        if self.trouble:
            self._is_trying = True
            self.refused_until = asyncio.get_running_loop().time() + TRY_SECONDS

    def accept(self) -> None:
        """The platform has accepted a call."""
        self.trouble, self._is_trying, self._refusals, self.refused_until = "", False, 0, 0.0
        self._told = False
        self._changed()

    def wait_for(self, seconds: float) -> None:
        """The platform has told the whole account to wait."""
        self.until = max(self.until, asyncio.get_running_loop().time() + seconds)
        self._changed()

    # --- what other processes know of it (SC-16) ------------------------------------------------------

    def standing(self) -> "AccountStanding | None":
        """What keeps it from being used now, if anything does."""
        now = asyncio.get_running_loop().time()
        waits = max(self.until, self.refused_until if self.trouble else 0.0) - now
        return AccountStanding(max(0.0, waits), self.trouble) if waits > 0 or self.trouble else None

    def hear(self, standing: "AccountStanding | None") -> None:
        """What another process found; None: nothing keeps it any more, if others had said so."""
        now = asyncio.get_running_loop().time()
        if standing is None:
            if self._told:
                self.trouble, self.refused_until, self._told = "", 0.0, False
        elif not standing.trouble:
            self.until = max(self.until, now + standing.seconds)
        elif not self.trouble or self._told:
            self.trouble, self.refused_until, self._told = standing.trouble, now + standing.seconds, True


class AccountStanding(Struct, frozen=True):
    """For how long an account is not to be used, and why if the platform has refused it."""

    seconds: float
    trouble: str = ""


class AccountPaces:
    """Those of one process, by channel and account."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], AccountPace] = {}
        self._part = 1.0
        self._grown: float | None = None
        """When the part of this process last grew; None: it is not shared."""
        self._changed: dict[tuple[str, str], None] = {}
        """Those that others are to be told of."""
        self.news = asyncio.Event()
        self._heard: Mapping[tuple[str, str], AccountStanding] = {}

    def __iter__(self) -> Iterator[tuple[tuple[str, str], AccountPace]]:
        return iter(tuple(self._known.items()))

    def of(self, channel: str, account: str, make: Callable[[Callable[[], None]], AccountPace]) -> AccountPace:
        """`make` is given what the new one has to call when it changes."""
        known = self._known.get((channel, account))
        if known is None:
            known = self._known[channel, account] = make(partial(self.note, ((channel, account),)))
            if self._grown is not None:
                known.take_share(self._part, self._grown)
                known.hear(self._heard.get((channel, account)))
        return known

    def hear(self, standings: Mapping[tuple[str, str], AccountStanding]) -> None:
        """What other processes have found of accounts; of those that are not named there is nothing to say."""
        self._heard = standings
        for key, pace in self._known.items():
            pace.hear(standings.get(key))

    def take_changed(self) -> Collection[tuple[str, str]]:
        """Those that others are to be told of, each once."""
        changed, self._changed = self._changed, {}
        return changed

    def note(self, changed: Collection[tuple[str, str]]) -> None:
        """Others are to be told of these, if there may be others."""
        if self._grown is not None:
            self._changed.update(dict.fromkeys(changed))
            self.news.set()

    def share(self, part: float) -> None:
        """Shards have moved: this process has so much of them now."""
        now = asyncio.get_running_loop().time()
        if self._grown is None or part > self._part:
            self._grown = now
        self._part = part
        for pace in self._known.values():
            pace.take_share(part, self._grown)
