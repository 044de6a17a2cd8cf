"""Runs a Python function as an agent, in the gateway's own process.

It may return text or yield pieces of it, be plain or async, and yield events of base.py if text is not enough. A plain
function runs in its own thread, so that it cannot block other runs. A function with a parameter called `further` can be
steered: it gets `SteeringOffers`, with the messages that came since it began.
"""

import asyncio
import inspect
import sys
import threading
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from rejoinder.agents.base import AgentEvent, Done, Failed, RunLimits, TextDelta
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.guard import GuardedEvents
from rejoinder.agents.python import Settings
from rejoinder.agents.python.call import signature_of
from rejoinder.agents.steering_offers import SteeringOffers
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.errors import BadAgent
from rejoinder.events import Turn

AHEAD = 64
"""How many pieces a plain generator may be ahead of its reader."""


class PythonAgent:
    think_levels = LEVELS  # given to the function with each turn
    shows_thoughts = True

    def __init__(self, name: str, settings: Settings, call: Callable[..., Any]) -> None:
        self.name = name
        self.limits = RunLimits()
        self.takes_exec = ("host", "node") if settings.takes_exec else ()
        self._call = call
        self._signature = signature_of(call, name)
        self._running: dict[str, SteeringOffers] = {}
        self.threads: set[threading.Thread] = set()
        """The threads that run the function, including those of runs that nobody reads any more."""

    def take_limits(self, limits: RunLimits) -> None:
        self.limits = limits

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        return GuardedEvents(self._events(turn), idle=self.limits.idle, hard=self.limits.hard)

    async def steer(self, turn: Turn) -> bool:
        offers = self._running.get(turn.session)
        return offers is not None and await offers.offer(turn)

    async def _events(self, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        offers = SteeringOffers()
        call = self._signature.bound(self._call, turn, offers)
        if self._signature.steers:
            self._running[turn.session] = offers
        try:
            async with aclosing(_said(call, self.threads)) as pieces:
                async for said in pieces:
                    event = _as_event(said)
                    if event is not None:
                        yield event
                    if isinstance(event, Done | Failed):
                        return
        except (GeneratorExit, asyncio.CancelledError):
            raise  # the guard knows whether the run is being ended, or the function has raised it
        except BaseException as problem:
            raise RunFailed(_failure(problem)) from problem
        finally:
            offers.close()
            if self._running.get(turn.session) is offers:
                del self._running[turn.session]
        yield Done()


async def _said(call: Callable[[], Any], threads: set[threading.Thread]) -> AsyncGenerator[Any, None]:
    if inspect.isasyncgenfunction(call):
        async with aclosing(call()) as pieces:
            async for said in pieces:
                yield said
    elif inspect.iscoroutinefunction(call):
        async with aclosing(_unfolded(await call())) as pieces:
            async for said in pieces:
                yield said
    else:
        async with aclosing(_in_a_thread(call, threads)) as pieces:
            async for handed in pieces:
                # A plain function may still return an awaitable.
                said = await handed if inspect.isawaitable(handed) else handed
                async with aclosing(_unfolded(said)) as inner:
                    async for piece in inner:
                        yield piece


async def _unfolded(said: Any) -> AsyncGenerator[Any, None]:
    """The value itself, or its pieces if it is an async generator."""
    if isinstance(said, AsyncGenerator):
        async with aclosing(cast("AsyncGenerator[Any, None]", said)) as pieces:
            async for piece in pieces:
                yield piece
    else:
        yield said


async def _in_a_thread(call: Callable[[], Any], threads: set[threading.Thread]) -> AsyncGenerator[Any, None]:
    """Pieces of a plain call or generator. A thread cannot be killed: an abandoned one ends at its next piece."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
    room = threading.Semaphore(AHEAD)
    left = threading.Event()

    def put(kind: str, value: Any) -> None:
        if not left.is_set():
            try:
                loop.call_soon_threadsafe(pieces.put_nowait, (kind, value))
            except RuntimeError:
                left.set()  # the event loop is closed, so there is no reader any more

    def work() -> None:
        try:
            result = call()
            if isinstance(result, Iterable) and not isinstance(result, str | bytes | Struct | Mapping):
                for piece in cast("Iterable[Any]", result):
                    room.acquire()
                    if left.is_set():
                        break
                    put("piece", piece)
            else:
                put("piece", result)
            put("end", None)
        except BaseException as problem:  # noqa: BLE001 - passed on to the waiting reader; sys.exit() too
            put("error", problem)
        finally:
            threads.discard(thread)

    # A daemon: a function that never returns must not keep the gateway from ending.
    thread = threading.Thread(target=work, name="rejoinder-python-agent", daemon=True)
    threads.add(thread)
    thread.start()
    try:
        while True:
            kind, value = await pieces.get()
            room.release()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        left.set()
        room.release()


def _as_event(said: Any) -> AgentEvent | None:
    if said is None:
        return None
    if isinstance(said, str):
        return TextDelta(said) if said else None
    if isinstance(said, AgentEvent):
        return said
    raise TypeError(f"an agent gives text or events, not {type(said).__name__}")


def _failure(problem: BaseException) -> Failed:
    where = traceback.extract_tb(problem.__traceback__)
    at = f" at {where[-1].filename}:{where[-1].lineno}" if where else ""
    return failed("crashed", f"{type(problem).__name__}: {problem}{at}")


def find(name: str, settings: Settings) -> Callable[..., Any]:
    module_name, _, function_name = settings.call.partition(":")
    if not module_name or not function_name:
        raise BadAgent(name, f"`call` is {settings.call!r}; it has to be `module:function`")
    if settings.path:
        directory = str(Path(settings.path).expanduser().resolve())
        if directory not in sys.path:
            sys.path.insert(0, directory)
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as problem:
        raise BadAgent(
            name, f"cannot import {module_name!r} for `call`: {type(problem).__name__}: {problem}"
        ) from problem
    found: Any = getattr(module, function_name, None)
    if not callable(found):
        there = sorted(word for word in vars(module) if callable(getattr(module, word)) and word[0] != "_")
        raise BadAgent(name, f"no function {function_name!r} in {module_name!r}; there are: {', '.join(there)}")
    return found
