"""An ACP agent as the gateway sees it.

The work is in sessions.py, which needs the protocol's own package; that takes a second to import, so it is imported
with the first turn, off the event loop.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from importlib import import_module
from typing import TYPE_CHECKING

from rejoinder.agents.acp import Settings
from rejoinder.agents.acp.saved import Saved
from rejoinder.agents.base import MOST_REMEMBERED_SESSIONS, AgentEvent, Exchange, RunLimits, TextDelta, ToolSource
from rejoinder.agents.guard import GuardedEvents
from rejoinder.agents.history import BoundedText, Histories
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.bounded import Bounded
from rejoinder.events import Turn

RETOLD_TOKENS = 10_000
"""How much of a conversation is kept for an agent that may lose its own memory of it."""

if TYPE_CHECKING:
    from rejoinder.agents.acp.sessions import AcpSessions


class AcpAgent:
    think_levels = LEVELS  # mapped to the closest of the agent's own levels
    shows_thoughts = True
    sees_images = True  # an agent that cannot see gets a sentence about the picture

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.models = tuple(dict.fromkeys((*filter(None, (settings.model,)), *settings.models)))
        self.fallbacks = settings.fallbacks
        self.aliases = settings.models
        self.allowed = settings.allow
        self.takes_exec = tuple(settings.exec_options)
        self.limits = RunLimits()
        self._settings = settings
        self._saved: Bounded[str, Saved] = Bounded(MOST_REMEMBERED_SESSIONS)
        self._histories = Histories(RETOLD_TOKENS)
        self._sessions: AcpSessions | None = None
        self._tools: ToolSource | None = None

    def take_tools(self, source: ToolSource) -> None:
        self._tools = source
        if self._sessions is not None:
            self._sessions.take_tools(source)

    def take_limits(self, limits: RunLimits) -> None:
        self.limits = limits

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        return GuardedEvents(self._events(turn), idle=self.limits.idle, hard=self.limits.hard)

    async def _events(self, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        sessions = await self._work()
        past, said = self._histories.before(turn.session, turn.parts), BoundedText()
        saved = self._saved.pop(turn.session, None)
        try:
            async with aclosing(sessions.events(turn, saved, past)) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        said.add(event.text)
                    yield event
        finally:
            self._histories.remember(turn.session, turn.parts, str(said))

    async def check(self) -> str:
        return await (await self._work()).check()

    async def _work(self) -> "AcpSessions":
        if self._sessions is None:
            work = await asyncio.to_thread(import_module, "rejoinder.agents.acp.sessions")
            # The first turn of another session may have created it meanwhile.
            self._sessions = self._sessions or work.AcpSessions(
                self.name, self._settings, self.limits.question, self._tools
            )
            assert self._sessions is not None
        return self._sessions

    def load_session(self, session: str, saved: str) -> None:
        self._saved[session] = Saved(saved)

    def is_bound(self) -> bool:
        return not self._settings.shared

    def lose_session(self, session: str, saved: str) -> None:
        self._saved[session] = Saved(saved, is_elsewhere=True)

    def recall(self, session: str, past: tuple[Exchange, ...]) -> None:
        self._histories.recall(session, past)

    def forget(self, session: str) -> None:
        self._saved.pop(session, None)
        self._histories.forget(session)
        if self._sessions is not None:
            self._sessions.forget(session)

    async def cancel(self, session: str) -> None:
        if self._sessions is not None:
            self._sessions.cancel(session)

    async def answer(self, question: str, option: str | None) -> None:
        if self._sessions is not None:
            self._sessions.answer(question, option)

    async def steer(self, turn: Turn) -> bool:
        return self._sessions is not None and self._sessions.steer(turn)

    @property
    def steers(self) -> bool | None:
        if self._sessions is None:
            return True if self._settings.steer == "cancel" else None
        return self._sessions.steers

    async def list_models(self) -> tuple[str, ...]:
        return (await (await self._work()).learn()).models

    async def list_modes(self) -> tuple[str, ...]:
        return (await (await self._work()).learn()).modes

    async def list_think_levels(self) -> tuple[str, ...] | None:
        return (await (await self._work()).learn()).levels

    @property
    def hears_audio(self) -> bool:
        return self._sessions is None or self._sessions.hears

    def announced_commands(self) -> frozenset[str]:
        return frozenset() if self._sessions is None else self._sessions.announced_commands()

    def last_output(self) -> str:
        return "" if self._sessions is None else self._sessions.last_output()

    @property
    def is_alive(self) -> bool:
        return self._sessions is not None and self._sessions.is_alive

    async def suspend(self) -> None:
        await self.close()

    async def close(self) -> None:
        if self._sessions is not None:
            await self._sessions.close()
