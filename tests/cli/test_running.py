"""A running `rejoinder run` and whoever operates it: commands beside it, signals, a second one, a store in trouble.

The gateway is a process of its own, the platform is in this one.
"""

import asyncio
import json
import re
import resource
import signal
import sys
import urllib.request
from contextlib import asynccontextmanager

import pytest

from rejoinder.testing import FakePlatform

PROGRAM = (sys.executable, "-c", "from rejoinder.cli import main; main()")
SECONDS = 60
CONFIG = """
[gateway]
store = "{store}"

[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.telegram]
{here}
owners = ["{owner}"]
allow_groups = ["{group}"]
{more}

[messages.queue]
debounce_ms = 0
"""


class Running:
    def __init__(self, folder, process, platform):
        self.folder = folder
        self.process = process
        self.platform = platform
        self.told: list[str] = []

    async def says(self, *parts: str) -> str:
        """Waits for a line, its own or the log's, that has all of these in it."""
        while line := (await self.process.stdout.readline()).decode():
            self.told.append(line.rstrip("\n"))
            if all(part in line for part in parts):
                return self.told[-1]
        raise AssertionError(f"it never said {parts}: {self.told}")

    async def command(self, *words: str) -> str:
        return await command(self.folder, *words)

    async def ends(self, number: int) -> int:
        self.process.send_signal(number)
        return await self.ended()

    async def ended(self) -> int:
        rest = (await self.process.stdout.read()).decode()
        self.told += rest.splitlines()
        return await self.process.wait()

    def health(self, address: str) -> dict:
        with urllib.request.urlopen(f"{address}/health", timeout=SECONDS) as answer:
            return json.load(answer)


async def command(folder, *words: str) -> str:
    done = await asyncio.create_subprocess_exec(
        *(*PROGRAM, *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
    )
    return (await done.communicate())[0].decode()


async def start(folder, *words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(*PROGRAM, "run", *words),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
    )


@asynccontextmanager
async def running(folder, *answers, more="", store="sqlite:kept.db"):
    """Ann owns the bot; #team is a group it may take part in."""
    async with asyncio.timeout(SECONDS), FakePlatform("telegram") as platform:
        text = CONFIG.format(
            store=store,
            here=platform.config(),
            owner=platform.id_of("ann"),
            group=platform.id_of("#team"),
            more=more,
        )
        (folder / "rejoinder.toml").write_text(text)
        (folder / "answers.json").write_text(json.dumps(answers or ["Hello."]))
        process = await start(folder)
        try:
            yield Running(folder, process, platform)
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()


# --- beside it ----------------------------------------------------------------------------------


async def test_what_an_operator_writes_is_done(tmp_path):
    """DE-33: a dead part is sent again, a message of the operator's is sent, a stranger is let in; nobody restarts."""
    async with running(tmp_path, "One.", "Hello, Bob.") as here:
        platform = here.platform
        platform.fault("403", on="send")
        await platform.says("ann", "ann", "hello")
        await here.says("gave up on")
        assert "To be sent again: part 1. The running gateway" in await here.command("dead", "--retry", "all")
        await platform.hears("ann", "One.", seconds=SECONDS)

        chat = platform.id_of("ann")
        sent = await here.command("send", "--channel", "telegram", "--chat", chat, "The bot is **back**.")
        assert "The running gateway" in sent
        await platform.hears("ann", "The bot is back.", seconds=SECONDS)

        await platform.says("bob", "bob", "let me in")
        code = re.search(r"\b[A-Z0-9]{8}\b", (await platform.hears("bob")).text)
        assert code is not None
        assert "is let in on telegram. The running gateway" in await here.command("pair", "approve", code[0])
        await platform.says("bob", "bob", "hello")
        await platform.hears("bob", "Hello, Bob.", seconds=SECONDS)


async def test_the_console_sends_again(tmp_path):
    """DE-33: the sender is woken by it, nobody has to write first."""
    async with running(tmp_path, "One.", more='[channels.web]\nport = 0\nagent = "scripted"\n') as here:
        address = (await here.says("The chat is at ")).removeprefix("The chat is at ")
        here.platform.fault("403", on="send")
        await here.platform.says("ann", "ann", "hello")
        await here.says("gave up on")
        request = urllib.request.Request(f"{address}/api/outbox/1/retry", data=b"", headers={"X-Rejoinder": "1"})
        assert (await asyncio.to_thread(urllib.request.urlopen, request, timeout=SECONDS)).status == 200
        await here.platform.hears("ann", "One.", seconds=SECONDS)


# --- told to end --------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_an_answer_under_way_is_finished(tmp_path, number):
    """DU-2: told to end, it takes no further message and lets the agent finish; the next one has nothing to repeat."""
    async with running(tmp_path, ["Once upon a time ", 1.5, "there was a bot."]) as here:
        await here.platform.says("ann", "ann", "tell me")
        await here.platform.truth.until(lambda: bool(here.platform.truth.messages("ann")), SECONDS)
        assert await here.ends(number) == (130 if number == signal.SIGINT else 143)
        whole = ["Once upon a time there was a bot."]
        assert [seen.text for seen in here.platform.truth.messages("ann")] == whole
        assert any("An answer is being finished" in line for line in here.told)
        assert not any("Traceback" in line for line in here.told), here.told


async def test_a_second_signal_ends_it_at_once_and_nothing_is_lost(tmp_path):
    """DU-2: the turn is given back, and the next gateway answers it."""
    async with running(tmp_path, ["Once ", 3600], "Here I am.") as here:
        await here.platform.says("ann", "ann", "tell me")
        await here.platform.truth.until(lambda: bool(here.platform.truth.messages("ann")), SECONDS)
        here.process.send_signal(signal.SIGTERM)
        await here.says("An answer is being finished")
        assert await here.ends(signal.SIGTERM) == 143
        (tmp_path / "answers.json").write_text('["Here I am."]')
        again = await start(tmp_path)
        try:
            shown = lambda: [seen.text for seen in here.platform.truth.messages("ann")]  # noqa: E731
            await here.platform.truth.until(lambda: shown() == ["Here I am."], SECONDS)
        finally:
            again.terminate()
            await again.communicate()


async def test_a_thread_that_goes_on_keeps_no_process_from_ending(tmp_path):
    """TU-20: an async function that has handed its work to a thread; Python would wait for that until it ends."""
    (tmp_path / "threads.py").write_text(
        "import asyncio, time\n\nasync def answer(text: str):\n"
        "    print('at work', flush=True)\n    await asyncio.to_thread(time.sleep, 3600)\n"
    )
    agent = f'agent = "it"\n[agents.it]\nkind = "python"\ncall = "threads:answer"\npath = "{tmp_path}"\n'
    async with running(tmp_path, more=agent) as here:
        await here.platform.says("ann", "ann", "hello")
        await here.says("at work")
        here.process.send_signal(signal.SIGTERM)
        await here.says("An answer is being finished")
        assert await here.ends(signal.SIGTERM) == 143
        assert not any("Traceback" in line for line in here.told), here.told


async def test_a_second_gateway_on_the_same_store_is_refused(tmp_path):
    """DU-13: in one sentence that says who has it and what to do, before any channel or port is opened."""
    async with running(tmp_path) as here:
        await here.says("serving @testbot")
        second = await start(tmp_path)
        told, _ = await second.communicate()
        assert second.returncode == 1
        assert told.decode() == (
            f"rejoinder: The store kept.db is unavailable (a gateway is running on it: process {here.process.pid}). "
            "A store can have only one gateway. Stop the other one first, or name another file in gateway.store.\n"
        )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"this is no database" * 100, "(file is not a database). It is damaged."),
        (None, "Check that its folder exists"),
    ],
)
async def test_a_store_that_cannot_be_opened_is_one_sentence(tmp_path, content, sentence):
    """DU-14: exit status 1, no traceback, and the file is left as it was."""
    (tmp_path / "rejoinder.toml").write_text(
        '[gateway]\nstore = "sqlite:there/kept.db"\n[agents.tour]\nkind = "tour"\n[channels.web]\nport = 0\n'
    )
    if content is not None:
        (tmp_path / "there").mkdir()
        (tmp_path / "there/kept.db").write_bytes(content)
    process = await start(tmp_path)
    told, _ = await process.communicate()
    assert process.returncode == 1
    assert told.decode().count("\n") == 1
    assert sentence in told.decode()
    if content is not None:
        assert (tmp_path / "there/kept.db").read_bytes() == content


# --- a store in trouble -------------------------------------------------------------------------


async def test_a_disk_that_takes_nothing(tmp_path):
    """DU-15: `/health` and the log say it, Telegram's offset does not move, nothing is answered from memory; when it
    is good again it goes on by itself, and what was said meanwhile is answered once."""
    more = '[channels.web]\nport = 0\nagent = "scripted"\n'
    async with running(tmp_path, "One.", "Two.", more=more) as here:
        platform = here.platform
        address = (await here.says("The chat is at ")).removeprefix("The chat is at ")
        await platform.says("ann", "ann", "one")
        await platform.hears("ann", "One.", seconds=SECONDS)
        assert here.health(address)["status"] == "ok"

        resource.prlimit(here.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        calls = len(platform.truth.calls)
        await platform.says("ann", "ann", "two")
        await here.says("Nothing is acknowledged until then.")
        found = here.health(address)
        assert found["status"] == "trouble", here.told
        assert any("The store kept.db is unavailable" in problem for problem in found["problems"])
        asked = [call.payload.get("offset") for call in platform.truth.calls[calls:] if call.verb == "poll"]
        assert len(set(asked)) <= 1
        assert len(platform.truth.messages("ann")) == 1

        resource.prlimit(here.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await platform.hears("ann", "Two.", seconds=SECONDS)
        await here.says("can be written again")
        assert here.health(address)["status"] == "ok"
        assert len(platform.truth.messages("ann")) == 2


async def test_a_bot_that_is_refused_pauses_and_goes_on(tmp_path):
    """DE-32: 401: nothing is given up; `/health` says that nothing can be read or sent."""
    more = '[channels.web]\nport = 0\nagent = "scripted"\n'
    async with running(tmp_path, "One.", more=more) as here:
        platform = here.platform
        address = (await here.says("The chat is at ")).removeprefix("The chat is at ")
        platform.fault("401", on="send", times=1)
        await platform.says("ann", "ann", "one")
        await here.says("nothing can be sent", "Unauthorized", "messages are kept")
        found = here.health(address)
        assert found["problems"] == ["telegram: nothing can be sent: Unauthorized"]
        assert "Nothing is dead, held or quarantined" in await here.command("dead")


async def test_what_the_gateway_itself_answers_is_explained_too(tmp_path):
    """IN-64: a command's answer with its receipt."""
    async with running(tmp_path) as here:
        asked = await here.platform.says("ann", "ann", "/whoami")
        answered = await here.platform.hears("ann")
        while f"m2 {answered.id}" not in (told := await here.command("explain", asked)):
            pass  # people see it before the receipt is kept
        assert answered.text.splitlines()[0][:20] in told


# --- started again by its owner -----------------------------------------------------------------


async def test_an_owner_restarts_it(tmp_path):
    """IN-61: the same process, the command settled before it ends: said once, obeyed once, and nothing is lost."""
    async with running(tmp_path, ["Once upon a time ", 1.0, "there was a bot."], more='dm = "open"') as here:
        platform = here.platform
        await here.says("serving @testbot")
        await platform.says("bob", "bob", "tell me")
        await platform.truth.until(lambda: bool(platform.truth.messages("bob")), SECONDS)
        asked = await platform.says("ann", "ann", "/restart")
        await platform.hears("ann", "Restarting.", seconds=SECONDS)
        (tmp_path / "answers.json").write_text('["I am back."]')
        await here.says("An owner has asked for a restart")
        await here.says("serving @testbot")
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "I am back.", seconds=SECONDS)
        assert [seen.text for seen in platform.truth.messages("bob")] == ["Once upon a time there was a bot."]
        assert [seen.text for seen in platform.truth.messages("ann")] == ["Restarting.", "I am back."]
        assert "answered: /restart" in await here.command("explain", asked)
        assert await here.ends(signal.SIGTERM) == 143
        assert sum("serving @testbot" in line for line in here.told) == 2
        assert not any("Traceback" in line for line in here.told), here.told


async def test_nothing_restarts_for_ever(tmp_path):
    """IN-61: where nothing is kept the platform may tell of the command again; it has been obeyed."""
    async with running(tmp_path, "Hello.", store="sqlite::memory:") as here:
        await here.says("serving @testbot")
        await here.platform.says("ann", "ann", "/restart")
        await here.says("An owner has asked for a restart")
        await here.says("serving @testbot")
        await here.platform.says("ann", "ann", "hello")
        seen = here.platform.truth.messages
        await here.platform.truth.until(lambda: "Hello." in [each.text for each in seen("ann")], SECONDS)
        assert await here.ends(signal.SIGTERM) == 143
        assert sum("has asked for a restart" in line for line in here.told) == 1


async def test_it_is_not_restarted_into_a_wrong_configuration(tmp_path):
    """IN-61: the mistake is the answer, and the gateway goes on."""
    async with running(tmp_path, "Still here.") as here:
        await here.says("serving @testbot")
        with (tmp_path / "rejoinder.toml").open("a") as file:
            file.write("debounce = 1\n")
        await here.platform.says("ann", "ann", "/restart")
        told = (await here.platform.hears("ann", seconds=SECONDS)).text
        assert told.startswith("Not restarted, because it would not start: ")
        assert "messages.queue.debounce" in told
        await here.platform.says("ann", "ann", "hello")
        await here.platform.hears("ann", "Still here.", seconds=SECONDS)


async def test_an_owner_changes_a_setting_until_the_next_start(tmp_path):
    """IN-61: `/debug`, on the file the gateway was started with; the file is left alone."""
    async with running(tmp_path, "One.", "Two.", more="[commands]\ndebug = true\n") as here:
        platform, file = here.platform, (tmp_path / "rejoinder.toml").read_text()
        await here.says("serving @testbot")
        await platform.says("ann", "ann", "/debug set messages.response_prefix Bot:")
        assert "Until the next start" in (await platform.hears("ann", seconds=SECONDS)).text
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Bot: One.", seconds=SECONDS)
        await platform.says("ann", "ann", "/restart")
        await platform.hears("ann", "Bot: Restarting.", seconds=SECONDS)
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "One.", seconds=SECONDS)
        assert (tmp_path / "rejoinder.toml").read_text() == file
