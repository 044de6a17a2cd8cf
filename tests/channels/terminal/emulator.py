"""A program in a terminal of its own, and what a person in front of it sees."""

import asyncio
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pyte

from rejoinder.testing.patience import PATIENCE

LOOK_BACK = 5000


class Terminal:
    def __init__(self, program: list[str], columns: int, rows: int) -> None:
        self.raw = b""
        self._screen = pyte.HistoryScreen(columns, rows, history=LOOK_BACK, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        self.resize(columns, rows)
        environment = {**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_COLOR_DEPTH": "DEPTH_4_BIT"}
        self.process = subprocess.Popen(
            program, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._master, self._read)
        self._changes = asyncio.Event()

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says EIO when the program has closed its side
            data = b""
        if not data:
            self._loop.remove_reader(self._master)
        self.raw += data
        self._stream.feed(data)
        self._changes.set()

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    def keys(self, typed: str | bytes) -> None:
        os.write(self._master, typed.encode() if isinstance(typed, str) else typed)

    def text(self) -> str:
        """What can be seen and scrolled back to."""
        above = ["".join(line[x].data for x in range(self._screen.columns)) for line in self._screen.history.top]
        return "\n".join(line.rstrip() for line in [*above, *self._screen.display]).rstrip()

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.text(), repr(text))

    async def until(self, holds: Callable[[], bool], what: str = "it") -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds():
                    await self._changes.wait()
                    self._changes.clear()
        except TimeoutError:
            raise AssertionError(f"waited for {what}; the terminal shows:\n{self.text()}") from None

    async def ends(self) -> int:
        async with asyncio.timeout(PATIENCE):
            return await asyncio.to_thread(self.process.wait)

    def close(self) -> None:
        self._loop.remove_reader(self._master)
        os.close(self._master)
        self.process.kill()
        self.process.wait()


@asynccontextmanager
async def chatting(*replies: object, columns: int = 80, rows: int = 24) -> AsyncIterator[Terminal]:
    """A chat with an agent that says these replies, or with the guide."""
    if replies:
        program = [sys.executable, str(Path(__file__).with_name("scripted_chat.py")), repr(replies)]
    else:
        program = [str(Path(sys.executable).with_name("rejoinder")), "chat", "--agent", "tour"]
    terminal = Terminal(program, columns, rows)
    try:
        await terminal.shows("say hello")
        yield terminal
    finally:
        terminal.close()
