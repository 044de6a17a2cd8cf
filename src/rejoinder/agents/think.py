"""How hard to think: one table from the levels of `/think` to each provider's own setting.

A cell is what is added to the request. `off` adds nothing: a request without the setting is the one that
every model of every endpoint accepts. An agent's `think` setting replaces single cells, for endpoints with
words of their own.
"""

from collections.abc import Mapping
from typing import Any, Literal

Provider = Literal["openai", "anthropic"]

THINK: dict[str, dict[Provider, dict[str, Any]]] = {
    "off": {"openai": {}, "anthropic": {}},
    "minimal": {
        "openai": {"reasoning_effort": "minimal"},
        "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
    },
    "low": {
        "openai": {"reasoning_effort": "low"},
        "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 4096}},
    },
    "medium": {
        "openai": {"reasoning_effort": "medium"},
        "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 10_000}},
    },
    "high": {
        "openai": {"reasoning_effort": "high"},
        "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 20_000}},
    },
    "xhigh": {
        "openai": {"reasoning_effort": "xhigh"},
        "anthropic": {"thinking": {"type": "enabled", "budget_tokens": 32_000}},
    },
}

LEVELS = tuple(THINK)


def think_setting(
    provider: Provider, level: str | None, own: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """What `level` adds to a request; nothing when no level was asked for or nobody knows it."""
    if level is None:
        return {}
    if own is not None and level in own:
        return dict(own[level])
    return dict(THINK.get(level, THINK["off"])[provider])


def nearest_level(level: str, offered: tuple[str, ...]) -> str | None:
    """The offered word that comes closest: for agents that name their own levels.

    Words we do not know are passed over; of two equally close ones the lower is taken, it costs less.
    """
    ranks = {word: LEVELS.index(_plain(word)) for word in offered if _plain(word) in LEVELS}
    if not ranks or level not in LEVELS:
        return None
    wanted = LEVELS.index(level)
    return min(ranks, key=lambda word: (abs(ranks[word] - wanted), ranks[word]))


def _plain(word: str) -> str:
    word = word.lower()
    return {"none": "off", "max": "xhigh", "extra_high": "xhigh"}.get(word, word)
