"""An agent that says what its script contains, for tests and demonstrations.

    ScriptedAgent("Hello.", ["[[reply_to:m1]]\\n", 0.5, "Done."])

answers the first turn with `Hello.` and the second in two pieces, half a second apart.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from rejoinder.agents.base import AgentEvent, Done, Failed, TextDelta
from rejoinder.agents.declaration import AgentKind
from rejoinder.agents.settings import AgentSettings
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.errors import BadAgent
from rejoinder.events import Turn

# One step of a reply: text, a pause in seconds, any event, or a function to call and await.
Step = str | float | AgentEvent | Callable[[], Awaitable[object]]
Reply = str | Sequence[Step]


Replies = tuple[str | tuple[str | float, ...], ...]


class Settings(AgentSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Answers from a file, for trying things out."""

    script: Annotated[str, Meta(min_length=1, examples=["answers.json"])]
    """The JSON file with its answers: a list of texts, or of lists of texts and pauses in seconds."""


class ScriptedAgent:
    """Answers the n-th turn with the n-th reply; `turns` keeps the turns it got."""

    think_levels = LEVELS
    shows_thoughts = True

    def __init__(
        self,
        *replies: Reply,
        name: str = "scripted",
        pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.name = name
        self.turns: list[Turn] = []
        self._replies = iter(replies)
        self._pause = pause

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        self.turns.append(turn)
        reply = next(self._replies, None)
        if reply is None:
            yield Failed("other", f"{self.name} has come to the end of its script.")
            return
        for step in [reply] if isinstance(reply, str) else reply:
            if isinstance(step, str):
                yield TextDelta(step)
            elif isinstance(step, int | float):
                await self._pause(step)
            elif callable(step):
                await step()
            else:
                yield step
                if isinstance(step, Done | Failed):
                    return
        yield Done()


def open_agent(name: str, settings: Settings) -> ScriptedAgent:
    try:
        replies = msgspec.json.decode(Path(settings.script).read_bytes(), type=Replies)
    except (OSError, msgspec.DecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        raise BadAgent(name, f"`script` {settings.script} cannot be read: {why}") from None
    return ScriptedAgent(*replies, name=name)


AGENT = AgentKind(open=open_agent, settings=Settings)
