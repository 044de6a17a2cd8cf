"""The journal as the event loop sees it: changes, which are announced once they are durable, and questions."""

import sqlite3
from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec, TypeVar

from rejoinder.channels.web.faces import EVERYBODY, OWNER, agent_member
from rejoinder.channels.web.journal import Journal
from rejoinder.channels.web.records import Told
from rejoinder.channels.web.writer import Writer, connect
from rejoinder.errors import BadUse
from rejoinder.sqlite_faults import fault_in

P = ParamSpec("P")
T = TypeVar("T")


class Keeper:
    """`tell` gets every event, in order, once it is on disk."""

    def __init__(
        self,
        path: str,
        channel: str,
        agents: tuple[str, ...],
        *,
        now: Callable[[], int],
        faces: Mapping[str, str] | None = None,
    ) -> None:
        if not agents:
            raise BadUse("the web channel needs an agent")
        if taken := {OWNER, EVERYBODY}.intersection(agents):
            raise BadUse(f"no agent of the chat page can be called {min(taken)!r}: that name has a meaning there")
        self.agents = tuple(agent_member(id, (faces or {}).get(id, "")) for id in agents)
        self.tell: Callable[[Told], None] = lambda _: None
        self.changed: Callable[[], None] = lambda: None
        with fault_in(path):
            db = connect(path)
            try:
                db.execute("BEGIN IMMEDIATE")
                self.journal = Journal(db, channel, self.agents, now)
                db.execute("COMMIT")
            except BaseException:
                db.close()
                raise
        self._writer = Writer(db, path)

    async def change(self, verb: Callable[Concatenate[Journal, P], T], *arguments: P.args, **options: P.kwargs) -> T:
        """Makes the change, waits for the disk, tells everybody; then returns."""
        return await self.change_then(lambda journal: verb(journal, *arguments, **options), lambda _: None)

    async def change_then(self, change: Callable[[Journal], T], then: Callable[[T], None]) -> T:
        """Like `change`; calls `then` with the result before anybody is told."""

        def work() -> tuple[T, list[Told]]:
            try:
                return change(self.journal), self.journal.told()
            except BaseException:
                self.journal.told()  # discards the events of a failed change, lest the next one announce them
                raise

        def spread(done: tuple[T, list[Told]]) -> None:
            then(done[0])
            for told in done[1]:
                self.tell(told)
            self.changed()

        return (await self._writer.do(work, spread))[0]

    async def ask(
        self, question: Callable[Concatenate[sqlite3.Connection, P], T], *arguments: P.args, **options: P.kwargs
    ) -> T:
        """Reads, or writes what nobody has to be told; in order with the changes."""
        return await self._writer.do(lambda: question(self.journal.db, *arguments, **options))

    async def ask_then(self, question: Callable[[Journal], T], then: Callable[[T], None]) -> T:
        """Reads, and calls `then` with the answer before any later event is told."""
        return await self._writer.do(lambda: question(self.journal), then)

    def close(self) -> None:
        self._writer.close()
