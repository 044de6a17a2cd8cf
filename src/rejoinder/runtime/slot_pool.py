"""The slots of one process, shared by the engines of all its shards: which sessions run, which request a slot, and
which agents' processes are idle (TU-21)."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from rejoinder.agents.base import HasProcess
from rejoinder.runtime.tasks import Tasks
from rejoinder.turns.choose import SlotLimits, SlotUse, StartRequest, choose


class SlotRequest(Struct):
    ask: StartRequest
    go: Callable[[], None]
    alone: bool = False
    """Whether nothing else should run beside it."""
    is_held: Callable[[], bool] = lambda: False
    """Whether its engine does not start anything yet."""


class SlotPool:
    def __init__(self) -> None:
        self.asking: dict[str, SlotRequest] = {}
        self.running: dict[str, str | None] = {}
        """The process of each session that has a slot."""
        self.rested: dict[str, None] = {}
        """Processes without a run, the longest idle first."""
        self.head_starts = 0
        """While this is above zero, only suspects start."""
        self._engines = 0

    def new_prefix(self) -> str:
        """A new prefix for the session names of one engine."""
        self._engines += 1
        return f"{self._engines}/"

    def begin_head_start(self) -> None:
        self.head_starts += 1

    def end_head_start(self) -> None:
        self.head_starts -= 1

    def release(self, session: str) -> None:
        process = self.running.pop(session, None)
        if process is not None and process not in self.running.values():
            self.rested[process] = None

    def choose(self, limits: SlotLimits, processes: Mapping[str, HasProcess], tasks: Tasks) -> None:
        """Grants free slots in the order of the requests, whichever engine made them."""
        if not self.asking or self.head_starts:
            return
        asks = tuple(each.ask for each in self.asking.values() if not each.is_held())
        if not asks:
            return
        choice = choose(asks, self._load(processes), limits)
        started = {session: self.asking.pop(session) for session in choice.start}
        for session, asking in started.items():
            self.running[session] = asking.ask.process
            if asking.ask.process is not None:
                self.rested.pop(asking.ask.process, None)
        for process in choice.retire:
            del self.rested[process]
        if choice.retire:
            tasks.start("retire", _rest([processes[name] for name in choice.retire]), then=lambda: self._go(started))
        else:
            for asking in started.values():
                asking.go()

    def _go(self, started: Mapping[str, SlotRequest]) -> None:
        for session, asking in started.items():
            if session in self.running:  # otherwise it was stopped meanwhile
                asking.go()

    def _load(self, processes: Mapping[str, HasProcess]) -> SlotUse:
        busy = tuple({process for process in self.running.values() if process is not None})
        resting = tuple(process for process in self.rested if processes[process].is_alive)
        return SlotUse(len(self.running), busy, resting)


async def _rest(retired: list[HasProcess]) -> None:
    for process in retired:
        await process.suspend()
