"""Conversations on Slack, from the person's fingers to the person's eyes: the whole gateway, a strict platform."""

import asyncio
from contextlib import asynccontextmanager, suppress

from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import read
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import oracles
from rejoinder.wiring.opening import open_channels
from tests.conversations.agents import said

SETTINGS = """
[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.slack]
{here}
owners = ["{owner}"]
allow_groups = ["{group}"]
{more}

[messages.queue]
debounce_ms = 0
"""


@asynccontextmanager
async def slack(agent, more="", **options):
    """Ann owns the bot; #team is a channel it may take part in."""
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("slack", **options) as platform:
        text = SETTINGS.format(
            here=platform.config(), owner=platform.id_of("ann"), group=platform.id_of("#team"), more=more
        )
        settings = read(text, "rejoinder.toml", {})
        async with Gateway(
            settings, agents={agent.name: agent}, channels=open_channels(settings), store=MEMORY
        ) as gateway:
            serving = asyncio.create_task(gateway.serve())
            yield platform
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
        assert not oracles.leaked(platform.truth.frames)


async def test_the_owner_is_answered():
    """The first message of an app's life."""
    agent = ScriptedAgent("Hello, Ann.")
    async with slack(agent) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello, Ann.")
        assert not oracles.mentions_fired(platform.truth.frames)
    assert said(agent.turns[0]) == ["hello"]


async def test_a_mention_in_a_channel_opens_a_thread():
    """CH-31, CH-32: the answer stands in the thread of the question, and so does what follows; message and app_mention
    are one event."""
    agent = ScriptedAgent("At your service.", "Gladly.")
    async with slack(agent) as platform:
        await platform.says("#team", "ann", "lunch, anyone?")
        question = await platform.says("#team", "ann", "@testbot are you there?")
        answer = await platform.hears("#team", "At your service.")
        assert answer.thread == question
        await platform.says("#team", "ann", "thanks", thread=question)
        assert (await platform.hears("#team", "Gladly.")).thread == question
    assert len(agent.turns) == 2
