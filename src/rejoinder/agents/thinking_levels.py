"""How hard to think: one table from the levels of `/think` to each provider's own settings.

A model's name does not tell which settings it accepts, and they change with every generation. So the ways to ask for a
level are tried from the newest down to none, and what a model refused is not sent to it again: people get an answer,
and the operator finds the refusal in the log. `off` adds nothing: every model of every endpoint accepts a request
without the setting. An agent's `think` setting replaces single rows, for endpoints with settings of their own, and is
sent as it is.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from rejoinder.agents.base import Failed
from rejoinder.bounded import Bounded

Provider = Literal["openai", "anthropic"]
Setting = Mapping[str, Any]
"""What is added to a request."""

log = logging.getLogger(__name__)

MOST = 1000
"""How many refusals are remembered: more than there are models, but bounded in case a user invents model names."""
_ABOUT_THINKING = re.compile(r"think|effort|reasoning", re.IGNORECASE)


class Level(NamedTuple):
    openai: tuple[str, ...] = ()
    """Values for `reasoning_effort`, best first."""
    anthropic: tuple[str, ...] = ()
    """Values for `output_config.effort`, best first: for models that decide by themselves when to think."""
    tokens: int = 0
    """Anthropic counts thoughts as part of the answer: the room for them there, and the budget for older models."""


THINK: dict[str, Level] = {
    "off": Level(),
    "minimal": Level(("minimal", "low"), ("low",), 1024),
    "low": Level(("low",), ("low",), 4096),
    "medium": Level(("medium",), ("medium",), 10_000),
    "high": Level(("high",), ("high",), 20_000),
    "xhigh": Level(("xhigh", "high"), ("xhigh", "high"), 32_000),
}

LEVELS = tuple(THINK)


def settings_by_preference(provider: Provider, level: str) -> tuple[Setting, ...]:
    """The settings that can be added for a level, the newest first; the last one is empty."""
    row = THINK[level]
    if provider == "openai":
        return (*({"reasoning_effort": word} for word in row.openai), {})
    adaptive = {"type": "adaptive", "display": "summarized"}
    budget = {"type": "enabled", "budget_tokens": row.tokens}
    efforts = [{"thinking": adaptive, "output_config": {"effort": word}} for word in row.anthropic]
    return (*efforts, *([{"thinking": budget}] if row.tokens else []), {})


class ThinkingSupport:
    """How to ask each model of one agent for a level, as far as its refusals have taught us."""

    def __init__(self, provider: Provider, own: Mapping[str, Setting]) -> None:
        self._settings = {
            level: (own[level],) if level in own else settings_by_preference(provider, level) for level in LEVELS
        }
        self._refused: Bounded[tuple[str, str], int] = Bounded(MOST)

    def setting(self, model: str, level: str | None) -> Setting:
        """Empty when no level was asked for or the level is unknown."""
        if level is None or level not in self._settings:
            return {}
        return self._settings[level][self._refused.get((model, level), 0)]

    def refused(self, model: str, level: str | None, said: Setting, failure: Failed) -> bool:
        """Whether the request failed because of its thinking setting, and there is another one to try."""
        if level is None or failure.kind not in ("format", "model_not_found"):
            return False
        settings = self._settings.get(level, ())
        if said not in settings[:-1] or not _ABOUT_THINKING.search(failure.detail):
            return False
        next_one = settings.index(said) + 1  # a concurrent turn may have taken this step already
        self._refused[model, level] = max(next_one, self._refused.get((model, level), 0))
        log.warning("%s does not take %s for /think %s: %s", model, dict(said), level, failure.detail)
        return True


def nearest_level(level: str, offered: tuple[str, ...]) -> str | None:
    """The closest of the offered levels, for agents that name their own.

    Unknown names are skipped; of two equally close levels the lower is taken, because it costs less.
    """
    ranks = {word: LEVELS.index(_plain(word)) for word in offered if _plain(word) in LEVELS}
    if not ranks or level not in LEVELS:
        return None
    wanted = LEVELS.index(level)
    return min(ranks, key=lambda word: (abs(ranks[word] - wanted), ranks[word]))


def _plain(word: str) -> str:
    word = word.lower()
    return {"none": "off", "max": "xhigh", "extra_high": "xhigh"}.get(word, word)
