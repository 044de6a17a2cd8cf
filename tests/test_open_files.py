"""A process that may open no further file: the sentence says so, and does not call the other side away."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rejoinder.agents import acp, http
from rejoinder.agents.base import AgentEvent, Failed
from rejoinder.channels.http_faults import unanswered
from rejoinder.errors import ChannelStopped
from rejoinder.open_files import TOO_MANY_OPEN
from rejoinder.testing import FakePlatform
from rejoinder.testing.agent_contract import everything
from tests.channels.discord.served import bot as discord_bot
from tests.channels.slack.served import app as slack_app
from tests.channels.telegram.served import bot as telegram_bot


@contextmanager
def no_file_left() -> Iterator[None]:
    """The system's own refusal: nothing is opened from the lowest free number on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_an_agent_that_cannot_be_called() -> None:
    """TU-22: the person hears whose fault it is, the operator what to do."""
    agent = http.open_agent("mine", http.Settings(url="http://127.0.0.1:9/turn"))
    await everything(agent)  # nobody is there either; now all modules are loaded, for which files are opened
    with no_file_left():
        failure = (await everything(agent))[-1]
    await agent.close()
    told_what_to_do(failure)


async def test_an_agent_that_cannot_be_started() -> None:
    """TU-22, TU-33: it is installed."""
    agent = acp.open_agent("coder", acp.Settings(command=("true",)))
    await everything(agent)
    with no_file_left():
        failure = (await everything(agent))[-1]
    await agent.close()
    told_what_to_do(failure)


def told_what_to_do(failure: AgentEvent) -> None:
    assert isinstance(failure, Failed)
    assert "too many files and connections open" in failure.sentence
    assert failure.detail.endswith(TOO_MANY_OPEN)


def test_whose_fault_it_is_does_not_follow_from_the_words() -> None:
    """CH-12: a platform may use the same ones."""
    assert unanswered("Telegram", TOO_MANY_OPEN) == f"Telegram does not answer ({TOO_MANY_OPEN})"
    assert unanswered("Telegram", "no room", ours=True) == "no room"


@pytest.mark.parametrize(
    ("kind", "channel_of"), [("telegram", telegram_bot), ("slack", slack_app), ("discord", discord_bot)]
)
async def test_a_platform_that_cannot_be_called(kind, channel_of) -> None:
    """CH-12."""
    async with FakePlatform(kind) as platform:
        channel = channel_of(platform)
        with no_file_left(), pytest.raises(ChannelStopped) as caught:
            await channel.check()
        await channel.close()
    assert str(caught.value) == f"[channels.{kind}] {TOO_MANY_OPEN}"
