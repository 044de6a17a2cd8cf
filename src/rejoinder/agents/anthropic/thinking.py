"""The values for the levels of `/think` in the messages API."""

from typing import NamedTuple

from rejoinder.agents.thinking_levels import Ways


class Level(NamedTuple):
    efforts: tuple[str, ...] = ()
    """Values for `output_config.effort`, best first: for models that decide by themselves when to think."""
    tokens: int = 0
    """Thoughts count as part of the answer, so `max_tokens` is raised by this; for older models it is the budget."""


THINK: dict[str, Level] = {
    "off": Level(),
    "minimal": Level(("low",), 1024),
    "low": Level(("low",), 4096),
    "medium": Level(("medium",), 10_000),
    "high": Level(("high",), 20_000),
    "xhigh": Level(("xhigh", "high"), 32_000),
}

_ADAPTIVE = {"type": "adaptive", "display": "summarized"}
WAYS: Ways = {
    name: (
        *({"thinking": _ADAPTIVE, "output_config": {"effort": word}} for word in level.efforts),
        *([{"thinking": {"type": "enabled", "budget_tokens": level.tokens}}] if level.tokens else ()),
    )
    for name, level in THINK.items()
}
