"""A python agent in its own process (`isolate = true`): whatever its function does, the gateway goes on.

Rule 1: one process serves all sessions, so the module's variables are shared by all, as in the gateway itself.
Rule 2: a run that is cancelled or too slow is cancelled in the process. A process that is too busy to confirm this is
killed. If it confirms but cannot end the run, because a thread cannot be ended, it gets no further turns, and is killed
when its other runs have ended.
Rule 3: the next turn starts a new process.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from importlib.machinery import PathFinder
from pathlib import Path

import msgspec

from rejoinder.agents.base import AgentEvent, Done, Failed, RunLimits, TextDelta, Thought
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.guard import GuardedEvents
from rejoinder.agents.process import AgentProcess, start_process
from rejoinder.agents.python import Settings, wire
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.environment import environment_for
from rejoinder.errors import BadAgent
from rejoinder.events import Turn

START_SECONDS = 60.0
HEARD_SECONDS = 3.0
"""Seconds that the process may take to confirm a cancellation."""
BACKLOG, BACKLOG_CHARS = 1000, 4_000_000
"""How many events of a run, or characters in them, may wait for a slow reader before the process has to wait."""
TOO_BUSY = "it was too busy to notice that a run was cancelled"

_BOOT = (
    "import json, sys; said = json.loads(sys.argv[1]); sys.path[:] = said['sys_path']; "
    "from rejoinder.programs.python_worker import main; main(said['name'], said['call'], said['path'])"
)


def isolated(name: str, settings: Settings) -> "IsolatedAgent":
    """Runs nothing of the module here; only the first turn shows whether the function exists."""
    folder = str(Path(settings.path).expanduser().resolve()) if settings.path else ""
    module = settings.call.partition(":")[0].partition(".")[0]
    if PathFinder.find_spec(module, [*filter(None, [folder]), *sys.path]) is None:
        raise BadAgent(name, f"there is no module {module!r} for `call`; `path` says where it is")
    return IsolatedAgent(name, settings)


class IsolatedAgent:
    think_levels = LEVELS
    shows_thoughts = True

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.limits = RunLimits()
        self.takes_exec = ("host", "node") if settings.takes_exec else ()
        self._settings = settings
        self._starting = asyncio.Lock()
        self._worker: WorkerProcess | None = None
        self._retired: set[WorkerProcess] = set()

    def take_limits(self, limits: RunLimits) -> None:
        self.limits = limits

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        return GuardedEvents(self._events(turn), idle=self.limits.idle, hard=self.limits.hard)

    async def _events(self, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        worker = await self._ready()
        run = worker.begin(turn)
        try:
            while (event := await run.next()) is not None:
                yield event
                if isinstance(event, Done | Failed):
                    run.is_over = True
                    return
            raise RunFailed(worker.crash())
        finally:
            worker.leave(run)

    async def steer(self, turn: Turn) -> bool:
        workers = (self._worker, *self._retired)
        worker = next((each for each in workers if each is not None and each.has_run_of(turn.session)), None)
        return worker is not None and await worker.offer(turn)

    async def check(self) -> str:
        await self._ready()
        return "its function was found; it runs in a process of its own"

    def last_output(self) -> str:
        return "" if self._worker is None else self._worker.last_output()

    @property
    def is_alive(self) -> bool:
        return any(worker.dead is None for worker in (self._worker, *self._retired) if worker is not None)

    async def suspend(self) -> None:
        await self.close()

    async def close(self) -> None:
        workers = [worker for worker in (self._worker, *self._retired) if worker is not None]
        self._worker = None
        self._retired.clear()
        for worker in workers:
            await worker.stop()

    async def _ready(self) -> "WorkerProcess":
        async with self._starting:
            worker = self._worker
            if worker is not None:
                await worker.hears.wait()
                if worker.dead is None and not worker.stuck.is_set():
                    return worker
                self._retired = {each for each in (*self._retired, worker) if each.dead is None}
            self._worker = worker = WorkerProcess()
            try:
                await worker.open(self._command(), environment_for(os.environ, self._settings.pass_env))
            except BaseException:
                self._worker = None
                await worker.stop()
                raise
            return worker

    def _command(self) -> tuple[str, ...]:
        said = {
            "name": self.name,
            "call": self._settings.call,
            "path": self._settings.path,
            "sys_path": sys.path,
        }
        return sys.executable, "-c", _BOOT, json.dumps(said)


class PythonRun:
    """One turn in the process; its events wait here until they are read."""

    def __init__(self, worker: "WorkerProcess", number: int, session: str) -> None:
        self.number = number
        self.session = session
        self.is_over = False
        self._worker = worker
        self._waiting: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self._chars = 0

    def put(self, event: AgentEvent | None) -> None:
        self._chars += _chars(event)
        self._waiting.put_nowait(event)

    async def next(self) -> AgentEvent | None:
        event = await self._waiting.get()
        self._chars -= _chars(event)
        self._worker.balance()
        return event

    @property
    def is_behind(self) -> bool:
        return self._waiting.qsize() > BACKLOG or self._chars > BACKLOG_CHARS


class WorkerProcess:
    """One process. If `dead` gives a reason, it has ended; if it is `stuck`, it gets no further turns."""

    def __init__(self) -> None:
        self.dead: str | None = None
        self.stuck = asyncio.Event()
        self.hears = asyncio.Event()
        """Set when it has confirmed all cancellations; otherwise it is killed."""
        self.hears.set()
        loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[str] = loop.create_future()
        self._process: AgentProcess | None = None
        self._runs: dict[int, PythonRun] = {}
        self._unheard: dict[int, asyncio.TimerHandle] = {}
        self._offers: dict[int, asyncio.Future[bool]] = {}
        self._next = 0
        self._paused = False

    async def open(self, command: tuple[str, ...], env: dict[str, str]) -> None:
        """Raises RunFailed when the function cannot be called."""
        self._process = await start_process(command, cwd=os.getcwd(), env=env, on_line=self._take, on_gone=self._gone)
        try:
            async with asyncio.timeout(START_SECONDS):
                why = await self._opened
        except TimeoutError:
            raise RunFailed(failed("timeout", f"its module was not loaded within {START_SECONDS:.0f} s")) from None
        if self.dead is not None:
            raise RunFailed(self.crash())
        if why:
            raise RunFailed(failed("crashed", why))

    async def stop(self) -> None:
        if self._process is not None:
            await self._process.stop()

    def begin(self, turn: Turn) -> PythonRun:
        self._next += 1
        self._runs[self._next] = run = PythonRun(self, self._next, turn.session)
        self._send(wire.Start(run.number, turn))
        return run

    def leave(self, run: PythonRun) -> None:
        """Called when nobody reads this run any more."""
        self._runs.pop(run.number, None)
        if not run.is_over and self.dead is None:
            self.hears.clear()
            kill_at = asyncio.get_running_loop().call_later(HEARD_SECONDS, self._kill, TOO_BUSY)
            self._unheard[run.number] = kill_at
            self._send(wire.Cancel(run.number))
        self.balance()
        self._end_if_useless()

    def has_run_of(self, session: str) -> bool:
        return any(run.session == session for run in self._runs.values())

    async def offer(self, turn: Turn) -> bool:
        self._next += 1
        number = self._next
        self._offers[number] = taken = asyncio.get_running_loop().create_future()
        self._send(wire.Offer(number, turn))
        try:
            return await taken
        finally:
            if taken.cancelled():
                self._send(wire.Withdraw(number))
            self._offers.pop(number, None)

    def crash(self) -> Failed:
        words = self.last_output()
        return failed("crashed", f"{self.dead}" + (f"; its last output: {words[-2000:]}" if words else ""))

    def last_output(self) -> str:
        return "" if self._process is None else self._process.last_output()

    def balance(self) -> None:
        """Makes the process wait while a reader is far behind."""
        paused = any(run.is_behind for run in self._runs.values())
        if paused != self._paused and self._process is not None:
            self._paused = paused
            self._process.pause(paused)

    # --- its messages ---------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        try:
            message = wire.read_answer(line)
        except msgspec.MsgspecError:
            return self._kill("it wrote something that is not part of the protocol")
        match message:
            case wire.Opened(why=why):
                if not self._opened.done():
                    self._opened.set_result(why)
            case wire.Said(run=number, event=event):
                if (run := self._runs.get(number)) is not None:
                    run.put(event)
                    self.balance()
            case wire.Heard(run=number):
                if (timer := self._unheard.pop(number, None)) is not None:
                    timer.cancel()
                if not self._unheard:
                    self.hears.set()
            case wire.Stuck():
                self.stuck.set()
                self._end_if_useless()
            case wire.Answered(offer=number, taken=taken):
                if (offer := self._offers.get(number)) is not None and not offer.done():
                    offer.set_result(taken)

    def _end_if_useless(self) -> None:
        if self.stuck.is_set() and not self._runs:
            self._kill("a run that was cancelled did not end")

    def _kill(self, reason: str) -> None:
        if self._process is not None:
            self._process.kill(reason)

    def _gone(self, reason: str) -> None:
        self.dead = reason
        self.hears.set()
        for timer in self._unheard.values():
            timer.cancel()
        if not self._opened.done():
            self._opened.set_result("")
        for offer in self._offers.values():
            if not offer.done():
                offer.set_result(False)
        for run in self._runs.values():
            run.put(None)

    def _send(self, message: wire.ToProcess) -> None:
        if self._process is not None and self.dead is None:
            self._process.write_line(wire.encode(message))


def _chars(event: AgentEvent | None) -> int:
    return len(event.text) if isinstance(event, TextDelta | Thought) else 0
