"""Slots for runs, shared fairly between sessions (TU-21): requests wait in a queue, `turns.choose` picks the next.

Suspects, the turns that were under way in two crashes, run one at a time, beside other turns (DU-2). Some suspects have
to run alone, so that the one that ends the process is found even if people never stop writing. This happens at the
start, or when the process is stable (`turns.suspicion`): nothing else starts, and the suspect begins when nothing else
runs. It does not last long: a suspect that has lived for `HEAD_START` does not end the process at once, and if other
turns keep running, suspects run beside them.
"""

import asyncio
from collections.abc import Callable, Mapping

from rejoinder.agents.base import Agent, HasProcess
from rejoinder.runtime.abilities import can
from rejoinder.runtime.services import Services
from rejoinder.runtime.slot_pool import SlotRequest
from rejoinder.turns.choose import StartRequest
from rejoinder.turns.suspicion import AT_ONCE, HEAD_START, STABLE_AFTER, RerunPolicy, next_start


class Slots:
    def __init__(self, services: Services) -> None:
        self._settings = services.settings
        self._settings.on_change(self._reconfigured)  # there may be room for more now
        self._tasks = services.tasks
        self._agents = services.agents
        self._processes = _with_processes(services.agents)
        self._pool = services.slots
        self._prefix = self._pool.new_prefix()  # a session may have a run in another engine, too (SC-1)
        self._asking, self._running = self._pool.asking, self._pool.running  # shared by all engines
        self._own: set[str] = set()  # sessions of this engine that request a slot or run
        self._suspects: dict[str, SlotRequest] = {}  # suspects that wait for their turn
        self._held_back: dict[str, SlotRequest] = {}  # suspects that wait until the process is stable
        self._stable: asyncio.TimerHandle | None = None  # set while any of them waits
        self._suspect: str | None = None  # the session of the suspect that runs
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
        if self._asking or self._held or self._pool.head_starts:
            return False
        return len(self._running) < self._settings.now.limits.runs and agent not in self._processes

    def pause(self) -> None:
        """Nothing starts before `resume`, except suspects."""
        self._held = True

    def resume(self) -> None:
        self._held = False
        self._choose()

    def ask(self, session: str, agent: str, go: Callable[[], None], again: RerunPolicy = AT_ONCE) -> None:
        """Requests a slot; `go` is called as soon as there is one. A session requests only one at a time.

        `again`: the policy for a turn that a crash interrupted; such turns are requested while the process starts.
        """
        session = self._prefix + session
        self._own.add(session)
        if again is AT_ONCE and self.has_room(agent):  # there are no other requests to consider
            self._running[session] = None
            go()
            return
        process = agent if agent in self._processes else None
        asking = SlotRequest(
            StartRequest(session, process),
            go,
            alone=again in (RerunPolicy.FIRST, RerunPolicy.WHEN_STABLE),
            is_held=lambda: self._held,
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
        session = self._prefix + session
        self._asking.pop(session, None)
        self._suspects.pop(session, None)
        self._held_back.pop(session, None)
        self._pool.release(session)
        self._own.discard(session)
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
            self._pool.begin_head_start()
            self.tried.clear()

    def _head_start_is_over(self) -> None:
        self._end_head_start()
        self._next_suspect()
        self._choose()

    def _end_head_start(self) -> None:
        if self._head_start is not None:
            self._head_start.cancel()
            self._head_start = None
            self._pool.end_head_start()
            self.tried.set()

    def _next_suspect(self) -> None:
        if self._suspect is not None:
            return
        if not self._suspects:
            return self._end_head_start()
        session, asking = next(iter(self._suspects.items()))
        head_start, others_run = self._head_start is not None, bool(self._running)
        start = next_start(alone=asking.alone, head_start=head_start, others_run=others_run)
        if not asking.alone:
            self._end_head_start()
        if start == "waits":
            return
        self._suspect = session
        del self._suspects[session]
        if start == "alone":  # nothing runs, so there is room
            self._running[session] = asking.ask.process
            asking.go()
        else:
            self._asking[session] = asking
            self._choose()

    def _choose(self) -> None:
        self._pool.choose(self._settings.now.limits, self._processes, self._tasks)

    def close(self) -> None:
        """The engine has ended: frees its slots for the others."""
        self._held = True
        if self._stable is not None:
            self._stable.cancel()
        self._suspects.clear()
        self._held_back.clear()
        self._end_head_start()
        for session in tuple(self._own):
            self._pool.asking.pop(session, None)
            self._pool.release(session)
        self._own.clear()
        self._choose()


def _with_processes(agents: Mapping[str, Agent]) -> dict[str, HasProcess]:
    return {name: agent for name, agent in agents.items() if can(agent, HasProcess)}
