"""IN-41 to IN-43: sessions that start over."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from rejoinder.events import Attachment, ResetSession
from rejoinder.inbound.facts import RunFacts
from rejoinder.inbound.freshness import GREETING
from rejoinder.inbound.rules import Rules, make_rules
from rejoinder.session import ExecChoice, ResetSettings, SessionSettings
from tests.inbound.floor import AGENT, GUEST, NOW, house, outcome, says, send, session


def idle_house() -> Rules:
    rules = house()
    idle = SessionSettings(reset=ResetSettings(mode="idle", idle_minutes=30))
    return make_rules(replace(rules.settings, session=idle), (AGENT,))


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("/new", GREETING),
        ("/RESET", GREETING),
        ("  /new  ", GREETING),
        ("/new@ourbot", GREETING),
        ("/new summarise the day", "summarise the day"),
        ("/reset\nline one\n    line two", "line one\n    line two"),
        ("/new: go", "go"),
        ("/new  go on", " go on"),
        ("/new\n    if x:\n\ty", "    if x:\n\ty"),
        ("/new\n\ngo", "\ngo"),
        ("/new\r\n\tgo", "\tgo"),
        ("/new /think of it", "/think of it"),
        ("/new it /think high now", "it now"),
    ],
)
def test_a_trigger_begins_a_session_with_the_rest(text: str, prompt: str) -> None:
    """IN-42, IN-3: whole text or prefix and blank, and no other byte; a bare one greets."""
    done = send(says(text), house())
    assert outcome(done) == "turn"
    assert done.message.agent_text == prompt
    assert done.effects == (ResetSession("helper:telegram", "asked"),)


@pytest.mark.parametrize("text", ["/newfoo", "/news today", "say /new", "/new@otherbot", "new", "/new-thing"])
def test_what_only_resembles_a_trigger_is_text(text: str) -> None:
    """IN-42."""
    done = send(says(text), house())
    assert (done.message.agent_text, done.effects) == (text, ())


def test_a_guest_resets_nothing() -> None:
    """IN-42, IN-14: authorised senders only, and no agent run with it."""
    done = send(says("/new please", GUEST), house())
    assert (outcome(done), done.effects) == ("drop", ())


@pytest.mark.parametrize(
    ("text", "model", "prompt"),
    [
        ("/new gpt-y write", "gpt-y", "write"),
        ("/new SMART write", "openai/gpt-x-large", "write"),
        ("/new gpt-y", "gpt-y", GREETING),
        ("/new gpt-y\n    write", "gpt-y", "    write"),
        ("/new\ngpt-y  write", "gpt-y", " write"),
        ("/new gpt-z write", None, "gpt-z write"),
        ("/new openai/other write", None, "openai/other write"),
    ],
)
def test_a_model_after_the_trigger(text: str, model: str | None, prompt: str) -> None:
    """IN-42: taken only when it is one that may be chosen."""
    done = send(says(text), house())
    assert done.session is not None
    assert (done.session.model, done.message.agent_text) == (model, prompt)


def test_triggers_are_configurable() -> None:
    """IN-42: any words; the usual ones lose their meaning then."""
    rules = house()
    rules = make_rules(replace(rules.settings, session=SessionSettings(reset_triggers=("Neu anfangen",))), (AGENT,))
    assert send(says("neu anfangen mit Mut"), rules).message.agent_text == "mit Mut"
    assert send(says("/new x"), rules).effects == ()


def test_a_trigger_with_a_picture_needs_no_greeting() -> None:
    """IN-42: the picture is the first prompt."""
    assert send(says("/new", attachments=(Attachment("a"),)), house()).message.agent_text == ""


def test_privilege_does_not_survive() -> None:
    """IN-43: think stays, elevated and exec go."""
    old = session(think="high", elevated="full", exec=ExecChoice(security="full"))
    new = send(says("/new"), house(), of=old).session
    assert new is not None
    assert (new.think, new.elevated, new.exec) == ("high", None, None)


@pytest.mark.parametrize(("minutes", "running", "expected"), [(29, False, 0), (31, False, 1), (31, True, 0)])
def test_an_old_session_rolls_over_and_says_so(minutes: int, running: bool, expected: int) -> None:
    """IN-41: at the next message, in one line, never in the middle of a running turn."""
    old = session(touched=NOW - timedelta(minutes=minutes))
    done = send(says("hello"), idle_house(), of=old, run_facts=RunFacts(running=running))
    assert outcome(done) == "turn"
    assert len(done.effects) == len(done.replies) == expected


def test_asked_and_old_is_one_new_session() -> None:
    """IN-41, IN-42: a trigger on an old session resets it once."""
    done = send(says("/new"), idle_house(), of=session(touched=NOW - timedelta(days=2)))
    assert [effect.why for effect in done.effects if isinstance(effect, ResetSession)] == ["asked"]
