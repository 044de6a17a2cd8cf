"""One trial: people write, the gateway dies at a point and is started again, and the ground truth is judged."""

import asyncio
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.testing.platform import FakePlatform, Frame, oracles
from rejoinder.testing.platform.truth import BOT, by_bot, standing
from tests.crash.agent import REACTION, kind_of, marks_of
from tests.crash.gateway import Machine
from tests.crash.points import MAY_BE_TWICE, Personality, Point

KILLED, STOPPED = -9, (143, -15)
"""Stopped in good order, or before anything had begun."""
PATIENCE = 120.0
LOOK_SECONDS = 0.2
Talk = Literal["answers", "hands over"]
CHATS: dict[Talk, tuple[tuple[str, str], ...]] = {
    "answers": (("ann", "ann"), ("bob", "bob"), ("cyd", "cyd"), ("#team", "ann"), ("#team", "bob")),
    "hands over": (("#team", "ann"), ("#crew", "bob"), ("#team", "cyd")),
}
"""Where each question is asked, and by whom, in turn."""


class Trial(Struct, frozen=True):
    point: Point
    personality: Personality
    at: int = 1
    """At which pass of the point."""
    messages: int = 20
    chats: int = 5
    talk: Talk = "answers"

    @property
    def name(self) -> str:
        return f"{self.crash_at} {self.personality}" + (f", {self.talk}" if self.talk != "answers" else "")

    @property
    def events(self) -> int:
        """What comes in: what people ask, and what one agent hands to another."""
        return self.messages * (2 if self.talk == "hands over" else 1)

    @property
    def collects(self) -> bool:
        """The only mode in which a lane waits for quiet."""
        return self.point.name == "K6"

    @property
    def crash_at(self) -> str:
        return f"{self.point.name}:{self.at}"


class Result(Struct, frozen=True):
    trial: Trial
    lost: list[str]
    held: int
    duplicated: list[str]
    leaked: int
    """Bytes."""
    wrong: list[str]
    """Everything that must not be, in words."""
    log: str = ""

    @property
    def may_be_twice(self) -> bool:
        return self.trial.personality == "telegram resend" and self.trial.point.name in MAY_BE_TWICE


class Question(Struct, frozen=True):
    number: int
    chat: str
    person: str
    message: str


async def run(trial: Trial) -> Result:
    channel, _, on_unknown = trial.personality.partition(" ")
    with TemporaryDirectory(prefix="rejoinder-crash-") as folder:
        async with FakePlatform(channel) as platform:
            machine = Machine(
                Path(folder),
                channel,
                platform.config(),
                on_unknown=on_unknown or "hold",
                mode="collect" if trial.collects else "followup",
                debounce_ms=150 if trial.collects else 0,
                agents=("answer",) if trial.talk == "answers" else ("give", "take"),
            )
            wrong: list[str] = []
            asked: list[Question] = []
            under_way = 0
            try:
                async with asyncio.timeout(PATIENCE):
                    async with asyncio.TaskGroup() as people:
                        people.create_task(_people(platform, trial, asked))
                        wrong += await _die(trial, machine, platform)
                        under_way = await machine.under_way()
                        await machine.start()
                    await until_done(machine, trial.events)
                    if (status := await machine.terminate()) not in STOPPED:
                        wrong.append(f"the gateway ended with {status} after SIGTERM")
            except TimeoutError:
                wrong.append(f"not everything came to its end: {await machine.census()}")
            finally:
                await machine.kill()
            listed = await machine.unconfirmed()
            wrong += [f"given up: {part.text!r}: {part.why}" for part in listed if part.state == "dead"]
            held = [part.text for part in listed if part.state == "held"]
            if len(held) > (under_way if trial.personality == "telegram hold" else 0):
                wrong.append(f"held {held}, {under_way} were under way")
            return _judged(trial, platform.truth.frames, asked, wrong, held, channel, machine.log)


# --- what happens -------------------------------------------------------------------------------


async def _people(platform: FakePlatform, trial: Trial, asked: list[Question]) -> None:
    """Each chat has its own pace; in a chat the questions come in order."""
    random = Random(trial.name)
    if trial.point.way == "serving" and trial.personality != "web":  # else all of it is one batch
        await platform.truth.until(lambda: bool(platform.truth.calls), PATIENCE)
    by_chat: dict[str, list[tuple[int, str]]] = {}
    for number in range(trial.messages):
        chats = CHATS[trial.talk][: trial.chats]
        chat, person = chats[number % len(chats)]
        by_chat.setdefault(chat, []).append((number, person))

    async def talk(chat: str, questions: list[tuple[int, str]]) -> None:
        for number, person in questions:
            message = await platform.says(chat, person, f"q{number}. What is it?")
            asked.append(Question(number, chat, person, message))
            await asyncio.sleep(random.uniform(0.1, 1.0))

    async with asyncio.TaskGroup() as chats:
        for chat, questions in by_chat.items():
            chats.create_task(talk(chat, questions))


async def _die(trial: Trial, machine: Machine, platform: FakePlatform) -> list[str]:
    """Starts gateways until one has been killed at the point."""
    point = trial.point
    match point.way:
        case "restart":
            await machine.start("K9:2")
            await machine.ended()
            await machine.start(trial.crash_at)
        case "sigterm":
            await machine.start(trial.crash_at)
            await platform.truth.until(lambda: bool(by_bot(platform.truth.frames)), PATIENCE)
            await machine.terminate()
        case "grown old":
            await machine.start()
            await until_done(machine, trial.events)
            await machine.terminate()
            machine.grow_old(days=40)
            before = await machine.census()
            await machine.start(trial.crash_at)
            ended = await machine.ended()
            same = await machine.census() == before
            return [] if (ended, same) == (KILLED, True) else [f"it ended with {ended}; it had removed: {not same}"]
        case _:
            await machine.start(trial.crash_at)
    ended = asyncio.ensure_future(machine.ended())
    while not ended.done():
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(ended), LOOK_SECONDS)
        if not ended.done() and await machine.is_done(trial.events):
            await machine.terminate()
            await ended
            return [f"{trial.crash_at} was never reached"]
    return [] if ended.result() == KILLED else [f"the gateway ended with {ended.result()} instead of being killed"]


async def until_done(machine: Machine, messages: int) -> None:
    calm = 0
    while calm < 2:  # what is in memory only becomes a row within a moment
        await asyncio.sleep(LOOK_SECONDS)
        calm = calm + 1 if await machine.is_done(messages) else 0
        if machine.status is not None:
            raise TimeoutError


# --- what people saw ------------------------------------------------------------------------------


def _judged(
    trial: Trial,
    frames: list[Frame],
    asked: list[Question],
    wrong: list[str],
    held: list[str],
    channel: str,
    log: str,
) -> Result:
    hands_over = trial.talk == "hands over"
    expected: dict[str, list[str]] = {}
    for question in asked:
        marks = (f"a{question.number}.", f"h{question.number}.") if hands_over else marks_of(question.number)
        expected.setdefault(question.chat, []).extend(marks)
    verdict = oracles.judge(frames, expected, channel)
    if hands_over:
        verdict = _taken_too(verdict, frames, asked, expected)
    is_held = {mark for marks in expected.values() for mark in marks if any(mark in text for text in held)}
    lost = [each for each in verdict.lost if each.rpartition(" ")[2] not in is_held]
    if len(asked) < trial.messages:
        lost += [f"{trial.messages - len(asked)} messages were never confirmed to who wrote them"]
    if not (trial.collects or hands_over):  # an answer to several questions has no reply and no reaction for each
        acts = [question for question in asked if kind_of(question.number) == "acts"]
        lost += [each for question in acts for each in _undone(frames, question)]
    wrong = [*wrong, *(f"lost: {each}" for each in lost)]
    allowed = 1 if trial.personality == "telegram resend" and trial.point.name in MAY_BE_TWICE else 0
    if len(verdict.duplicated) > allowed:
        wrong += [f"twice: {each}" for each in verdict.duplicated]
    for name in ("wrong_chat", "out_of_order", "leaked", "typing_after_final", "over_length", "mentions_fired"):
        wrong += [f"{name.replace('_', ' ')}: {each}" for each in getattr(verdict, name)]
    leaked = sum(len(each.encode()) for each in verdict.leaked)
    return Result(trial, lost, len(held), verdict.duplicated, leaked, wrong, log if wrong else "")


def _taken_too(
    verdict: oracles.Verdict, frames: list[Frame], asked: list[Question], expected: dict[str, list[str]]
) -> oracles.Verdict:
    """What was handed over is taken once, behind the words that hand it over; whatever else is said meanwhile."""
    taken = {question.number: {question.chat: [f"h{question.number}.", f"b{question.number}."]} for question in asked}
    lost, twice, disorder = list(verdict.lost), list(verdict.duplicated), list(verdict.out_of_order)
    for number, pair in taken.items():
        only = {chat: [f"b{number}."] for chat in pair}
        lost += oracles.lost(frames, only)
        twice += oracles.duplicated(frames, only)
        disorder += oracles.out_of_order(frames, pair)
        for chat, marks in only.items():
            expected[chat] += marks
    return replace(verdict, lost=lost, duplicated=twice, out_of_order=disorder)


def _undone(frames: list[Frame], question: Question) -> list[str]:
    """A reply that replies to nothing, a reaction that is not there."""
    (mark,) = marks_of(question.number)
    there = [seen for seen in standing(frames) if seen.chat == question.chat]
    answers = [seen for seen in there if seen.by == BOT and mark in seen.text]
    wrong = [f"{mark} replies to {seen.reply_to}" for seen in answers if seen.reply_to != question.message]
    marked = any(seen.id == question.message and REACTION in seen.reactions for seen in there)
    return wrong if marked else [*wrong, f"the reaction to q{question.number}."]
