"""IN-70, IN-71: stop."""

import pytest

from rejoinder.events import Quote, Route, StopRun
from rejoinder.inbound.facts import RunFacts
from rejoinder.inbound.stop_words import STOP_WORDS, is_stop_word
from tests.inbound.floor import AT_US, GROUP, GUEST, SENDER, US, house, last, outcome, says, send


@pytest.mark.parametrize("word", [word for words in STOP_WORDS.values() for word in words])
def test_every_stop_word_stops(word: str) -> None:
    """IN-70: alone, in any case, with any punctuation after it."""
    for said in (word, word.upper(), f"  {word} ", f"{word}!!!", f"{word} …", f"{word}。", f"{word}?!"):
        done = send(says(said), house())
        assert outcome(done) == "answer", said
        assert done.effects == (StopRun(Route("telegram", SENDER), SENDER),)


def test_at_least_nine_languages() -> None:
    """IN-70: common languages, as data."""
    assert len(STOP_WORDS) >= 9


@pytest.mark.parametrize(
    "text",
    [
        "wait",
        "Wait!",
        "warte",
        "attends",
        "stop the music",
        "don't stop",
        "nonstop",
        "please stop here",
        "stop\nand go",
        "!stop",
        "stops",
        "...",
        "cancel",
        "s t o p",
        "x" * 1000 + "stop",
    ],
)
def test_other_words_do_not(text: str) -> None:
    """IN-70: `wait` is not one, and a stop word is all there is."""
    assert not is_stop_word(text)


@pytest.mark.parametrize("text", ["please  stop", "PLEASE\tSTOP", "s’il", "stop s’il te plaît"])
def test_folding(text: str) -> None:
    """IN-70: blanks and apostrophes of any kind."""
    assert is_stop_word(text) is (text != "s’il")


@pytest.mark.parametrize(
    "text",
    ["/stop", "/STOP", "/stop@ourbot", "/stop:", "/stop everything", " /stop ", "/stop!", "/Stop@ourbot !!", "/stop。"],
)
def test_the_command_stops_anywhere(text: str) -> None:
    """IN-70: in a group too, without a mention, with any punctuation after it."""
    for group in (False, True):
        assert last(send(says(text, group=group), house())) == ("abort", "asked to stop")


def test_another_bots_stop_is_not_ours() -> None:
    """IN-60: `/stop@otherbot` is for somebody else."""
    assert outcome(send(says("/stop@otherbot", group=True), house())) == "drop"


def test_a_bare_word_in_a_group_has_to_be_said_to_us() -> None:
    """IN-70: by a mention or a reply; a pattern is not enough."""
    rules = house(mention_patterns=("stop",), require_mention=False)
    assert outcome(send(says("stop", group=True), rules)) == "turn"
    assert outcome(send(says("@ourbot stop", group=True, mentions=AT_US), rules)) == "answer"
    assert outcome(send(says("stop @ourbot!", group=True, mentions=AT_US), rules)) == "answer"
    assert outcome(send(says("stop", group=True, reply_to=Quote("m0", US.id)), rules)) == "answer"


def test_who_may_not_stop() -> None:
    """IN-70: authorised senders; the word of others is text, their command nothing."""
    assert outcome(send(says("stop", GUEST), house())) == "turn"
    assert outcome(send(says("/stop", GUEST), house())) == "drop"


@pytest.mark.parametrize(
    ("subagents", "said"),
    [
        (0, "Agent was aborted."),
        (1, "Agent was aborted. Stopped 1 sub-agent."),
        (3, "Agent was aborted. Stopped 3 sub-agents."),
    ],
)
def test_what_it_says(subagents: int, said: str) -> None:
    """IN-70: with the number of sub-agents it stopped."""
    done = send(says("stop"), house(), run_facts=RunFacts(running=True, subagents=subagents))
    assert done.replies == (said,)


def test_stop_works_when_typed_commands_are_off() -> None:
    """IN-60: `commands.text = false`: slash text goes to the agent, stop still works."""
    rules = house(commands={"text": False})
    assert outcome(send(says("/stop"), rules)) == "answer"
    assert outcome(send(says("stop"), rules)) == "answer"
    assert outcome(send(says("/stop!"), rules)) == "answer"
    for text in ("/help", "/new x", "/think high", "please /think high do", "/stop-gap", "/stop/start!"):
        done = send(says(text), rules)
        assert (outcome(done), done.message.agent_text, done.replies) == ("turn", text, ())
    assert outcome(send(says("/help", entry="native"), rules)) == "answer"


def test_it_stops_the_place_it_was_said_in() -> None:
    """IN-70: chat and thread."""
    done = send(says("/stop", group=True, thread="t9"), house())
    assert done.effects == (StopRun(Route("telegram", GROUP, "t9"), SENDER),)
