"""The least a Telegram bot can do that loses nothing: the yardstick of bench/telegram.py.

A message and the offset are in SQLite before they are confirmed, the answer before it is sent, its receipt after. One
writer commits for all who wait (`synchronous=FULL`). No directive, no draft, no access rule, no retry, no trace.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp

from bench.bots import Bot

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE message (id INTEGER PRIMARY KEY, chat INTEGER, text TEXT, answer TEXT, receipt INTEGER);
CREATE INDEX waiting ON message (chat, id) WHERE receipt IS NULL;
CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), offset INTEGER);
"""
Statement = tuple[str, tuple[Any, ...]]


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


class DurableRelay(Bot):
    def __init__(self, http: aiohttp.ClientSession, api: str, model: str, writer: Writer) -> None:
        super().__init__(http, api, model)
        self._writer = writer
        self._chats: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._writer.run())
            offset = 0
            while True:
                updates = await self.call(
                    "getUpdates", {"offset": offset, "timeout": 30, "allowed_updates": ["message"]}
                )
                if not updates:
                    continue
                offset = updates[-1]["update_id"] + 1
                kept = "INSERT OR IGNORE INTO message (id, chat, text) VALUES (?, ?, ?)"
                messages = [
                    (each["update_id"], each["message"]["chat"]["id"], each["message"]["text"]) for each in updates
                ]
                read_to = ("INSERT OR REPLACE INTO cursor VALUES (1, ?)", (offset,))
                await self._writer.write(*((kept, message) for message in messages), read_to)
                for chat in {chat for _, chat, _ in messages}:
                    self._serve(chat, tasks.create_task)

    def _serve(self, chat: int, start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]) -> None:
        if chat not in self._chats or self._chats[chat].done():
            self._chats[chat] = start(self._answer_all(chat))

    async def _answer_all(self, chat: int) -> None:
        """One at a time and in order, until nothing waits in this chat."""
        open_ones = "SELECT id FROM message WHERE chat = ? AND receipt IS NULL ORDER BY id LIMIT 1"
        while found := self._writer.read(open_ones, chat):
            await self._answer(chat, found[0][0])

    async def _answer(self, chat: int, message: int) -> None:
        said_before = "SELECT text, answer FROM message WHERE chat = ? AND id <= ? ORDER BY id"
        history: list[dict[str, str]] = []
        for text, answer in self._writer.read(said_before, chat, message):
            history.append({"role": "user", "content": text})
            if answer is not None:
                history.append({"role": "assistant", "content": answer})
        answer = await self.ask(history)
        await self._writer.write(("UPDATE message SET answer = ? WHERE id = ?", (answer, message)))
        sent = await self.call("sendMessage", {"chat_id": chat, "text": answer})
        receipt = ("UPDATE message SET receipt = ? WHERE id = ?", (sent["message_id"], message))
        await self._writer.write(receipt)


async def durable_relay(api: str, model: str, folder: str) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await DurableRelay(http, api, model, Writer(f"{folder}/relay.db")).run()
