"""Kills at random moments while many people talk: nothing innocent is quarantined, and no draft stays (DU-2, DU-22).

What is killed is never guilty here, so each quarantined turn is one too many; and whatever stands in a chat at the end
is an answer, whole, or a notice of the gateway itself.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from msgspec import Struct

from rejoinder.runtime.session.unconfirmed_notice import ASK_AGAIN
from rejoinder.store.sqlite.store import open_reader
from rejoinder.testing.platform import FakePlatform, oracles
from rejoinder.testing.platform.truth import BOT, standing
from rejoinder.turns.suspicion import STABLE_AFTER
from tests.crash.agent import marks_of
from tests.crash.gateway import Machine
from tests.crash.trial import until_done

PEOPLE = ("ann", "bob", "cyd", "dora", "eve", "fay", "gus", "hal", "ida", "jim", "#team", "#lab")
LONGEST_LIFE = 2.5
"""Seconds from the first call of a gateway to its death, at most."""


KINDS = ("lost", "twice", "leaked", "left")


class Killed(Struct, frozen=True):
    messages: int
    kills: int
    held: int
    quarantined: list[str]
    wrong: list[str]
    log: str

    @property
    def told(self) -> str:
        counts = f"{self.kills} kills at random, {self.messages} messages: {len(self.quarantined)} quarantined"
        found = [f"{sum(each.startswith(kind) for each in self.wrong)} {kind}" for kind in KINDS]
        return f"{counts}, {self.held} held, {', '.join(found)}, {len(self.wrong)} wrong in all"


async def random_kills(
    kills: int,
    messages: int,
    seed: int,
    on_unknown: str = "hold",
    *,
    people: Sequence[str] = PEOPLE,
    all_long: bool = False,
    stable_after: float = STABLE_AFTER,
) -> Killed:
    """`all_long`: answers take nearly as long as a process lives, so that few survive."""
    random = Random(seed)
    numbers = [number * 4 if all_long else number for number in range(messages)]
    with TemporaryDirectory(prefix="rejoinder-crash-") as folder:
        async with FakePlatform("telegram") as platform:
            how = {"on_unknown": on_unknown, "mode": "followup", "debounce_ms": 0}
            machine = Machine(Path(folder), "telegram", platform.config(), stable_after=stable_after, **how)
            expected: dict[str, list[str]] = {}
            try:
                async with asyncio.timeout(120 + 10 * kills):
                    async with asyncio.TaskGroup() as both:
                        both.create_task(_people(platform, numbers, people, kills, Random(seed), expected))
                        both.create_task(_killer(machine, platform, kills, random))
                    await until_done(machine, messages)
                wrong: list[str] = []
            except TimeoutError:
                wrong = [f"not everything came to its end: {await machine.census()}"]
            finally:
                await machine.kill()
            held = [part.text for part in await machine.unconfirmed() if part.state == "held"]
            reader = open_reader(machine.url)
            quarantined = [f"{each.kind} {each.id} of {each.where}" for each in await reader.quarantined()]
            await reader.close()
            wrong += _judged(platform, expected, held, on_unknown)
            return Killed(messages, kills, len(held), quarantined, wrong, machine.log if wrong or quarantined else "")


async def _people(
    platform: FakePlatform,
    numbers: Sequence[int],
    people: Sequence[str],
    kills: int,
    random: Random,
    expected: dict[str, list[str]],
) -> None:
    """All chats at once, then spread over the time of the kills."""
    for place, number in enumerate(numbers):
        chat = people[place % len(people)]
        person = chat if not chat.startswith("#") else "ann"
        expected.setdefault(chat, []).extend(marks_of(number))
        await platform.says(chat, person, f"q{number}. What is it?")
        if place >= len(people):
            await asyncio.sleep(random.uniform(0.0, 4.0 * kills / len(numbers)))


async def _killer(machine: Machine, platform: FakePlatform, kills: int, random: Random) -> None:
    for _ in range(kills):
        calls = len(platform.truth.calls)
        await machine.start()
        await platform.truth.until(lambda calls=calls: len(platform.truth.calls) > calls, 60)
        await asyncio.sleep(random.uniform(0.0, LONGEST_LIFE))
        await machine.kill()
    await machine.start()


def _judged(platform: FakePlatform, expected: dict[str, list[str]], held: list[str], on_unknown: str) -> list[str]:
    frames = platform.truth.frames
    verdict = oracles.judge(frames, expected, "telegram")
    wrong = [f"lost: {each}" for each in verdict.lost if not any(each.rpartition(" ")[2] in text for text in held)]
    wrong += [f"twice: {each}" for each in verdict.duplicated if on_unknown == "hold"]
    wrong += [f"leaked: {each}" for each in verdict.leaked]
    there = [seen for seen in standing(frames) if seen.by == BOT and not seen.text.endswith(ASK_AGAIN)]
    left = [seen for seen in there if not any(mark in seen.text for mark in expected[seen.chat])]
    return wrong + [f"left: {seen.text!r} in {seen.chat} belongs to no answer" for seen in left]
