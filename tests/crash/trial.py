"""One trial: people write, the gateway dies at a point and is started again, and the ground truth is judged."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.outbound.operations import decode, words
from rejoinder.runtime.session.unconfirmed_notice import ASK_AGAIN
from rejoinder.store.base import StoredPart
from rejoinder.testing.platform import FakePlatform, Frame, oracles
from rejoinder.testing.platform.truth import BOT, Truth, by_bot, standing
from tests.crash.agent import REACTION, kind_of, marks_of
from tests.crash.gateway import Machine
from tests.crash.points import Personality, Point

KILLED, STOPPED = -9, (143, -15)
"""Stopped cleanly, or before anything had begun."""
PATIENCE = 240.0
LOOK_SECONDS = 0.2
Talk = Literal["answers", "hands over", "files", "speaks", "alone"]
CHATS: dict[Talk, tuple[tuple[str, str], ...]] = {
    "answers": (("ann", "ann"), ("bob", "bob"), ("cyd", "cyd"), ("#team", "ann"), ("#team", "bob")),
    "hands over": (("#team", "ann"), ("#team", "bob")),
    "files": (("ann", "ann"), ("#team", "bob")),
    "speaks": (("ann", "ann"), ("#team", "bob")),
    "alone": (("ann", "ann"),),
}
"""Where each question is asked, and by whom, in turn. What is handed over stays in one room, and who is alone in one
chat, where no answer is shown before it is whole: elsewhere something might be under way by chance."""
AGENTS: dict[Talk, tuple[str, ...]] = {"hands over": ("give", "take"), "files": ("share",), "speaks": ("brief",)}
KILLS = 3
"""At random, in one trial."""
MAY_BE_HELD, MAY_BE_TWICE = ("K15", "K16", "K17", "K18"), ("K17", "K18")
"""Where a blind channel leaves one message of which nobody can tell whether it arrived: it is held there, or said
twice because it did. K15 is one: what comes first is claimed in the commit that plans it."""


class Trial(Struct, frozen=True):
    point: Point
    personality: Personality
    at: int = 1
    """At which pass of the point."""
    messages: int = 20
    chats: int = 5
    talk: Talk = "answers"
    crossed_with: tuple[str, ...] = ()
    """Where gateways were killed before this one."""

    @property
    def name(self) -> str:
        where = " ".join((*self.crossed_with, self.crash_at))
        return f"{where} {self.personality}" + (f", {self.talk}" if self.talk != "answers" else "")

    @property
    def earlier(self) -> tuple[str, ...]:
        return self.crossed_with or self.point.earlier

    def passes_one_of(self, points: tuple[str, ...]) -> int:
        """How often it dies at one of these."""
        return sum(each.partition(":")[0] in points for each in (*self.earlier, self.crash_at))

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
    held: list[str]
    duplicated: list[str]
    beside: list[str]
    """What was held or said twice because somebody else was saying it, mostly elsewhere, when a gateway was killed."""
    leaked: int
    """Bytes."""
    wrong: list[str]
    """Everything that must not be, in words."""
    log: str = ""


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
                agents=AGENTS.get(trial.talk, ("answer",)),
                drafts=trial.talk not in ("alone", "speaks"),
                speaks_for=[platform.id_of(each) for each in ("ann", "bob")] if trial.talk == "speaks" else (),
            )
            wrong: list[str] = []
            asked: list[Question] = []
            under_way: list[StoredPart] = []
            try:
                async with asyncio.timeout(PATIENCE):
                    async with asyncio.TaskGroup() as people:
                        people.create_task(_people(platform, trial, asked))
                        wrong += await _die(trial, machine, platform, under_way)
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
            if len(held) > (len(said_in(under_way)) if trial.personality == "telegram hold" else 0):
                wrong.append(f"held {held}, under way were {said_in(under_way)}")
            return judged(trial, platform.truth, asked, wrong, held, under_way, channel, machine.log)


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
            message = await platform.says(chat, person, _words(number, trial))
            asked.append(Question(number, chat, person, message))
            await asyncio.sleep(random.uniform(0.1, 1.0))

    async with asyncio.TaskGroup() as chats:
        for chat, questions in by_chat.items():
            chats.create_task(talk(chat, questions))


def _words(number: int, trial: Trial) -> str:
    return f"/tts b{number}. is spoken." if _is_command(number, trial) else f"q{number}. What is it?"


def _is_command(number: int, trial: Trial) -> bool:
    """Half of what is spoken is asked for by the command, which has no other answer."""
    return trial.talk == "speaks" and number % 4 > 1


async def _die(trial: Trial, machine: Machine, platform: FakePlatform, under_way: list[StoredPart]) -> list[str]:
    """Starts gateways until one has been killed at the point; `under_way` gathers what each was sending then."""
    wrong: list[str] = []
    for crash_at in trial.earlier:
        await machine.start(crash_at)
        wrong += await _killed(trial, machine, crash_at)
        under_way += await machine.under_way()
    match trial.point.way:
        case "sigterm":
            await machine.start(trial.crash_at)
            await _until_something_stands(machine)
            await machine.terminate()
            wrong += await _killed(trial, machine, trial.crash_at)
        case "grown old":
            wrong += await _die_of_age(trial, machine)
        case "at random":
            random = Random(trial.name)
            for number in range(KILLS):
                if number:
                    under_way += await machine.under_way()
                await machine.start()
                await _until_it_goes_on(machine, platform, trial.events)
                await asyncio.sleep(random.uniform(0.0, 0.7))
                await machine.kill()
        case _:
            await machine.start(trial.crash_at)
            wrong += await _killed(trial, machine, trial.crash_at)
    under_way += await machine.under_way()
    return wrong


async def _killed(trial: Trial, machine: Machine, crash_at: str) -> list[str]:
    """Returns when it is; or when it will not be, for there is nothing left to do."""
    ended = asyncio.ensure_future(machine.ended())
    while not ended.done():
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(ended), LOOK_SECONDS)
        if not ended.done() and await machine.is_done(trial.events):
            await machine.terminate()
            await ended
            return [f"{crash_at} was never reached"]
    return [] if ended.result() == KILLED else [f"the gateway ended with {ended.result()} instead of being killed"]


async def _die_of_age(trial: Trial, machine: Machine) -> list[str]:
    await machine.start()
    await until_done(machine, trial.events)
    await machine.terminate()
    machine.grow_old(days=40)
    before = await machine.census()
    await machine.start(trial.crash_at)
    ended = await machine.ended()
    same = await machine.census() == before
    return [] if (ended, same) == (KILLED, True) else [f"it ended with {ended}; it had removed: {not same}"]


async def _until_something_stands(machine: Machine) -> None:
    await machine.has_part("sent")


async def _until_it_goes_on(machine: Machine, platform: FakePlatform, events: int) -> None:
    """People see something new of this gateway, if there is anything; and a turn that was alone is not killed for ever:
    nobody could tell it from one that ends the process."""
    seen = len(by_bot(platform.truth.frames))
    while len(by_bot(platform.truth.frames)) == seen or not machine.is_unsuspected():
        if await machine.is_done(events):
            return
        await asyncio.sleep(0.05)


async def until_done(machine: Machine, messages: int) -> None:
    calm = 0
    while calm < 2:  # what is in memory only becomes a row within a moment
        await asyncio.sleep(LOOK_SECONDS)
        calm = calm + 1 if await machine.is_done(messages) else 0
        if machine.status is not None:
            raise TimeoutError


# --- what people saw ------------------------------------------------------------------------------


def judged(
    trial: Trial,
    truth: Truth,
    asked: list[Question],
    wrong: list[str],
    held: list[str],
    under_way: list[StoredPart],
    channel: str,
    log: str,
) -> Result:
    hands_over = trial.talk == "hands over"
    expected: dict[str, list[str]] = {}
    for question in asked:
        marks = (f"a{question.number}.", f"h{question.number}.") if hands_over else marks_of(question.number)
        marks = (f"a{question.number}.",) if trial.talk in ("files", "speaks") else marks
        marks = () if _is_command(question.number, trial) else marks
        expected.setdefault(question.chat, []).extend(marks)
    frames = truth.frames
    verdict = oracles.judge(frames, expected, channel, truth.calls)
    if hands_over:
        verdict = _taken_too(verdict, frames, asked, expected)
    is_held = {mark for marks in expected.values() for mark in marks if any(mark in text for text in held)}
    lost = [each for each in verdict.lost if each.rpartition(" ")[2] not in is_held]
    if len(asked) < trial.messages:
        lost += [f"{trial.messages - len(asked)} messages were never confirmed to who wrote them"]
    if not (
        trial.collects or trial.talk in AGENTS
    ):  # an answer to several questions has no reply and no reaction for each
        acts = [question for question in asked if kind_of(question.number) == "acts"]
        lost += [each for question in acts for each in _undone(frames, question)]
    wrong = [*wrong, *(f"lost: {each}" for each in lost)]
    # What was under way arrived or not, and nobody can ever tell: a blind channel with `resend` has nothing better.
    resends = said_in(under_way) if trial.personality == "telegram resend" else []
    surprising = [each for each in verdict.duplicated if not any(each.rpartition(" ")[2] in text for text in resends)]
    wrong += [f"twice: {each}" for each in surprising]
    here_held, beside = _split(held, trial.passes_one_of(MAY_BE_HELD))
    twice = _answers(verdict.duplicated)
    here_twice, also_beside = _split(twice, trial.passes_one_of(MAY_BE_TWICE))
    wrong += [] if trial.talk == "speaks" else stray(frames, expected)
    if trial.talk == "speaks":
        wrong += _unspoken(frames, asked, held, resends)
    if trial.talk == "files" and channel != "web":
        wrong += [
            f"without its file: {seen.text}" for seen in standing(frames) if " is in it" in seen.text and not seen.files
        ]
    if trial.talk == "alone":
        held_there, twice_there = trial.passes_one_of(MAY_BE_HELD), trial.passes_one_of(MAY_BE_TWICE)
        exactly = {"telegram hold": (held_there, 0), "telegram resend": (0, twice_there)}.get(trial.personality, (0, 0))
        if exactly != (found := (len(held), len(twice))):
            wrong.append(f"held and twice are {found} instead of {exactly}")
    for name in ("wrong_chat", "out_of_order", "leaked", "typing_after_final", "over_length", "mentions_fired"):
        wrong += [f"{name.replace('_', ' ')}: {each}" for each in getattr(verdict, name)]
    leaked = sum(len(each.encode()) for each in verdict.leaked)
    return Result(trial, lost, here_held, here_twice, [*beside, *also_beside], leaked, wrong, log if wrong else "")


def said_in(parts: list[StoredPart]) -> list[str]:
    """Their words; a draft that is opened has none."""
    return [words(decode(part.body)) for part in parts if part.kind == "say"]


def stray(frames: list[Frame], expected: dict[str, list[str]]) -> list[str]:
    """What stands there and is neither an answer nor a notice: half of a draft, or a bare sign."""
    there = [seen for seen in standing(frames) if seen.by == BOT and not seen.text.endswith(ASK_AGAIN)]
    left = [seen for seen in there if not any(mark in seen.text for mark in expected.get(seen.chat, ()))]
    return [f"{seen.chat}: belongs to no answer: {seen.text!r}" for seen in left]


def _unspoken(frames: list[Frame], asked: list[Question], held: list[str], resent: list[str]) -> list[str]:
    """Every question has one voice note; on a blind channel those that were under way are held, or there twice."""
    said = [seen for seen in standing(frames) if seen.by == BOT]
    notes = [seen for seen in said if not seen.text.strip() or seen.files]
    unsure, repeated = (sum(" is short." not in text for text in texts) for texts in (held, resent))
    if len(asked) - unsure <= len(notes) <= len(asked) + repeated:
        return []
    counts = f"{len(notes)} voice notes for {len(asked)} questions, {unsure} held, {repeated} sent again"
    return [f"{counts}: {[seen.text for seen in said]}"]


def _answers(marks: Sequence[str]) -> list[str]:
    """One mark of each answer: a message of a long one has several."""
    first: dict[tuple[str, str, str], str] = {}
    for each in marks:
        where, _, mark = each.rpartition(" ")
        letter = mark[0] if mark[0] in "hb" else "a"  # what is handed over and taken is said by others
        first.setdefault((where, letter, mark[1:].partition(".")[0]), each)
    return list(first.values())


def _split(found: list[str], here: int) -> tuple[list[str], list[str]]:
    """What the point itself accounts for, one of each kill, and what was under way beside it by chance."""
    return found[:here], found[here:]


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
