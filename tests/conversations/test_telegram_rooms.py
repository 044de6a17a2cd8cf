"""Several agents of ours behind one Telegram bot: the platform knows only the bot, and tells it nothing of its own."""

import asyncio
from contextlib import asynccontextmanager, suppress

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.opening import open_channels
from rejoinder.testing import FakePlatform, ScriptedAgent
from tests.conversations.agents import said

SETTINGS = """
[agents.ada]
kind = "tour"
[agents.bo]
kind = "tour"

[channels.telegram]
{here}
agents = ["ada", "bo"]
allow_groups = ["{group}"]

[messages.queue]
debounce_ms = 0
"""


@asynccontextmanager
async def team(*agents):
    async with asyncio.timeout(20), FakePlatform("telegram") as platform:
        settings = read(SETTINGS.format(here=platform.config(), group=platform.id_of("#team")), "rejoinder.toml", {})
        here = {agent.name: agent for agent in agents}
        async with Gateway(settings, agents=here, channels=open_channels(settings)) as gateway:
            serving = asyncio.create_task(gateway.serve())
            yield platform
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def test_people_and_agents_name_agents():
    """IN-21, IN-25: a name in the words wakes; the lead takes what names nobody."""
    ada = ScriptedAgent("Hello.", "I would ask @bo.", name="ada")
    bo = ScriptedAgent("Here.", "I agree with ada.", name="bo")
    async with team(ada, bo) as platform:
        await platform.says("#team", "ann", "hello")
        await platform.hears("#team", "Hello.")
        await platform.says("#team", "ann", "@bo are you there?")
        await platform.hears("#team", "Here.")
        await platform.says("#team", "ann", "what now?")
        await platform.hears("#team", "I would ask @bo.")
        await platform.hears("#team", "I agree with ada.")
    assert [said(turn) for turn in bo.turns] == [["@bo are you there?"], ["I would ask @bo."]]
    assert len(ada.turns) == 2
