"""The limits of an account, which the engines of all shards of a process share, and processes among them (SC-13).

A process's share of an account's budget equals its share of the shards. When the share grows, the new part fills as
time passes, so that what its last owner has spent is not spent again. A process may always make one call at a time.

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
    """The default for an account that no other process uses."""


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
        """The share of the account's budget that this process may use."""
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
        """Called when the platform has refused or accepted the account, or has told it to wait."""
        self._told = False  # the current state was learned from another process

    def take_share(self, part: float, since: float) -> None:
        """Sets this process's share of the account's calls. `since`: when the share last grew; the gain counts from
        then (SC-13)."""
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

    # --- shared with other processes (SC-16) ----------------------------------------------------------

    def standing(self) -> "AccountStanding | None":
        """Why the account cannot be used now, if there is a reason."""
        now = asyncio.get_running_loop().time()
        waits = max(self.until, self.refused_until if self.trouble else 0.0) - now
        return AccountStanding(max(0.0, waits), self.trouble) if waits > 0 or self.trouble else None

    def hear(self, standing: "AccountStanding | None") -> None:
        """Adopts what another process found. None: a refusal that other processes had reported is over."""
        now = asyncio.get_running_loop().time()
        if standing is None:
            if self._told:
                self.trouble, self.refused_until, self._told = "", 0.0, False
        elif not standing.trouble:
            self.until = max(self.until, now + standing.seconds)
        elif not self.trouble or self._told:
            self.trouble, self.refused_until, self._told = standing.trouble, now + standing.seconds, True


class AccountStanding(Struct, frozen=True):
    """For how long an account must not be used, and why, if the platform has refused it."""

    seconds: float
    trouble: str = ""


class AccountPaces:
    """The paces of all accounts of one process, by channel and account."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], AccountPace] = {}
        self._part = 1.0
        self._grown: float | None = None
        """When this process's share last grew; None if the accounts are not shared."""
        self._changed: dict[tuple[str, str], None] = {}
        """The accounts whose changes other processes have to be told of."""
        self.news = asyncio.Event()
        self._heard: Mapping[tuple[str, str], AccountStanding] = {}

    def __iter__(self) -> Iterator[tuple[tuple[str, str], AccountPace]]:
        return iter(tuple(self._known.items()))

    def of(self, channel: str, account: str, make: Callable[[Callable[[], None]], AccountPace]) -> AccountPace:
        """`make` gets the callback that the new pace has to call when it changes."""
        known = self._known.get((channel, account))
        if known is None:
            known = self._known[channel, account] = make(partial(self.note, ((channel, account),)))
            if self._grown is not None:
                known.take_share(self._part, self._grown)
                known.hear(self._heard.get((channel, account)))
        return known

    def hear(self, standings: Mapping[tuple[str, str], AccountStanding]) -> None:
        """Adopts what other processes have found about accounts; nothing holds up an account that is not named."""
        self._heard = standings
        for key, pace in self._known.items():
            pace.hear(standings.get(key))

    def take_changed(self) -> Collection[tuple[str, str]]:
        """The changed accounts that others have to be told of; each is returned once."""
        changed, self._changed = self._changed, {}
        return changed

    def note(self, changed: Collection[tuple[str, str]]) -> None:
        """Marks accounts whose changes others have to be told of, if there may be other processes."""
        if self._grown is not None:
            self._changed.update(dict.fromkeys(changed))
            self.news.set()

    def share(self, part: float) -> None:
        """Shards have moved: sets this process's share of them."""
        now = asyncio.get_running_loop().time()
        if self._grown is None or part > self._part:
            self._grown = now
        self._part = part
        for pace in self._known.values():
            pace.take_share(part, self._grown)
