"""IN-65: skills and plug-in commands."""

from typing import Literal

import pytest

from rejoinder.errors import BadConfiguration
from rejoinder.events import UseTool
from rejoinder.inbound.commands.command import Arg, Command
from rejoinder.inbound.commands.registry import native_menu
from rejoinder.inbound.outcome import Answer
from rejoinder.inbound.rules import make_rules
from rejoinder.inbound.skills import Skill, read_skill
from tests.inbound.floor import AGENT, GUEST, house, outcome, says, send

SKILLS = (Skill("poem", "Writes a poem.", "Rhyme."), Skill("clock", tool="time"))
RULES = make_rules(house().settings, (AGENT,), skills=SKILLS)


@pytest.mark.parametrize(
    "text",
    [
        "/poem about rain",
        "/skill poem about rain",
        "/skill\tpoem\nabout rain",
        "/POEM: about rain",
        "/poem@ourbot about rain",
    ],
)
def test_a_skill_rewrites_the_prompt(text: str) -> None:
    """IN-65: by `/skill name input` and by its own name."""
    done = send(says(text), RULES)
    assert outcome(done) == "turn"
    assert done.message.agent_text == "Use the skill poem.\n\nRhyme.\n\nInput:\nabout rain"


def test_input_keeps_its_lines() -> None:
    """A skill gets all of its input, not only the first line."""
    assert send(says("/poem a\n    b"), RULES).message.agent_text.endswith("Input:\na\n    b")


@pytest.mark.parametrize(
    "text",
    [
        "/poem /think high about rain",
        "/poem about /think high rain",
        "/skill poem about rain /think:high",
        "/skill /think high poem about rain",
        "/think high /poem about rain",
        "/think high\n/skill poem about rain",
        "/poem@ourbot about rain\n/think high",
    ],
)
def test_directives_among_the_input_hold_for_this_turn(text: str) -> None:
    """IN-55, IN-65: the skill comes after the directives, and its input is text like any other."""
    done = send(says(text), RULES)
    assert done.message.agent_text == "Use the skill poem.\n\nRhyme.\n\nInput:\nabout rain"
    assert done.message.choices == {"think": "high"}


def test_other_words_with_a_slash_are_input() -> None:
    """IN-51, IN-65: no valid argument, in code, or a command: the skill gets it as it is."""
    text = "look at /t and `/think high` and /status"
    assert send(says(f"/poem {text}"), RULES).message.agent_text.endswith(f"Input:\n{text}")


def test_a_skill_can_be_a_tool() -> None:
    """IN-65: dispatched without the agent."""
    done = send(says("/clock now"), RULES)
    assert (outcome(done), done.effects) == ("answer", (UseTool("time", "now"),))


def test_an_unknown_skill_is_answered_with_those_there_are() -> None:
    """The error is the help."""
    assert "clock, poem" in send(says("/skill pome x"), RULES).replies[0]
    assert "clock, poem" in send(says("/skill"), RULES).replies[0]


def test_skills_pass_the_gate() -> None:
    """IN-14: a guest's skill is nothing."""
    for text in ("/poem x", "/skill poem x"):
        assert outcome(send(says(text, GUEST), RULES)) == "drop"


def test_reading_a_skill_file() -> None:
    """A head of `key: value` lines, then the instructions; without a head the folder is the name."""
    text = '---\nname: Poem\ndescription: "Writes: poems"\ntool: t\n---\n\nRhyme.\n'
    assert read_skill(text, "folder") == Skill("poem", "Writes: poems", "Rhyme.", "t")
    assert read_skill("Just do it.", "doer") == Skill("doer", "", "Just do it.")


@pytest.mark.parametrize(("text", "said"), [("---\nname: x", "does not end"), ("---\nname: two words\n---", "typed")])
def test_a_bad_skill_file_says_what_is_wrong(text: str, said: str) -> None:
    with pytest.raises(BadConfiguration, match=said):
        read_skill(text, "folder")


def test_a_skill_cannot_take_a_commands_name() -> None:
    """IN-65: a start-up error."""
    with pytest.raises(BadConfiguration, match="/status"):
        make_rules(house().settings, (AGENT,), skills=(Skill("status"),))


PLUGIN = Command(
    "roll",
    "Rolls dice.",
    "games",
    auth="sender",
    args=(Arg("sides"),),
    handle=lambda call: Answer((f"d{call.args.get('sides', '6')}",)),
)


def test_a_plug_in_command_runs_through_the_same_gate() -> None:
    """IN-65: and is listed with the others."""
    rules = make_rules(house().settings, (AGENT,), plugins=(PLUGIN,))
    assert send(says("/roll 20"), rules).replies == ("d20",)
    assert outcome(send(says("/roll 20", GUEST), rules)) == "drop"
    assert "/roll [<sides>]: Rolls dice." in send(says("/commands"), rules).replies[0]


def test_scope() -> None:
    """IN-60: a native command is nothing when typed, a typed one nothing in the menu."""
    native, typed = (Command(name, "x", "y", scope=name, handle=lambda call: Answer(("ran",))) for name in SCOPES)
    rules = make_rules(house().settings, (AGENT,), plugins=(native, typed))
    assert [bool(send(says(f"/{name}"), rules).replies) for name in SCOPES] == [False, True]
    assert [bool(send(says(f"/{name}", entry="native"), rules).replies) for name in SCOPES] == [True, False]
    shown = {each.name for each in native_menu((native, typed))}
    assert [name in shown for name in SCOPES] == [True, False]


SCOPES: tuple[Literal["native", "text"], ...] = ("native", "text")


@pytest.mark.parametrize("name", ["status", "id", "t", "think", "bash"])
def test_a_plug_in_cannot_take_a_built_ins_name(name: str) -> None:
    """IN-65: aliases and names to come included."""
    with pytest.raises(BadConfiguration, match=f"/{name}"):
        make_rules(house().settings, (AGENT,), plugins=(Command(name, "x", "y"),))
