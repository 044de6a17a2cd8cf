"""The parts of a prompt and their sizes: the answer to `/context` (IN-61).

Rule 1: only sizes are shown, never the text: the operator's prompt is not for everybody.
Rule 2: only what is sent is counted. An agent that keeps the conversation itself is sent only the next message.
"""

from collections.abc import Sequence

from msgspec import Struct

from rejoinder.events import PromptImage, PromptPart, PromptText
from rejoinder.prompt_blocks import gateways_words, own_words
from rejoinder.tables import table
from rejoinder.turns.backlog import estimate_tokens
from rejoinder.turns.prompt import SystemPart, system_sections


class PastExchange(Struct, frozen=True):
    """A question of the conversation so far and its answer, which is empty if there was none."""

    parts: tuple[PromptPart, ...]
    answer: str = ""


class Size(Struct, frozen=True):
    part: str
    characters: int
    tokens: int
    """An estimate of the tokens: only the model itself can count them."""


class ContextBudget(Struct, frozen=True):
    """`limit`: at how many tokens the conversation is compacted; 0 if it is not set. `used`: the agent's own count for
    its last turn; 0 if it reported none."""

    limit: int = 0
    used: int = 0


def measure(system: SystemPart, past: Sequence[PastExchange], coming: Sequence[PromptPart]) -> tuple[Size, ...]:
    """The sizes of the parts that are not empty, in prompt order. `coming`: what will be sent along with the next
    message."""
    sizes = [
        *(_size(name, [text]) for name, text in system_sections(system).items()),
        *_said(past),
        _size("told with the next message", _texts(coming)),
    ]
    return tuple(size for size in sizes if size.tokens)


def together(past: Sequence[PastExchange]) -> Size:
    return _sum(_said(past))


def _said(past: Sequence[PastExchange]) -> list[Size]:
    own = [part for each in past for part in own_words(each.parts)]
    return [
        _size("said so far by people", _texts(own), sum(isinstance(part, PromptImage) for part in own)),
        _size("said so far by the agent", [each.answer for each in past if each.answer]),
        _size("told so far about messages", [text for each in past for text in gateways_words(each.parts)]),
    ]


def _texts(parts: Sequence[PromptPart]) -> list[str]:
    return [part.text for part in parts if isinstance(part, PromptText)]


def _size(name: str, texts: Sequence[str], images: int = 0) -> Size:
    pictures = f", {images} {'picture' if images == 1 else 'pictures'} among it" if images else ""
    return Size(f"{name}{pictures}", sum(map(len, texts)), estimate_tokens(texts, images))


def context_report(agent: str, sizes: Sequence[Size], budget: ContextBudget, kept: Size | None = None) -> str:
    """The reply. `kept`: the size of the conversation so far, if the agent keeps it itself."""
    rows = [[size.part, f"{size.characters:,}", f"{size.tokens:,}"] for size in (*sizes, _sum(sizes))]
    lines = [
        f"What {agent} is told here. Tokens are estimated.",
        table(("part", "characters", "tokens"), rows),
    ]
    if kept is not None:
        lines.append(
            f"{agent} keeps the conversation itself: {kept.characters:,} characters so far, "
            f"about {kept.tokens:,} tokens."
        )
    lines.append(_spent(budget))
    return "\n\n".join(line for line in lines if line)


def _sum(sizes: Sequence[Size]) -> Size:
    return Size("together", sum(size.characters for size in sizes), sum(size.tokens for size in sizes))


def _spent(budget: ContextBudget) -> str:
    used = f"The last turn took {budget.used:,} tokens, by the agent's own count." if budget.used else ""
    if not budget.limit:
        return used
    return f"{used} The conversation is shortened at {budget.limit:,} (agents.defaults.context_tokens).".lstrip()
