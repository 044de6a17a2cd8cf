"""`[channels.NAME.pace]`: a local server without limits, or limits that were raised, can be used."""

from rejoinder.config.load import read
from rejoinder.outbound.budget import Rate
from rejoinder.testing import FakeChannel, ScriptedAgent
from rejoinder.wiring.runtime_settings import runtime_settings

FILE = """
[agents.helper]
kind = "tour"

[channels.telegram]
token = "x"
agent = "helper"
"""


def told(pace: str):
    settings = read(FILE + pace, "rejoinder.toml", {})
    channels = {"telegram": FakeChannel("telegram")}
    return runtime_settings(settings, {"helper": ScriptedAgent(name="helper")}, channels).channel("telegram").delivery


def test_what_is_not_said_is_the_platforms_own():
    usual = told("")
    assert (usual.chat_rate, usual.account_rate, usual.streaming.pace) == (Rate(5, 1.0), Rate(30, 30.0), 1.0)


def test_each_part_of_it_can_be_said():
    said = told('pace = { edit_seconds = 0.2, chat = { burst = 20, per_second = 10 }, account = "unlimited" }')
    assert (said.chat_rate, said.account_rate, said.streaming.pace) == (Rate(20, 10), None, 0.2)
