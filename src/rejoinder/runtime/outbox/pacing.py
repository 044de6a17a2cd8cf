"""When the next call may be made: how long the platform has told us to wait, and our own budgets (DE-32).

When the platform refuses an account, its rows are kept and it pauses, in memory only: a restart, perhaps with another
token, tries at once. While the refusal lasts, one call at a time tries whether it is over, at growing intervals.
"""

import asyncio
from typing import Final
from weakref import WeakValueDictionary

from rejoinder.channels.base import Channel
from rejoinder.outbound.budget import Bucket, Rank, Rate, full, take, wait

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
        self.chat_rate = chat_rate
        self.until = 0.0
        self.trouble = ""  # why the platform refuses this account, until it accepts a call again (DE-32)
        self.closed = False  # the gateway is shutting down: no further call is begun
        self.bucket: Bucket | None = None
        self._chats: WeakValueDictionary[str, OneChat] = WeakValueDictionary()
        self._refusals = 0
        self._is_trying = False
        self.refused_until = 0.0

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


class ConversationPace:
    """The pace of one conversation. `frames`: a stricter limit for edits of a message that is being written."""

    def __init__(self, account: AccountPace, chat: str, frames: Rate | None = None) -> None:
        self._account = account
        self._chat = account.chat(chat)
        self._frames = frames
        self._rests_until = 0.0

    def has_room(self, rank: Rank) -> bool:
        """Whether a call of this rank may be made now; for calls that are dropped rather than delayed."""
        return self.seconds_to_wait(rank) == 0.0

    def seconds_to_wait(self, rank: Rank) -> float:
        account, chat = self._account, self._chat
        until = max(chat.until, self._rests_until, account.until)
        if not (until or account.trouble or account.rate or account.chat_rate):
            return 0.0  # no limit was ever set
        now = asyncio.get_running_loop().time()
        seconds = max(0.0, until - now, account.refused_until - now)
        if account.rate is not None:
            seconds = max(seconds, wait(account.bucket or full(account.rate, now), account.rate, rank, now))
        if account.chat_rate is not None:
            seconds = max(seconds, wait(chat.bucket or full(account.chat_rate, now), account.chat_rate, rank, now))
        return seconds

    def seconds_to_frame(self) -> float:
        """Seconds until the next edit of a message that is being written."""
        if self._frames is None:
            return 0.0
        now = asyncio.get_running_loop().time()
        return wait(self._chat.frames or full(self._frames, now), self._frames, "final", now)

    def spend_frame(self) -> None:
        """Counts a call that edits such a message."""
        self.spend()
        if self._frames is not None:
            now = asyncio.get_running_loop().time()
            self._chat.frames = take(self._chat.frames or full(self._frames, now), self._frames, now)

    def spend(self) -> None:
        """Counts a call."""
        account = self._account
        if account.rate is None and account.chat_rate is None:
            return
        now = asyncio.get_running_loop().time()
        if account.rate is not None:
            account.bucket = take(account.bucket or full(account.rate, now), account.rate, now)
        if account.chat_rate is not None:
            self._chat.bucket = take(self._chat.bucket or full(account.chat_rate, now), account.chat_rate, now)

    def pause(self, seconds: float, *, everywhere: bool = False) -> None:
        """The platform asked us to wait for so many seconds."""
        until = asyncio.get_running_loop().time() + seconds
        if everywhere:
            self._account.until = max(self._account.until, until)
        else:
            self._chat.until = max(self._chat.until, until)

    def rest(self, seconds: float) -> None:
        """Makes a pause of our own, as a person would (DE-22)."""
        self._rests_until = max(self._rests_until, asyncio.get_running_loop().time() + seconds)

    def hurry(self) -> None:
        """Ends that pause at once."""
        self._rests_until = 0.0
