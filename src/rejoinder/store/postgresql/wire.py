"""One connection in libpq's pipeline mode, served by the event loop: statements are sent without waiting for earlier
answers, and `round_trip` waits for all answers at once (SC-21).

Rule 1: every statement is prepared when it is used for the first time; the server infers the types of its parameters.
Rule 2: after an error the server skips all statements up to the next `round_trip`; their answers say so.
Rule 3: when the connection is lost, waiting callers are told; nothing more can be sent.
"""

import asyncio
import select
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result

TEXT: Final = 0
BINARY: Final = 1
FAILED = frozenset({pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_ABORTED})
Row = tuple[Any, ...]


class Skipped(Exception):
    """Another statement failed before this one was reached."""


class ServerAnswer:
    """The server's answer to one statement, once it has arrived."""

    __slots__ = ("result",)

    def __init__(self) -> None:
        self.result: pq.abc.PGresult | None = None

    @property
    def error(self) -> Exception | None:
        if self.result is None or self.result.status not in FAILED:
            return None
        if self.result.status == pq.ExecStatus.PIPELINE_ABORTED:
            return Skipped()
        return error_from_result(self.result)


def storable(text: str) -> str:
    """The text without NUL, which PostgreSQL's texts cannot contain."""
    return text.replace("\0", "\N{SYMBOL FOR NULL}") if "\0" in text else text


class _Encoders(dict[type, Callable[[Any], bytes | None]]):
    """The encoding of values by type. A type that is missing is encoded like its base type."""

    def __missing__(self, kind: type) -> Callable[[Any], bytes | None]:
        for each in kind.__mro__:
            if each in self:
                self[kind] = self[each]
                return self[each]
        raise TypeError(f"a value of the type {kind.__name__} cannot be stored")


ENCODERS: Final = _Encoders(
    {
        bytes: bytes,
        str: lambda value: storable(value).encode(),
        bool: b"%d".__mod__,
        int: b"%d".__mod__,
        float: lambda value: repr(value).encode(),
        type(None): lambda _: None,
        list: lambda numbers: f"{{{','.join(map(str, numbers))}}}".encode(),
    }
)


class Encoded(NamedTuple):
    """The values of a statement in the form for libpq."""

    values: list[bytes | None]
    formats: list[int]


def encoded(values: Sequence[Any]) -> Encoded:
    """Raises TypeError or UnicodeEncodeError for values that cannot be stored."""
    return Encoded(
        [ENCODERS[type(value)](value) for value in values],
        [BINARY if isinstance(value, bytes) else TEXT for value in values],
    )


class Wire:
    def __init__(self, db: psycopg.Connection[Row], loop: asyncio.AbstractEventLoop) -> None:
        self._db = db
        self._loop = loop
        self._conn = db.pgconn
        self._conn.nonblocking = 1
        self._conn.enter_pipeline_mode()
        self._file = self._conn.socket
        self._heard = select.poll()
        self._heard.register(self._file, select.POLLIN)
        self._loads = Transformer(db)
        self._names: dict[str, tuple[bytes, ServerAnswer]] = {}
        self._numbers = 0
        self._expected: deque[ServerAnswer | None] = deque()
        """The outstanding answers, in the order of sending; None marks the end of a round trip."""
        self._arrived: asyncio.Future[None] | None = None
        self._writes = False
        self._let_go = False
        self.failed: list[ServerAnswer] = []
        """The answers of this round trip that are errors."""

    @property
    def is_closed(self) -> bool:
        return self._let_go or self._db.closed

    def has_ended(self) -> bool:
        """Whether the server has ended the connection while it was idle. Call this between round trips: a statement
        sent on such a connection is lost, and nobody could say whether it was carried out."""
        try:
            while self._heard.poll(0):  # the server sends the reason, then the connection ends
                self._conn.consume_input()
        except psycopg.Error:
            return True
        return False

    def send(self, sql: str, given: Encoded, answer: ServerAnswer) -> None:
        """Sends a statement; its answer is there after the next round trip."""
        self._conn.send_query_prepared(self._prepared(sql), given.values, given.formats, BINARY)
        self._expected.append(answer)

    def _prepared(self, sql: str) -> bytes:
        known = self._names.get(sql)
        if known is not None:
            return known[0]
        self._numbers += 1
        name = b"s%d" % self._numbers
        self._conn.send_prepare(name, sql.encode())
        answer = ServerAnswer()
        self._expected.append(answer)
        self._names[sql] = name, answer
        return name

    def rows(self, answer: ServerAnswer) -> list[Row]:
        assert answer.result is not None, "it has arrived"
        if not answer.result.ntuples:
            return []
        self._loads.set_pgresult(answer.result)
        return self._loads.load_rows(0, answer.result.ntuples, tuple)

    # --- round trips --------------------------------------------------------------------------------

    def round_trip(self) -> asyncio.Future[None]:
        """A future that is done when everything sent so far is answered."""
        assert self._arrived is None, "one at a time"
        self.failed = []
        self._arrived = arrived = self._loop.create_future()
        try:
            self._conn.pipeline_sync()
            self._expected.append(None)
            self._flush()
            self._loop.add_reader(self._file, self._readable)
        except psycopg.Error as error:
            self._lost(error)
        return arrived

    def _flush(self) -> None:
        unsent = bool(self._conn.flush())
        if unsent and not self._writes:
            self._loop.add_writer(self._file, self._writable)
        elif self._writes and not unsent:
            self._loop.remove_writer(self._file)
        self._writes = unsent

    def _writable(self) -> None:
        try:
            self._flush()
        except psycopg.Error as error:
            self._lost(error)

    def _readable(self) -> None:
        try:
            self._conn.consume_input()
            if self._writes:
                self._flush()
            while self._expected and not self._conn.is_busy():
                self._receive(self._conn.get_result())
        except psycopg.Error as error:
            self._lost(error)

    def _receive(self, result: pq.abc.PGresult | None) -> None:
        if result is None:  # a statement without an answer must not count as done
            raise psycopg.OperationalError("the server left a statement without an answer")
        answer = self._expected.popleft()
        if answer is None:
            self._end()
            return
        answer.result = result
        self._conn.get_result()  # None: the end of the answer to this statement
        if result.status in FAILED:
            self.failed.append(answer)

    def _end(self) -> None:
        self._loop.remove_reader(self._file)
        if self.failed:
            self._names = {sql: known for sql, known in self._names.items() if known[1].error is None}
        arrived, self._arrived = self._arrived, None
        if arrived is not None and not arrived.done():
            arrived.set_result(None)

    def _lost(self, error: psycopg.Error) -> None:
        self.close()
        arrived, self._arrived = self._arrived, None
        if arrived is not None and not arrived.done():
            arrived.set_exception(error)

    def close(self) -> None:
        if not self._let_go:
            self._let_go = True
            self._loop.remove_reader(self._file)
            self._loop.remove_writer(self._file)
            self._conn.finish()
