"""The limits of an account, which the engines of all shards of a process share, and processes among them (SC-13).

Each process has the part of an account's budget that it has of the shards. A part that grows is filled as time passes,
so what the last owner has spent is not spent again. A process may always make one call at a time.

When the platform refuses an account, its rows are kept and it pauses, in memory only: a restart, perhaps with another
token, tries at once. While the refusal lasts, one call at a time tries whether it is over, at growing intervals.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final
from weakref import WeakValueDictionary

from rejoinder.channels.base import Channel
from rejoinder.outbound.budget import Bucket, Rate, refill, share_of

FIRST_REFUSAL: Final = 5.0
LONGEST_REFUSAL: Final = 60.0
A_TRY: Final = 2.0
"""Seconds for which other calls wait for the one that tries a refused account."""


class OneChat:
    """The limits that all conversations of one chat share: to the platform its threads are the same chat."""

    def __init__(self) -> None:
        self.until = 0.0
        self.bucket: Bucket | None = None
        self.frames: Bucket | None = None


class AccountPace:
    """One account of one channel: the limits that all its conversations share."""

    def __init__(self, channel: Channel, rate: Rate | None, chat_rate: Rate | None) -> None:
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
        self.trouble, self._is_trying = why, False
        return max(0.0, self.refused_until - now)

    def try_again(self) -> None:
        """A call is about to be made; a refused account makes only one at a time."""
        if self.trouble:
            self._is_trying = True
            self.refused_until = asyncio.get_running_loop().time() + A_TRY

    def accept(self) -> None:
        """The platform has accepted a call."""
        self.trouble, self._is_trying, self._refusals, self.refused_until = "", False, 0, 0.0


class AccountPaces:
    """Those of one process, by channel and account."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], AccountPace] = {}
        self._part = 1.0
        self._grown: float | None = None
        """When the part of this process last grew; None: it is not shared."""

    def __iter__(self) -> Iterator[tuple[tuple[str, str], AccountPace]]:
        return iter(tuple(self._known.items()))

    def of(self, channel: str, account: str, make: Callable[[], AccountPace]) -> AccountPace:
        known = self._known.get((channel, account))
        if known is None:
            known = self._known[channel, account] = make()
            if self._grown is not None:
                known.take_share(self._part, self._grown)
        return known

    def share(self, part: float) -> None:
        """Shards have moved: this process has so much of them now."""
        now = asyncio.get_running_loop().time()
        if self._grown is None or part > self._part:
            self._grown = now
        self._part = part
        for pace in self._known.values():
            pace.take_share(part, self._grown)
