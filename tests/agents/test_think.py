"""How hard to think."""

import pytest

from rejoinder.agents.think import LEVELS, THINK, nearest_level, think_setting


def test_the_table_is_total():
    """Every level of /think has a setting at every provider, and the levels are the ones people know."""
    assert LEVELS == ("off", "minimal", "low", "medium", "high", "xhigh")
    assert all(set(row) == {"openai", "anthropic"} for row in THINK.values())


def test_more_is_more():
    """A higher level never thinks less."""
    budgets = [THINK[level]["anthropic"]["thinking"]["budget_tokens"] for level in LEVELS[1:]]
    assert budgets == sorted(set(budgets))
    assert budgets[0] >= 1024


def test_what_is_added():
    assert think_setting("openai", None) == {}
    assert think_setting("openai", "off") == {}
    assert think_setting("openai", "high") == {"reasoning_effort": "high"}
    assert think_setting("openai", "off", {"off": {"think": False}}) == {"think": False}
    assert think_setting("anthropic", "unheard-of") == {}


@pytest.mark.parametrize(
    ("level", "offered", "chosen"),
    [
        ("high", ("low", "medium", "high"), "high"),
        ("xhigh", ("low", "medium", "high"), "high"),
        ("minimal", ("none", "low"), "none"),
        ("xhigh", ("low", "max"), "max"),
        ("high", ("fast", "smart"), None),
        ("loud", ("low",), None),
    ],
)
def test_the_nearest_word(level: str, offered: tuple[str, ...], chosen: str | None):
    """TU-33: an agent with levels of its own gets the closest, the cheaper of two."""
    assert nearest_level(level, offered) == chosen
