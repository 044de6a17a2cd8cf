"""IN-52 to IN-59: what directives do."""

from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.events import Attachment
from rejoinder.inbound.directives.effective import chosen_model, effective_level, effective_model
from rejoinder.inbound.directives.levels import LEVELS, UNHONOURED, find_level, level_names
from rejoinder.inbound.directives.model import Models
from rejoinder.inbound.rules import AgentProfile, make_rules
from rejoinder.inbound.settings import ElevatedSettings, LevelDefaults
from rejoinder.session import ExecChoice, QueueChoice
from tests.inbound.floor import AGENT, AT_US, GUEST, OWNER, SENDER, house, outcome, says, send, session

SPELLINGS = [
    ("think", "off", "off"),
    ("think", "no", "off"),
    ("think", "false", "off"),
    ("think", "disable", "off"),
    ("think", "disabled", "off"),
    ("think", "minimal", "minimal"),
    ("think", "min", "minimal"),
    ("think", "low", "low"),
    ("think", "on", "low"),
    ("think", "yes", "low"),
    ("think", "true", "low"),
    ("think", "enable", "low"),
    ("think", "enabled", "low"),
    ("think", "medium", "medium"),
    ("think", "mid", "medium"),
    ("think", "med", "medium"),
    ("think", "normal", "medium"),
    ("think", "harder", "medium"),
    ("think", "think-harder", "medium"),
    ("think", "high", "high"),
    ("think", "max", "high"),
    ("think", "maximum", "high"),
    ("think", "ultra", "high"),
    ("think", "highest", "high"),
    ("think", "hardest", "high"),
    ("think", "ultrathink", "high"),
    ("think", "xhigh", "xhigh"),
    ("think", "x-high", "xhigh"),
    ("think", "x_high", "xhigh"),
    ("think", "extrahigh", "xhigh"),
    ("think", "extra-high", "xhigh"),
    ("think", "extra_high", "xhigh"),
    ("think", "extra high", "xhigh"),
    ("think", "very high", "xhigh"),
    ("verbose", "off", "off"),
    ("verbose", "no", "off"),
    ("verbose", "false", "off"),
    ("verbose", "disable", "off"),
    ("verbose", "disabled", "off"),
    ("verbose", "quiet", "off"),
    ("verbose", "silent", "off"),
    ("verbose", "hide", "off"),
    ("verbose", "hidden", "off"),
    ("verbose", "on", "on"),
    ("verbose", "yes", "on"),
    ("verbose", "true", "on"),
    ("verbose", "enable", "on"),
    ("verbose", "enabled", "on"),
    ("verbose", "show", "on"),
    ("verbose", "minimal", "on"),
    ("verbose", "full", "full"),
    ("verbose", "all", "full"),
    ("verbose", "everything", "full"),
    ("verbose", "max", "full"),
    ("verbose", "debug", "full"),
    ("reasoning", "off", "off"),
    ("reasoning", "no", "off"),
    ("reasoning", "false", "off"),
    ("reasoning", "disable", "off"),
    ("reasoning", "disabled", "off"),
    ("reasoning", "hide", "off"),
    ("reasoning", "hidden", "off"),
    ("reasoning", "on", "on"),
    ("reasoning", "yes", "on"),
    ("reasoning", "true", "on"),
    ("reasoning", "enable", "on"),
    ("reasoning", "enabled", "on"),
    ("reasoning", "show", "on"),
    ("reasoning", "visible", "on"),
    ("reasoning", "stream", "stream"),
    ("reasoning", "streaming", "stream"),
    ("reasoning", "live", "stream"),
    ("reasoning", "draft", "stream"),
    ("elevated", "off", "off"),
    ("elevated", "no", "off"),
    ("elevated", "false", "off"),
    ("elevated", "disable", "off"),
    ("elevated", "disabled", "off"),
    ("elevated", "on", "on"),
    ("elevated", "yes", "on"),
    ("elevated", "true", "on"),
    ("elevated", "enable", "on"),
    ("elevated", "enabled", "on"),
    ("elevated", "ask", "ask"),
    ("elevated", "prompt", "ask"),
    ("elevated", "approval", "ask"),
    ("elevated", "approve", "ask"),
    ("elevated", "full", "full"),
    ("elevated", "auto", "full"),
    ("elevated", "auto-approve", "full"),
    ("elevated", "autoapprove", "full"),
    ("elevated", "yolo", "full"),
    ("elevated", "bypass", "full"),
    ("usage", "off", "off"),
    ("usage", "no", "off"),
    ("usage", "false", "off"),
    ("usage", "disable", "off"),
    ("usage", "disabled", "off"),
    ("usage", "hide", "off"),
    ("usage", "hidden", "off"),
    ("usage", "tokens", "tokens"),
    ("usage", "on", "tokens"),
    ("usage", "yes", "tokens"),
    ("usage", "true", "tokens"),
    ("usage", "enable", "tokens"),
    ("usage", "enabled", "tokens"),
    ("usage", "show", "tokens"),
    ("usage", "token", "tokens"),
    ("usage", "tok", "tokens"),
    ("usage", "min", "tokens"),
    ("usage", "minimal", "tokens"),
    ("usage", "full", "full"),
    ("usage", "all", "full"),
    ("usage", "everything", "full"),
    ("usage", "session", "full"),
    ("usage", "max", "full"),
]
ELEVATED = {"elevated": ElevatedSettings(enabled=True, allow_from=("telegram:1",))}


@pytest.mark.parametrize(("name", "word", "level"), SPELLINGS)
def test_every_spelling_of_every_level(name: str, word: str, level: str) -> None:
    """IN-52: in any case."""
    assert find_level(name, word) == find_level(name, word.upper()) == level
    done = send(says(f"/{name} {word}", OWNER), house(commands=ELEVATED))
    assert done.session is not None
    assert getattr(done.session, name) == (None if (name, level) in UNHONOURED else level)


def test_every_spelling_has_a_row() -> None:
    """IN-52: the table and its test know the same words."""
    table = {(name, word) for name, levels in LEVELS.items() for level in levels for word in (level, *levels[level])}
    assert table == {(name, word) for name, word, _ in SPELLINGS}


@pytest.mark.parametrize("name", ["think", "thinking", "t", "verbose", "v", "reasoning", "reason", "elevated", "elev"])
def test_an_unknown_word_is_answered_with_the_valid_ones(name: str) -> None:
    """IN-54: nothing is stored; letters stay text."""
    done = send(says(f"/{name} banana", OWNER), house())
    if len(name) == 1:
        assert outcome(done) == "turn"
        return
    full = next(each for each in LEVELS if each.startswith(name[:4]))
    assert f"valid: {', '.join(level_names(full))}" in done.replies[0]
    assert done.session == session()


def test_the_first_invalid_one_in_the_order_of_checks_is_answered() -> None:
    """IN-54: think before verbose before queue, wherever they stand; nothing is stored."""
    done = send(says("/queue banana /verbose loud /think high /think banana", OWNER), house())
    assert done.replies[0].startswith("/think cannot be 'banana'")
    done = send(says("/queue banana /think high /verbose loud", OWNER), house())
    assert done.replies[0].startswith("/verbose cannot be 'loud'")
    assert done.session == session()


def test_acknowledgements_come_in_one_line_and_in_order() -> None:
    """IN-54: think, verbose, reasoning, elevated, exec, status, model, queue."""
    said = "/queue steer /model gpt-y /status /exec ask=always /elev full /reason on /v on /t low"
    done = send(says(said, OWNER), house(commands=ELEVATED))
    acknowledged, status = done.replies
    assert acknowledged == (
        "Thinking: low. Verbose: on. Reasoning: on. Elevated: full. Exec: ask=always. Model: gpt-y. Queue: steer."
    )
    assert status.startswith("rejoinder")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/think", "Thinking: medium (set here, kept by /new). Options: off, minimal, low, medium, high, xhigh"),
        ("/verbose", "Verbose: off (by default). Options: off, on, full"),
        ("/model", "Model: gpt-x (the agent helper). Options: smart, gpt-x, gpt-y"),
        ("/exec", "Exec: not set. Options: host="),
        ("/queue", "Queue: collect debounce=1000ms cap=20 drop=summarize. Options: steer|"),
    ],
)
def test_without_argument_the_current_value_and_the_options(text: str, said: str) -> None:
    """IN-54."""
    done = send(says(text, OWNER), house(), of=session(think="medium"))
    assert done.replies[0].startswith(said)
    assert outcome(done) == "answer"


@pytest.mark.parametrize("name", ["think", "verbose", "reasoning", "model", "elevated"])
def test_the_answer_promises_that_new_keeps_a_choice_exactly_when_it_does(name: str) -> None:
    """IN-43, IN-54."""
    chosen = {"think": "high", "verbose": "on", "reasoning": "on", "model": "gpt-y", "elevated": "full"}
    rules, of = house(commands=ELEVATED), session(**chosen)
    after = send(says("/new", OWNER), rules, of=of).session
    assert after is not None
    said = send(says(f"/{name}", OWNER), rules, of=of).replies[0]
    assert (getattr(after, name) is not None) == ("kept by /new" in said)
    assert f"{chosen[name]} (" in said


def test_queue_and_exec_add_up() -> None:
    """IN-53: what is not said stays; default forgets."""
    rules = house()
    first = send(says("/queue steer cap=5", OWNER), rules).session
    second = send(says("/queue drop=new /exec host=node", OWNER), rules, of=first).session
    third = send(says("/exec ask=off", OWNER), rules, of=second).session
    assert third is not None
    assert third.queue == QueueChoice("steer", None, 5, "new")
    assert third.exec == ExecChoice(host="node", ask="off")
    forgotten = send(says("/queue default"), rules, of=third).session
    assert forgotten is not None
    assert forgotten.queue is None


def test_mixed_directives_leave_the_session_alone() -> None:
    """IN-55: this turn only, one short acknowledgement."""
    done = send(says("/think high do /v on it"), house())
    assert done.session == session()
    assert done.message.choices == {"think": "high", "verbose": "on"}
    assert done.replies == ("For this turn: thinking high, verbose on.",)


def test_a_refused_model_refuses_the_message() -> None:
    """IN-55: before any write; the agent is not run."""
    agent = replace(AGENT, models=Models("gpt-x", (), {}, allowed=("gpt-x", "gpt-y")))
    rules = house(agent)
    for text in ("/model openai/o9", "/think high /model other/one do it", "/model banana"):
        done = send(says(text), rules)
        assert outcome(done) == "answer"
        assert "valid: gpt-x, gpt-y" in done.replies[0]
        assert done.session == session()
    assert send(says("the /model banana is ripe"), rules).message.agent_text == "the /model banana is ripe"
    assert send(says("/model GPT-Y hello"), rules).message.choices == {"model": "gpt-y"}


@pytest.mark.parametrize(
    ("said", "model"),
    [
        ("smart", "openai/gpt-x-large"),
        ("SMART", "openai/gpt-x-large"),
        ("gpt-x", "gpt-x"),
        ("smart@work", "openai/gpt-x-large@work"),
        ("a/b", "a/b"),
        ("a/b@p", "a/b@p"),
    ],
)
def test_which_model_is_meant(said: str, model: str) -> None:
    """IN-52: an alias, a name, a provider, a profile."""
    profiled = replace(AGENT, models=replace(AGENT.models, profiles=("work", "p")))
    done = send(says(f"/model {said}"), house(profiled))
    assert done.session is not None
    assert done.session.model == model


def test_an_alias_is_a_directive_of_its_own() -> None:
    """IN-50: `/smart` alone and in a text; never instead of a command."""
    assert send(says("/smart go"), house()).message.choices == {"model": "openai/gpt-x-large"}
    clash = replace(AGENT, models=Models("gpt-x", (), {"status": "x", "think": "y"}))
    assert send(says("/status"), house(clash)).replies[0].startswith("rejoinder")
    assert outcome(send(says("/think"), house(clash))) == "answer"


def test_the_default_model_comes_back() -> None:
    """`/model default` forgets the choice."""
    done = send(says("/model default"), house(), of=session(model="gpt-y"))
    assert done.session is not None
    assert done.session.model is None


def test_who_may_not_is_not_obeyed_and_not_edited() -> None:
    """IN-56: the text stays as it is; directives alone meet silence."""
    done = send(says("a /think high b /status c [[/status]]", GUEST), house())
    assert (done.message.agent_text, done.replies) == ("a /think high b /status c [[/status]]", ())
    for text in ("/think high", "/think", "/think banana", "/t low"):
        assert outcome(send(says(text, GUEST), house())) == "drop"


def test_a_sender_keeps_what_is_the_owners_as_text() -> None:
    """IN-56: token by token."""
    done = send(says("/think high run /exec host=node now"), house())
    assert done.message.agent_text == "run /exec host=node now"
    assert done.message.choices == {"think": "high"}
    alone = send(says("/think high /exec host=node"), house())
    assert (alone.replies, alone.session) == (("/exec is for the owner.",), session())


@pytest.mark.parametrize(
    ("settings", "gates"),
    [
        (ElevatedSettings(), ("commands.elevated.enabled", "commands.elevated.allow_from")),
        (ElevatedSettings(enabled=True), ("commands.elevated.allow_from",)),
        (ElevatedSettings(allow_from=("telegram:1",)), ("commands.elevated.enabled",)),
        (ElevatedSettings(enabled=True, allow_from=("telegram:1",)), ()),
    ],
)
def test_each_failing_gate_of_elevated_is_named(settings: ElevatedSettings, gates: tuple[str, ...]) -> None:
    """IN-57: with the setting that opens it; alone and in a text."""
    rules = house(commands={"elevated": settings})
    for text in ("/elevated full", "run it /elevated full"):
        done = send(says(text, OWNER), rules)
        reply = done.replies[0]
        assert [gate for gate in ("commands.elevated.enabled", "commands.elevated.allow_from") if gate in reply] == [
            *gates
        ]
        assert outcome(done) == ("answer" if gates or text.startswith("/") else "turn")


def test_the_agent_is_told_of_changes_once() -> None:
    """IN-58: model, elevated and reasoning; equal neighbours merge, at most 20 wait."""
    rules = house(commands=ELEVATED)
    of = session()
    for _ in range(2):
        of = send(says("/model gpt-y /reasoning on /elevated full /think high", OWNER), rules, of=of).session
    assert of is not None
    assert of.system_events == ("Reasoning is now on.", "Elevated is now full.", "Model is now gpt-y.")
    for number in range(30):
        of = send(says(f"/model m{number}"), rules, of=of).session
        assert of is not None
    assert len(of.system_events) == 20


CANNOT = AgentProfile(
    "simple",
    Models("m1"),
    think_levels=("off", "low"),
    shows_thoughts=False,
    takes_exec=(),
    has_allowlist=False,
    changes_model=False,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/think high", "cannot think at high; valid: off, low"),
        ("/reasoning on", "does not show its thoughts"),
        ("/exec host=node", "does not take host; valid: security=deny|full"),
        ("/exec node=a host=node", "does not take host or node"),
        ("/exec security=allowlist", "has no list of what it may do without asking"),
        ("/model m2", "does not change its model"),
        ("please /think high do", "cannot think at high"),
    ],
)
def test_what_the_agent_cannot_honour_is_refused(text: str, said: str) -> None:
    """IN-59: with that reason, never stored as a no-op."""
    done = send(says(text, OWNER), house(CANNOT))
    assert said in done.replies[0]
    assert (outcome(done), done.session) == ("answer", session())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/elevated on", "Elevated on changes nothing"),
        ("/elevated ask", "valid: off, full"),
    ],
)
def test_a_level_nobody_honours_is_neither_offered_nor_kept(text: str, said: str) -> None:
    """IN-59: understood, refused with the reason, and missing from what is valid."""
    done = send(says(text, OWNER), house(commands=ELEVATED))
    assert said in done.replies[0]
    assert (outcome(done), done.session) == ("answer", session())


def test_where_commands_run_is_offered_only_by_agents_that_let_it_be_chosen() -> None:
    """IN-59: the options are those of this agent."""
    asked = send(says("/exec", OWNER), house(CANNOT)).replies[0]
    assert asked.endswith("Options: security=deny|full ask=off|on-miss|always, or default")


@pytest.mark.parametrize("text", ["/think low", "/reasoning off", "/exec security=deny", "/verbose full"])
def test_what_it_can_is_stored(text: str) -> None:
    """IN-59."""
    assert send(says(text, OWNER), house(CANNOT)).session != session()


def test_which_value_counts() -> None:
    """IN-59: this turn > session > agents.defaults > the agent's own."""
    agent = replace(AGENT, think="minimal")
    bare = house(agent)
    rules = make_rules(replace(bare.settings, defaults=LevelDefaults(thinking_default="low")), (agent,))
    of = session(think="medium")
    assert effective_level("think", {"think": "high"}, of, rules, agent).value == "high"
    assert effective_level("think", {}, of, rules, agent).value == "medium"
    assert effective_level("think", {}, session(), rules, agent).value == "low"
    assert effective_level("think", {}, session(), bare, agent).value == "minimal"
    assert effective_level("elevated", {}, session(), bare, agent).value == "off"


def test_which_model_counts() -> None:
    """IN-52: the heartbeat's own > session > the channel's agent."""
    of = session(model="s")
    assert effective_model({"model": "t"}, of, AGENT).value == "t"
    assert effective_model({}, of, AGENT).value == "s"
    assert effective_model({}, session(), AGENT).value == "gpt-x"
    assert effective_model({}, session(), replace(AGENT, models=Models())).value == "its own choice"
    assert chosen_model({}, session(), replace(AGENT, models=Models())) is None
    assert chosen_model({"model": "its own choice"}, of, AGENT) == "its own choice", "a name like any other"


def test_directives_with_a_picture_are_for_that_turn() -> None:
    """A picture is more than directives: the agent runs on it."""
    done = send(says("/think high", attachments=(Attachment("a"),)), house())
    assert (outcome(done), done.message.agent_text) == ("turn", "")
    assert done.message.choices == {"think": "high"}


def test_native_commands_are_the_same_directives() -> None:
    """IN-60: whichever way they come in."""
    done: Any = send(says("/think high", SENDER, entry="native"), house(commands={"text": False}))
    assert done.session.think == "high"


def test_a_refusal_undoes_what_came_before() -> None:
    """IN-54, IN-55: nothing is written, not even the new session that was asked for with it."""
    old = session(queue=QueueChoice("steer"))
    for text in ("/new /think banana", "/new hello /elevated full now"):
        done = send(says(text, OWNER), house(), of=old)
        assert (outcome(done), done.effects, done.session) == ("answer", (), old)
        assert len(done.replies) == 1


# --- a command after them -----------------------------------------------------------------------------


@pytest.mark.parametrize("between", [" ", "\n", "\n\n", " @ourbot "])
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/usage tokens", "Usage line: tokens."),
        ("/usage: tokens", "Usage line: tokens."),
        ("/session label notes", "This session is called notes."),
        ("/usage@ourbot tokens", "Usage line: tokens."),
    ],
)
def test_directives_before_a_command_are_stored_and_the_command_runs(between: str, command: str, said: str) -> None:
    """IN-54, IN-60: nothing of it is a text for the agent."""
    done = send(says(f"/think high /verbose on{between}{command}", mentions=AT_US), house())
    assert outcome(done) == "answer"
    assert done.replies == ("Thinking: high. Verbose: on.", said)
    assert done.session is not None
    assert (done.session.think, done.session.verbose) == ("high", "on")


def test_a_directive_without_a_value_before_a_command_is_asked_for() -> None:
    """IN-54: the command is no word for it."""
    done = send(says("/think /usage tokens"), house())
    assert [reply.partition(":")[0] for reply in done.replies] == ["Thinking", "Usage line"]


@pytest.mark.parametrize("text", ["/think banana /compact", "/think high /verbose loud /usage tokens"])
def test_a_wrong_directive_before_a_command_refuses_both(text: str) -> None:
    """IN-54: validated whole; nothing is stored, and nothing is done."""
    done = send(says(text), house())
    assert "valid:" in done.replies[0]
    assert (len(done.replies), done.effects, done.session) == (1, (), session())


@pytest.mark.parametrize("text", ["/think high /compact", "/think high /activation always", "/think high /new hello"])
def test_a_guest_gets_neither_and_no_agent_reads_them(text: str) -> None:
    """IN-14, IN-56: with a command in it the message is a command."""
    assert outcome(send(says(text, GUEST), house())) == "drop"


@pytest.mark.parametrize("text", ["/think high /activation always", "/elevated full /compact"])
def test_in_a_group_the_strictest_of_them_counts(text: str) -> None:
    """IN-12, IN-14: a sender is no owner."""
    assert outcome(send(says(text, SENDER, group=True), house())) == "drop"


def test_directives_before_a_new_session_hold_for_its_first_turn() -> None:
    """IN-42, IN-55: as behind it; with no prompt they are stored in it."""
    done = send(says("/think high /new hello"), house())
    assert (outcome(done), done.message.agent_text, done.message.choices) == ("turn", "hello", {"think": "high"})
    alone = send(says("/think high /new"), house())
    assert alone.session is not None
    assert (outcome(alone), alone.replies, alone.session.think) == (
        "answer",
        ("New session.", "Thinking: high."),
        "high",
    )


def test_stop_after_a_directive_stops() -> None:
    """IN-70."""
    assert send(says("/think high /stop"), house()).trace[-1].stage == "abort"


@pytest.mark.parametrize("text", ["/think high /unknown x", "/think high /tmp/compact", "/think high `/compact`"])
def test_what_is_no_command_is_text_as_before(text: str) -> None:
    """IN-51, IN-60: the agent gets the rest."""
    done = send(says(text), house())
    assert (outcome(done), done.message.agent_text) == ("turn", text.removeprefix("/think high "))
