"""What a gateway survives beside being killed: load, outages, limits, a stop, a full disk."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.channels.base import RetryAfter
from rejoinder.config.schema import MessagesSettings, QueueSection, Settings
from rejoinder.runtime.tasks import Tasks
from rejoinder.testing import Chat, FakeMessenger, FakePlatform, ScriptedAgent
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.truth import by_bot
from tests import disks
from tests.conversations.test_telegram import telegram
from tests.crash.gateway import REJOINDER, Machine
from tests.crash.proofs import ask, backlog, half_said, judged, stopped_in_mid_answer, waiting_rows
from tests.crash.proofs import telegram as a_telegram
from tests.crash.trial import PATIENCE, until_done
from tests.crash.virtual_time import VirtualTime


async def test_a_restart_with_rows_that_wait():
    """TU-10, DU-13: what waits is answered, and does not keep the gateway from serving; `make crash` measures it."""
    assert (await waiting_rows(100)).wrong == []


async def test_what_was_said_while_nobody_was_there_is_answered_once():
    """DU-1: the platform kept it, nobody else."""
    assert (await backlog(4)).wrong == []


async def test_a_stop_in_mid_answer_lets_it_end():
    """DU-2: SIGTERM takes nothing new and ends what was begun."""
    assert (await stopped_in_mid_answer()).wrong == []


@pytest.mark.parametrize(
    ("personality", "lengths"),
    [("telegram hold", "long short"), ("telegram resend", "long long"), ("web", "short long"), ("web", "long short")],
)
async def test_what_was_half_said_is_replaced(personality, lengths):
    """DU-2, DE-2, DE-20: nothing of the first attempt is left, nothing stands twice, no byte of a directive is seen."""
    assert (await half_said(personality, lengths)).wrong == []


# --- an outage ----------------------------------------------------------------------------------


class Away(FakeMessenger):
    """A platform that takes nothing for so many seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.until_then = asyncio.get_running_loop().time() + seconds
        self.refused = 0

    async def send(self, part):
        if asyncio.get_running_loop().time() < self.until_then:
            self.refused += 1
            return RetryAfter(None, "502 Bad Gateway")
        return await super().send(part)


def test_an_outage_of_a_hundred_seconds():
    """DE-32: everything is delivered after it, in order, and the platform is not stormed meanwhile."""
    answers = [f"Answer {number}." for number in range(8)]

    async def main() -> tuple[list[str], int, float]:
        loop = asyncio.get_running_loop()
        began, day = loop.time(), datetime(2026, 5, 1, tzinfo=UTC)
        channel, agent = Away(100.0), ScriptedAgent(*answers)
        queue = MessagesSettings(queue=QueueSection(mode="followup", debounce_ms=0))
        settings = with_channel(Settings(messages=queue), channel.name, agent.name, ("ann",))
        gateway = Gateway(
            settings,
            agents={agent.name: agent},
            channels=[channel],
            store=MEMORY,
            clock=lambda: day + timedelta(seconds=loop.time() - began),
        )
        async with gateway:
            gateway.tasks.start("serve", gateway.serve())
            chat = Chat(channel, Tasks())
            await channel.until(lambda: channel.listens)
            for number in range(8):
                await chat.says(f"Question {number}")
            await channel.until(lambda: len(said(channel)) == 8)
            return said(channel), channel.refused, loop.time() - began

    def said(channel) -> list[str]:
        return [shown.text for shown in channel.messages.values() if shown.author == "bot"]

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        seen, refused, took = runner.run(main())
    assert seen == answers
    assert took >= 100.0
    assert refused < 20


# --- a platform that says to wait ---------------------------------------------------------------


async def test_nothing_is_asked_for_while_the_platform_says_to_wait():
    """DE-32: 429 at every kind of call; the log of the platform itself knows of no call that came too early."""
    replies = [f'<actions><react emoji="eyes"/></actions>\nAnswer {number}.' for number in range(6)]
    async with telegram(ScriptedAgent(*replies), 'dm = "open"') as platform:
        for verb in ("send", "react", "typing", "edit"):
            platform.fault("429", on=verb, times=2, seconds=1)
        for number in range(6):
            await platform.says("ann", "ann", f"question {number}")
            await platform.truth.until(lambda number=number: len(platform.truth.messages("ann")) > number)
        assert [call.status for call in platform.truth.calls].count(429) >= 2
        assert not oracles.too_early(platform.truth.calls)
        assert [seen.text for seen in platform.truth.messages("ann")] == [f"Answer {number}." for number in range(6)]


async def test_a_restart_does_not_forget_that_it_has_to_wait():
    """DE-32, DU-13: killed while the platform says to wait: the next process calls that chat for nothing before, be it
    a typing sign."""
    async with asyncio.timeout(PATIENCE), a_telegram() as (platform, machine):
        await machine.start()
        await platform.truth.until(lambda: bool(platform.truth.calls), PATIENCE)
        platform.fault("429", on="send", seconds=6)
        expected = await ask(platform, range(3, 9, 2), ("ann",))
        await machine.has_part("retry")
        await machine.kill()
        await machine.start()
        await until_done(machine, 3)
    assert judged(platform, expected) == []


# --- a disk that is full ------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with disks.small(tmp_path, megabytes=4) as disk:
        yield disk


async def test_a_full_disk_costs_nothing_but_time(small_disk):
    """DU-15: while nothing can be kept nothing is acknowledged; with room again everything is answered once."""
    async with asyncio.timeout(PATIENCE), FakePlatform("telegram") as platform:
        machine = Machine(small_disk, "telegram", platform.config(), on_unknown="hold", mode="followup", debounce_ms=0)
        try:
            await machine.start()
            expected = await ask(platform, range(2))
            await until_done(machine, 2)
            disks.fill(small_disk / "rest")
            for chat, marks in (await ask(platform, range(2, 6))).items():
                expected[chat] += marks
            await machine.says("The disk is full")
            (small_disk / "rest").unlink()
            await until_done(machine, 6)
        finally:
            await machine.kill()
    assert judged(platform, expected) == []


async def test_a_disk_that_is_full_at_the_start(small_disk, tmp_path):
    """DU-15: the gateway waits, says so, and goes on by itself."""
    async with asyncio.timeout(PATIENCE), FakePlatform("telegram") as platform:
        machine = Machine(small_disk, "telegram", platform.config(), on_unknown="hold", mode="followup", debounce_ms=0)
        try:
            (small_disk / "log").symlink_to(tmp_path / "log")  # there is room for it
            (tmp_path / "log").touch()
            disks.fill(small_disk / "rest")
            expected = await ask(platform, range(2))
            await machine.start()
            await machine.says("The disk is full")
            assert machine.status is None
            (small_disk / "rest").unlink()
            await until_done(machine, 2)
        finally:
            await machine.kill()
    assert judged(platform, expected) == []


# --- the file of the store ------------------------------------------------------------------------


async def test_nothing_is_confirmed_once_the_file_is_gone():
    """DU-15: what was written into a deleted file would be lost with the process; the platform keeps it instead."""
    async with asyncio.timeout(PATIENCE), a_telegram() as (platform, machine):
        await machine.start()
        expected = await ask(platform, range(2))
        await until_done(machine, 2)
        database, elsewhere = machine.folder / "rejoinder.db", machine.folder / "elsewhere.db"
        database.rename(elsewhere)
        await machine.says("Its file was removed")
        polls, said = _polls(platform), len(by_bot(platform.truth.frames))
        for chat, marks in (await ask(platform, range(2, 4))).items():
            expected[chat] += marks
        await platform.truth.until(lambda: _polls(platform) > polls, PATIENCE)
        assert len(by_bot(platform.truth.frames)) == said
        elsewhere.rename(database)
        await until_done(machine, 4)
    assert judged(platform, expected) == []


def _polls(platform: FakePlatform) -> int:
    return sum(call.verb == "poll" for call in platform.truth.calls)


async def test_a_second_gateway_is_refused_though_the_file_beside_is_gone():
    """DU-13: the lock is on the database itself, and the next gateway gets it as soon as the first is dead."""
    async with asyncio.timeout(PATIENCE), a_telegram() as (platform, machine):
        await machine.start()
        expected = await ask(platform, range(1))
        await until_done(machine, 1)
        (machine.folder / "rejoinder.db.lock").unlink()
        second = await asyncio.create_subprocess_exec(
            *REJOINDER, "run", cwd=machine.folder, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
        )
        _, said = await second.communicate()
        assert second.returncode != 0
        assert b"A store can have only one gateway." in said
        await machine.kill()
        await machine.start()
        for chat, marks in (await ask(platform, range(1, 2))).items():
            expected.setdefault(chat, []).extend(marks)
        await until_done(machine, 2)
    assert judged(platform, expected) == []
