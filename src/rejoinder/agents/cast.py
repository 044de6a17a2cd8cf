"""The cast of the demo: three agents without a model that review a function, and answer anyone who speaks to them.

As with the tour, the reader handles their output like any agent's: it holds real directives. `PARTS` is the play;
each entry is one agent's part, its lines tried from the first to the last.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from msgspec import Struct

from rejoinder.agents.base import AgentEvent, Done, TextDelta
from rejoinder.agents.think import LEVELS
from rejoinder.events import Turn
from rejoinder.prompt_blocks import last_message

PACE = 0.045
"""Seconds between two words: about reading speed."""
LONGEST_QUOTE = 60

REQUEST = """\
@{first}, please review this function, and ask {second} whether they agree. @{third}, how would you test it?

```python
def retry(call, times=3):
    for _ in range(times):
        try:
            return call()
        except Exception:
            pass
```"""
"""The request to the cast; agents with a model understand it as well. The first agent wakes the second."""


class Heard(Struct, frozen=True):
    """A message as an agent of the cast hears it. `peers`: the other agents, in order."""

    text: str
    words: frozenset[str]
    handle: str
    by_bot: bool
    who: str
    peers: tuple[str, ...]


class Line(Struct, frozen=True):
    """`thinks`: seconds between what is done at once and what is said."""

    fits: Callable[[Heard], bool]
    says: Callable[[Heard], str]
    does: Callable[[Heard], str] = lambda _: ""
    thinks: float = 1.0


class Part(Struct, frozen=True):
    name: str
    face: str
    lines: tuple[Line, ...]


def _asks(*words: str) -> Callable[[Heard], bool]:
    return lambda heard: not heard.by_bot and not heard.words.isdisjoint(words)


def _is_asked_by_an_agent(heard: Heard) -> bool:
    return heard.by_bot


def _reply(heard: Heard) -> str:
    return f"[[reply_to:{heard.handle}]]\n"


def _reply_with(emoji: str) -> Callable[[Heard], str]:
    return lambda heard: f'{_reply(heard)}<actions><react emoji="{emoji}"/></actions>\n'


def _three_issues(heard: Heard) -> str:
    return f"""\
I found three issues:

1. `except Exception` hides bugs: a `TypeError` is tried three times, too.
2. When every try fails it returns `None`, and nobody learns why.
3. There is no pause between two tries.

@{heard.peers[0]}, do you agree?"""


def _two_of_three(heard: Heard) -> str:
    return f"""\
On 1 and 2, yes. The third I would leave: how long to wait is for the caller to say, and tests would sleep. \
@{heard.who}, would you drop it?"""


def _revised(_: Heard) -> str:
    return """\
Good point, I take the third back. With the other two mended:

```python
def retry(call, times=3, errors=(OSError,)):
    for left in reversed(range(times)):
        try:
            return call()
        except errors:
            if not left:
                raise
```"""


def _tests(_: Heard) -> str:
    return """\
Three tests would do:

- a call that succeeds is made **once**
- one that fails twice is made three times, and its result comes back
- after the last try the **error** comes out, not `None`"""


def _short_review(_: Heard) -> str:
    return "It keeps silent about what went wrong. That is the one thing I would not let through."


def _passes_on(heard: Heard) -> str:
    return f"@{heard.peers[0]}, {heard.who} would like to hear from you."


def _takes_note(heard: Heard) -> str:
    return f"Noted, {heard.who}. I have nothing to add."


def _lost(heard: Heard) -> str:
    """Removes every @ from the text: a name with one would wake that agent."""
    line = " ".join(re.sub(r"`+", "'", heard.text.replace("@", "")).split())
    line = line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"
    other = heard.peers[0] if heard.peers else "everybody"
    return f"""\
I heard `{line}`, but I only play a part here. Try **thanks**, **stay silent**, **ask {other}**, or **review** with \
some code; with an agent of your own in my place you can say anything."""


_MANNERS = (
    Line(_asks("thanks", "thank", "great", "nice", "cool", "wow"), lambda _: "NO_REPLY", _reply_with("heart"), 0.0),
    Line(_asks("silent", "silence", "quiet", "hush"), lambda _: "NO_REPLY", thinks=0.0),
    Line(_asks("ask", "tell", "forward"), _passes_on),
    Line(_asks("hello", "hi", "hey", "hallo"), lambda heard: f"Hello, {heard.who}!", _reply),
    Line(_is_asked_by_an_agent, _takes_note, _reply),
    Line(lambda _: True, _lost, _reply),
)

PARTS = (
    Part(
        "ada",
        "🦉",
        (
            Line(_asks("review"), _three_issues, thinks=1.5),
            Line(lambda heard: heard.by_bot and "drop" in heard.words, _revised, _reply_with("thumbsup"), 2.5),
            *_MANNERS,
        ),
    ),
    Part(
        "bo",
        "🦊",
        (
            Line(lambda heard: heard.by_bot and "agree" in heard.words, _two_of_three, _reply, 2.0),
            Line(_asks("review"), _short_review, _reply),
            *_MANNERS,
        ),
    ),
    Part(
        "cleo",
        "🐝",
        (Line(_asks("test", "tests", "review"), _tests, _reply_with("eyes"), 12.0), *_MANNERS),
    ),
)


class CastAgent:
    think_levels = LEVELS

    def __init__(
        self,
        part: Part,
        peers: tuple[str, ...],
        pace: float = PACE,
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.name = part.name
        self._lines = part.lines
        self._peers = peers
        self._pace = pace
        self._pause = pause

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        heard = self._hear(turn)
        line = next(line for line in self._lines if line.fits(heard))
        if done := line.does(heard):
            yield TextDelta(done)
        await self._pause(line.thinks)
        for piece in re.findall(r"\s*\S+\s*", line.says(heard)):
            yield TextDelta(piece)
            await self._pause(self._pace)
        yield Done()

    def _hear(self, turn: Turn) -> Heard:
        text, teller = last_message(turn)
        words = frozenset(re.findall(r"[a-z]+", text.lower()))
        who = teller.sender_id if teller.is_bot else teller.display_name or "you"
        return Heard(text, words, teller.handle, teller.is_bot, who, self._peers)
