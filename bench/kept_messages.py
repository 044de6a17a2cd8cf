"""What the durable relays keep: the message before it is confirmed, its answer before it is sent, the receipt after.

One writer commits for all who wait (`synchronous=FULL`), and each chat is answered one message at a time, in order. No
directive, no draft, no access rule, no retry, no trace.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE message (id PRIMARY KEY, chat, text TEXT, answer TEXT, receipt);
CREATE INDEX waiting ON message (chat, id) WHERE receipt IS NULL;
CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), offset INTEGER);
"""
Key = int | str
Message = tuple[Key, Key, str]
"""Its id, its chat, its text."""
Statement = tuple[str, tuple[Any, ...]]
History = list[dict[str, str]]


class Writer:
    """Group commit without a timer: what comes while one commit is under way is the next."""

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.executescript(SCHEMA)
        self._waiting: list[tuple[list[Statement], asyncio.Future[None]]] = []
        self._wake = asyncio.Event()

    def read(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._database.execute(question, values).fetchall()

    async def write(self, *statements: Statement) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((list(statements), done))
        self._wake.set()
        await done

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            group, self._waiting = self._waiting, []
            self._database.execute("BEGIN IMMEDIATE")
            for statements, _ in group:
                for statement in statements:
                    self._database.execute(*statement)
            await asyncio.to_thread(self._database.execute, "COMMIT")
            for _, done in group:
                done.set_result(None)


class KeptMessages:
    """`ask` is the model, `send` the platform: it posts a text to a chat and returns the receipt."""

    def __init__(
        self,
        folder: str,
        tasks: asyncio.TaskGroup,
        ask: Callable[[History], Awaitable[str]],
        send: Callable[[Any, str], Awaitable[Key]],
    ) -> None:
        self._writer = Writer(f"{folder}/relay.db")
        self._tasks = tasks
        self._ask = ask
        self._send = send
        self._chats: dict[Key, asyncio.Task[None]] = {}
        tasks.create_task(self._writer.run())

    async def received(self, messages: list[Message], offset: int = 0) -> None:
        """Returns when they are on the disk; they are answered from there."""
        kept = "INSERT OR IGNORE INTO message (id, chat, text) VALUES (?, ?, ?)"
        read_to = ("INSERT OR REPLACE INTO cursor VALUES (1, ?)", (offset,))
        await self._writer.write(*((kept, message) for message in messages), read_to)
        for chat in {chat for _, chat, _ in messages}:
            if chat not in self._chats or self._chats[chat].done():
                self._chats[chat] = self._tasks.create_task(self._answer_all(chat))

    async def _answer_all(self, chat: Key) -> None:
        open_ones = "SELECT id FROM message WHERE chat = ? AND receipt IS NULL ORDER BY id LIMIT 1"
        while found := self._writer.read(open_ones, chat):
            await self._answer(chat, found[0][0])

    async def _answer(self, chat: Key, message: Key) -> None:
        said_before = "SELECT text, answer FROM message WHERE chat = ? AND id <= ? ORDER BY id"
        history: History = []
        for text, answer in self._writer.read(said_before, chat, message):
            history.append({"role": "user", "content": text})
            if answer is not None:
                history.append({"role": "assistant", "content": answer})
        answer = await self._ask(history)
        await self._writer.write(("UPDATE message SET answer = ? WHERE id = ?", (answer, message)))
        receipt = await self._send(chat, answer)
        await self._writer.write(("UPDATE message SET receipt = ? WHERE id = ?", (receipt, message)))
