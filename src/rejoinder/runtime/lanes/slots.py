"""Slots for runs, shared fairly between sessions (TU-21): requests wait in a queue, `turns.choose` picks the next."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from rejoinder.agents.base import Agent, HasProcess
from rejoinder.runtime.abilities import can
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.turns.choose import Ask, Limits, Load, choose


class _Asking(Struct):
    ask: Ask
    go: Callable[[], None]


class Slots:
    def __init__(self, limits: Limits, runs: Runs, agents: Mapping[str, Agent]) -> None:
        self._limits = limits
        self._runs = runs
        self._agents = agents
        self._processes = _with_processes(agents)
        self._asking: dict[str, _Asking] = {}
        self._running: dict[str, str | None] = {}  # the process of each session that has a slot
        self._rested: dict[str, None] = {}  # processes without a run, the longest idle first

    def heed(self, settings: RuntimeSettings) -> None:
        self._limits = settings.limits
        self._processes = _with_processes(self._agents)
        self._choose()

    def has_room(self, agent: str) -> bool:
        """Whether a run is certain to get a slot at once. False for an agent with a process: only `choose` can tell."""
        return not self._asking and len(self._running) < self._limits.runs and agent not in self._processes

    def ask(self, session: str, agent: str, go: Callable[[], None]) -> None:
        """`go` is called as soon as there is a slot; a session asks for one run at a time."""
        if self.has_room(agent):  # there are no other requests to weigh against it
            self._running[session] = None
            go()
            return
        process = agent if agent in self._processes else None
        self._asking[session] = _Asking(Ask(session, process), go)
        self._choose()

    def release(self, session: str) -> None:
        """The session's run is over, or no longer wants a slot."""
        self._asking.pop(session, None)
        process = self._running.pop(session, None)
        if process is not None and process not in self._running.values():
            self._rested[process] = None
        self._choose()

    def _choose(self) -> None:
        if not self._asking:
            return
        choice = choose(tuple(asking.ask for asking in self._asking.values()), self._load(), self._limits)
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

    def _load(self) -> Load:
        busy = tuple({process for process in self._running.values() if process is not None})
        resting = tuple(process for process in self._rested if self._processes[process].is_alive)
        return Load(len(self._running), busy, resting)

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
