"""surface.md, Configuration: "Reload on change for what can change": while a gateway runs."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from uuid import uuid4

import pytest

from rejoinder.agents.python.function import PythonAgent
from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import load
from rejoinder.programs.reloading import Reloading, SettingsSource, Watch
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing import FakeChannel, ModelServer
from rejoinder.testing.chat import Chat
from rejoinder.testing.model_server import Say

ANN, BOB = "1001", "1002"
PYTHON = """
[agents.helper]
kind = "python"
call = "{module}:answer"
path = "{folder}"
system_prompt = "old words"
"""
REST = f"""
[channels.telegram]
token = "${{TOKEN}}"
owners = ["{ANN}"]
dm = "allowlist"
allow = ["{ANN}"]

[session]
reset_triggers = ["/new"]
"""
ALONE, BOTH = f'allow = ["{ANN}"]', f'allow = ["{ANN}", "{BOB}"]'
ENVIRONMENT = {"TOKEN": "swordfish"}
BOT = '''
"""Says what it was told about itself; at `wait` only when it may go on."""
import asyncio
may_go_on = asyncio.Event()

async def answer(turn):
    if "wait" in turn.parts[-1].text:
        yield "Once I was told: "
        await may_go_on.wait()
    yield turn.system.splitlines()[0]
'''


class Running:
    """A gateway, its file, and somebody who chats with it."""

    def __init__(self, file: Path, chat: Chat, gateway: Gateway, reloading: Reloading) -> None:
        self.file = file
        self.chat = chat
        self.module = ""
        self.gateway = gateway
        self._reloading = reloading

    def write(self, old: str, new: str) -> None:
        """As editors do: another file is put in its place."""
        text = self.file.read_text("utf-8")
        assert old in text
        beside = self.file.with_suffix(".tmp")
        beside.write_text(text.replace(old, new), "utf-8")
        os.replace(beside, self.file)

    async def settles(self) -> None:
        """The file is seen, and seen again unchanged."""
        await self._reloading.look()
        await self._reloading.look()

    async def changes(self, old: str, new: str) -> None:
        self.write(old, new)
        await self.settles()


@asynccontextmanager
async def running(file: Path) -> AsyncGenerator[Running]:
    channel = FakeChannel("telegram")
    source = SettingsSource(Watch(str(file)), lambda: load(str(file), ENVIRONMENT))
    gateway = Gateway(source.read(), channels=[channel], store=MEMORY)
    async with Tasks() as tasks, gateway:
        tasks.start("gateway", gateway.serve())
        chat = Chat(channel, tasks, gateway)
        await channel.until(lambda: channel.listens)  # a channel that is closed before it listens never ends
        yield Running(file, chat, gateway, Reloading(gateway, source))
        await chat.ends()


@pytest.fixture
async def home(tmp_path, caplog):
    caplog.set_level(logging.INFO, "rejoinder.programs.reloading")
    module = f"bot_{uuid4().hex}"
    (tmp_path / f"{module}.py").write_text(BOT)
    file = tmp_path / "rejoinder.toml"
    file.write_text(PYTHON.format(module=module, folder=tmp_path) + REST)
    async with running(file) as made:
        made.module = module
        yield made


# --- what changes ---------------------------------------------------------------------------------


async def test_who_may_talk_changes_with_the_next_message(home):
    await home.chat.says("hello", sender=BOB)
    await home.changes(ALONE, BOTH)
    await home.chat.says("hello", sender=BOB)
    await home.chat.hears("old words")
    await home.changes(BOTH, ALONE)
    await home.chat.says("hello", sender=BOB)
    await home.chat.rests()


async def test_an_agent_changes_with_the_next_turn_and_a_turn_under_way_ends_as_it_began(home, monkeypatch):
    """The agent of the turn is closed when it has ended it, not before."""
    closed: list[PythonAgent] = []
    monkeypatch.setattr("rejoinder.wiring.agent_pool.close", lambda agent: asyncio.sleep(0, closed.append(agent)))
    before = home.gateway.agents["helper"]
    await home.chat.says("wait", sender=ANN)
    await home.chat.sees("Once I was told:")
    home.write(ALONE, BOTH)
    await home.changes("old words", "new words")
    await home.chat.says("hello", sender=BOB, chat="elsewhere")
    await home.chat.hears("new words")
    assert closed == []
    import_module(home.module).may_go_on.set()
    await home.chat.hears("Once I was told: old words")
    await home.chat.says("hello", sender=ANN)
    await home.chat.hears("new words")
    await home.chat.rests()
    assert closed == [before]


async def test_room_and_time_for_turns_change_for_those_that_begin(home):
    """TU-20, TU-21: one that waits for room finds it; one that has begun keeps its time."""
    home.write(ALONE, BOTH)
    await home.changes("[session]", "[gateway]\nmax_runs = 1\n[session]")
    await home.chat.says("wait", sender=ANN)
    begun = await home.chat.sees("Once I was told:")
    await home.chat.says("hello", sender=BOB, chat="elsewhere")
    await home.changes("max_runs = 1", "max_runs = 2")
    await home.chat.hears("old words")
    await home.changes("max_runs = 2", "hard_timeout_s = 0.1")
    await home.chat.says("wait", sender=BOB, chat="elsewhere")
    await home.chat.hears("Once I was told:")
    assert "did not answer" in (await home.chat.hears()).text
    import_module(home.module).may_go_on.set()
    assert await home.chat.hears("Once I was told: old words") is begun


@pytest.mark.parametrize(
    ("added", "asked", "told"),
    [
        ("[messages]\nresponse_prefix = '[x]'", "hello", "[x] old words"),
        ("[messages.queue]\nmode = 'steer'", "/status", "Queue: steer, 0 waiting"),
        ("[commands]\nconfig = true", "/config show commands.config", "commands.config = true"),
        ("[agents.defaults]\nthinking_default = 'high'", "/status", "think high"),
        ("[agents.defaults]\ncontext_tokens = 1234", "/status", "Context: 0 of 1234 tokens"),
    ],
)
async def test_what_an_open_conversation_obeys_changes_too(home, added, asked, told):
    """What was said there before is not where it ends."""
    await home.chat.says("hello", sender=ANN)
    await home.chat.hears("old words")
    await home.changes("[session]", f"{added}\n[session]")
    await home.chat.says(asked, sender=ANN)
    assert told in (await home.chat.hears()).text


async def test_an_agent_that_was_opened_again_knows_what_was_said_before(tmp_path):
    """TU-33 holds here too."""
    async with ModelServer() as server:
        server.will(Say("Your cat is called Mia."), Say("Mia."))
        agent = f'[agents.helper]\nkind = "openai"\nmodel = "one"\nbase_url = "{server.openai_url}"\n'
        (tmp_path / "rejoinder.toml").write_text(agent + REST)
        async with running(tmp_path / "rejoinder.toml") as home:
            await home.chat.says("my cat is called Mia", sender=ANN)
            await home.chat.hears("Your cat is called Mia.")
            await home.changes('model = "one"', 'model = "two"')
            await home.chat.says("what is her name?", sender=ANN)
            await home.chat.hears("Mia.")
    first, second = (asked.body for asked in server.requests)
    assert [first["model"], second["model"]] == ["one", "two"]
    assert "my cat is called Mia" in str(second["messages"])


async def test_what_was_changed_and_what_waits_is_said_in_one_sentence(home, caplog):
    await home.changes("[session]", 'tables = "bullets"\n[session]\nscope = "shared"')
    assert caplog.messages == [
        f"{home.file} was read again: channels.telegram.tables applies from the next message on; "
        "session.scope applies from the next start on."
    ]


async def test_a_file_that_says_the_same_in_other_words_is_not_spoken_of(home, caplog):
    await home.changes("[session]", "# who shares what\n[session]")
    assert caplog.messages == []


async def test_who_sits_at_the_terminal_is_told_there(home, caplog):
    """The screen is the chat's: the log is not shown on it."""
    told: list[str] = []

    async def tell(sentence: str) -> None:
        told.append(sentence)

    source = SettingsSource(Watch(str(home.file)), lambda: load(str(home.file), ENVIRONMENT))
    reloading = Reloading(home.gateway, source, tell)
    home.write("old words", "new words")
    await reloading.look()
    await reloading.look()
    assert told == [f"{home.file} was read again: agents.helper.system_prompt applies from the next message on."]
    assert caplog.messages == []


# --- a file that is wrong -------------------------------------------------------------------------


async def test_with_a_wrong_file_the_gateway_goes_on_and_says_where_and_what(home, caplog):
    await home.changes('dm = "allowlist"', 'dm = "opne"\nallow_group = []')
    [said] = caplog.messages
    assert said.startswith(f"{home.file}:11: channels.telegram.dm: ")
    assert f"; {home.file}:12: channels.telegram.allow_group: " in said
    assert said.endswith("? The gateway keeps its old settings.")
    await home.chat.says("hello", sender=BOB)
    await home.chat.says("hello", sender=ANN)
    await home.chat.hears("old words")


async def test_owners_read_it_in_status_until_it_is_mended(home, caplog):
    await home.changes('dm = "allowlist"', 'dm = "opne"')
    await home.chat.says("/status", sender=ANN)
    assert "Configuration: " in (told := (await home.chat.hears()).text)
    assert ":11: channels.telegram.dm: " in told
    await home.changes('dm = "opne"', 'dm = "allowlist"')
    assert caplog.messages[-1] == f"{home.file} was read again: nothing has changed in it."
    await home.chat.says("/status", sender=ANN)
    assert "Configuration" not in (await home.chat.hears()).text


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("${TOKEN}", "${TOKNE}", "the environment variable TOKNE is not set"),
        (":answer", ":nothing", "rejoinder.toml: agent 'helper'"),
        ('["/new"]', '["/new"', "rejoinder.toml:15: at the end"),
        ("[session]", "[commands]\nskills = 'nowhere'\n[session]", "there is no such folder"),
    ],
)
async def test_nothing_is_taken_of_a_file_that_cannot_be_taken_whole(home, caplog, old, new, told):
    home.write(ALONE, BOTH)
    await home.changes(old, new)
    assert told in caplog.text
    assert "swordfish" not in caplog.text
    await home.chat.says("hello", sender=BOB)
    await home.chat.says("hello", sender=ANN)
    await home.chat.hears("old words")


async def test_a_secret_that_changes_is_named_and_not_shown(home, caplog):
    await home.changes("${TOKEN}", "marlin")
    assert "channels.telegram.token applies from the next start on" in caplog.text
    assert "marlin" not in caplog.text
    await home.chat.says("/status", sender=ANN)
    assert "marlin" not in (await home.chat.hears()).text


async def test_a_file_that_is_gone_changes_nothing_and_is_read_when_it_is_back(home, caplog):
    text = home.file.read_text()
    home.file.unlink()
    await home.settles()
    await home.settles()
    assert caplog.messages == [
        f"{home.file} is gone. The gateway keeps its old settings, and reads it when it is back."
    ]
    home.file.write_text(text.replace("old words", "new words"))
    await home.settles()
    await home.chat.says("hello", sender=ANN)
    await home.chat.hears("new words")


# --- when a file has changed ----------------------------------------------------------------------


def test_a_file_is_read_when_it_has_come_to_rest(tmp_path):
    """Half of a file is never read: while it grows, nobody looks into it."""
    file = tmp_path / "rejoinder.toml"
    file.write_text("[session]\n")
    watch = Watch(str(file))
    assert not watch.has_changed()
    seen = []
    for piece in ("", "[ses", "sion]\nscope", ' = "shared"\n'):
        with file.open("w" if piece == "" else "a") as half:
            half.write(piece)
        seen.append(watch.has_changed())
    assert seen == [False] * 4
    assert [watch.has_changed(), watch.has_changed()] == [True, False]


def test_a_file_that_comes_later_is_noticed(tmp_path):
    watch = Watch(str(tmp_path / "rejoinder.toml"))
    assert not watch.has_changed()
    assert watch.is_gone
    (tmp_path / "rejoinder.toml").write_text("")
    assert [watch.has_changed(), watch.has_changed(), watch.is_gone] == [False, True, False]
