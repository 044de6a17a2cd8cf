"""Several agents of ours behind one Telegram bot: the platform knows only the bot, and tells it nothing of its own."""

import asyncio
from contextlib import asynccontextmanager, suppress

from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import read
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from rejoinder.wiring.opening import open_channels
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
{more}

[messages.queue]
debounce_ms = 0

[directives]
allow = ["handoff"]
"""


@asynccontextmanager
async def team(*agents, more=""):
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        text = SETTINGS.format(here=platform.config(), group=platform.id_of("#team"), more=more)
        settings = read(text, "rejoinder.toml", {})
        here = {agent.name: agent for agent in agents}
        async with Gateway(settings, agents=here, channels=open_channels(settings), store=MEMORY) as gateway:
            serving = asyncio.create_task(gateway.serve())
            yield platform
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def test_people_and_agents_name_agents():
    """IN-21, IN-25, DE-5: a name in the words wakes; the lead takes what names nobody; each says who it is."""
    ada = ScriptedAgent("Hello.", "I would ask @bo.", name="ada")
    bo = ScriptedAgent("Here.", "I agree with ada.", name="bo")
    async with team(ada, bo) as platform:
        await platform.says("#team", "ann", "hello")
        await platform.hears("#team", "[ada] Hello.")
        await platform.says("#team", "ann", "@bo are you there?")
        await platform.hears("#team", "[bo] Here.")
        await platform.says("#team", "ann", "what now?")
        await platform.hears("#team", "[ada] I would ask @bo.")
        await platform.hears("#team", "[bo] I agree with ada.")
    assert [said(turn) for turn in bo.turns] == [["@bo are you there?"], ["I would ask @bo."]]
    assert len(ada.turns) == 2


async def test_a_hand_off_says_whose_it_is():
    """DE-5, DE-21: people see who hands over; the other gets the words alone."""
    ada = ScriptedAgent('<actions><handoff to="bo">Check it.</handoff></actions>', name="ada")
    bo = ScriptedAgent("- fine", name="bo")
    async with team(ada, bo) as platform:
        await platform.says("#team", "ann", "hello")
        await platform.hears("#team", "[ada] @bo Check it.")
        assert "[bo]" in (await platform.hears("#team")).text
    assert [said(turn) for turn in bo.turns] == [["@bo Check it."]]


async def test_names_are_left_out_where_the_operator_says_so():
    """DE-5: a prefix that is set, empty too, is the prefix."""
    async with team(
        ScriptedAgent("Hello.", name="ada"), ScriptedAgent(name="bo"), more='response_prefix = ""'
    ) as team_:
        await team_.says("#team", "ann", "hello")
        await team_.hears("#team", "Hello.")
