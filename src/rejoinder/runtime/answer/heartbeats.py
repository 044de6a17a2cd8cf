"""The answer of a heartbeat is not shown while it grows, and the same answer is not delivered twice within a day
(TU-26)."""

from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b

from rejoinder.runtime.outbox.part_keys import is_action
from rejoinder.store.base import JobReply, PartState, RecordJobReply, Store
from rejoinder.turns.heartbeat import SAID_AGAIN_AFTER, was_just_said

UNDELIVERED: frozenset[PartState] = frozenset({"dead", "held", "withdrawn"})


class HeartbeatAnswer:
    """The answer of one heartbeat; `job` is the name under which its agent's heartbeats are kept."""

    def __init__(self, job: str, ack_max_chars: int, store: Store, clock: Callable[[], datetime]) -> None:
        self.ack_max_chars = ack_max_chars
        self._job = job
        self._store = store
        self._clock = clock
        self._digest = ""

    async def is_news(self, text: str) -> bool:
        digest = blake2b(text.strip().encode("utf-8", "replace"), digest_size=16).hexdigest()
        before = await self._store.earlier_job_reply(self._job, digest)
        if before is not None and was_just_said(before.at, self._clock()) and await self._arrived(before.stem):
            return False
        self._digest = digest
        return True

    async def _arrived(self, stem: str) -> bool:
        """Whether all its words were delivered or are still on their way."""
        parts = await self._store.parts_under(stem) if stem else ()
        return not any(part.state in UNDELIVERED for part in parts if not is_action(part, stem))

    def final_verbs(self, stem: str) -> tuple[RecordJobReply, ...]:
        """Verbs for the commit that plans the answer; an answer that is not sent changes nothing."""
        if not self._digest:
            return ()
        now = self._clock()
        return (RecordJobReply(self._job, JobReply(self._digest, stem, now), now - SAID_AGAIN_AFTER),)
