"""Says when the next call may be made in a conversation, from the waits that the platform has requested and from our
own budgets (DE-32)."""

import asyncio
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rejoinder.outbound.budget import Rank, Rate, full, give_back, take, wait
from rejoinder.runtime.account_pace import AccountPace

UNLIMITED = nullcontext()


class ConversationPace:
    """The pace of one conversation. `frames`: a stricter limit for edits of a message that is being written."""

    def __init__(self, account: AccountPace, chat: str, frames: Rate | None = None) -> None:
        self._account = account
        self._chat = account.chat(chat)
        self._frames = frames
        self._rests_until = 0.0
        self._reserved = 0

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
        if self._reserved:
            self._reserved -= 1
            return
        now = asyncio.get_running_loop().time()
        if account.rate is not None:
            account.bucket = take(account.bucket or full(account.rate, now), account.rate, now)
        if account.chat_rate is not None:
            self._chat.bucket = take(self._chat.bucket or full(account.chat_rate, now), account.chat_rate, now)

    def reserved(self, wanted: bool = True) -> AbstractContextManager[None]:
        """A call may be made within this block. It is counted in advance, so that others wait for their turn; if no
        call is made, it is given back."""
        account = self._account
        return self._reserving() if wanted and (account.rate or account.chat_rate) is not None else UNLIMITED

    @contextmanager
    def _reserving(self) -> Generator[None]:
        account = self._account
        self.spend()
        self._reserved += 1
        try:
            yield
        finally:
            if self._reserved:
                self._reserved -= 1
                if account.rate is not None and account.bucket is not None:
                    account.bucket = give_back(account.bucket)
                if account.chat_rate is not None and self._chat.bucket is not None:
                    self._chat.bucket = give_back(self._chat.bucket)

    def pause(self, seconds: float, *, everywhere: bool = False) -> None:
        """The platform asked us to wait for this many seconds."""
        if everywhere:
            self._account.wait_for(seconds)
        else:
            self._chat.until = max(self._chat.until, asyncio.get_running_loop().time() + seconds)

    def rest(self, seconds: float) -> None:
        """Makes a pause of our own, as a person would (DE-22)."""
        self._rests_until = max(self._rests_until, asyncio.get_running_loop().time() + seconds)

    def hurry(self) -> None:
        """Ends that pause at once."""
        self._rests_until = 0.0
