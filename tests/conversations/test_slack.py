"""Conversations on Slack, from the person's fingers to the person's eyes: the whole gateway, a strict platform."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest

from rejoinder.agents.base import Failed
from rejoinder.app import MEMORY, Gateway
from rejoinder.channels.slack import manifest
from rejoinder.channels.slack.assistant import STATUS
from rejoinder.config.load import read
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.slack import strict
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


QUICK_EDITS = "pace = { edit_seconds = 0.05, chat = 'unlimited' }"


def shown(platform, chat):
    return " ".join(seen.text for seen in platform.truth.messages(chat))


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


@pytest.mark.parametrize(("settings", "threaded"), [("", False), ('reply_to_mode = "first"', True)])
async def test_an_answer_stands_in_one_place(settings, threaded):
    """CH-31, CH-32: a reply is a thread here. Without a mention the answer stands in the channel, all of it, unless
    configured otherwise; one that replies to a message stands in its thread, all of it."""
    long = "word " * 1000
    agent = ScriptedAgent(long, f"[[reply_to_current]]\n{long}")
    async with slack(agent, f'require_mention = false\npace = {{ chat = "unlimited" }}\n{settings}') as platform:
        first = await platform.says("#team", "ann", "tell me")
        await platform.truth.until(lambda: len(platform.truth.messages("#team")) == 2)
        assert [seen.thread for seen in platform.truth.messages("#team")] == [first if threaded else None] * 2
        second = await platform.says("#team", "ann", "and again, under this")
        await platform.truth.until(lambda: len(platform.truth.messages("#team")) == 4)
        assert [seen.thread for seen in platform.truth.messages("#team")[2:]] == [second] * 2


async def test_threads_may_be_off():
    """CH-32: then a mention is answered in the channel."""
    agent = ScriptedAgent("Here.")
    async with slack(agent, 'threads = "off"') as platform:
        await platform.says("#team", "ann", "@testbot are you there?")
        assert (await platform.hears("#team", "Here.")).thread is None


async def test_a_draft_is_a_native_stream_where_there_is_one():
    """CH-32: it grows by what is new, and is stopped at the end; no edit is made."""
    more, last = asyncio.Event(), asyncio.Event()
    agent = ScriptedAgent(["*One* and ", more.wait, "two and ", last.wait, "three."])
    async with slack(agent, QUICK_EDITS, streams=True) as platform:
        await platform.says("#team", "ann", "@testbot count")
        await platform.truth.until(lambda: "One" in shown(platform, "#team"))
        more.set()
        await platform.truth.until(lambda: "two" in shown(platform, "#team"))
        last.set()
        await platform.hears("#team", "*One* and two and three.")
        names = [call.name for call in platform.truth.calls if call.name.startswith("chat.")]
        assert names[0] == "chat.startStream"
        assert names[-1] == "chat.stopStream"
        assert not {"chat.update", "chat.postMessage"} & {*names}
        assert not oracles.refused(platform.truth.calls)


async def test_a_stream_ends_with_the_answer():
    """CH-32: also where everything was shown before the agent ended; nobody sees it as unfinished any longer."""
    end = asyncio.Event()
    agent = ScriptedAgent(["All of it.", end.wait])
    async with slack(agent, QUICK_EDITS, streams=True) as platform:
        await platform.says("#team", "ann", "@testbot say it")
        await platform.hears("#team", "All of it.")
        assert streaming(platform) == ["in_progress"]
        end.set()
        await platform.truth.until(lambda: streaming(platform) == ["completed"])
        names = [call.name for call in platform.truth.calls if call.name.startswith("chat.")]
        assert names == ["chat.startStream", "chat.stopStream"]


def streaming(platform):
    rooms = platform.people.world.rooms.values()
    return [stored.streaming for room in rooms for stored in room.messages.values() if stored.streaming]


async def test_a_draft_is_edited_where_there_are_no_streams():
    """CH-32: the workspace is asked once; then drafts are messages that change, at pace."""
    more = asyncio.Event()
    agent = ScriptedAgent(["One and ", more.wait, "two."], "Again.")
    async with slack(agent, QUICK_EDITS) as platform:
        question = await platform.says("#team", "ann", "@testbot count")
        await platform.truth.until(lambda: "One" in shown(platform, "#team"))
        more.set()
        await platform.hears("#team", "One and two.")
        await platform.says("#team", "ann", "again", thread=question)
        await platform.hears("#team", "Again.")
        names = [call.name for call in platform.truth.calls]
        assert names.count("chat.startStream") == 1
        assert "chat.update" in names


async def test_a_table_is_a_block_and_code_where_slack_refuses_it(monkeypatch):
    """CH-33, DE-13: the draft shows text; the whole message has Slack's own table. Refused blocks lose no word."""
    more = asyncio.Event()
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    agent = ScriptedAgent([table, more.wait, "\n\nDone."], table)
    async with slack(agent, QUICK_EDITS) as platform:
        await platform.says("ann", "ann", "compare")
        await platform.truth.until(lambda: "1" in shown(platform, "ann"))
        assert [blocks(platform)] == [[[]]]
        more.set()
        await platform.truth.until(lambda: "Done." in shown(platform, "ann"))
        assert blocks(platform) == [["table", "section"]]
        monkeypatch.setattr(strict, "MOST_IN_CELLS", 1)  # stricter than we know
        await platform.says("ann", "ann", "again")
        await platform.truth.until(lambda: bool(oracles.refused(platform.truth.calls)))
        await platform.truth.until(
            lambda: len(blocks(platform)) == 2 and "1   | 2" in platform.truth.messages("ann")[1].text
        )
        assert blocks(platform)[1] == []


def blocks(platform):
    """The kinds of block of each message of the bot."""
    room = platform.people.world.room("ann")
    return [[block["type"] for block in stored.blocks] for stored in room.messages.values() if stored.by == "bot"]


async def test_a_scope_that_is_missing_for_a_reaction_stops_no_answer():
    """CH-13, DE-32: what needs the scope is refused; everything else is said."""
    agent = ScriptedAgent('<actions><react emoji="eyes" /></actions>Answer.')
    scopes = set(manifest.SCOPES) - {"reactions:write"}
    async with slack(agent, scopes=scopes) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Answer.")


async def test_an_assistant_has_prompts_a_title_a_status_and_sessions_of_its_own():
    """CH-32: each thread is a conversation for itself."""
    at_work = asyncio.Event()
    agent = ScriptedAgent(["[[title:Lunch plans]]\n", at_work.wait, "Soup."], "Another.")
    async with slack(agent, 'suggested_prompts = ["What is new?", "Plan my day"]') as platform:
        people = platform.people
        first, second = await people.opens_assistant("ann"), await people.opens_assistant("ann")
        await platform.says("ann", "ann", "lunch?", thread=first)
        await platform.truth.until(lambda: any(frame.kind == "typing" for frame in platform.truth.frames))
        at_work.set()
        answer = await platform.hears("ann", "Soup.")
        assert answer.thread == first
        await platform.says("ann", "ann", "something else", thread=second)
        await platform.hears("ann", "Another.")
        assert [each["message"] for each in people.methods.prompts["ann", first]] == ["What is new?", "Plan my day"]
        assert people.methods.titles == {("ann", first): "Lunch plans"}
    assert len({turn.session for turn in agent.turns}) == 2


async def test_the_status_goes_when_a_turn_ends_without_a_word():
    """CH-32, TU-24: where the agent chose silence, was stopped or failed, nothing says that it still thinks; where a
    message took the status away, Slack is not asked for it."""
    goes_on, never = asyncio.Event(), asyncio.Event()
    agent = ScriptedAgent(
        [goes_on.wait, "NO_REPLY"], [never.wait], [goes_on.wait, Failed("other", "It broke.")], [goes_on.wait, "Here."]
    )
    threads: dict[str, str] = {}
    async with slack(agent) as platform:
        people = platform.people
        for how in ("silent", "stopped", "failed", "answered"):
            thread = await people.opens_assistant("ann")
            await platform.says("ann", "ann", f"be {how}", thread=thread)
            await platform.truth.until(lambda at=("ann", thread): people.methods.statuses.get(at) == STATUS)
            if how == "stopped":
                await platform.says("ann", "ann", "/stop", thread=thread)
            else:
                goes_on.set()
            await platform.truth.until(lambda at=("ann", thread): not people.methods.statuses.get(at))
            goes_on.clear()
            threads[how] = thread
        cleared = {call.payload["thread_ts"] for call in platform.truth.calls if call.payload.get("status") == ""}
        assert threads["silent"] in cleared
        assert not {threads["failed"], threads["answered"]} & cleared


async def test_a_command_is_answered_to_the_person_alone():
    """CH-34, CH-9, CH-3: `/rejoinder whoami` in a channel; nobody else sees it, and no agent is asked."""
    agent = ScriptedAgent()
    async with slack(agent) as platform:
        await platform.says("ann", "ann", "/whoami")
        await platform.hears("ann")
        await platform.people.commands("#team", "ann", "whoami")
        told = await platform.hears("#team@ann")
        assert platform.id_of("ann") in told.text
        assert not platform.truth.messages("#team")
    assert not agent.turns


@pytest.mark.parametrize(("mode", "answers"), [("involved", 3), ("mentions", 2), ("multibot-mentions", 2)])
async def test_a_thread_with_two_people_and_a_foreign_bot(mode, answers):
    """CH-31, IN-22, IN-21: in a thread it takes part in, a mention is needed or not, as is set; a foreign bot is heard
    only where it mentions us and `bot_messages` lets it."""
    agent = ScriptedAgent(*["Yes."] * 5)
    settings = f'user_messages = "{mode}"\nbot_messages = "off"\ngroups = "open"\ndm = "open"'
    async with slack(agent, settings) as platform:
        question = await platform.says("#team", "ann", "@testbot are you there?")
        await platform.hears("#team", "Yes.")
        await platform.says("#team", "ci", "build 42 failed", thread=question, bot=True)
        await platform.says("#team", "bob", "is that bad?", thread=question)
        if answers == 3:
            await platform.hears("#team", "Yes.")
        await platform.says("#team", "bob", "@testbot is it?", thread=question)
        assert (await platform.hears("#team", "Yes.")).thread == question
        await until_acknowledged(platform)
    assert len(agent.turns) == answers


async def until_acknowledged(platform):
    await until(lambda: not platform.people.events.unacknowledged, "the last acknowledgement")
