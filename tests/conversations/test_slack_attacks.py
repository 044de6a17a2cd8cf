"""Slack at its strangest, over the whole gateway: what comes twice, what nobody said, lost threads, refusals."""

import asyncio

import pytest

from rejoinder.agents.base import Option
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import until
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.slack import strict
from tests.conversations.agents import Asking
from tests.conversations.test_slack import QUICK_EDITS, slack, until_acknowledged


async def stands(platform, chat, text):
    """The message that says this, as soon as there is one."""
    await platform.truth.until(lambda: any(seen.text == text for seen in platform.truth.messages(chat)))
    return next(seen for seen in platform.truth.messages(chat) if seen.text == text)


async def test_one_mention_by_four_ways_is_one_turn():
    """CH-31, CH-30: message, app_mention, both once more by another socket after a refresh, and again by history."""
    agent = ScriptedAgent("Once.", "And again.")
    async with slack(agent) as platform:
        events = platform.people.events
        for _ in range(2):
            platform.fault("duplicate", on="event")
        question = await platform.says("#team", "ann", "@testbot are you there?")
        await events.ask_to_refresh()
        await platform.hears("#team", "Once.")
        events.break_sockets()
        room = platform.people.world.room("#team")
        platform.people._tell_message(room, room.messages[question])
        await platform.says("#team", "ann", "@testbot and now?", thread=question)
        await platform.hears("#team", "And again.")
        await until_acknowledged(platform)
    assert len(agent.turns) == 2


async def test_an_answer_to_a_thread_that_is_gone():
    """CH-31, OD-62: the root is deleted while the agent writes; the answer is not lost, and said once."""
    deleted = asyncio.Event()
    agent = ScriptedAgent([deleted.wait, "Still here."], "Yes.")
    async with slack(agent, QUICK_EDITS) as platform:
        question = await platform.says("#team", "ann", "@testbot are you there?")
        await platform.truth.until(lambda: bool(agent.turns))
        await platform.people.deletes("#team", "ann", question)
        deleted.set()
        assert (await stands(platform, "#team", "Still here.")).thread is None
        question = await platform.says("#team", "ann", "@testbot hello?")
        assert (await stands(platform, "#team", "Yes.")).thread == question
        assert len(platform.truth.messages("#team")) == 2


async def test_blocks_that_slack_does_not_take_lose_no_question(monkeypatch):
    """CH-10, CH-33: where even the buttons are refused the question is asked in words."""
    monkeypatch.setattr(strict, "MOST_ELEMENTS", 0)  # stricter than we know
    agent = Asking(Option("all", "All of it", "once"), Option("none", "Nothing", "no"))
    async with slack(agent) as platform:
        await platform.says("ann", "ann", "clean up")
        await platform.truth.until(lambda: any("1" in seen.text for seen in platform.truth.messages("ann")))
        await platform.says("ann", "ann", "1")
        await stands(platform, "ann", "I was told all.")


async def test_a_stream_that_slack_refuses_for_one_person():
    """CH-32: such as somebody of another workspace; this answer is shown by edits, and the next one is a stream."""
    more, end = asyncio.Event(), asyncio.Event()
    agent = ScriptedAgent(["One and ", more.wait, "two."], ["Once ", end.wait, "again."])
    async with slack(agent, QUICK_EDITS, streams=True) as platform:
        platform.fault("404", on="send")
        question = await platform.says("#team", "ann", "@testbot count")
        await platform.truth.until(lambda: bool(platform.truth.messages("#team")))
        more.set()
        await platform.hears("#team", "One and two.")
        await platform.says("#team", "ann", "again", thread=question)
        await platform.truth.until(lambda: len(platform.truth.messages("#team")) == 2)
        end.set()
        await platform.hears("#team", "Once again.")
        names = [call.name for call in platform.truth.calls if call.name.startswith("chat.")]
        assert names[:2] == ["chat.startStream", "chat.postMessage"]
        assert "chat.startStream" in names[2:]


@pytest.mark.parametrize("streams", [False, True])
async def test_nothing_that_an_agent_writes_pings(streams):
    """CH-34, DE-34: in a message, in a stream however it is cut, and in its last words."""
    hostile = "<!here> [x](!channel) &lt;!everyone&gt; &#60;!here> [y](<@U1>) \\<!here> <@U0BOB> `<!here>` @here <!sub"
    agent = ScriptedAgent([hostile[at : at + 3] for at in range(0, len(hostile), 3)])
    async with slack(agent, QUICK_EDITS, streams=streams) as platform:
        await platform.says("#team", "ann", "@testbot shout")
        await platform.truth.until(lambda: any(seen.text.endswith("!sub") for seen in platform.truth.messages("#team")))
        assert not oracles.mentions_fired(platform.truth.frames)


async def test_an_edit_that_changes_no_word_is_none():
    """CH-8: the agent is told of an edit with its next turn, and of nothing where only a preview was removed."""
    agent = ScriptedAgent("Hello.", "Yes.", "Yes.")
    async with slack(agent) as platform:
        first = await platform.says("ann", "ann", "see https://example.org")
        await platform.hears("ann", "Hello.")
        await platform.people.unfurls("ann", first)
        await platform.people.edits("ann", "ann", first, "see https://example.org")
        await platform.says("ann", "ann", "and?")
        await platform.hears("ann", "Yes.")
        await platform.people.edits("ann", "ann", first, "see https://example.com")
        await until_acknowledged(platform)
        await platform.says("ann", "ann", "and now?")
        await platform.truth.until(lambda: len(agent.turns) == 3)
    assert "example.com" not in str(agent.turns[1])
    assert "example.com" in str(agent.turns[2])


async def test_a_group_direct_message_and_people_of_another_team():
    """IN-1, CH-31: several people in one chat are a group; somebody of another workspace has a name or none."""
    agent = ScriptedAgent("Here.", "Here, too.")
    async with slack(agent, 'groups = "open"') as platform:
        people = platform.people
        await until(lambda: people.events.opened)
        platform.fault("404", on="other")  # nobody tells the stranger's name
        question = await platform.says(
            "#team", "eve", "@testbot are you there?", channel_type="mpim", user_team="T0OTHER", source_team="T0OTHER"
        )
        assert (await platform.hears("#team", "Here.")).thread == question
        people.tells("#team", {"type": "channel_rename", "channel": {"id": people.id_of("#team"), "name": "crew"}})
        await platform.says("#team", "ann", "thanks", thread=question)
        await platform.hears("#team", "Here, too.")
    assert len(agent.turns) == 2
