"""How hard to think."""

import pytest

from rejoinder.agents.anthropic.thinking import THINK
from rejoinder.agents.anthropic.thinking import WAYS as ANTHROPIC
from rejoinder.agents.base import FailureKind
from rejoinder.agents.chat_completions import WAYS as OPENAI
from rejoinder.agents.failures import failed, failed_response
from rejoinder.agents.thinking_levels import LEVELS, MOST, ThinkingSupport, Ways, nearest_level

APIS = pytest.mark.parametrize("ways", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
ADAPTIVE = {"type": "adaptive", "display": "summarized"}


def test_the_levels_are_the_ones_people_know():
    assert LEVELS == ("off", "minimal", "low", "medium", "high", "xhigh")


def test_more_is_more():
    """A higher level never thinks less."""
    budgets = [THINK[level].tokens for level in LEVELS[1:]]
    assert budgets == sorted(set(budgets))
    assert budgets[0] >= 1024


@APIS
@pytest.mark.parametrize("level", LEVELS)
def test_each_api_has_a_word_for_each_level_but_off(ways: Ways, level: str):
    """To say nothing is the last way for every level, and the only one for `off`."""
    assert tuple(ways) == LEVELS
    assert all(ways[level])
    assert bool(ways[level]) is (level != "off")


def test_an_api_brings_its_own_words():
    """Nothing here knows any API."""
    ways: Ways = {level: () if level == "off" else ({"hard": level},) for level in LEVELS}
    thinking = ThinkingSupport(ways, {})
    assert thinking.setting("m", "xhigh") == {"hard": "xhigh"}
    assert thinking.refused("m", "xhigh", {"hard": "xhigh"}, failed_response(400, REFUSALS[0], {}))
    assert thinking.setting("m", "xhigh") == {}


def test_what_is_added():
    openai, anthropic = (ThinkingSupport(ways, {"medium": {"think": "some"}}) for ways in (OPENAI, ANTHROPIC))
    assert openai.setting("m", None) == {}
    assert openai.setting("m", "off") == {}
    assert openai.setting("m", "high") == {"reasoning_effort": "high"}
    assert openai.setting("m", "medium") == {"think": "some"}
    assert anthropic.setting("m", "unheard-of") == {}
    assert anthropic.setting("m", "high") == {"thinking": ADAPTIVE, "output_config": {"effort": "high"}}


REFUSALS = [
    "adaptive thinking is not supported on this model",
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".',
    "This model does not support the effort parameter.",
    "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low'.",
    "Unrecognized request argument supplied: reasoning_effort",
]


@pytest.mark.parametrize("words", REFUSALS)
def test_a_refusal_is_recognised_by_its_words(words: str):
    """IN-59, TU-22: what providers answer when they do not know a way to say how hard to think."""
    thinking = ThinkingSupport(OPENAI, {})
    failure = failed_response(400, words, {})
    assert thinking.refused("m", "minimal", thinking.setting("m", "minimal"), failure)


@APIS
@pytest.mark.parametrize("level", LEVELS)
def test_every_way_is_tried_once_and_the_last_failure_is_one(ways: Ways, level: str):
    thinking, refusal = ThinkingSupport(ways, {}), failed_response(400, REFUSALS[0], {})
    said = [thinking.setting("m", level)]
    while thinking.refused("m", level, said[-1], refusal):
        said.append(thinking.setting("m", level))
    assert tuple(said) == (*ways[level], {})
    assert thinking.setting("m", level) == {}
    assert thinking.setting("another", level) == (*ways[level], {})[0]


def test_two_turns_at_once_take_one_step():
    thinking, refusal = ThinkingSupport(ANTHROPIC, {}), failed_response(400, REFUSALS[0], {})
    said = thinking.setting("m", "xhigh")
    assert thinking.refused("m", "xhigh", said, refusal)
    assert thinking.refused("m", "xhigh", said, refusal)
    assert thinking.setting("m", "xhigh") == ANTHROPIC["xhigh"][1]


@pytest.mark.parametrize(
    ("kind", "words"),
    [("format", "messages: at least one message is required"), ("rate_limit", "thinking too much"), ("auth", "effort")],
)
def test_other_failures_are_what_they_are(kind: FailureKind, words: str):
    thinking = ThinkingSupport(OPENAI, {"low": {"effort": "mine"}})
    assert not thinking.refused("m", "high", thinking.setting("m", "high"), failed(kind, words))
    own = thinking.setting("m", "low")
    assert not thinking.refused("m", "low", own, failed("format", "effort")), "an operator's words are said as they are"
    assert not thinking.refused("m", None, {}, failed("format", "effort"))


def test_invented_models_do_not_fill_the_memory():
    thinking, refusal = ThinkingSupport(OPENAI, {}), failed_response(400, REFUSALS[0], {})
    for number in range(MOST + 1):
        thinking.refused(f"m{number}", "high", {"reasoning_effort": "high"}, refusal)
    assert thinking.setting("m0", "high") == {"reasoning_effort": "high"}, "and is asked again when it is forgotten"
    assert thinking.setting(f"m{MOST}", "high") == {}


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
