"""The conversation so far, for models that remember nothing.

Rule 1: only whole exchanges are kept and dropped; a question never loses its answer.
Rule 2: the oldest go first, until what is left fits the token budget. The current question always stays.
Rule 3: a question without an answer stays, so that "try again" makes sense; if it is asked again unchanged, it is
sent only once.
"""

from msgspec import Raw

from rejoinder.agents.base import MAX_ANSWER_CHARS, MOST_REMEMBERED_SESSIONS, Exchange
from rejoinder.agents.wording import AlternatingMessages, Content
from rejoinder.bounded import Bounded
from rejoinder.events import PromptPart, PromptText, without_sound
from rejoinder.unicode_repair import repair_text

IMAGE_TOKENS = 1500


class BoundedText:
    """A model's words in one turn. People see at most `most` characters, and no more is remembered."""

    def __init__(self, most: int = MAX_ANSWER_CHARS) -> None:
        self._pieces: list[str] = []
        self._left = most

    def add(self, text: str) -> None:
        if self._left > 0:
            self._pieces.append(text if len(text) <= self._left else text[: self._left])
            self._left -= len(text)

    def __str__(self) -> str:
        return repair_text("".join(self._pieces))


class _Conversation:
    __slots__ = ("past", "sizes", "wording")

    def __init__(self) -> None:
        self.past: tuple[Exchange, ...] = ()
        self.sizes: tuple[int, ...] = ()  # the size of each exchange in tokens, measured once
        self.wording = AlternatingMessages()


class Histories:
    """The conversations of one agent, by session; beyond a thousand the least recently used are forgotten."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._sessions: Bounded[str, _Conversation] = Bounded(MOST_REMEMBERED_SESSIONS)

    def before(self, session: str, parts: tuple[PromptPart, ...]) -> tuple[Exchange, ...]:
        """The exchanges to send before this question."""
        known = self._sessions.get(session)
        if known is None:
            return ()
        past = _without_same_question(known.past, parts)
        budget = self._budget - tokens_of(Exchange(parts))
        return past[_first_fitting(known.sizes[: len(past)], budget) :]

    def messages(
        self, session: str, past: tuple[Exchange, ...], parts: tuple[PromptPart, ...], content: Content
    ) -> list[Raw]:
        """This past and this question, as messages of the model's API."""
        known = self._sessions.get(session)
        return (AlternatingMessages() if known is None else known.wording).messages(past, parts, content)

    def remember(self, session: str, parts: tuple[PromptPart, ...], answer: str) -> None:
        known, parts = self._sessions.get(session) or _Conversation(), without_sound(parts)
        exchange = Exchange(parts, answer if answer.strip() else "")
        past = _without_same_question(known.past, parts)
        sizes = (*known.sizes[: len(past)], tokens_of(exchange))
        first = _first_fitting(sizes, self._budget)
        known.past, known.sizes = (*past, exchange)[first:], sizes[first:]
        self._sessions.renew(session, known)

    def recall(self, session: str, past: tuple[Exchange, ...]) -> None:
        """Replaces what is remembered, as far as it fits."""
        self.forget(session)
        for exchange in past:
            self.remember(session, exchange.parts, exchange.answer)

    def forget(self, session: str) -> None:
        self._sessions.pop(session, None)


def tokens_of(exchange: Exchange) -> int:
    """A conservative estimate without a tokeniser: three bytes a token, and a fixed cost for a picture."""
    tokens, size = 0, len(exchange.answer.encode())
    for part in exchange.parts:
        if isinstance(part, PromptText):
            size += len(part.text.encode())
        else:
            tokens += IMAGE_TOKENS
    return tokens + size // 3 + 1


def fitting(past: tuple[Exchange, ...], budget: int) -> tuple[Exchange, ...]:
    """The newest exchanges that fit, in their order."""
    return past[_first_fitting(tuple(map(tokens_of, past)), budget) :]


def _first_fitting(sizes: tuple[int, ...], budget: int) -> int:
    """The index from which the rest fits."""
    over, first = sum(sizes) - budget, 0
    while over > 0 and first < len(sizes):
        over -= sizes[first]
        first += 1
    return first


def _without_same_question(past: tuple[Exchange, ...], parts: tuple[PromptPart, ...]) -> tuple[Exchange, ...]:
    if past and not past[-1].answer and past[-1].parts == without_sound(parts):
        return past[:-1]
    return past
