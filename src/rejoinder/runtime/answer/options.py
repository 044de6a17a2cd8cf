"""The options that a turn sets for its answer."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Literal

from msgspec import Struct

from rejoinder.agents.base import MAX_ANSWER_CHARS
from rejoinder.outbound.prefix import Speaker, before_first_word, prefixed
from rejoinder.runtime.answer.handoffs import HandOver
from rejoinder.runtime.answer.heartbeats import HeartbeatAnswer
from rejoinder.runtime.answer.unposted import Start
from rejoinder.store.base import RunClaim, StoredPart, Verb


class AnswerOptions(Struct, frozen=True, kw_only=True):
    run: RunClaim | None = None
    """The claim on the turn."""
    earlier: Sequence[StoredPart] = ()
    """What a previous run of the turn has planned."""
    may_speak: Callable[[], bool] = lambda: True
    says_when_empty: bool = True
    silence: Literal["edges", "alone"] = "edges"
    prefix: str = ""
    speaker: Callable[[], Speaker] = Speaker
    hand_over: HandOver | None = None
    start: Start | None = None
    """Starts a sub-agent."""
    final_verbs: Callable[[], tuple[Verb[object], ...]] = lambda: ()
    """What to write about the turn in the commit that plans the answer."""
    beat: HeartbeatAnswer | None = None
    """Only set for a heartbeat (OD-45)."""
    most: int = MAX_ANSWER_CHARS
    """The number of characters after which the answer is cut."""

    def with_prefix(self, words: str) -> str:
        return prefixed(words, self.prefix, self.speaker())

    def before_first_word(self, words: str) -> str:
        return before_first_word(words, self.prefix, self.speaker())


def stem_of(run: RunClaim | None, trigger: str) -> str:
    """The prefix of the keys of a turn's parts: the same in every attempt at the turn, and unique across stores."""
    if run is None:
        return ""
    return f"t{run.turn}-{blake2b(trigger.encode(), digest_size=4).hexdigest()}"
