"""What is special about a heartbeat's answer: it is not shown while it grows, and is not repeated within a day."""

from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b

from rejoinder.store.base import NoteSaid, Store
from rejoinder.turns.heartbeat import was_just_said


class Beat:
    """The answer of one heartbeat; `job` is the name under which its agent's heartbeats are kept."""

    def __init__(self, job: str, ack_max_chars: int, store: Store, clock: Callable[[], datetime]) -> None:
        self.ack_max_chars = ack_max_chars
        self._job = job
        self._store = store
        self._clock = clock
        self._digest = ""

    async def is_news(self, text: str) -> bool:
        digest = blake2b(text.strip().encode("utf-8", "replace"), digest_size=16).hexdigest()
        kept = next((each for each in await self._store.jobs() if each.name == self._job), None)
        if kept is not None and kept.said == digest and was_just_said(kept.said_at, self._clock()):
            return False
        self._digest = digest
        return True

    def kept_with_it(self) -> tuple[NoteSaid, ...]:
        """Written in the commit that plans the answer; an answer that is not sent changes nothing."""
        return (NoteSaid(self._job, self._digest, self._clock()),) if self._digest else ()
