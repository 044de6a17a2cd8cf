"""The levels of `/think`, and the settings by which a model accepts each of them.

Each kind of model agent has the settings of its API. A model's name does not tell which settings it accepts, and they
change with every generation. So the settings for a level are tried from the newest down to none, and a setting that a
model has refused is not sent to it again: people get an answer, and the operator finds the refusal in the log. `off`
adds nothing: every model accepts a request without the setting. An agent's `think` replaces single rows, for endpoints
with other settings, and is sent as it is.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any, Final

from rejoinder.agents.base import Failed
from rejoinder.bounded import Bounded

Setting = Mapping[str, Any]
"""The fields to add to a request."""
Ways = Mapping[str, tuple[Setting, ...]]
"""The settings for each level, the newest first. The last one, to add nothing, is not listed."""

log = logging.getLogger(__name__)

MOST = 1000
"""How many refusals are remembered: more than there are models, but bounded in case a user invents model names."""
_NOTHING: Final[Setting] = {}
_ABOUT_THINKING = re.compile(r"think|effort|reasoning", re.IGNORECASE)

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")


class ThinkingSupport:
    """The settings to use with each model of one agent, as far as we know from its refusals."""

    def __init__(self, ways: Ways, own: Mapping[str, Setting]) -> None:
        self._settings = {level: (own[level],) if level in own else (*ways[level], _NOTHING) for level in LEVELS}
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
