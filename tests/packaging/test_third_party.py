"""Somebody else's package, and a file dropped into the house: both get all that the built-ins get (CH-1)."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.ports import free_port

HERE = Path(__file__).parent / "birdhouse"
SOURCE = Path(__file__).parents[2] / "src" / "rejoinder"
PROGRAM = (sys.executable, "-c", "from rejoinder.cli import main; main()")

CONFIGURATION = """
[gateway]
store = "nest:kept.db"

[directives]
send_to = ["deck:keeper"]

[agents.polly]
kind = "parrot"
word = "Ahoy"
pecks = true

[channels.deck]
kind = "perch"
dm = "allowlist"
allow = ["deck:north:ann", "deck:south:bob"]
[channels.deck.accounts]
north = {north}
south = {south}
"""

DROPPED = """
[gateway]
store = "sqlite::memory:"

[agents.polly]
kind = "parrot"
word = "Ahoy"

[channels.perch]
dm = "open"
[channels.perch.accounts]
north = {north}
"""


class Person:
    """Somebody at an account of the channel."""

    def __init__(self, name: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._name, self._reader, self._writer, self._said = name, reader, writer, 0

    async def says(self, *texts: str) -> None:
        for text in texts:
            self._said += 1
            self._writer.write(json.dumps({"id": f"{self._name}-{self._said}", "text": text}).encode() + b"\n")
        await self._writer.drain()

    async def sees(self) -> dict[str, Any]:
        return json.loads(await self._reader.readline())

    async def goes(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


async def person(name: str, port: int) -> Person:
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)  # nobody tells when a program listens
        else:
            writer.write(f"{name}\n".encode())
            return Person(name, reader, writer)


@asynccontextmanager
async def running(folder: Path, environment: dict[str, str], *who: tuple[str, int]) -> AsyncIterator[list[Person]]:
    """`rejoinder run` with these people at these ports, until the end of the block; it has to end cleanly."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "run", stderr=asyncio.subprocess.PIPE, cwd=folder, env=environment
    )
    people: list[Person] = []
    try:
        people += [await person(*each) for each in who]
        yield people
        for each in people:
            await each.goes()
        process.send_signal(signal.SIGTERM)
    except BaseException:
        process.kill()
        print((await process.communicate())[1].decode())
        raise
    _, told = await process.communicate()
    assert process.returncode == 128 + signal.SIGTERM, told.decode()
    assert "Traceback" not in told.decode()


def asked(folder: Path, environment: dict[str, str], *command: str, input: str = "") -> str:
    done = subprocess.run(
        [*PROGRAM, *command], input=input, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def written(log: Path, lines: int) -> list[dict[str, Any]]:
    """What the hooks wrote down, once it is that much."""
    await until(lambda: log.read_text().count("\n") >= lines, f"{lines} lines in {log}")
    return [json.loads(line) for line in (await asyncio.to_thread(log.read_text)).splitlines()]


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment that has the package, built and installed by pip."""
    project, site = tmp_path / "project", tmp_path / "site"
    shutil.copytree(HERE, project, ignore=shutil.ignore_patterns("__pycache__"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "--target", site, project], check=True)
    path = os.pathsep.join((str(site), str(SOURCE.parent)))  # the tree under test, whatever is installed
    return {**os.environ, "PYTHONPATH": path, "BIRDHOUSE_LOG": str(tmp_path / "log.jsonl")}


async def test_a_package_of_its_own_gets_all_that_ours_get(tmp_path: Path, installed: dict[str, str]):
    """CH-1, CH-4, OD-55: a channel with its own renderer, pace, abilities, reactions and accounts, an agent kind, a
    store engine, a directive with an effect that sends, a command and hooks, all by entry points and in one
    conversation; and its check and its question in `doctor` and `init`."""
    north, south = free_port(), free_port()
    (tmp_path / "rejoinder.toml").write_text(CONFIGURATION.format(north=north, south=south))
    who = ("ann", north), ("keeper", north), ("ann", south), ("bob", south), ("keeper", south)
    async with (
        asyncio.timeout(2 * PATIENCE),
        running(tmp_path, installed, *who) as (ann, keeper, namesake, bob, other_keeper),
    ):
        await ann.says("hello")
        frames = [await ann.sees(), await ann.sees()]
        assert [frame["account"] for frame in frames] == ["north", "north"]
        assert [frame["reaction"] for frame in frames if "reaction" in frame] == ["stares"], "their name for 👀"
        assert [frame["text"] for frame in frames if "text" in frame] == ["AHOY, hello"], "their renderer"
        assert (await keeper.sees())["text"] == "A peck at SEED: hello", "their directive's effect"

        await bob.says("what may you do?")
        frames = [await bob.sees(), await bob.sees(), await other_keeper.sees()]
        assert {(frame["account"], frame["for"]) for frame in frames} == {("south", "south")}, "opened by itself"
        assert sorted(frame["number"] for frame in frames) == [1, 2, 3], "it counts its own messages only"
        (answer,) = (frame for frame in frames[:2] if "text" in frame)
        assert answer["text"] == "AHOY, silent", "their abilities: the agent is told of no reply, which it cannot have"
        assert answer["silent"]

        await namesake.says("hello")
        await ann.says("/roost barn", "/roost attic", "/roost tree")
        answers = [await ann.sees() for _ in range(3)]
        assert [each["text"] for each in answers] == [f"Asleep in the {where}." for where in ("BARN", "ATTIC", "TREE")]
        assert answers[2]["at"] - answers[0]["at"] > 0.45, "their pace: four a second in a chat, one at once"

        happened = await written(tmp_path / "log.jsonl", 13)
        decided = [(each["account"], each["outcome"]) for each in happened if each["hook"] == "decided"]
        expected = [("north", "turn"), *[("north", "answer")] * 3, ("south", "drop"), ("south", "turn")]
        assert sorted(decided) == sorted(expected), "who may write is said of an account"
        sent = [(each["account"], each["chat"]) for each in happened if each["hook"] == "sent"]
        assert sorted(sent) == [("north", "ann")] * 4 + [("north", "keeper"), ("south", "bob"), ("south", "keeper")]
        assert "ann" in asked(tmp_path, installed, "sessions"), "their store, read beside the gateway"
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        found = json.loads(asked(elsewhere, installed, "doctor", "--json", "-c", str(tmp_path / "rejoinder.toml")))
        told = {each["what"]: each["found"] for each in found["checks"]}
        assert told["store"].startswith(f"{tmp_path}/kept.db is intact"), (
            "their file, in the folder of its configuration"
        )
        assert "disk" in told
        assert told["channels.deck"] == "2 perches", "their check"
        assert "processes" not in told, "it is not shared"
    (tmp_path / "new").mkdir()
    asked(tmp_path / "new", installed, "init", input="\nn\nn\ny\n\n\n\n")
    assert "[channels.perch.accounts]\nnorth = 7001" in (tmp_path / "new" / "rejoinder.toml").read_text(), (
        "their question"
    )
    said = '[[silent]]\n[[reply_to:m1]]\n<actions><peck at="x">y</peck></actions>\n**z**'
    dry = asked(tmp_path, installed, "reply", "--channel", "perch", input=said)
    assert "on perch" in dry
    assert "done: tells the keeper what was pecked at" in dry
    assert "done: sends without a notification" in dry
    assert "unsupported: this platform cannot do it" in dry, "no native replies there"


async def test_one_file_in_the_house_is_enough(tmp_path: Path):
    """CH-1: a file in `agents/` and one in `channels/` of a copy are found by their names; nothing else is touched."""
    house = tmp_path / "house"
    shutil.copytree(SOURCE, house / "rejoinder", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "birdhouse" / "parrot.py", house / "rejoinder" / "agents")
    shutil.copy(HERE / "birdhouse" / "perch.py", house / "rejoinder" / "channels")
    environment = {**os.environ, "PYTHONPATH": str(house)}
    north = free_port()
    (tmp_path / "rejoinder.toml").write_text(DROPPED.format(north=north))
    async with asyncio.timeout(2 * PATIENCE), running(tmp_path, environment, ("ann", north)) as (ann,):
        await ann.says("hello")
        frames = [await ann.sees(), await ann.sees()]
        assert {frame.get("text") or frame["reaction"] for frame in frames} == {"AHOY, hello", "stares"}
    schema = json.loads(asked(tmp_path, environment, "config", "--schema"))
    assert "perch" in schema["properties"]["channels"]["properties"]
