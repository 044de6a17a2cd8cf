"""A batch of writes: verbs are added to it, one commit writes them all, and each has its result."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import Store, Verb

Result = TypeVar("Result")

PAUSE = 1.0
"""Seconds between two checks of a store that could not be written."""


class WriteBatch:
    """`then` is called when the batch is written."""

    def __init__(self, *verbs: Verb[Any], then: Callable[[], object] | None = None) -> None:
        self._verbs = list(verbs)
        self.results: tuple[Any, ...] = ()
        """In the order of the verbs."""
        self._included: list[tuple[int, WriteBatch]] = []
        self.is_written = False
        self._then = then

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._verbs)

    def add(self, verb: Verb[Result]) -> Callable[[], Result]:
        """Returns a function that gives the verb's result once the batch is written."""
        place = len(self._verbs)
        self._verbs.append(verb)
        return lambda: self.results[place]

    def add_all(self, verbs: "tuple[Verb[Any], ...]") -> None:
        self._verbs += verbs

    def include(self, other: "WriteBatch") -> None:
        """Writes the verbs of the other batch with this one; afterwards the other has its results as if it had been
        written alone."""
        self._included.append((len(self._verbs), other))
        self._verbs += other._verbs

    async def write(self, store: Store, *, insists: bool = False) -> None:
        """Returns when the whole batch is durable; raises if none of it is. `insists`: as in `insist`."""
        while self._verbs:
            try:
                results = await store.write(*self._verbs)
            except StoreUnavailable as fault:
                if not insists:
                    raise
                await until_available(store, fault)
            else:
                return self._written(results if len(self._verbs) > 1 else (results,))

    def insist(self, store: Store) -> Coroutine[Any, Any, None]:
        """Like `write`, but waits while the store is unavailable (DU-15): used to record what has already happened."""
        return self.write(store, insists=True)

    def _written(self, results: tuple[Any, ...]) -> None:
        self.results, self.is_written = results, True
        for start, other in self._included:
            other._written(results[start : start + len(other._verbs)])
        if self._then is not None:
            self._then()


async def until_available(store: Store, fault: StoreUnavailable) -> None:
    """Returns when the store can be written again; raises if it has been closed. The store itself logs once why it
    could not be written, so the caller need not."""
    while fault.fault != "closed":
        await asyncio.sleep(PAUSE)
        found = await store.health()
        if found.fault is None:
            return
        if found.fault == "closed":
            fault = StoreUnavailable("closed", fault.where)
    raise fault
