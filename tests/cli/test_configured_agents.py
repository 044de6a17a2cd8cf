"""Every kind of agent that can be configured opens with what can be said about it."""

import pytest

from rejoinder.agents.base import RunLimits
from rejoinder.app import with_channel
from rejoinder.config.load import read
from rejoinder.config.schema import Settings
from rejoinder.errors import BadConfiguration
from rejoinder.programs.agent_choice import with_agent
from rejoinder.testing import FakeChannel, ScriptedAgent
from rejoinder.wiring.opening import open_agents
from rejoinder.wiring.runtime_settings import runtime_settings

SAID = {
    "acp": 'command = ["agent"]',
    "openai": 'model = "m"',
    "anthropic": 'model = "m"\napi_key = "k"',
    "http": 'url = "http://127.0.0.1:1"',
    "python": 'call = "json:dumps"',
}


@pytest.mark.parametrize("kind", SAID)
def test_every_agent_keeps_to_the_limits_of_the_gateway(kind):
    """TU-20: idle and hard timeout are two settings, and what the file says holds for every kind of agent."""
    limits = "[gateway]\nidle_timeout_s = 1200\nhard_timeout_s = 9000\nquestion_timeout_s = 900\n"
    settings = read(f'{limits}[agents.one]\nkind = "{kind}"\n{SAID[kind]}', "x.toml", {})
    assert open_agents(settings)["one"].limits == RunLimits(1200, 9000, 900)


TWO = """
[agents.helper]
kind = "tour"

[agents.actor]
kind = "scripted"
script = "answers.json"

[channels.terminal]
agent = "actor"
"""


@pytest.mark.parametrize(("wanted", "chosen"), [(None, "actor"), ("helper", "helper"), ("tour", "tour")])
def test_who_answers_in_the_terminal(wanted, chosen):
    """The one named, else the one of the channel; a kind that needs no settings can be named too."""
    settings, name, sentence = with_agent(read(TWO, "x.toml", {}), wanted)
    assert (name, sentence) == (chosen, "")
    assert chosen in settings.agents


def test_an_agent_nobody_knows():
    with pytest.raises(BadConfiguration, match=r"no agent called 'nobody'; there are: .*actor.*helper"):
        with_agent(read(TWO, "x.toml", {}), "nobody")


@pytest.mark.parametrize(
    ("environment", "chosen"),
    [({}, "tour"), ({"OPENAI_API_KEY": "k"}, "openai"), ({"ANTHROPIC_API_KEY": "k"}, "anthropic")],
)
def test_without_a_configuration_it_says_whom_it_chose(monkeypatch, environment, chosen):
    monkeypatch.setattr("os.environ", {"PATH": "", **environment})
    _, name, sentence = with_agent(Settings(), None)
    assert name == chosen
    assert sentence.startswith("Answering with")


def test_the_queue_of_a_channel_is_what_its_session_is_told():
    """TU-4: the channel plug-in's default counts where nobody says anything."""

    class Lines(FakeChannel):
        queue_mode = "queue"

    channel, agent = Lines(), ScriptedAgent()
    settings = with_channel(Settings(), channel.name, agent.name, ())
    made = runtime_settings(settings, {agent.name: agent}, {channel.name: channel})
    assert made.rules.channels[channel.name].queue.mode == "queue"
