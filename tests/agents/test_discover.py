"""Which agent answers when nobody chose one."""

import pytest

from rejoinder.agents.discover import KEYS, PROGRAMS, Choice, discover
from rejoinder.agents.settings import AcpSettings, OpenAISettings, TourSettings
from rejoinder.config.load import read
from rejoinder.config.schema import Agent, Settings
from rejoinder.config.show import as_toml, effective
from rejoinder.secret import Secret


def test_a_program_comes_before_a_key():
    """An agent on PATH is the best there is; it gets the keys it may need and no others."""
    environment = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "TELEGRAM_TOKEN": "t"}
    choice = discover({"codex-acp", "git"}, environment)
    assert (choice.name, choice.kind) == ("codex", "acp")
    assert choice.settings == AcpSettings(command=("codex-acp",), pass_env=("OPENAI_API_KEY",))
    assert "codex-acp is on your PATH" in choice.sentence


def test_a_key_comes_before_the_tour():
    choice = discover({"git"}, {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://127.0.0.1:9000/v1"})
    assert choice.kind == "openai"
    assert isinstance(choice.settings, OpenAISettings)
    assert choice.settings.base_url == "http://127.0.0.1:9000/v1"
    assert choice.settings.api_key == Secret("o")
    assert str(choice.settings.api_key) == "Secret(${OPENAI_API_KEY})"
    assert "OPENAI_API_KEY" in choice.sentence
    assert choice.settings.model in choice.sentence
    assert choice.settings.fallbacks, "for the day on which the first is retired"


def test_a_program_we_cannot_speak_to():
    """Without the protocol's package the next best is taken, and what is missing is named."""
    choice = discover({"codex-acp"}, {"OPENAI_API_KEY": "o"}, to_get_acp="pip install acp")
    assert choice.kind == "openai"
    assert choice.sentence.endswith("Codex is on your PATH; to answer with it, run: pip install acp")


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": ""}])
def test_the_tour_is_always_there(environment: dict[str, str]):
    choice = discover((), environment)
    assert (choice.kind, choice.settings) == ("tour", TourSettings())
    assert "OPENAI_API_KEY" in choice.sentence


CHOICES = [discover({program.command[0]}, {}) for program in PROGRAMS] + [
    discover((), {key.variable: "secret"}) for key in KEYS
]


@pytest.mark.parametrize("choice", CHOICES, ids=[choice.sentence[15:40] for choice in CHOICES])
def test_every_choice_is_a_configuration(choice: Choice):
    """What is chosen opens as if it stood in rejoinder.toml; the sentence says how to change it."""
    shown = as_toml(effective(Settings(agents={choice.name: Agent(choice.kind, choice.settings)})))
    assert "secret" not in shown
    assert (
        read(shown, "x.toml", {key.variable: "secret" for key in KEYS}).agents[choice.name].settings == choice.settings
    )
    assert "rejoinder.toml" in choice.sentence
    assert "secret" not in choice.sentence
