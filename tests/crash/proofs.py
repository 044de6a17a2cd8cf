"""What the crash suite shows beside the kill points: a restart under load, a backlog, an outage, a stop."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from rejoinder.app import Gateway
from rejoinder.config.load import load
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import until
from rejoinder.testing.platform import FakePlatform, oracles
from rejoinder.testing.platform.truth import BOT, by_bot, standing
from rejoinder.wiring.opening import open_channels
from tests.crash.agent import REACTION, marks_of
from tests.crash.gateway import Machine
from tests.crash.points import Personality
from tests.crash.trial import PATIENCE, STOPPED, until_done

EACH = 20
"""Messages that wait in one conversation: as many as are answered one by one after a restart."""


class Proof(Struct, frozen=True):
    """What was measured, in words; and what is wrong with it, if anything."""

    told: str
    wrong: list[str]


@asynccontextmanager
async def telegram(**how: object) -> AsyncGenerator[tuple[FakePlatform, Machine]]:
    with TemporaryDirectory(prefix="rejoinder-crash-") as folder:
        async with FakePlatform("telegram") as platform:
            options = {"on_unknown": "hold", "mode": "followup", "debounce_ms": 0, **how}
            machine = Machine(Path(folder), "telegram", platform.config(), **options)
            try:
                yield platform, machine
            finally:
                await machine.kill()


def judged(platform: FakePlatform, expected: dict[str, list[str]]) -> list[str]:
    verdict = oracles.judge(platform.truth.frames, expected, "telegram")
    names = [name for name in verdict.__struct_fields__ if name != "messages"]
    found = [f"{name.replace('_', ' ')}: {each}" for name in names for each in getattr(verdict, name)]
    return found + [f"too early: {each}" for each in oracles.too_early(platform.truth.calls)]


async def ask(platform: FakePlatform, numbers: range, chats: tuple[str, ...] = ("ann", "bob")) -> dict[str, list[str]]:
    """People write; the marks of what they have to be answered."""
    expected: dict[str, list[str]] = {}
    for number in numbers:
        chat = chats[number % len(chats)]
        await platform.says(chat, chat, f"q{number}. What is it?")
        expected.setdefault(chat, []).extend(marks_of(number))
    return expected


async def backlog(messages: int = 8) -> Proof:
    """People wrote while no gateway was there."""
    async with asyncio.timeout(PATIENCE), telegram() as (platform, machine):
        expected = await ask(platform, range(messages))
        await machine.start()
        await until_done(machine, messages)
    wrong = judged(platform, expected)
    return Proof(f"backlog: {messages} messages from before the start, {len(wrong)} wrong", wrong)


async def stopped_in_mid_answer() -> Proof:
    """SIGTERM while an answer is written: it is written to its end, and nothing is left open (K24 kills there)."""
    async with asyncio.timeout(PATIENCE), telegram() as (platform, machine):
        await machine.start()
        await platform.truth.until(lambda: bool(platform.truth.calls), PATIENCE)
        expected = await ask(platform, range(1))
        await platform.truth.until(lambda: any(frame.text for frame in by_bot(platform.truth.frames)), PATIENCE)
        status = await machine.terminate()
        wrong = [] if status in STOPPED else [f"it ended with {status}"]
        wrong += [] if await machine.is_done(1) else [f"it left something open: {await machine.census()}"]
    wrong += judged(platform, expected)
    return Proof(f"SIGTERM in mid-answer: {wrong or 'answered to its end'}", wrong)


async def half_said(personality: Personality, lengths: str) -> Proof:
    """Killed while a text grows before people's eyes; the next attempt says something else, and takes its place."""
    channel, _, on_unknown = personality.partition(" ")
    first, second = lengths.split()
    with TemporaryDirectory(prefix="rejoinder-crash-") as folder:
        async with asyncio.timeout(PATIENCE), FakePlatform(channel) as platform:
            how = {"on_unknown": on_unknown or "hold", "mode": "followup", "debounce_ms": 0, "agents": ("change",)}
            machine = Machine(Path(folder), channel, platform.config(), **how)
            truth = platform.truth
            late = "attempt0-590" if first == "long" else "attempt0-35"
            try:
                await machine.start()
                asked = await platform.says("ann", "ann", f"q {lengths}")
                await truth.until(lambda: any(late in seen.text for seen in truth.messages("ann")), PATIENCE)
                half = truth.messages("ann")
                await machine.kill()
                await machine.start()
                await until_done(machine, 1)
            finally:
                await machine.kill()
    stands, (question,) = truth.messages("ann"), truth.messages("ann", "ann")
    words = " ".join(f"attempt1-{number}" for number in range(600 if second == "long" else 40))
    wrong = [] if " ".join(seen.text for seen in stands) == words else [f"there stands {stands}"]
    wrong += [] if stands[0].id == half[0].id else ["the message that was growing is another one now"]
    wrong += [] if stands[0].reply_to == asked and question.reactions == REACTION else ["the reply or the reaction"]
    wrong += oracles.leaked(truth.frames)
    for end in range(1, len(truth.frames) + 1):
        said = [seen.text for seen in standing(truth.frames[:end]) if seen.by == BOT]
        wrong += [f"twice: {begun}" for begun in ("attempt0-0 ", "attempt1-0 ") if sum(begun in t for t in said) > 1]
    return Proof(f"killed in mid-answer ({personality}, {lengths}): {len(wrong)} wrong", wrong)


async def outage(seconds: float) -> Proof:
    """The platform is away while answers are written; they are delivered after it, in order."""
    async with asyncio.timeout(PATIENCE + 2 * seconds), telegram() as (platform, machine):
        await machine.start()
        await platform.truth.until(lambda: bool(platform.truth.calls), PATIENCE)
        expected = await ask(platform, range(8))
        await platform.truth.until(lambda: bool(by_bot(platform.truth.frames)), PATIENCE)
        await platform.__aexit__()
        await asyncio.sleep(seconds)  # the outage itself
        await platform.__aenter__()
        came_back = time.monotonic()
        await until_done(machine, 8)
        took = time.monotonic() - came_back
        held = [part.text for part in await machine.unconfirmed()]
    wrong = [each for each in judged(platform, expected) if not any(each.endswith(text) for text in held)]
    held_back = f", {len(held)} unconfirmed" if held else ""
    return Proof(f"outage of {seconds:.0f} s: all delivered {took:.1f} s after it, in order{held_back}", wrong)


async def waiting_rows(rows: int, at_most: float | None = None) -> Proof:
    """A gateway is killed with so many messages waiting; how long until the next one serves again."""
    async with telegram() as (platform, machine):
        people = [f"p{number}" for number in range(max(1, rows // EACH))]
        stuck = ScriptedAgent(*([asyncio.Event().wait] for _ in people), name="answer")
        settings = load(str(machine.folder / "rejoinder.toml"), {})
        gateway = Gateway(settings, agents={"answer": stuck}, channels=open_channels(settings), store=machine.url)
        async with gateway:
            serving = gateway.tasks.start("serve", gateway.serve())
            for number in range(rows):
                person = people[number % len(people)]
                await platform.says(person, person, f"q{4 * number + 3}. What is it?")

            async def waits() -> bool:
                return sum((await gateway.store.count_rows()).inputs.values()) >= rows

            await until(waits, f"the row {rows}", PATIENCE + rows / 10)
            await gateway.store.close()  # as by kill -9: nothing is given back
            await gateway.tasks.close()
            await asyncio.wait([serving])
        calls = len(platform.truth.calls)
        began = time.monotonic()
        await machine.start()
        await platform.truth.until(lambda: len(platform.truth.calls) > calls, PATIENCE)
        took = time.monotonic() - began
        await platform.truth.until(lambda: bool(by_bot(platform.truth.frames)), PATIENCE)
        answered = time.monotonic() - began
    wrong = [f"serving only after {took:.1f} s"] if at_most is not None and took > at_most else []
    told = f"restart with {rows} waiting rows: serving after {took:.1f} s, first answer after {answered:.1f} s"
    return Proof(told, wrong)
