"""What a model that remembers nothing is told of the conversation so far.

Rule 1: only whole exchanges are kept and dropped; a question never loses its answer.
Rule 2: the oldest go first, until what is left fits the token budget. The current question always stays.
Rule 3: a question without an answer stays, so that "try again" makes sense; asked again as it was, it is not
told twice.
"""

from collections import OrderedDict

from rejoinder.agents.base import Exchange
from rejoinder.events import PromptImage, PromptPart, PromptText

IMAGE_TOKENS = 1500
SESSIONS_KEPT = 1000


class Histories:
    """The conversations of one agent, by session; beyond a thousand the longest asleep are forgotten."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._sessions: OrderedDict[str, tuple[Exchange, ...]] = OrderedDict()
        self._sizes: dict[str, int] = {}  # in tokens: a conversation that fits is not counted anew each time

    def before(self, session: str, parts: tuple[PromptPart, ...]) -> tuple[Exchange, ...]:
        """What comes before this question."""
        past = _without_same_question(self._sessions.get(session, ()), parts)
        budget = self._budget - tokens_of(Exchange(parts))
        return past if self._sizes.get(session, 0) <= budget else fitting(past, budget)

    def remember(self, session: str, parts: tuple[PromptPart, ...], answer: str) -> None:
        past = _without_same_question(self._sessions.get(session, ()), parts)
        answer = answer if answer.strip() else ""
        exchange = Exchange(parts, answer)
        kept, size = (*past, exchange), self._sizes.get(session, 0) + tokens_of(exchange)
        if size > self._budget:
            kept = fitting(kept, self._budget)
            size = sum(map(tokens_of, kept))
        self._sessions[session], self._sizes[session] = kept, size
        self._sessions.move_to_end(session)
        while len(self._sessions) > SESSIONS_KEPT:
            self.forget(next(iter(self._sessions)))

    def recall(self, session: str, past: tuple[Exchange, ...]) -> None:
        """What an earlier process remembered, as far as it fits."""
        for exchange in past:
            self.remember(session, exchange.parts, exchange.answer)

    def forget(self, session: str) -> None:
        self._sessions.pop(session, None)
        self._sizes.pop(session, None)


def tokens_of(exchange: Exchange) -> int:
    """A guess on the safe side without a tokeniser: three bytes a token, and a fixed price for a picture."""
    size = len(exchange.answer.encode())
    tokens = 0
    for part in exchange.parts:
        match part:
            case PromptText(text):
                size += len(text.encode())
            case PromptImage():
                tokens += IMAGE_TOKENS
    return tokens + size // 3 + 1


def fitting(past: tuple[Exchange, ...], budget: int) -> tuple[Exchange, ...]:
    """The newest exchanges that fit, in their order."""
    kept = len(past)
    for exchange in reversed(past):
        budget -= tokens_of(exchange)
        if budget < 0:
            break
        kept -= 1
    return past[kept:]


def _without_same_question(past: tuple[Exchange, ...], parts: tuple[PromptPart, ...]) -> tuple[Exchange, ...]:
    if past and not past[-1].answer and past[-1].parts == parts:
        return past[:-1]
    return past
