"""IN-20 to IN-25: our own messages, other bots, and rooms of our own agents."""

from datetime import date
from functools import reduce
from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.events import Chat, Mention, Overhear, Quote, Route, Sender, StopRun
from rejoinder.inbound import decide
from rejoinder.inbound.bots import BotTurns, CountedMessage, count_turn
from rejoinder.inbound.directives.model import Models
from rejoinder.inbound.facts import ThreadFacts
from rejoinder.inbound.outcome import StageResult
from rejoinder.inbound.rooms import named_in, who_wakes
from rejoinder.inbound.rules import AgentProfile
from rejoinder.session import Session
from tests.inbound.floor import AT_US, FACTS, GROUP, NOW, SENDER, US, house, last, outcome, says, send, session

BOT = Sender("55", name="other", is_bot=True)
DAY, NEXT = date(2030, 1, 1), date(2030, 1, 2)


def bot_says(text: str, **more: Any) -> Any:
    return replace(says(text, group=True, **more), sender=BOT)


def test_our_own_message_is_known_by_id_and_by_receipt() -> None:
    """IN-20: either is enough, so an echo under another id is ours too."""
    rules = house(groups="open", bot_messages="all")
    assert outcome(send(replace(bot_says("x"), sender=Sender(US.id)), rules)) == "drop"
    assert outcome(send(replace(bot_says("x"), sender=Sender("8", is_self=True)), rules)) == "drop"
    assert last(send(bot_says("x"), rules, sent_by_us=True)) == (
        "own_message",
        "our own message, by its receipt",
    )


@pytest.mark.parametrize(
    ("policy", "text", "mentions", "expected"),
    [
        (None, "@ourbot hi", AT_US, "drop"),
        ("off", "@ourbot hi", AT_US, "drop"),
        ("mentions", "@ourbot hi", AT_US, "turn"),
        ("mentions", "hi", (), "drop"),
        ("mentions", "hi", (Mention(US.id),), "drop"),
        ("mentions", "hi", (Mention("8", token="@else"),), "drop"),
        ("all", "hi", (), "turn"),
    ],
)
def test_which_bots_are_read(policy: Any, text: str, mentions: Any, expected: str) -> None:
    """IN-21: off by default; only a literal mention wakes a bot, an implied one does not."""
    assert outcome(send(bot_says(text, mentions=mentions), house(bot_messages=policy))) == expected


def test_a_native_reply_does_not_wake_a_bot() -> None:
    """IN-21: a reply to us by a bot is no mention."""
    said = bot_says("hi", reply_to=Quote("m0", US.id))
    done = send(said, house(bot_messages="mentions"), replies_to_us=True)
    assert outcome(done) == "drop"
    assert isinstance(done.effects[0], Overhear)


def test_bots_that_wake_nobody_are_still_heard() -> None:
    """IN-32: other bots' messages are part of the history, whatever the policy."""
    for policy, more in (("off", {}), ("mentions", {}), ("all", {"trusted_bots": ("56",)})):
        done = send(bot_says("fyi"), house(bot_messages=policy, **more))
        assert [type(effect).__name__ for effect in done.effects] == ["Overhear"]
    assert not send(replace(bot_says("x"), chat=Chat("55")), house()).effects


def test_trusted_bots_narrow_the_policy() -> None:
    """IN-21: when some are trusted, the others are not read."""
    assert outcome(send(bot_says("hi"), house(bot_messages="all", trusted_bots=("55",)))) == "turn"
    assert outcome(send(bot_says("hi"), house(bot_messages="all", trusted_bots=("56",)))) == "drop"


def test_a_bot_commands_nothing() -> None:
    """IN-12: whatever it types."""
    for text in ("/help", "/stop", "/think high", "/new", "@ourbot /status"):
        done = send(bot_says(text, mentions=AT_US), house(bot_messages="all"))
        assert (done.effects, done.replies) == ((), ()), text


def test_in_our_own_room_a_mention_wakes() -> None:
    """IN-21: among our own agents the default is `mentions`."""
    rules = house(AgentProfile("a"), AgentProfile("b"), agents=("a", "b"))
    named = (Mention("b", token="@b"),)
    done = send(replace(bot_says("@b look", mentions=named), sender=Sender("a", is_bot=True)), rules)
    assert (outcome(done), done.message.agents) == ("turn", ("b",))
    assert outcome(send(replace(bot_says("look"), sender=Sender("a", is_bot=True)), rules)) == "drop"


@pytest.mark.parametrize(
    ("turns", "before", "today", "posted", "expected"),
    [
        (9, 8, 9, True, "turn"),
        (10, 9, 10, True, "answer"),
        (11, 9, 11, True, "answer"),
        (10, 9, 10, False, "drop"),
        (11, 10, 11, True, "drop"),
        (13, 11, 13, True, "drop"),
        (1, 0, 100, True, "turn"),
        (1, 0, 101, True, "drop"),
    ],
)
def test_conversations_of_bots_end(turns: int, before: int, today: int, posted: bool, expected: str) -> None:
    """IN-23, IN-32: at the soft limit one notice, by who took part; then silence; the hard limit counts by day. What
    was said stays in the history."""
    thread = ThreadFacts(posted=posted, bot_turns=turns, bot_turns_before=before, bot_turns_today=today)
    done = send(bot_says("hi"), house(bot_messages="all"), thread=thread)
    assert outcome(done) == expected
    assert [type(effect).__name__ for effect in done.effects] == ([] if expected == "turn" else ["Overhear"])


def test_a_human_is_heard_whatever_bots_did() -> None:
    """IN-23: the limits are for bots."""
    thread = ThreadFacts(posted=True, bot_turns=500, bot_turns_today=500)
    done = send(says("@ourbot hi", group=True, mentions=AT_US), house(bot_messages="all"), thread=thread)
    assert outcome(done) == "turn"


@pytest.mark.parametrize(
    ("seen", "in_a_row", "today"),
    [
        ("", 0, 0),
        ("b", 1, 1),
        ("bob", 3, 3),
        ("bbh", 0, 2),
        ("bbhb", 1, 3),
        ("bbs", 2, 2),
        ("bsbsb", 3, 3),
        ("hs", 0, 0),
    ],
)
def test_how_the_index_counts(seen: str, in_a_row: int, today: int) -> None:
    """IN-23: own turns count, a human ends the row, a system event does not."""
    kinds: dict[str, Any] = {"b": "bot", "o": "own", "h": "human", "s": "system"}
    rows = [CountedMessage(kinds[letter], DAY) for letter in seen]
    counted = reduce(count_turn, rows, BotTurns())
    assert (counted.in_a_row, counted.today) == (in_a_row, today)
    assert count_turn(counted, CountedMessage("bot", NEXT)).today == 1


@pytest.mark.parametrize(("seen", "before"), [("b", 0), ("bb", 1), ("bob", 1), ("bobo", 1), ("obob", 2), ("bbhb", 0)])
def test_where_the_row_stood_with_the_bot_before(seen: str, before: int) -> None:
    """IN-23: our own turns lengthen the row, but only a bot's message can be answered with the one notice."""
    kinds: dict[str, Any] = {"b": "bot", "o": "own", "h": "human"}
    assert reduce(count_turn, [CountedMessage(kinds[letter], DAY) for letter in seen], BotTurns()).before == before


AGENTS = ("a", "b", "c")


@pytest.mark.parametrize(
    ("wake", "mentions", "reply_to", "awake"),
    [
        ("lead", (), None, ("a",)),
        ("all", (), None, AGENTS),
        ("mentions", (), None, ()),
        ("lead", ("b",), None, ("b",)),
        ("all", ("c", "b"), None, ("b", "c")),
        ("mentions", ("@all",), None, AGENTS),
        ("lead", ("somebody",), None, ("a",)),
        ("lead", (), "c", ("c",)),
        ("mentions", (), "b", ("b",)),
        ("lead", ("b",), "c", ("b",)),
        ("lead", (), "somebody", ("a",)),
    ],
)
def test_whom_a_human_wakes(wake: Any, mentions: Any, reply_to: str | None, awake: Any) -> None:
    """IN-25: those named, `@all` all, else whose message it answers, else as configured."""
    said = says(
        " ".join(mentions),
        mentions=tuple(Mention(name, token=name) for name in mentions),
        reply_to=Quote("m0", reply_to) if reply_to else None,
    )
    assert who_wakes(said, AGENTS, wake) == awake


@pytest.mark.parametrize("wake", ["lead", "all", "mentions"])
def test_an_agent_never_wakes_itself_or_others_by_the_way(wake: Any) -> None:
    """IN-25, IN-21: an agent's message wakes only whom it names, and never the agent itself."""
    said = replace(says("a b hello", mentions=()), sender=Sender("a", is_bot=True))
    assert who_wakes(said, AGENTS, wake) == ()
    named = replace(said, text="@a @b hello", mentions=(Mention("a", token="@a"), Mention("b", token="@b")))
    assert who_wakes(named, AGENTS, wake) == ("b",)
    implied = replace(said, mentions=(Mention("b"),), reply_to=Quote("m0", "b"))
    assert who_wakes(implied, AGENTS, wake) == ()


def test_a_room_hears_what_wakes_nobody() -> None:
    """IN-25: all of them see it as history."""
    rules = house(AgentProfile("a"), AgentProfile("b"), agents=("a", "b"), wake="mentions")
    done = send(says("hello all", group=True), rules)
    assert outcome(done) == "drop"
    assert [type(effect).__name__ for effect in done.effects] == ["Overhear"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("@bo and @Cleo, please", ("bo", "cleo")),
        ("ask (@bo)!", ("bo",)),
        ("@bo.", ("bo",)),
        ("@bob, mail@bo.example, @@bo, bo", ()),
        ("@code-reviewer", ("code-reviewer",)),
        ("@", ()),
    ],
)
def test_names_are_read_in_the_words(text: str, named: tuple[str, ...]) -> None:
    """IN-25: no platform but the page knows our agents, so their names count as they are written, by anybody."""
    assert named_in(text, ("ada", "bo", "cleo", "code-reviewer")) == named


ADA, BO = AgentProfile("ada"), AgentProfile("bo", Models("llama", aliases={"tiny": "llama-1b"}), think_levels=("off",))
ROOM = house(ADA, BO, agents=("ada", "bo"))


def in_room(text: str, **more: Any) -> StageResult:
    """With the session of the agent it is about."""

    def find(message: Any) -> Session:
        return session(agent=message.agents[0])

    return decide(says(text, group=True, **more), FACTS, find, ROOM, NOW, lambda: 0.0)


@pytest.mark.parametrize("text", ["@bo stop", "stop @bo!", "@all stop", "@Bo, /stop", "@ada @bo stop"])
def test_stop_is_said_to_agents_by_name(text: str) -> None:
    """IN-25, IN-70: in a room their names are the mention a bare stop word needs."""
    assert in_room(text).effects == (StopRun(Route("telegram", GROUP), SENDER),)


@pytest.mark.parametrize("text", ["stop", "@bob stop", "@bo stop it", "ada stop"])
def test_what_is_no_stop_in_a_room(text: str) -> None:
    """IN-70: nobody of ours is meant, or more is said."""
    assert StopRun not in {type(effect) for effect in in_room(text).effects}


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("@bo /status", "Agent: bo"),
        ("@bo /model", "Model: llama (the agent bo)"),
        ("/models @bo", "bo answers with llama."),
        ("@Bo /think high", "The agent bo cannot think at high"),
        ("@bo, /tiny", "Model: llama-1b."),
        ("/status", "Agent: ada"),
    ],
)
def test_commands_are_for_the_agent_that_is_named(text: str, reply: str) -> None:
    """IN-25, IN-31, IN-59: its session, its models, what it can honour; else those of the first."""
    done = in_room(text)
    assert outcome(done) == "answer"
    assert reply in done.replies[0]


def test_several_who_are_named_hear_it_as_text() -> None:
    """IN-55: what is meant for more than one session changes this turn alone."""
    done = in_room("@ada @bo /verbose on")
    assert (outcome(done), done.message.agents, done.message.choices) == ("turn", ("ada", "bo"), {"verbose": "on"})


def test_everybody_is_named_in_the_words() -> None:
    """IN-25: `@all` by a person, also where the platform knows no such name; not by a bot."""
    assert in_room("@all good morning").message.agents == ("ada", "bo")
    assert in_room("mail@all.example, hello").message.agents == ("ada",)
    bot = replace(says("@All good morning", group=True), sender=Sender("ada", is_bot=True))
    assert who_wakes(bot, ("ada", "bo"), "all") == ()
    told = replace(bot, mentions=(Mention("all", "everyone", "@All"),))
    assert who_wakes(told, ("ada", "bo", "cy"), "all") == ()
    named = replace(told, text="@All good morning, @cy")
    assert who_wakes(named, ("ada", "bo", "cy"), "all") == ("cy",)


def test_a_room_without_the_lead() -> None:
    """IN-25: a command there goes to the first who is in it."""
    chat = Chat(GROUP, "group", agents=("bo",))
    assert in_room("/new hello", chat=chat).message.agents == ("bo",)
    assert "Agent: bo" in in_room("/status", chat=chat).replies[0]
