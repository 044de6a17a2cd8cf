"""The channels of a process: which of them listen, and what keeps one from listening or sending (CH-7)."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from time import monotonic
from typing import Any

from rejoinder.channels.base import (
    Channel,
    FollowsLog,
    HasAccount,
    ReportsLiveness,
    ReportsPlaceTrouble,
    ReportsTrouble,
)
from rejoinder.errors import RejoinderError
from rejoinder.runtime.serving import account_of
from rejoinder.runtime.tasks import Tasks, until_cancelled

TASK = "channel:"
"""What the names of the tasks begin with in which channels listen."""


class Listening:
    """`channels`: by the names that people see. `refusal`: why a platform refuses an account of a channel; empty if it
    does not."""

    def __init__(
        self, channels: Mapping[str, Channel], tasks: Tasks, refusal: Callable[[str, str | None], str]
    ) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self._channels = channels
        self._all_tasks = tasks
        self._refusal = refusal

    def start(self, listen: Callable[[str, Channel], Coroutine[Any, Any, None]], *, is_worker: bool) -> None:
        """A worker only follows the channels whose messages reach it through a log, and works until it is cancelled."""
        self.tasks = [
            self._all_tasks.start(_task_name(name), listen(name, channel))
            for name, channel in self._channels.items()
            if not is_worker or isinstance(channel, FollowsLog)
        ]
        if is_worker:
            self.tasks.append(self._all_tasks.start("work", until_cancelled()))

    async def until_ended(self) -> None:
        for task in self.tasks:
            await self._all_tasks.wait(task)

    def raise_failure(self) -> None:
        """Raises the error with which a channel has ended, if there is one. A channel that ignores its cancellation has
        not ended."""
        for task in self.tasks:
            if task.done() and not task.cancelled() and (failure := task.exception()) is not None:
                if isinstance(failure, RejoinderError | BrokenPipeError):  # the reader of a terminal's output is gone
                    raise failure
                name = task.get_name().removeprefix(TASK)
                problem = f"{type(failure).__name__}: {failure}"
                raise RejoinderError(f"it has ended ({problem}); the log says where", about=f"{name}: ") from failure

    def listens(self, name: str) -> bool:
        """Whether this channel takes messages now."""
        return self._all_tasks.has(_task_name(name))

    def silent_for(self, name: str) -> float | None:
        """Seconds since the platform last gave a sign of life; None if the channel does not report any, or there was
        none yet."""
        here = self._channels[name]
        last = here.last_sign if isinstance(here, ReportsLiveness) else None
        return None if last is None else max(0.0, monotonic() - last)

    def problem(self, name: str) -> str:
        """What keeps this channel from listening or sending; empty when everything is fine."""
        ended = next((task for task in self.tasks if task.get_name() == _task_name(name) and task.done()), None)
        if ended is not None and not ended.cancelled() and (failure := ended.exception()) is not None:
            return str(failure)
        here = self._channels[name]
        if isinstance(here, ReportsTrouble) and here.trouble:
            return here.trouble
        silent = self.silent_for(name)
        if silent is not None and isinstance(here, ReportsLiveness) and silent > here.stale_after:
            return f"nothing has been heard from its platform for {silent:.0f} s; it is being connected again"
        refused = self._refusal(here.name, account_of(here) if isinstance(here, HasAccount) else None)
        return f"nothing can be sent: {refused}" if refused else ""

    def place_troubles(self, name: str) -> tuple[str, ...]:
        """What keeps this channel from single places."""
        here = self._channels[name]
        return here.place_troubles if isinstance(here, ReportsPlaceTrouble) else ()


def _task_name(name: str) -> str:
    return f"{TASK}{name}"
