"""The agents of the crash suite: what they answer follows from the question alone, so every attempt says the same.

A question holds the mark `q7`; its answer holds `a7`, a long one `a7` at its beginning, `m7.0` to `m7.4` in its midst
and `z7` at its end, so that each of its messages has a mark, also where they are short. Four kinds of answers take
turns: short; longer than a message may be; with a reply and a reaction; with a name in it.

In a room of two `give` answers `a7` and hands `h7` over, which `take` answers with `b7`. `change` is the exception: it
never ends what it begins to say, and says something else when it is asked again.
"""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from rejoinder.agents.python import text_of
from rejoinder.events import Turn

QUESTION, HANDED = re.compile(r"\bq(\d+)\."), re.compile(r"\bh(\d+)\.")
OUTBOX = re.compile(r"Your outbox folder is (.+?): ")
LONG = 5000
"""Characters: more than a Telegram message takes."""
MARKED = range(10, LONG // 48, 20)
"""Lines of a long answer with a mark: less than a Discord message lies between two of them."""
REACTION = "👍"
POISON = "poison"
"""A question with this word in it ends the process, each time, until there is a file `cured`."""


def kind_of(number: int) -> str:
    return ("long", "acts", "names", "short")[number % 4]


def marks_of(number: int) -> tuple[str, ...]:
    """What stands in the answer, once each, in this order."""
    if kind_of(number) != "long":
        return (f"a{number}.",)
    return (f"a{number}.", *(f"m{number}.{place}." for place in range(len(MARKED))), f"z{number}.")


def answer_to(number: int, *, alone: bool = True) -> str:
    """`alone`: only then it can begin with a header."""
    match kind_of(number):
        case "long":
            lines = [f"Line {line} of a **long** answer, with `code` in it.\n" for line in range(LONG // 48)]
            for place, line in enumerate(MARKED):
                lines[line] = f"m{number}.{place}. is in its midst.\n"
            return f"a{number}. begins.\n\n{''.join(lines)}\nz{number}. ends it."
        case "acts":
            head = f'[[reply_to_current]]\n<actions>\n<react emoji="{REACTION}" />\n</actions>\n'
            return f"{head if alone else ''}a{number}. was asked for, and **marked**."
        case "names":
            return f"a{number}. has been told to @dora and to everybody else.\n\n- one\n- two"
        case _:
            return f"a{number}. is short."


async def answer(turn: Turn) -> AsyncIterator[str]:
    said = text_of(turn)
    if POISON in said and not _is_cured():
        os.kill(os.getpid(), signal.SIGKILL)
    numbers = [int(found) for found in QUESTION.findall(said)]
    for place, number in enumerate(numbers):
        if place:
            yield "\n\n"
        text = answer_to(number, alone=len(numbers) == 1)
        step = max(9, len(text) // 8)  # cuts directives in the middle
        for start in range(0, len(text), step):
            yield text[start : start + step]
            await asyncio.sleep(0.25 if kind_of(number) == "long" else 0.03)  # a kill meets it while it writes


async def give(turn: Turn) -> AsyncIterator[str]:
    (number,) = QUESTION.findall(text_of(turn))
    text = f'<actions>\n<handoff to="take">h{number}. is yours.</handoff>\n</actions>\na{number}. is my half of it.'
    for start in range(0, len(text), 9):
        yield text[start : start + 9]
        await asyncio.sleep(0.03)


async def brief(turn: Turn) -> AsyncIterator[str]:
    """A short answer, which is spoken as well."""
    for number in QUESTION.findall(text_of(turn)):
        yield f"a{number}. is short.\n\n"


async def share(turn: Turn) -> AsyncIterator[str]:
    """Sends a file that has other content each time it is asked, and the answer as its caption."""
    (number,) = QUESTION.findall(text_of(turn))
    found = OUTBOX.search(turn.system)
    assert found is not None, turn.system
    _write(found[1], f"f{number}.txt")
    text = f'<actions>\n<send-file path="f{number}.txt" caption="a{number}. is in it." />\n</actions>'
    for start in range(0, len(text), 29):
        yield text[start : start + 29]
        await asyncio.sleep(0.03)


async def take(turn: Turn) -> AsyncIterator[str]:
    (number,) = HANDED.findall(text_of(turn))
    yield f"b{number}. is the rest of it."


async def change(turn: Turn) -> AsyncIterator[str]:
    """How long each attempt is stands in the question, such as `q short long`; the first has no end."""
    attempt = _attempt()
    wanted = re.findall(r"\b(short|long)\b", text_of(turn))[attempt]
    head = f'[[reply_to_current]]\n<actions>\n<react emoji="{REACTION}" />\n</actions>\n'
    words = " ".join(f"attempt{attempt}-{number}" for number in range(600 if wanted == "long" else 40))
    text = f"{head}{words}"
    for start in range(0, len(text), 97):
        yield text[start : start + 97]
        await asyncio.sleep(0.02)
    if attempt == 0:
        yield "\n<actions>\n<react emo"
        await asyncio.Event().wait()


def _write(folder: str, name: str) -> None:
    Path(folder, name).write_text(f"{os.getpid()} " * 100_000)


def _is_cured() -> bool:
    return Path("cured").exists()


def _attempt() -> int:
    """How often it was asked before: the only thing here that outlives the process."""
    asked = Path("asked")
    before = len(asked.read_text()) if asked.exists() else 0
    asked.write_text("x" * (before + 1))
    return before


def tick(turn: Turn) -> str:
    """What a job of the clock says."""
    return "Tick."
