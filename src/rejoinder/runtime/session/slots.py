"""Slots for runs, shared fairly between sessions (TU-21): requests wait in a queue, `turns.choose` picks the next.

Suspects, the turns that were under way in two crashes, run one at a time beside the others (DU-2). Some of them have to
run alone, so that one that ends the process is found, also where people never cease to write: at the start, or when the
process is stable (`turns.suspicion`). Then nothing else starts, and they begin when nothing else runs; but not for
long: what has lived for `HEAD_START` does not end the process at once, and where others run on, they run beside them.
"""

import asyncio
from collections.abc import Callable, Mapping

from msgspec import Struct

from rejoinder.agents.base import Agent, HasProcess
from rejoinder.runtime.abilities import can
from rejoinder.runtime.services import Services
from rejoinder.turns.choose import SlotUse, StartRequest, choose
from rejoinder.turns.suspicion import HEAD_START, STABLE_AFTER, RerunPolicy


class _Asking(Struct):
    ask: StartRequest
    go: Callable[[], None]
    alone: bool = False
    """Nothing else should run beside it."""


class Slots:
    def __init__(self, services: Services) -> None:
        self._settings = services.settings
        self._settings.on_change(self._reconfigured)  # there may be room for more now
        self._runs = services.runs
        self._agents = services.agents
        self._processes = _with_processes(services.agents)
        self._asking: dict[str, _Asking] = {}
        self._running: dict[str, str | None] = {}  # the process of each session that has a slot
        self._rested: dict[str, None] = {}  # processes without a run, the longest idle first
        self._suspects: dict[str, _Asking] = {}  # those that wait for their turn
        self._held_back: dict[str, _Asking] = {}  # those that wait until the process is stable
        self._stable: asyncio.TimerHandle | None = None  # while any of them waits
        self._suspect: str | None = None  # the session of the one that runs
        self._head_start: asyncio.TimerHandle | None = None  # while it is set, nothing else starts
        self._held = False
        self.tried = asyncio.Event()
        """Set unless suspects have their head start."""
        self.tried.set()

    def _reconfigured(self) -> None:
        self._processes = _with_processes(self._agents)
        self._choose()

    def has_room(self, agent: str) -> bool:
        """Whether a run is certain to get a slot at once. False for an agent with a process: only `choose` can tell."""
        if self._asking or self._is_closed:
            return False
        return len(self._running) < self._settings.now.limits.runs and agent not in self._processes

    @property
    def _is_closed(self) -> bool:
        """Nothing but suspects gets a slot."""
        return self._held or self._head_start is not None

    def hold(self) -> None:
        """Nothing starts before `let_go`, except suspects."""
        self._held = True

    def let_go(self) -> None:
        self._held = False
        self._choose()

    def ask(self, session: str, agent: str, go: Callable[[], None], again: RerunPolicy = RerunPolicy.AT_ONCE) -> None:
        """`go` is called as soon as there is a slot; a session asks for one run at a time.

        `again`: for a turn that a crash cut off; those come while the process starts.
        """
        if again is RerunPolicy.AT_ONCE and self.has_room(agent):  # there are no other requests to weigh against it
            self._running[session] = None
            go()
            return
        process = agent if agent in self._processes else None
        asking = _Asking(
            StartRequest(session, process), go, alone=again in (RerunPolicy.FIRST, RerunPolicy.WHEN_STABLE)
        )
        match again:
            case RerunPolicy.AT_ONCE:
                self._asking[session] = asking
                self._choose()
            case RerunPolicy.WHEN_STABLE:
                self._held_back[session] = asking
                if self._stable is None:
                    self._stable = asyncio.get_running_loop().call_later(STABLE_AFTER, self._is_stable)
            case _:
                self._suspects[session] = asking
                if asking.alone and not self._running:
                    self._begin_head_start()
                self._next_suspect()

    def release(self, session: str) -> None:
        """The session's run is over, or no longer wants a slot."""
        self._asking.pop(session, None)
        self._suspects.pop(session, None)
        self._held_back.pop(session, None)
        process = self._running.pop(session, None)
        if process is not None and process not in self._running.values():
            self._rested[process] = None
        if session == self._suspect:
            self._suspect = None
        self._next_suspect()
        self._choose()

    # --- suspects ---------------------------------------------------------------------------------

    def _is_stable(self) -> None:
        self._stable = None
        self._suspects = {**self._held_back, **self._suspects}
        self._held_back.clear()
        if self._suspects:
            self._begin_head_start()
            self._next_suspect()

    def _begin_head_start(self) -> None:
        if self._head_start is None:
            self._head_start = asyncio.get_running_loop().call_later(HEAD_START, self._head_start_is_over)
            self.tried.clear()

    def _head_start_is_over(self) -> None:
        self._end_head_start()
        self._next_suspect()
        self._choose()

    def _end_head_start(self) -> None:
        if self._head_start is not None:
            self._head_start.cancel()
            self._head_start = None
            self.tried.set()

    def _next_suspect(self) -> None:
        if self._suspect is not None:
            return
        session = next(iter(self._suspects), None)
        if session is None or not self._suspects[session].alone:
            self._end_head_start()
        if session is None or (self._head_start is not None and self._running):
            return
        self._suspect, asking = session, self._suspects.pop(session)
        if self._head_start is not None:  # nothing runs, so there is room
            self._running[session] = asking.ask.process
            asking.go()
        else:
            self._asking[session] = asking
            self._choose()

    def _choose(self) -> None:
        if not self._asking or self._is_closed:
            return
        choice = choose(tuple(asking.ask for asking in self._asking.values()), self._load(), self._settings.now.limits)
        started = {session: self._asking.pop(session) for session in choice.start}
        for session, asking in started.items():
            self._running[session] = asking.ask.process
            if asking.ask.process is not None:
                self._rested.pop(asking.ask.process, None)
        for process in choice.retire:
            del self._rested[process]
        if choice.retire:
            self._runs.start("retire", self._go_after(choice.retire, started))
        else:
            for asking in started.values():
                asking.go()

    def _load(self) -> SlotUse:
        busy = tuple({process for process in self._running.values() if process is not None})
        resting = tuple(process for process in self._rested if self._processes[process].is_alive)
        return SlotUse(len(self._running), busy, resting)

    async def _go_after(self, retired: tuple[str, ...], started: Mapping[str, _Asking]) -> None:
        try:
            for process in retired:
                await self._processes[process].rest()
        finally:
            for session, asking in started.items():
                if session in self._running:  # otherwise it was stopped meanwhile
                    asking.go()


def _with_processes(agents: Mapping[str, Agent]) -> dict[str, HasProcess]:
    return {name: agent for name, agent in agents.items() if can(agent, HasProcess)}
