"""Writing, as far as it is the same in both engines: how verbs get to the writer, how much is one group, and who is
told of a fault."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import MOST_RESUMED, RESUMED_FOR, Accept, RecoveryRows, Verb
from rejoinder.store.sql.reader import OnResult, SqlReader, Verbs, VerbWriter
from rejoinder.store.sql.recover import recover

log = logging.getLogger(__name__)

GROUP: Final = 200
"""The most rows in one commit; a single larger write is committed alone."""

T = TypeVar("T")


W = TypeVar("W", bound=VerbWriter)


class SqlWriting(SqlReader, Generic[W]):
    """The writing side of a store, over the writer of its engine."""

    _writer: W

    async def write(self, verb: Verb[Any], /, *others: Verb[Any], on_result: OnResult | None = None) -> Any:
        results = await self._writer.write((verb, *others), on_result)
        return results if others else results[0]

    async def ask(self, question: Callable[..., T], *arguments: Any) -> T:
        return await self._read(question, *arguments)

    async def recover(
        self, now: datetime, *, singly: int = MOST_RESUMED, within: timedelta = RESUMED_FOR
    ) -> RecoveryRows:
        return await self._read(recover, now, singly, within)


def count_rows(verbs: Verbs) -> tuple[int, bool]:
    """How many rows the verbs count as in a group, and whether they accept messages."""
    rows, accepts = len(verbs), False
    for verb in verbs:
        if type(verb) is Accept:
            rows += len(verb.events) - 1
            accepts = True
    return rows, accepts


class FaultLog:
    """The present fault of a store, if it has one. Each change is logged only once, although every message meets the
    fault."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.fault: StoreUnavailable | None = None

    def tell(self, fault: StoreUnavailable | None) -> None:
        before, self.fault = self.fault, fault
        if fault is not None and (before is None or before.fault != fault.fault):
            log.error("%s Nothing is acknowledged until then.", fault)
        elif before is not None and fault is None:
            log.warning("The store %s can be written again.", self._where)


class StoreWriter:
    """The part that is common to the writers of both engines."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._closed = False
        self._told = FaultLog(where)

    @property
    def fault(self) -> StoreUnavailable | None:
        return self._told.fault

    def refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("closed", self._where)
