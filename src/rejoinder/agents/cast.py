"""The cast of the demo: three agents without a model that review a function, and answer anyone who speaks to them.

As with the tour, the reader handles their output like any agent's: it holds real directives. `PARTS` is the play;
each entry is one agent's part, its lines tried from the first to the last. What they say to people who join in is in
`cast_lines.py`.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable

from msgspec import Struct

from rejoinder.agents.base import AgentEvent, Done, TextDelta
from rejoinder.agents.cast_lines import (
    LONGEST_READ,
    CastLine,
    Character,
    HeardMessage,
    always,
    asks,
    asks_all,
    is_told,
    reply,
    reply_with,
    small_talk,
)
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.events import Turn
from rejoinder.prompt_blocks import last_message

PACE = 0.045
"""Seconds between two words: about reading speed."""

NAMELESS = "You"
"""The page's name for a person who has not chosen one; in somebody else's words it would mean another person."""

REQUEST = """\
@{first}, please review this function, and ask {second} whether they agree. Then hand over to {third} for the tests.

```python
def retry(call, times=3):
    for _ in range(times):
        try:
            return call()
        except Exception:
            pass
```"""
"""The request to the cast; agents with a model understand it as well. The first agent wakes the second."""
ASIDE = "@{third}, in a thread, to keep the room readable: which test would you write first?"
"""The same person's question under the last message of the review."""


class CastMember(Struct, frozen=True):
    name: str
    face: str
    lines: tuple[CastLine, ...]


def _three_issues(heard: HeardMessage) -> str:
    return f"""\
I found three issues:

1. `except Exception` hides bugs: a `TypeError` is tried three times, too.
2. When every try fails it returns `None`, and nobody learns why.
3. There is no pause between two tries.

@{heard.peers[0]}, do you agree?"""


def _two_of_three(heard: HeardMessage) -> str:
    return f"""\
On 1 and 2, yes. **On 3 I disagree**: how long to wait is for the caller to say, and every test would sleep. \
@{heard.who}, would you drop it?"""


def _revised(heard: HeardMessage) -> str:
    third = next((peer for peer in heard.peers if peer != heard.who), heard.who)
    return f"""\
Good point, I take the third back. With the other two fixed:

```python
def retry(call, times=3, errors=(OSError,)):
    for left in reversed(range(times)):
        try:
            return call()
        except errors:
            if not left:
                raise
```

<actions><handoff to="{third}">Which tests does this version need?</handoff></actions>"""


TESTS = """\
Three tests would do:

- a call that succeeds is made **once**
- one that fails twice is made three times, and its result comes back
- after the last try the **error** comes out, not `None`"""
FIRST_TEST = """\
The last one, because it fails on the version Ann pasted:

```python
def test_the_error_comes_out():
    with pytest.raises(OSError):
        retry(always_failing)
```"""
ANY_TESTS = "Three: the usual case, the empty one, and the one that fails. Most bugs live in the third."
SHORT_REVIEW = "It keeps silent about what went wrong. That is the one thing I would not let through."

ADA = Character(
    about="I am Ada, the one who reviews. No model is behind me: I come with the demo, so that it needs no key.",
    joke="“Buy milk, and if they have eggs, get six.” The programmer came home with six bottles: they had eggs.",
    opinion="I would ship it, once it says **what** went wrong. An error that nobody sees costs a night.",
)
BO = Character(
    about="Bo. I disagree for a living. No model behind me, just a few lines of Python and strong opinions.",
    joke="There are two hard things in programming: naming, invalidating caches, and off-by-one errors.",
    opinion="Honestly? Half of it could go, and nobody would notice. Delete first, then look again.",
)
CLEO = Character(
    about="I am Cleo, I write the tests. No model: what I say is in a table that comes with the demo.",
    joke="A tester orders 1 beer, 0 beers, -1 beers and a lizard. A guest asks for the toilet: the bar burns.",
    opinion="Show me the test that fails without it, then I have an opinion.",
)

PARTS = (
    CastMember(
        "ada",
        "🦉",
        (
            CastLine(asks_all("review", "retry"), _three_issues, thinks=1.5),
            CastLine(is_told("drop"), _revised, reply_with("thumbsup"), 2.5),
            *small_talk(ADA),
        ),
    ),
    CastMember(
        "bo",
        "🦊",
        (
            CastLine(is_told("agree"), _two_of_three, reply, 2.0),
            CastLine(asks_all("review", "retry"), always(SHORT_REVIEW), reply),
            *small_talk(BO),
        ),
    ),
    CastMember(
        "cleo",
        "🐝",
        (
            CastLine(is_told("tests"), always(TESTS), reply_with("eyes"), 2.0),
            CastLine(asks("first"), always(FIRST_TEST), reply, 1.5),
            CastLine(asks_all("test", "retry"), always(TESTS), reply_with("eyes")),
            CastLine(asks("test", "tests"), always(ANY_TESTS), reply_with("eyes")),
            *small_talk(CLEO),
        ),
    ),
)


class CastAgent:
    think_levels = LEVELS

    def __init__(
        self,
        part: CastMember,
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

    def _hear(self, turn: Turn) -> HeardMessage:
        text, teller = last_message(turn)
        text = text[:LONGEST_READ]
        words = frozenset(re.findall(r"[a-z]+", text.lower()))
        name = "" if teller.display_name == NAMELESS else teller.display_name
        who = teller.sender_id if teller.is_bot else name
        return HeardMessage(text, words, teller.handle, teller.is_bot, who, self._peers)
