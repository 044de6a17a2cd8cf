"""IN-22, IN-30 to IN-34: when a message in a group is for us."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.errors import BadConfiguration
from rejoinder.events import EarlierMessage, Mention, Overhear, Quote
from rejoinder.inbound.facts import ThreadFacts
from rejoinder.inbound.groups import MOST_OVERHEARD, active_mode, group_intro, overhear
from rejoinder.inbound.patterns import compile_patterns
from rejoinder.inbound.rules import channel_rules, make_rules
from rejoinder.inbound.settings import GroupSettings
from rejoinder.session import ResetSettings, SessionSettings, is_untouched
from tests.inbound.floor import (
    AGENT,
    AT_US,
    GROUP,
    GUEST,
    NOW,
    OWNER,
    SENDER,
    US,
    house,
    last,
    outcome,
    says,
    send,
    session,
)

SOMEBODY = (Mention("8", token="@anna"),)


@pytest.mark.parametrize(
    ("text", "more", "facts", "expected"),
    [
        ("hello", {}, {}, "drop"),
        ("@ourbot hello", {"mentions": AT_US}, {}, "turn"),
        ("hello", {"mentions": (Mention(US.id),)}, {}, "turn"),
        ("hello", {"reply_to": Quote("m0", US.id)}, {}, "turn"),
        ("hello", {}, {"replies_to_us": True}, "turn"),
        ("hello", {"reply_to": Quote("m0", "8")}, {}, "drop"),
        ("robo, hello", {}, {}, "turn"),
        ("RO\u200bBO, hello", {}, {}, "turn"),
        ("robot, hello", {}, {}, "drop"),
        ("@anna robo said so", {"mentions": SOMEBODY}, {}, "drop"),
        ("@anna hello", {"mentions": SOMEBODY}, {"replies_to_us": True}, "drop"),
        ("@anna @ourbot hi", {"mentions": (*SOMEBODY, *AT_US)}, {}, "turn"),
        ("@anna robo said so", {"mentions": SOMEBODY}, {"resolves_mentions": False}, "turn"),
        ("@staff hello", {"mentions": (Mention("77", "role", "@staff"),)}, {}, "turn"),
        ("@others hello", {"mentions": (Mention("78", "role", "@others"),)}, {}, "drop"),
    ],
)
def test_what_counts_as_a_mention(text: str, more: Any, facts: Any, expected: str) -> None:
    """IN-30: a native mention, a human's reply, a pattern; if another is meant, an explicit one only."""
    rules = house(mention_patterns=(r"\brobo\b",), mention_roles=("77",))
    assert outcome(send(says(text, group=True, **more), rules, **facts)) == expected


@pytest.mark.parametrize(
    ("channel", "group", "expected"),
    [
        ({}, {}, "drop"),
        ({"require_mention": False}, {}, "turn"),
        ({}, {GROUP: GroupSettings(require_mention=False)}, "turn"),
        ({}, {"*": GroupSettings(require_mention=False)}, "turn"),
        ({"require_mention": False}, {GROUP: GroupSettings(require_mention=True)}, "drop"),
        ({}, {GROUP: GroupSettings(require_mention=True), "*": GroupSettings(require_mention=False)}, "drop"),
    ],
)
def test_require_mention_of_group_over_star_over_channel(channel: Any, group: Any, expected: str) -> None:
    """IN-30: the nearest word counts."""
    assert outcome(send(says("hello", group=True), house(group=group, **channel))) == expected


@pytest.mark.parametrize(
    ("activation", "require", "mode", "thread", "expected"),
    [
        (None, True, "multibot-mentions", ThreadFacts(posted=True), "turn"),
        (None, True, "multibot-mentions", ThreadFacts(owned=True), "turn"),
        (None, True, "multibot-mentions", ThreadFacts(posted=True, other_bot=True), "drop"),
        (None, True, "multibot-mentions", ThreadFacts(), "drop"),
        (None, True, "involved", ThreadFacts(posted=True, other_bot=True), "turn"),
        (None, True, "involved", ThreadFacts(other_bot=True), "drop"),
        (None, True, "mentions", ThreadFacts(owned=True, posted=True), "drop"),
        (None, False, "mentions", ThreadFacts(), "turn"),
        ("mention", False, "involved", ThreadFacts(posted=True), "drop"),
        ("always", True, "mentions", ThreadFacts(), "turn"),
    ],
)
def test_threads_and_precedence(activation: Any, require: bool, mode: Any, thread: ThreadFacts, expected: str) -> None:
    """IN-22: `/activation` > `require_mention = false` > `user_messages`."""
    rules = house(require_mention=require, user_messages=mode)
    said = says("hello", group=True, thread="t1")
    assert outcome(send(said, rules, of=session(activation=activation), thread=thread)) == expected


def test_outside_a_thread_taking_part_is_not_enough() -> None:
    """IN-22: outside a thread IN-30 decides."""
    assert outcome(send(says("hello", group=True), house(), thread=ThreadFacts(owned=True, posted=True))) == "drop"


@pytest.mark.parametrize("text", ["/status", "/think high", "/think banana", "/new go on", "/help", "/stop"])
def test_an_authorised_command_needs_no_mention(text: str) -> None:
    """IN-31."""
    assert outcome(send(says(text, group=True), house())) != "drop"


@pytest.mark.parametrize("text", ["/elevated off", "/exec security=deny"])
def test_lowering_privilege_needs_no_mention(text: str) -> None:
    """IN-14: what takes power away works at once."""
    assert outcome(send(says(text, OWNER, group=True), house())) == "answer"


def test_an_unauthorised_command_is_neither_run_nor_overheard() -> None:
    """IN-14: it does not reach the agent later as history either."""
    for sender, text in ((GUEST, "/status"), (GUEST, "/think high"), (SENDER, "/restart")):
        done = send(says(text, sender, group=True), house())
        assert (outcome(done), done.replies, done.effects) == ("drop", (), ())


def test_what_is_not_for_us_is_kept() -> None:
    """IN-32: with author and id."""
    done = send(says("by the way", group=True), house())
    (heard,) = done.effects
    assert isinstance(heard, Overhear)
    assert (heard.said.text, heard.said.author_id, heard.said.message_id) == ("by the way", SENDER, "m1")
    assert heard.route.chat == GROUP


def test_fifty_are_kept_and_each_once() -> None:
    """IN-32: the latest 50 of a chat."""
    history: tuple[EarlierMessage, ...] = ()
    for number in range(80):
        history = overhear(overhear(history, EarlierMessage(str(number), "1")), EarlierMessage(str(number), "1"))
    assert [said.message_id for said in history] == [str(number) for number in range(30, 80)]
    assert len(history) == MOST_OVERHEARD


def test_a_group_that_is_only_listened_to() -> None:
    """IN-33: the agent sees it and never answers; directives are taken out and not obeyed."""
    rules = house(group={GROUP: GroupSettings(mode="listen")})
    done = send(says("so /think high it is", group=True), rules)
    assert (outcome(done), done.message.listening) == ("turn", True)
    assert (done.message.agent_text, done.message.choices, done.replies) == ("so it is", {}, ())


def test_listening_says_nothing_at_all() -> None:
    """IN-33: neither to a command inside the text nor when a session has grown old."""
    rules = house(group={GROUP: GroupSettings(mode="listen")})
    idle = SessionSettings(reset=ResetSettings(mode="idle"))
    rules = make_rules(replace(rules.settings, session=idle), (AGENT,))
    done = send(says("what is the /status", group=True), rules, of=session(touched=NOW - timedelta(days=9)))
    assert (outcome(done), done.replies, done.message.agent_text) == ("turn", (), "what is the /status")
    assert len(done.effects) == 1


@pytest.mark.parametrize(
    ("text", "expected", "rest"),
    [("/think high", "drop", None), ("/new /think high", "drop", None), ("/new hi there", "turn", "hi there")],
)
def test_listening_obeys_no_directive_and_starts_no_answer(text: str, expected: str, rest: str | None) -> None:
    """IN-33: also where nothing else is said, and where a command goes before the words."""
    done = send(says(text, group=True), house(group={GROUP: GroupSettings(mode="listen")}))
    assert (outcome(done), done.message.listening) == (expected, True)
    assert done.session is not None
    assert (done.session.think, done.message.choices) == (None, {})
    assert rest is None or done.message.agent_text == rest


def test_commands_answer_where_the_agent_listens() -> None:
    """IN-31, IN-33: it is the agent that never answers."""
    assert outcome(send(says("/status", group=True), house(group={GROUP: GroupSettings(mode="listen")}))) == "answer"


def test_a_timer_needs_no_mention() -> None:
    """A job for a group is for us."""
    assert outcome(send(says("good morning", "cron", group=True, entry="cron"), house())) == "turn"


def test_commands_cost_no_turn() -> None:
    """IN-33: over the limit, what needs no agent still works; a new session does not."""
    rules = house(group={GROUP: GroupSettings(daily_limit=1)})
    for text, expected in (("/status", "answer"), ("/think high", "answer"), ("/new go on", "drop"), ("hi", "drop")):
        assert outcome(send(says(text, group=True), rules, group_turns_today=1)) == expected


def test_a_group_that_is_off() -> None:
    """IN-33: nothing is read, commands neither."""
    rules = house(group={GROUP: GroupSettings(mode="off")})
    assert outcome(send(says("@ourbot hi", group=True, mentions=AT_US), rules)) == "drop"
    assert outcome(send(says("/status", OWNER, group=True), rules)) == "drop"


@pytest.mark.parametrize(
    ("limits", "facts", "expected"),
    [
        ({"daily_limit": 5}, {"group_turns_today": 4}, "turn"),
        ({"daily_limit": 5}, {"group_turns_today": 5}, "drop"),
        ({"daily_limit_per_user": 2}, {"sender_turns_today": 1, "group_turns_today": 99}, "turn"),
        ({"daily_limit_per_user": 2}, {"sender_turns_today": 2}, "drop"),
    ],
)
def test_daily_limits(limits: Any, facts: Any, expected: str) -> None:
    """IN-33: per group and per user."""
    rules = house(group={GROUP: GroupSettings(**limits)})
    assert outcome(send(says("@ourbot hi", group=True, mentions=AT_US), rules, **facts)) == expected


def test_activation_is_the_owners_and_holds() -> None:
    """IN-31: `/activation` overrides per session and tells the agent."""
    rules = house()
    done = send(says("/activation always", OWNER, group=True), rules)
    assert done.session is not None
    assert done.session.activation == "always"
    assert "every message" in done.session.system_events[0]
    assert outcome(send(says("hello", group=True), rules, of=done.session)) == "turn"
    assert send(says("/activation always", OWNER), rules).session.activation is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("chosen", "configured", "mode"),
    [
        (None, {}, "mention"),
        (None, {"require_mention": False}, "always"),
        ("mention", {"require_mention": False}, "mention"),
    ],
)
def test_the_agent_is_told_when_it_answers(chosen: Any, configured: dict[str, Any], mode: str) -> None:
    """IN-34: as somebody chose it, else as the group is configured."""
    rules = house(**configured)
    done = send(says("@ourbot hi", group=True, mentions=AT_US), rules)
    assert active_mode(done.message, session(activation=chosen), channel_rules(rules, "telegram")) == mode


def test_the_intro_comes_with_the_first_turn() -> None:
    """IN-34: with silence guidance where every message is seen."""
    assert is_untouched(session())
    assert not is_untouched(session(touched=session().started.replace(hour=23)))
    assert "NO_REPLY" in group_intro("always")
    assert "NO_REPLY" not in group_intro("mention")


# --- patterns -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("(abc", 1), ("hey [a-", 5), ("x(?=y)", 2), ("ab**", 3), (r"(a)\1", 4), ("x{2,99999}", 2)],
)
def test_a_bad_pattern_is_an_error_at_start(pattern: str, position: int) -> None:
    """IN-30: with its place in the list and in the pattern."""
    with pytest.raises(BadConfiguration, match=rf"mention_patterns\[1\].*at character {position} "):
        house(mention_patterns=("fine", pattern))


def test_patterns_take_linear_time() -> None:
    """IN-30: what hangs a backtracking matcher is nothing here."""
    matches = compile_patterns((r"(a+)+$", r"(x|x|x)*y"), "here")
    assert matches is not None
    assert not matches("a" * 200_000 + "!" + "x" * 200_000)


def test_a_million_characters_in_a_group_meet_the_patterns() -> None:
    """IN-30: a pattern is looked for in the whole text."""
    rules = house(mention_patterns=("robo",))
    assert outcome(send(says("x" * 1_000_000 + " robo", group=True), rules)) == "turn"
    assert last(send(says("x" * 1_000_000, group=True), rules))[0] == "activation"
