"""The prefix of a reply (DE-5)."""

import pytest

from rejoinder.outbound.prefix import Speaker, before_first_word, prefixed

MAYA = Speaker(name="Maya", model="acme/large-2", thinking="low")


@pytest.mark.parametrize(
    ("prefix", "text", "shown"),
    [
        ("", "hi", "hi"),
        ("auto", "hi", "[Maya] hi"),
        ("[{identity.name}]", "hi", "[Maya] hi"),
        ("{model}:", "hi", "large-2: hi"),
        ("{modelFull} {provider} {thinkingLevel} |", "hi", "acme/large-2 acme low | hi"),
        ("{MODEL}", "hi", "large-2 hi"),
        ("{mood} {model}", "hi", "{mood} large-2 hi"),  # unknown variables stay
        ("{}", "hi", "{} hi"),
        ("auto", "[Maya] hi", "[Maya] hi"),  # not doubled
        ("auto", "  \n", "  \n"),
        ("auto", "```py\nx\n```", "[Maya]\n\n```py\nx\n```"),
        ("auto", "- a\n- b", "[Maya]\n\n- a\n- b"),
        ("auto", "1. a", "[Maya]\n\n1. a"),
        ("auto", "1.5 times", "[Maya] 1.5 times"),
    ],
)
def test_prefixes(prefix: str, text: str, shown: str) -> None:
    """DE-5: variables, `auto`, never twice, and no block of the reply is broken by it."""
    assert prefixed(text, prefix, MAYA) == shown


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("hi", "[Maya] "),
        (" \nhi", "[Maya] "),
        (" - a", "[Maya]\n\n "),
        (" [Maya] hi", " "),
        ("  \n", "  \n"),
        ("", ""),
    ],
)
def test_what_stands_before_the_first_word(text: str, before: str) -> None:
    """DE-5: so the agent's own words are known without a look at what is shown."""
    assert before_first_word(text, "auto", MAYA) == before
    assert prefixed(text, "auto", MAYA) == before + text.lstrip()


@pytest.mark.parametrize(
    ("prefix", "shown"),
    [
        ("[{model}]", "hi"),
        ("[{provider}/{model}]", "hi"),
        ("({thinkingLevel}) {identity.name}:", "Maya: hi"),
        ("{identity.name} [{model}] >", "Maya > hi"),
        ("[{identity.name} ({model})]", "[Maya ] hi"),
        ("[{identity.name}|{model}]", "[Maya|] hi"),
        ("<{model}>", "hi"),
        ("[({model})]", "hi"),
        ("[] {identity.name}", "[] Maya hi"),  # the operator's own
        ("[{mood}]", "[{mood}] hi"),
        ("[{model", "[{model hi"),
    ],
)
def test_a_variable_without_a_value_leaves_no_empty_brackets(prefix: str, shown: str) -> None:
    """DE-5: what stands in them besides stays."""
    assert prefixed("hi", prefix, Speaker(name="Maya")) == shown


@pytest.mark.parametrize("prefix", ["auto", "{identity.name}", "[{identity.name}]", "  "])
def test_a_prefix_of_nothing_is_none(prefix: str) -> None:
    assert prefixed("hi", prefix, Speaker()) == "hi"


def test_what_a_variable_brings_is_not_read_again() -> None:
    assert prefixed("hi", "{identity.name}", Speaker(name="{model}", model="x")) == "{model} hi"
