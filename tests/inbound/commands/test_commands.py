"""IN-60 to IN-66: commands."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from rejoinder.events import (
    AnswerQuestion,
    Attachment,
    ChangeDebug,
    CompactSession,
    EditAllowList,
    ExportSession,
    Mention,
    ResendParts,
    ResetBotTurns,
    RestartGateway,
    Route,
    RunShell,
    ShowConfig,
    ShowContext,
    Step,
    WriteConfig,
)
from rejoinder.inbound.commands.command import Arg, Command, read_arguments
from rejoinder.inbound.commands.registry import BUILT_IN, native_menu
from rejoinder.inbound.facts import RunFacts
from rejoinder.inbound.freshness import GREETING
from rejoinder.inbound.rules import make_rules
from rejoinder.inbound.settings import ElevatedSettings
from rejoinder.inbound.skills import Skill
from rejoinder.inbound.tables import commands
from rejoinder.session import SessionSettings
from tests.inbound.floor import AGENT, AT_US, GUEST, OWNER, SENDER, house, outcome, says, send, session

ELEVATED = ElevatedSettings(enabled=True, allow_from=(f"telegram:{OWNER}",))
EVERYTHING_ON = {"config": True, "debug": True, "bash": True, "elevated": ELEVATED}


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("/compact", (CompactSession("helper:telegram"),)),
        ("/compact keep the names", (CompactSession("helper:telegram", "keep the names"),)),
        ("[[/compact keep it]]", (CompactSession("helper:telegram", "keep it"),)),
        ("/compact:\nnot this", (CompactSession("helper:telegram"),)),
        ("/restart", (RestartGateway(),)),
        ("/restart now", ()),
        ("/context", (ShowContext(),)),
        ("/context all", ()),
        ("/export-session", (ExportSession(),)),
        ("/export", (ExportSession(),)),
        ("/export-session /tmp/x", ()),
        ("/bash ls -l | wc", (RunShell("ls -l | wc"),)),
        ("! ls -l | wc", (RunShell("ls -l | wc"),)),
        ("! echo one\necho two", (RunShell("echo one"),)),
        ("/bash", ()),
        ("/config show", (ShowConfig(),)),
        ("/config", (ShowConfig(),)),
        ("/config get channels.web", (ShowConfig("channels.web"),)),
        ("/config get", ()),
        ("/config show channels.web", (ShowConfig("channels.web"),)),
        ("/config set a.b=c", (WriteConfig("a.b", "c"),)),
        ("/config set a.b c d", (WriteConfig("a.b", "c d"),)),
        ("/config set a.b = [1, 2]", (WriteConfig("a.b", "[1, 2]"),)),
        ("/config unset a.b", (WriteConfig("a.b", None),)),
        ("/config set a.b", ()),
        ("/config set", ()),
        ("/config unset", ()),
        ("/config unset a.b c", ()),
        ("/config get a.b c", ()),
        ("/debug", (ChangeDebug(),)),
        ("/debug show", (ChangeDebug(),)),
        ("/debug reset", (ChangeDebug("reset"),)),
        ("/debug set a.b=1", (ChangeDebug("set", "a.b", "1"),)),
        ("/debug set a.b 1", (ChangeDebug("set", "a.b", "1"),)),
        ("/debug set a.b = one two", (ChangeDebug("set", "a.b", "one two"),)),
        ("/debug set a.b=one two", (ChangeDebug("set", "a.b", "one two"),)),
        ("/debug unset a.b", (ChangeDebug("unset", "a.b"),)),
        ("/debug set", ()),
        ("/debug set a.b", ()),
        ("/debug unset", ()),
        ("/debug unset a.b 1", ()),
        ("/debug show a.b", ()),
        ("/allowlist add 77", (EditAllowList("telegram", "77", listed=True),)),
        ("/allowlist remove 77", (EditAllowList("telegram", "77", listed=False),)),
        ("/allowlist add @anna", ()),
        ("/allowlist add", ()),
        ("/allowlist", ()),
        ("/approve q7 deny", (AnswerQuestion("q7", "deny", OWNER),)),
        ("/approve q7", (AnswerQuestion("q7", "allow-once", OWNER),)),
        ("/approve ABCDEFGH allow-always", (AnswerQuestion("ABCDEFGH", "allow-always", OWNER),)),
        ("/session bots", (ResetBotTurns(Route("telegram", OWNER)),)),
    ],
)
def test_commands_answer_with_effects(text: str, effects: Any) -> None:
    """IN-62: values the engine performs, always with something said or shown."""
    done = send(says(text, OWNER), house(commands=EVERYTHING_ON))
    assert outcome(done) == "answer"
    assert done.effects == effects
    assert done.replies or effects


@pytest.mark.parametrize(
    ("scope", "sender", "group", "exports"),
    [
        ("per-sender", SENDER, False, True),
        ("shared", SENDER, False, False),
        ("shared", OWNER, False, True),
        ("shared", SENDER, True, True),
    ],
)
def test_nobody_exports_what_others_said_in_their_own_chats(
    scope: str, sender: str, group: bool, exports: bool
) -> None:
    """IN-61: a session that all direct chats share is exported by the owner alone; a group's by who is in it."""
    rules = house()
    rules = replace(rules, settings=replace(rules.settings, session=SessionSettings(scope=scope)))
    done = send(says("/export-session", sender, group=group), rules)
    assert outcome(done) == "answer"
    assert done.effects == ((ExportSession(),) if exports else ())
    assert exports or "only the owner may export it" in done.replies[0]


@pytest.mark.parametrize(("length", "kept"), [(80, True), (81, False)])
def test_a_label_is_short(length: int, kept: bool) -> None:
    """DU-5: whoever may label a session cannot fill the store with it."""
    done = send(says(f"/session label {'x' * length}", OWNER), house())
    assert done.session is not None
    assert done.session.label == ("x" * length if kept else None)
    assert kept or done.replies == ("A label has at most 80 characters; this one has 81.",)


@pytest.mark.parametrize("name", ["config", "debug", "bash"])
def test_some_are_off_unless_enabled(name: str) -> None:
    """IN-61: and the answer says what turns them on."""
    done = send(says(f"/{name} show", OWNER), house())
    assert done.replies == (f"/{name} is off; commands.{name} = true turns it on.",)
    assert done.effects == ()


@pytest.mark.parametrize(
    ("elevated", "why"),
    [
        (ElevatedSettings(), ("it is off (set commands.elevated.enabled = true)", "you are not listed")),
        (ElevatedSettings(enabled=True, allow_from=("telegram:77",)), ("you are not listed",)),
        (ElevatedSettings(allow_from=(f"telegram:{OWNER}",)), ("it is off",)),
    ],
)
def test_a_command_is_run_for_who_may_be_elevated(elevated: ElevatedSettings, why: tuple[str, ...]) -> None:
    """IN-61: `commands.bash` alone is not enough; every gate says what opens it."""
    done = send(says("! ls", OWNER), house(commands={"bash": True, "elevated": elevated}))
    assert done.effects == ()
    assert all(each in done.replies[0] for each in why)


def test_usage_shows_what_a_directive_takes() -> None:
    """IN-60: help is made from the same table as the reading."""
    shown = send(says("/commands", OWNER), house()).replies[0]
    assert "/model [name, provider/name, name@profile, an alias, or default]:" in shown
    assert "/queue [steer|followup|" in shown
    assert "/exec [host=sandbox|gateway|node security=deny|allowlist|full ask=off|on-miss|always node=<id>" in shown
    assert "/elevated [off|full|default]:" in shown
    assert "<value>" not in shown


@pytest.mark.parametrize(
    ("sender", "group", "offered", "hidden"),
    [
        (OWNER, True, ("/config", "/activation", "/think", "/resend", "/greet", "/whoami"), ()),
        (SENDER, True, ("/think", "/greet", "/whoami"), ("/config", "/activation", "/resend")),
        (SENDER, False, ("/think", "/resend", "/greet", "/whoami"), ("/config", "/activation")),
        (GUEST, False, ("/help", "/commands", "/whoami"), ("/config", "/think", "/status", "/resend", "/greet")),
    ],
)
def test_commands_are_listed_for_who_may_use_them(
    sender: str, group: bool, offered: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    """IN-12, IN-14: a guest's `/status` gets silence, so a guest is not told to use it."""
    rules = make_rules(house().settings, (AGENT,), skills=(Skill("greet", "Say hello.", "Say hello."),))
    shown = send(says("/commands@ourbot", sender, group=group), rules).replies[0]
    listed = {line.split()[0].rstrip(":") for line in shown.splitlines() if line.startswith("/")}
    assert listed.issuperset(offered)
    assert listed.isdisjoint(hidden)


def test_help_is_about_what_its_reader_may_use() -> None:
    """IN-14: nothing that would get silence; nothing about levels for who cannot set them."""
    assert send(says("/help", GUEST), house()).replies[0].splitlines() == [
        "Everything you write goes to the agent, except commands such as these:",
        "/commands: All commands.",
    ]


def test_help_is_short() -> None:
    """Every line of /help fits on a phone; what a command takes is told by the command itself, and by /commands."""
    told = send(says("/help"), house()).replies[0].splitlines()
    assert [line for line in told if len(line) > 100] == []
    for name in ("think", "model", "queue"):
        assert any(line.startswith(f"/{name}: ") for line in told)
        assert (
            "hoose" in send(says(f"/{name}"), house()).replies[0]
            or "ptions" in send(says(f"/{name}"), house()).replies[0]
        )


def test_a_shell_line_is_bash() -> None:
    """IN-61: `! cmd`; an exclamation is not."""
    assert "commands.bash" in send(says("! ls -l", OWNER), house()).replies[0]
    assert outcome(send(says("! ls -l", GUEST), house())) == "drop"
    for text in ("!important", "!", "! ", "wow! ls"):
        assert outcome(send(says(text, OWNER), house())) == "turn"
    assert outcome(send(says("@ourbot ! ls", GUEST, mentions=AT_US), house())) == "drop"
    assert outcome(send(says("@ourbot! look", GUEST, mentions=AT_US), house())) == "turn"


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("/usage full", "usage", "full"),
        ("/send off", "send_policy", "off"),
        ("/session label my work", "label", "my work"),
        ("/session label", "label", None),
    ],
)
def test_commands_that_change_the_session(text: str, field: str, value: Any) -> None:
    """IN-62: the changed session comes back, nothing is written by a handler."""
    done = send(says(text, OWNER), house())
    assert getattr(done.session, field) == value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/help", "help"),
        ("/HELP", "help"),
        ("/help:", "help"),
        ("/help@ourbot", "help"),
        ("/help@OurBot", "help"),
        (" /help ", "help"),
        ("/id", "whoami"),
        ("@ourbot /help", "help"),
        ("@ourbot: /help", "help"),
        ("/help @ourbot", "help"),
        ("/usage@ourbot: tokens", "usage"),
        ("/compact\nmore lines", "compact"),
    ],
)
def test_forms_of_a_command(text: str, name: str) -> None:
    """IN-60: case, colon, our name, a mention, the first line."""
    done = send(says(text, mentions=AT_US), house())
    assert done.trace[-1].reason == f"/{name}"


@pytest.mark.parametrize(
    "text",
    [
        "/help@otherbot",
        "/frobnicate now",
        "/helpme",
        "/help/me",
        "help",
        "/",
        "//help",
        "/-help",
        "x\n/usage",
    ],
)
def test_other_slash_text_goes_to_the_agent(text: str) -> None:
    """IN-60: untouched."""
    done = send(says(text), house())
    assert (outcome(done), done.message.agent_text, done.replies) == ("turn", text, ())


@pytest.mark.parametrize(
    ("text", "rest", "replies"),
    [
        ("tell /status me", "tell me", 1),
        ("/status please", "please", 1),
        ("/help: please", "please", 1),
        ("what /help and /whoami say", "what and say", 2),
        ("/status and /status", "and", 1),
        ("hi [[/status]] there", "hi there", 1),
        ("hi\n[[ /whoami ]]\nthere", "hi\nthere", 1),
        ("[[/help]] [[/commands]] x", "x", 2),
        ("[[/id]] x", "x", 1),
        ("hi [[/id]], you", "hi, you", 1),
        ("a[[/id]]b", "ab", 1),
        ("a [[/id]]b", "a b", 1),
        ("a [[/id]][[/help]] b", "a b", 2),
        ("a [[/id]] [[/help]]; b", "a; b", 2),
        ("a\n  [[/id]][[/help]]: you", "a\n  : you", 2),
        ("`/status` x", "`/status` x", 0),
        ("`[[/status]]` x", "`[[/status]]` x", 0),
        ("```\n[[/status]]\n```", "```\n[[/status]]\n```", 0),
        ("[[/think high]] x", "x", 1),
        ("x [[/think: high]] y [[/usage]]", "x y", 2),
        ("[[/t low]][[/v on]] x", "x", 1),
        ("[[/usage]] x", "x", 1),
        ("[[/usage tokens]] x", "x", 1),
        ("[[/compact]] x", "x", 1),
        ("[[/config show]] x", "[[/config show]] x", 0),
        ("[[/think banana]] x", "[[/think banana]] x", 0),
        ("[[/think high now]] x", "[[/think high now]] x", 0),
        ("[[/think]] x", "[[/think]] x", 0),
        ("[[/t 5]] x", "[[/t 5]] x", 0),
        ("[[/frob]] x", "[[/frob]] x", 0),
        ("[[/think@otherbot high]] x", "[[/think@otherbot high]] x", 0),
        ("[[/think@ourbot high]] x", "x", 1),
        ("`[[/think high]]` x", "`[[/think high]]` x", 0),
        ("[[/new]] x", "x", 1),
        ("y [[/new]] x", "y x", 1),
        ("[[/new gpt-y]] x", "x", 1),
        ("[[/new plan]] x", "plan\n\nx", 1),
        ("[[/status now]] x", "[[/status now]] x", 0),
        ("[[status]] x", "[[status]] x", 0),
        ("a/status x", "a/status x", 0),
        ("what does /usage do", "what does /usage do", 0),
    ],
)
def test_commands_inside_a_text(text: str, rest: str, replies: int) -> None:
    """IN-63, IN-66: answered at once, the token removed, the agent runs on the rest."""
    done = send(says(text), house())
    assert (outcome(done), done.message.agent_text) == ("turn", rest)
    assert len(done.replies) == replies


@pytest.mark.parametrize("text", ["/status", "[[/status]]", "/help /whoami", "[[/help]]\n[[/status]]"])
def test_with_nothing_else_there_is_no_turn(text: str) -> None:
    """IN-63: alone they are the command."""
    assert outcome(send(says(text), house())) == "answer"


def test_inside_a_text_the_gate_counts_too() -> None:
    """IN-63, IN-12: a guest's /help is answered, a guest's /status is text."""
    done = send(says("/help and /status", GUEST), house())
    assert (done.message.agent_text, len(done.replies)) == ("and /status", 1)


def test_why_tells_what_each_stage_decided() -> None:
    """IN-64: with times."""
    trace = (Step("access", "continue", None, 2e-6), Step("activation", "drop", "nobody mentioned us", 5e-6))
    (said,) = send(says("/why"), house(), last_trace=trace).replies
    steps = "access: continue (2 µs)\nactivation: drop, nobody mentioned us (5 µs)"
    assert said == f"No agent was asked: nobody mentioned us.\n\n{steps}"
    assert send(says("/why"), house()).replies == ("There is no message before this one.",)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ((Step("agent ada", "answered", None, 1.9, "ada"),), "Answered by ada in 1.9 s."),
        ((Step("agent ada", "answered", None, 1.9, "ada"), Step("react eyes", "done")), "Answered by ada in 1.9 s."),
        ((Step("agent ada", "silent", agent="ada"),), "ada read it and chose to stay silent."),
        ((Step("agent ada", "cancelled", took=1.0, agent="ada"),), "ada was stopped after 1.0 s."),
        ((Step("agent ada", "failed", "the model is down", agent="ada"),), "ada failed: the model is down."),
        ((Step("agent of another", "answered", None, 1.9, "ada"),), "Answered by ada in 1.9 s."),
        ((Step("commands", "answer", "/whoami"),), "The gateway answered it itself: /whoami."),
        ((Step("access", "continue"),), "It has no answer yet."),
    ],
)
def test_why_begins_with_one_plain_sentence(steps: tuple[Step, ...], sentence: str) -> None:
    """IN-64: who only wants to know reads no further."""
    (said,) = send(says("/why"), house(), last_trace=steps).replies
    assert said.startswith(f"{sentence}\n\n")


def test_why_reads_what_an_earlier_version_stored() -> None:
    """IN-64: it had the agent's name in the stage alone."""
    row = b'[{"stage":"access","decision":"continue"},{"stage":"agent ada","decision":"answered","took":1.9}]'
    steps = msgspec.json.decode(row, type=tuple[Step, ...])
    (said,) = send(says("/why"), house(), last_trace=steps).replies
    assert said == "Answered by ada in 1.9 s.\n\naccess: continue\nagent ada: answered (1.9 s)"


def test_status_tells_all_there_is() -> None:
    """IN-61: version, agent, model and fallback, context, usage, session, levels, queue, runs, dead parts."""
    runs = RunFacts(
        running=True, subagents=2, waiting=3, context_tokens=10, context_budget=100, dead_parts=1, held_parts=2
    )
    (said,) = send(says("/status", group=True), house(), of=session(think="high"), run_facts=runs).replies
    for part in (
        "rejoinder 0",
        "Agent: helper",
        "Model: gpt-x, then gpt-y",
        "Session: helper:telegram, 0 s old",
        "think high",
        "Usage: 0 tokens in, 0 out",
        "Queue: collect, 3 waiting",
        "Runs: 1 running, 2 in the background",
        "Context: 10 of 100 tokens",
        "Activation: as configured",
        "Not delivered: 1 given up, 2 never confirmed",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        (RunFacts(), ""),
        (RunFacts(dead_parts=1), "`/resend all` sends those of every chat; `rejoinder dead` lists them."),
        (
            RunFacts(dead_parts=2, held_parts=1, stuck_here=2),
            "`/resend` sends the 2 of this chat again; `/resend all` sends those of every chat; "
            "`rejoinder dead` lists them.",
        ),
    ],
)
def test_status_names_a_way_out_that_is_one(runs: RunFacts, told: str) -> None:
    """IN-61: `/resend` is of this chat; where nothing is stuck in it, it would do nothing."""
    (said,) = send(says("/status", OWNER), house(), run_facts=runs).replies
    assert [line for line in said.splitlines() if "dead" in line] == [told] * bool(told)


def test_status_tells_people_their_own_way_out() -> None:
    """IN-61: in their direct chat; in a group it is the owner's."""
    runs = RunFacts(dead_parts=2, held_parts=1, stuck_here=1)
    told = "`/resend` sends the 1 of this chat again."
    assert told in send(says("/status"), house(), run_facts=runs).replies[0]
    assert told not in send(says("/status", group=True), house(), run_facts=runs).replies[0]


def test_resend_is_for_people_in_their_own_chat_and_for_an_owner_anywhere() -> None:
    """IN-61: in a group, and for all chats, only an owner may."""
    here = says("/resend")
    assert send(here, house()).effects == (ResendParts(here.route),)
    assert not send(says("/resend", group=True), house()).effects
    group = says("/resend", OWNER, group=True)
    assert send(group, house()).effects == (ResendParts(group.route),)
    assert send(says("/resend all", OWNER), house()).effects == (ResendParts(None),)
    assert not send(says("/resend all"), house()).effects


def test_status_beside_directives_tells_the_same() -> None:
    """IN-54, IN-61: with what they have just changed."""
    said = send(says("/status /think high"), house()).replies[-1]
    assert said == send(says("/status"), house(), of=session(think="high")).replies[0]


def test_whoami_tells_how_lists_name_one() -> None:
    """IN-10: what to write into the allow-list."""
    assert send(says("/whoami", GUEST), house()).replies == ("You are 3 on telegram (guest).\nIn lists: telegram:3",)
    said = says("/id", GUEST, group=True, thread="t1", account="work")
    rules = house(allow_groups=("telegram:work:-100",))
    assert send(said, rules).replies == (
        "You are 3 on telegram (guest).\nAccount: work\nGroup: -100\nThread: t1\nIn lists: telegram:3",
    )


def test_help_and_commands_come_from_the_registry() -> None:
    """IN-60: each command is listed with its usage."""
    (said,) = send(says("/commands", OWNER), house()).replies
    for command in BUILT_IN:
        assert f"{command.usage}: {command.help}" in said
    assert all(f"/{name}" in send(says("/help"), house()).replies[0] for name in ("new", "stop", "think"))


def test_every_topic_file_is_in_the_registry() -> None:
    """A file with `COMMANDS` that the registry does not name would be ignored without a word."""
    folder = import_module("rejoinder.inbound.commands")
    modules = [import_module(f"{folder.__name__}.{each.name}") for each in iter_modules(folder.__path__)]
    topics = {module.__name__: module.COMMANDS for module in modules if hasattr(module, "COMMANDS")}
    assert len(topics) > 1
    assert {name: topic for name, topic in topics.items() if not {*topic} <= {*BUILT_IN}} == {}


def test_tables_and_menus_come_from_the_registry() -> None:
    """IN-60: docs and native menus advertise what works, and only that."""
    menu = {each.name: each for each in native_menu()}
    for command in BUILT_IN:
        assert command.name in menu
        assert f"`/{command.name}" in commands()


@pytest.mark.parametrize("text", ["/usage loud", "/activation sometimes", "/models please"])
def test_arguments_that_do_not_fit_get_the_usage(text: str) -> None:
    """IN-60: the schema is the help."""
    assert send(says(text, OWNER, group=True), house()).replies[0].startswith(f"Usage: {text.split()[0]}")


@pytest.mark.parametrize(
    ("args", "said", "expected"),
    [
        ((), "", {}),
        ((), "x", None),
        ((Arg("a"),), "", {}),
        ((Arg("a", required=True),), "", None),
        ((Arg("a"), Arg("b", rest=True)), " one  two three ", {"a": "one", "b": "two three"}),
        ((Arg("a"), Arg("b", rest=True)), "one\ttwo\tthree", {"a": "one", "b": "two\tthree"}),
        ((Arg("a", ("on", "off")),), "ON", {"a": "on"}),
        ((Arg("a", ("on", "off")),), "maybe", None),
        ((Arg("a"),), "one two", None),
    ],
)
def test_argument_schema(args: Any, said: str, expected: Any) -> None:
    """IN-60: words, choices, the rest of the line."""
    assert read_arguments(Command("x", "", "", args=args), said) == expected


def test_models_and_agents_are_listed() -> None:
    """IN-61."""
    assert "smart = openai/gpt-x-large" in send(says("/models"), house()).replies[0]
    assert "helper (here): gpt-x" in send(says("/agents"), house()).replies[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/staus", "/status"),
        ("/sttaus", "/status"),
        ("/statuss", "/status"),
        ("/ststus", "/status"),
        ("/STAUS", "/status"),
        ("/staus@ourbot", "/status"),
        ("/staus:", "/status"),
        (" /staus ", "/status"),
        ("@ourbot /staus", "/status"),
        ("/hepl", "/help"),
        ("/sotp", "/stop"),
        ("/nwe", "/new"),
        ("/reste", "/reset"),
        ("/modle", "/model"),
        ("/comapct", "/compact"),
        ("/compct", "/compact"),
        ("/copmatc", "/compact"),
        ("/activaton", "/activation"),
        ("/exprt-sessin", "/export-session"),
    ],
)
def test_what_is_almost_a_command_is_asked_about(text: str, names: str) -> None:
    """IN-60: one letter off, or two neighbours swapped; two letters from seven on. Nothing runs."""
    done = send(says(text, OWNER, mentions=AT_US if "@ourbot " in text else ()), house())
    typed = f"/{text.strip(' :').lower().replace('@ourbot', '').strip(' /')}"
    assert done.replies == (f"There is no {typed}. Did you mean {names}? Nothing was run.",)
    assert (outcome(done), done.effects, done.session) == ("answer", (), session())


@pytest.mark.parametrize(
    ("text", "sender"),
    [
        ("/staus now", OWNER),
        ("what is /staus", OWNER),
        ("/staus\nmore", OWNER),
        ("/sttuas2", OWNER),
        ("/stau", OWNER),
        ("/statuses", OWNER),
        ("/tmp", OWNER),
        ("/it", OWNER),
        ("/x", OWNER),
        ("/staus@otherbot", OWNER),
        ("/staus/", OWNER),
        ("/restrat", SENDER),
        ("/staus", GUEST),
    ],
)
def test_what_is_further_off_goes_to_the_agent(text: str, sender: str) -> None:
    """IN-60: with words after it, further off, or near a command that this sender may not use."""
    done = send(says(text, sender), house())
    assert (outcome(done), done.message.agent_text) == ("turn", text)


def test_a_name_of_something_else_is_not_asked_about() -> None:
    """IN-60, IN-65: what the agent announces, a skill, a file beside it."""
    assert outcome(send(says("/statu"), house(), announced=frozenset({"statu"}))) == "turn"
    assert outcome(send(says("/staus", attachments=(Attachment("f"),)), house())) == "turn"
    skilled = make_rules(house().settings, (AGENT,), skills=(Skill("statu"),))
    assert outcome(send(says("/statu"), skilled)) == "turn"
    text_off = house(commands={"text": False})
    assert outcome(send(says("/staus"), text_off)) == "turn"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[/stop]]", "Agent was aborted."),
        ("please [[/stop]] now", "Agent was aborted. The rest of your message was not run."),
        ("[[/stop]] [[/think high]]", "Agent was aborted."),
    ],
)
def test_a_stop_in_brackets(text: str, said: str) -> None:
    """IN-66, IN-70: it leaves nothing to run, and says what was not."""
    done = send(says(text), house())
    assert (outcome(done), done.replies) == ("answer", (said,))
    assert [type(effect).__name__ for effect in done.effects] == ["StopRun"]
    assert outcome(send(says(text, GUEST), house())) == ("turn" if "please" in text else "drop")
    assert outcome(send(says(f"`{text}`"), house())) == "turn"


def test_a_reset_in_brackets() -> None:
    """IN-66, IN-42: the rest of the text is the first prompt; alone it greets; a guest's is text."""
    done = send(says("hello [[/new gpt-y]] there"), house(), of=session(elevated="full"))
    assert done.session is not None
    assert (done.session.model, done.session.elevated) == ("gpt-y", None)
    assert done.message.agent_text == "hello there"
    assert send(says("[[/new]]"), house()).message.agent_text == GREETING
    assert send(says("@ourbot [[/new]]", mentions=AT_US), house()).message.agent_text == GREETING
    assert send(says("[[/new]] [[/new]]"), house()).message.agent_text == GREETING
    of_ann = (Mention("77", token="@ann"),)
    assert send(says("@ann [[/new]]", mentions=of_ann), house()).message.agent_text == "@ann"
    assert outcome(send(says("@ann /staus", mentions=of_ann), house())) == "turn"
    assert send(says("[[/new]] hi", GUEST), house()).message.agent_text == "[[/new]] hi"
    assert outcome(send(says("[[/new]]", GUEST), house())) == "drop"
    stored = send(says("[[/new]] [[/think high]]"), house())
    assert (outcome(stored), stored.session and stored.session.think) == ("answer", "high")


@pytest.mark.parametrize(
    ("text", "sender", "runs", "left"),
    [
        ("[[/restart]] hi", OWNER, True, "hi"),
        ("[[/restart]] hi", SENDER, False, "[[/restart]] hi"),
        ("[[/session bots]] hi", SENDER, False, "[[/session bots]] hi"),
        ("[[/session]] hi", SENDER, True, "hi"),
        ("[[/elevated full]] hi", SENDER, False, "[[/elevated full]] hi"),
        ("[[/think high]] hi", GUEST, False, "[[/think high]] hi"),
    ],
)
def test_brackets_pass_the_same_gate(text: str, sender: str, runs: bool, left: str) -> None:
    """IN-66, IN-12, IN-56: what a sender may not do is neither done nor taken out."""
    done = send(says(text, sender), house())
    assert (outcome(done), done.message.agent_text, bool(done.replies)) == ("turn", left, runs)


def test_an_owners_command_alone_in_brackets_is_refused_as_without_them() -> None:
    """IN-14."""
    assert send(says("[[/restart]]"), house()).replies == ("/restart is for the owner.",)
    assert outcome(send(says("[[/restart]]", GUEST), house())) == "drop"
