"""What an agent is told of the thread it is asked in."""

import pytest

from rejoinder.testing import ScriptedAgent
from tests.conversations.agents import told
from tests.web.running import running, settings


@pytest.mark.parametrize("room", ["lobby", "scripted~you"])
async def test_the_first_turn_in_a_thread_is_told_what_the_thread_hangs_under(room):
    """TU-31: the thread's starter, once, whether the thread has a session of its own or goes on in that of the chat."""
    agent = ScriptedAgent("A parrot.", "It is dead.", "Quite.")
    both = {"scripted": agent, "other": ScriptedAgent(name="other")}
    async with running(settings(agents=tuple(both)), agents=both) as site, site.page() as page:
        await page.send(type="say", client="1", room=room, text="what is it?")
        starter = await page.hears("A parrot.")
        for client, text, heard in (("2", "how is it?", "It is dead."), ("3", "really?", "Quite.")):
            await page.send(type="say", client=client, room=room, thread=starter, text=text)
            await page.hears(heard)
    block = '\n{"text":"A parrot.","author":""}\n</untrusted_thread_starter'
    assert [block in told(turn) for turn in agent.turns] == [False, True, False]
