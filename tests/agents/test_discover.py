"""Which agent answers when nobody chose one."""

import pytest

from rejoinder.agents import acp, openai, tour
from rejoinder.agents.declaration import AgentKind, AgentOffer, ApiKeyVariable, Program
from rejoinder.agents.discover import DiscoveredAgent, discover, keys, offers, programs
from rejoinder.config.kinds import agent_kinds
from rejoinder.config.load import read
from rejoinder.config.schema import ConfiguredAgent, Settings
from rejoinder.config.show import as_toml, effective
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion

KINDS = agent_kinds()
KEYS = [key for _, key in keys(KINDS)]
PROGRAMS = [program for _, program in programs(KINDS)]


def test_a_program_comes_before_a_key():
    """An agent on PATH is the best there is; it gets the keys it may need and no others."""
    environment = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "TELEGRAM_TOKEN": "t"}
    choice = discover(KINDS, {"codex-acp", "git"}, environment)
    assert (choice.name, choice.kind) == ("codex", "acp")
    assert choice.settings == acp.Settings(command=("codex-acp",), pass_env=("OPENAI_API_KEY",))
    assert "codex-acp is on your PATH" in choice.sentence


def test_a_key_comes_before_the_tour():
    choice = discover(KINDS, {"git"}, {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://127.0.0.1:9000/v1"})
    assert choice.kind == "openai"
    assert isinstance(choice.settings, openai.Settings)
    assert choice.settings.base_url == "http://127.0.0.1:9000/v1"
    assert choice.settings.api_key == Secret("o")
    assert str(choice.settings.api_key) == "Secret(${OPENAI_API_KEY})"
    assert "OPENAI_API_KEY" in choice.sentence
    assert choice.settings.model in choice.sentence
    assert choice.settings.fallbacks, "for the day on which the first is retired"


def test_a_program_we_cannot_speak_to():
    """Without the protocol's package the next best is taken, and what is missing is named."""
    choice = discover(KINDS, {"codex-acp"}, {"OPENAI_API_KEY": "o"}, {"acp": "pip install acp"})
    assert choice.kind == "openai"
    assert choice.sentence.endswith("Codex is on your PATH; to answer with it, run: pip install acp")


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": ""}])
def test_the_tour_is_always_there(environment: dict[str, str]):
    choice = discover(KINDS, (), environment)
    assert (choice.kind, choice.settings) == ("tour", tour.Settings())
    assert "OPENAI_API_KEY" in choice.sentence


CHOICES = [discover(KINDS, {program.command[0]}, {}) for program in PROGRAMS] + [
    discover(KINDS, (), {key.variable: "secret"}) for key in KEYS
]


@pytest.mark.parametrize("choice", CHOICES, ids=[choice.sentence[15:40] for choice in CHOICES])
def test_every_choice_is_a_configuration(choice: DiscoveredAgent):
    """What is chosen opens as if it stood in rejoinder.toml; the sentence says how to change it."""
    shown = as_toml(effective(Settings(agents={choice.name: ConfiguredAgent(choice.kind, choice.settings)})))
    assert "secret" not in shown
    assert (
        read(shown, "x.toml", {key.variable: "secret" for key in KEYS}).agents[choice.name].settings == choice.settings
    )
    assert "rejoinder.toml" in choice.sentence
    assert "secret" not in choice.sentence


class Branch(openai.Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a kind of another package."""

    command: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    model: str = ""


def test_another_kind_is_found_by_what_it_declares():
    """CH-1: its programs, keys and offers stand beside ours, in no list but its own."""
    theirs = AgentKind(
        open=openai.open_agent,
        settings=Branch,
        programs=(Program(("perch",), "Perch", ("PERCH_TOKEN",)),),
        keys=(ApiKeyVariable("PERCH_API_KEY", "Perch", ("tit", "wren"), "https://perch.example/v1"),),
        offers=(
            AgentOffer("a perch here", {}),
            AgentOffer("a perch elsewhere", {}, (SetupQuestion(key="base_url", question="Where"),)),
        ),
    )
    kinds = {**KINDS, "perch": theirs}
    assert discover(kinds, {"perch"}, {"PERCH_TOKEN": "x"}) == DiscoveredAgent(
        "perch",
        "perch",
        Branch(command=("perch",), pass_env=("PERCH_TOKEN",)),
        "Answering with Perch, because perch is on your PATH. To choose another, write an [agents.NAME] section into "
        "rejoinder.toml.",
    )
    choice = discover(kinds, (), {"PERCH_API_KEY": "x"})
    assert isinstance(choice.settings, Branch)
    assert (choice.kind, choice.settings.model, choice.settings.fallbacks) == ("perch", "tit", ("wren",))
    offered = offers(kinds, {"perch"}, {"PERCH_API_KEY": "x"})
    assert [each.title for each in offered if each.section["kind"] == "perch"] == [
        "Perch (perch is on your PATH)",
        "tit of Perch (PERCH_API_KEY is set)",
        "a perch here",
        "a perch elsewhere",
    ]
    assert not [each for each in offers(kinds, {"perch"}, {}, {"perch"}) if each.title.startswith("Perch")]
