"""Hooks: functions that are told what happens and cannot influence it (IN-8).

Rule 1: telling never waits. Each call of a hook is a task of its own, with a time limit.
Rule 2: a hook that fails or hangs costs one log entry and nothing else.
Rule 3: hooks get frozen values, so they cannot change anything.
Rule 4: an event for HTTP hooks is a row of the store. If its happening has a commit, the row is written in it: the
        caller adds the verbs of `kept`, and then passes `kept=True` to `tell`. Other code posts the rows.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from inspect import iscoroutinefunction
from typing import Any, Protocol

from rejoinder.errors import BadUse
from rejoinder.events import (
    DeliveryFailed,
    JobTicked,
    MessageDecided,
    MessageReceived,
    ReplySent,
    ReplyStarted,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.hook_events import NAMES, Tellable, hook_events
from rejoinder.runtime.live import Live
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import HookEvent, PutHookEvents

log = logging.getLogger(__name__)

Happening = (
    MessageReceived
    | MessageDecided
    | SessionStarted
    | SessionEnded
    | JobTicked
    | TurnEnded
    | ReplyStarted
    | ReplySent
    | DeliveryFailed
)
Hook = Callable[[Any], Awaitable[None]]


class TellHooks(Protocol):
    def __call__(self, happening: Happening, /, *, kept: bool = False) -> None: ...


HOOKS: Mapping[str, type[Happening]] = {
    "message_received": MessageReceived,
    "message_decided": MessageDecided,
    "session_started": SessionStarted,
    "session_ended": SessionEnded,
    "job_ticked": JobTicked,
    "turn_ended": TurnEnded,
    "reply_started": ReplyStarted,
    "reply_sent": ReplySent,
    "delivery_failed": DeliveryFailed,
}
SECONDS = 5.0


class Hooks:
    """Has `Tasks` of its own: waiting until the gateway is idle does not include waiting for hooks."""

    def __init__(
        self,
        over_http: Mapping[str, frozenset[str]] | None = None,
        keep: Callable[[PutHookEvents], Coroutine[Any, Any, None]] | None = None,
        seconds: float = SECONDS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`over_http`: the names of the events that each HTTP hook wants. `keep` writes rows that have no other commit.
        `clock` gives their date."""
        self.over_http = Live(over_http or {})
        self._keep = keep
        self._seconds = seconds
        self._clock = clock
        self._tasks = Tasks()
        self._subscribed: dict[type[Happening], list[Hook]] = {}
        self._on_rows: list[Callable[[], None]] = []

    def on_rows(self, call: Callable[[], None]) -> None:
        """Calls `call` when new rows for HTTP hooks have been written."""
        self._on_rows.append(call)

    def rows_written(self) -> None:
        for call in self._on_rows:
            call()

    def rows(self, happening: Tellable) -> tuple[HookEvent, ...]:
        """The rows that tell HTTP hooks about it."""
        wanted = self.over_http.now
        return hook_events(happening, wanted, self._clock()) if wanted else ()

    def kept(self, happening: Tellable) -> tuple[PutHookEvents, ...]:
        """The verbs to write in the commit of what happened."""
        rows = self.rows(happening)
        return (PutHookEvents(rows),) if rows else ()

    def on(self, name: str, hook: Hook) -> None:
        """From now on `hook` is called with each happening of this name."""
        if name not in HOOKS:
            near = get_close_matches(name, HOOKS, n=1)
            guess = f"did you mean {near[0]}? " if near else ""
            raise BadUse(f"no hook called {name!r}; {guess}there are: {', '.join(HOOKS)}")
        called = getattr(hook, "__call__", None)  # noqa: B004 - not whether it can be called: how it answers
        if not iscoroutinefunction(hook) and not iscoroutinefunction(called):
            raise BadUse(f"the hook for {name} must be an async function: one that blocks would delay everything")
        self._subscribed.setdefault(HOOKS[name], []).append(hook)

    def wants(self, kind: type[Happening]) -> bool:
        """Whether any hook wants this kind; if not, a caller need not build it."""
        return kind in self._subscribed or (bool(self.over_http.now) and kind in NAMES)

    def tell(self, happening: Happening, *, kept: bool = False) -> None:
        """`kept`: the rows for HTTP hooks have already been written."""
        if self.over_http.now and isinstance(happening, Tellable):
            self._tell_over_http(happening, kept=kept)
        for hook in self._subscribed.get(type(happening), ()):
            self._tasks.start(f"hook:{_name(hook)}", self._call(hook, happening))

    def _tell_over_http(self, happening: Tellable, *, kept: bool) -> None:
        if kept:
            return self.rows_written()
        if self._keep is not None:
            for rows in self.kept(happening):
                self._tasks.start("hook", self._keep(rows), then=self.rows_written)

    async def _call(self, hook: Hook, happening: Happening) -> None:
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                await guarded(hook(happening))
        except Exception:  # a hook is foreign code and may raise anything
            if limit.expired():
                log.warning("the hook %s took longer than %g s and was ended", _name(hook), self._seconds)
            else:
                log.exception("the hook %s failed", _name(hook))

    async def close(self) -> None:
        """Waits for the hooks under way. Their time limit keeps this short, unless one ignores being cancelled."""
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * self._seconds):
                await self._tasks.idle()
        await self._tasks.close()


def _name(hook: Hook) -> str:
    return getattr(hook, "__qualname__", None) or type(hook).__name__
