"""Conversations over local-slack, a program that nobody here wrote: what we send is understood by others, too."""

import asyncio
import re
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from rejoinder.agents.base import Option
from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.testing import ScriptedAgent
from rejoinder.wiring.opening import open_channels
from tests.channels.slack.local_slack import ANN, BOB, BOT, DIRECT, TEAM, local_slack
from tests.conversations.agents import Asking, said

SETTINGS = """
[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.slack]
{here}
owners = ["U0ANN"]
groups = "open"
allow_groups = ["C0TEAM"]
pace = {{ edit_seconds = 0.05, chat = "unlimited" }}

[messages.queue]
debounce_ms = 0

[directives]
allow = ["send_file"]
"""


class Sharing(ScriptedAgent):
    """Has drawn a chart before it speaks."""

    async def run(self, turn):
        folder = re.search("outbox folder is (.*?): ", turn.system)
        assert folder
        await asyncio.to_thread(Path(folder[1], "chart.txt").write_bytes, b"1 2 3\n")
        async for event in super().run(turn):
            yield event


@asynccontextmanager
async def gateway(slack, agent, folder):
    """A process of the gateway; its store is a file, so that another one may follow."""
    settings = read(SETTINGS.format(here=slack.config), "rejoinder.toml", {})
    store = f"sqlite:{folder / 'rejoinder.db'}"
    async with Gateway(settings, agents={agent.name: agent}, channels=open_channels(settings), store=store) as served:
        serving = asyncio.create_task(served.serve())
        await slack.until(lambda: slack.connected)
        yield served
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
    await slack.until(lambda: not slack.connected)


async def test_a_conversation_and_a_restart(tmp_path):
    """CH-30 to CH-33: a direct message, a mention, the thread under it, a reaction, an edited draft; and what was
    said while no gateway ran is answered by the next one, once."""
    more = asyncio.Event()
    agent = ScriptedAgent(
        "Hello, Ann.",
        ["One and ", more.wait, "*two*."],
        "<actions><react emoji=':+1:' /></actions>With pleasure.",
    )
    async with local_slack(tmp_path) as slack:
        async with gateway(slack, agent, tmp_path):
            await slack.says(DIRECT, ANN, "hello")
            assert "thread_ts" not in await slack.hears(DIRECT, "Hello, Ann.")
            question = await slack.says(TEAM, ANN, f"count for me, <@{BOT}>")
            await slack.until(lambda: any(each["text"].startswith("One and") for each in slack.frames(TEAM)))
            more.set()
            answer = await slack.hears(TEAM, "One and _two_.")
            assert answer["thread_ts"] == question
            assert answer["edited"]
            assert len(slack.standing(TEAM)) == 1
            thanks = await slack.says(TEAM, BOB, "and thanks", question)
            assert (await slack.hears(TEAM, "With pleasure."))["thread_ts"] == question
            await slack.until(lambda: any(each["ts"] == thanks and each.get("reactions") for each in slack.shown))
            (marked,) = [each for each in slack.shown if each["ts"] == thanks and each.get("reactions")]
            assert [(each["name"], each["users"]) for each in marked["reactions"]] == [("thumbsup", [BOT])]
        await slack.says(DIRECT, ANN, "are you gone?")
        await slack.says(TEAM, ANN, "still there?", question)
        again = ScriptedAgent("Here again.", "Here again.")
        async with gateway(slack, again, tmp_path):
            await slack.hears(DIRECT, "Here again.")
            assert (await slack.hears(TEAM, "Here again."))["thread_ts"] == question
    assert [said(turn) for turn in agent.turns] == [["hello"], [f"count for me, <@{BOT}>"], ["and thanks"]]
    assert sorted(said(turn)[0] for turn in again.turns) == ["are you gone?", "still there?"]
    assert [each["text"] for each in slack.standing(DIRECT)] == ["Hello, Ann.", "Here again."]
    assert [each["text"] for each in slack.standing(TEAM)] == ["One and _two_.", "With pleasure.", "Here again."]


async def test_files_commands_and_edits(tmp_path):
    """CH-8, CH-9, CH-11: a file is read, a command is answered to one person alone, and an edit wakes nobody."""
    agent = ScriptedAgent("I have read it.", "Noted.")
    async with local_slack(tmp_path) as slack, gateway(slack, agent, tmp_path):
        await slack.sends_file(DIRECT, ANN, "read this", "list.txt", b"milk and bread")
        await slack.hears(DIRECT, "I have read it.")
        await slack.does("command", channel=TEAM, user=ANN, command="/rejoinder", text="whoami")
        await slack.until(lambda: bool(slack.frames(TEAM)))
        (told,) = slack.standing(TEAM)
        assert told["ephemeral_to"] == ANN
        assert ANN in told["text"]
        first = await slack.says(DIRECT, ANN, "buy milk")
        await slack.hears(DIRECT, "Noted.")
        await slack.does("edit-message", channel=DIRECT, ts=first, user=ANN, text="buy oat milk")
        assert len(slack.standing(TEAM)) == 1  # what an answer by a response address says is said once
    assert len(agent.turns) == 2
    assert "milk and bread" in str(agent.turns[0])


async def test_a_file_of_an_agent(tmp_path):
    """CH-11, CH-33: another program takes our upload, and shows it in the thread with its words, byte for byte."""
    agent = Sharing("<actions><send-file path='chart.txt' caption='March' /></actions>Here it is.")
    async with local_slack(tmp_path) as slack, gateway(slack, agent, tmp_path):
        question = await slack.says(TEAM, ANN, f"<@{BOT}> draw it")
        await slack.until(lambda: any(each.get("files") for each in slack.frames(TEAM)))
        (shown,) = [each for each in slack.standing(TEAM) if each.get("files")]
        (file,) = shown["files"]
        assert (shown["text"], shown["thread_ts"], file["name"]) == ("March", question, "chart.txt")
        assert await slack.loads(file["url_private"]) == b"1 2 3\n"
        await slack.hears(TEAM, "Here it is.")
        assert len(slack.standing(TEAM)) == 2


async def test_buttons(tmp_path):
    """CH-10, CH-33: a press answers the question, and then the buttons are gone."""
    agent = Asking(Option("all", "All of it", "once"), Option("none", "Nothing", "no"))
    async with local_slack(tmp_path) as slack, gateway(slack, agent, tmp_path):
        await slack.says(DIRECT, ANN, "clean up")
        await slack.until(lambda: any(each.get("blocks") for each in slack.frames(DIRECT)))
        asked = next(each for each in slack.frames(DIRECT) if each.get("blocks"))
        buttons = next(block["elements"] for block in asked["blocks"] if block["type"] == "actions")
        assert [button["text"]["text"] for button in buttons] == ["All of it", "Nothing"]
        await slack.does("interact", channel=DIRECT, messageTs=asked["ts"], user=ANN, action=buttons[0])
        await slack.hears(DIRECT, "I was told all.")
        await slack.until(lambda: not any(each.get("blocks") for each in slack.standing(DIRECT)))
