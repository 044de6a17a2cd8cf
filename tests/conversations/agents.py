"""Agents with a talent, for conversations that need one."""

import asyncio

from rejoinder.agents.base import Done, Question, TextDelta
from rejoinder.runtime.session.presence import TypingSign
from rejoinder.testing import ScriptedAgent


class Steerable(ScriptedAgent):
    """Takes further messages into the running turn, as often as it is willing to."""

    def __init__(self, *replies, willing: bool = True) -> None:
        super().__init__(*replies)
        self.willing = willing
        self.offered = []
        self.was_offered = asyncio.Event()

    async def steer(self, turn) -> bool:
        self.offered.append(turn)
        self.was_offered.set()
        return self.willing


class Deaf(ScriptedAgent):
    """Does not stop when it is told to."""

    def __init__(self, *replies) -> None:
        super().__init__(*replies)
        self.release = asyncio.Event()

    async def run(self, turn):
        if self.turns:
            async for event in super().run(turn):
                yield event
            return
        self.turns.append(turn)
        yield TextDelta("I never")
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                yield TextDelta(" stop talking")
        yield Done()


class Asking(ScriptedAgent):
    """Asks for permission and says what it was told."""

    def __init__(self, *options, about="") -> None:
        super().__init__()
        self.options = options
        self.about = about
        self.answers = asyncio.Queue()

    async def run(self, turn):
        self.turns.append(turn)
        yield Question("permission-1", "May I delete it all?", self.options, self.about)
        yield TextDelta(f"I was told {await self.answers.get()}.")
        yield Done()

    async def answer(self, question, option) -> None:
        assert question == "permission-1"
        self.answers.put_nowait(option)


def said(turn) -> list[str]:
    """The words of people in a turn, without the blocks of the gateway."""
    return [part.text for part in turn.parts if not part.text.startswith("<")]


def signs(monkeypatch) -> list[str]:
    """How each turn from now on shows that its agent is typing."""
    modes: list[str] = []

    class Noted(TypingSign):
        def __init__(self, runs, conversation, mode, *more) -> None:
            super().__init__(runs, conversation, mode, *more)
            modes.append(mode)

    monkeypatch.setattr("rejoinder.runtime.session.turn_parts.TypingSign", Noted)
    return modes


def told(turn) -> str:
    """The blocks of the gateway in a turn."""
    return "\n".join(part.text for part in turn.parts if part.text.startswith("<"))
