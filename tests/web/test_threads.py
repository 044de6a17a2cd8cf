"""What an agent is told of the thread it is asked in."""

import pytest

from rejoinder.agents.base import Done, TextDelta
from rejoinder.testing import ScriptedAgent
from tests.conversations.agents import said, told
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
    block = f'{{"text":"A parrot.","author":"Scripted","handle":"m2","message_id":"{starter}"}}'
    assert [f"\n{block}\n</untrusted_thread_starter" in told(turn) for turn in agent.turns] == [False, True, False]


class Parrot(ScriptedAgent):
    """Says what it is told."""

    async def run(self, turn):
        self.turns.append(turn)
        yield TextDelta(said(turn)[-1])
        yield Done()


async def test_what_stands_above_a_thread_can_be_answered():
    """OD-52: from inside a thread its root and the messages of the chat, by handle or id, or as `root`."""
    agent, where = Parrot(name="scripted"), {"type": "say", "room": "scripted~you"}
    async with running(settings(agents=("scripted",)), agents={"scripted": agent}) as site, site.page() as page:
        await page.send(client="1", text="what is it?", **where)
        above = (await page.told("message"))["message"]["id"]
        root = await page.hears("what is it?")
        react = f'Seen.\n<actions><react emoji="👀" message="{above}"/><react emoji="👍" message="root"/></actions>'
        answers = {}
        for reference in ("m2", "root", root, above):
            text = f"[[reply_to:{reference}]]\nIt is {reference}."
            await page.send(client=reference, thread=root, text=text, **where)
            id = await page.hears(f"It is {reference}.")
            frames = (frame["message"] for frame in page.frames if frame["type"] == "message")
            shown = next(message for message in frames if message["id"] == id)
            answers[reference] = (shown["thread"], shown["reply_to"]["id"])
        await page.send(client="5", thread=root, text=react, **where)
        signs = [await page.told("reacted", message=message) for message in (above, root)]
    assert answers == {"m2": (root, root), "root": (root, root), root: (root, root), above: (root, above)}
    assert [[each["emoji"] for each in frame["reactions"]] for frame in signs] == [["👀"], ["👍"]]
