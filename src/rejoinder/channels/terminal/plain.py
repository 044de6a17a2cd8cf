"""Lines in, lines out, for pipes and files: whole messages, no escape codes; the end of input ends the chat.

It does not stream: text written to a pipe cannot be taken back, and an answer may end in silence.
"""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome, OutgoingFile
from rejoinder.channels.terminal.clean import clean
from rejoinder.channels.terminal.files import FILES, ChatFolder
from rejoinder.channels.terminal.room import TerminalRoom
from rejoinder.channels.terminal.typed_lines import EmptyLine, InvalidLine, MessageLine, QuitLine, read_typed
from rejoinder.events import Part, Route

WAITING_LINES = 100
STDIN = 0


class PlainLines:
    limits = Limits()
    file_limits = FILES
    queue_mode = "queue"  # a line is a question, and each gets its answer

    def __init__(self, name: str, agent: str, out: TextIO) -> None:
        self.name = name
        self._agent = agent
        self._out = out
        self._room = TerminalRoom()
        self._folder = ChatFolder()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._places = threading.Semaphore(WAITING_LINES)  # without a free place a line waits in the pipe
        self._unread: BrokenPipeError | None = None

    async def listen(self, deliver: Inlet) -> None:
        _start_reading(asyncio.get_running_loop(), self._lines, self._places)
        while (line := await self._lines.get()) is not None and self._unread is None:
            self._places.release()
            match read_typed(line, self._room):
                case MessageLine(text=text, reply_to=reply_to):
                    await deliver(self._room.say(self.name, text, reply_to))
                case InvalidLine(advice=advice):
                    self._print(f"({advice})")
                case QuitLine():
                    break
                case EmptyLine():
                    pass
        if self._unread is not None:
            raise self._unread

    async def send(self, part: Part) -> Outcome:
        if part.reply_to is not None:
            self._print(f"> {self._room.mention(part.reply_to)}")
        self._print(part.text.rstrip("\n"))
        return Delivered(self._room.add(part.text))

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        return await self.send(await self._folder.with_paths(part, files))

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        where = self._room.mention(message)
        self._print(f"({emoji} removed from {where})" if remove else f"({emoji} on {where})")
        return Delivered(message)

    async def notify_operator(self, route: Route, text: str) -> None:
        self._print(f"({text})")

    def _print(self, text: str) -> None:
        encoding = self._out.encoding or "utf-8"
        printable = clean(text).encode(encoding, "replace").decode(encoding)
        try:
            self._out.write(printable + "\n")
            self._out.flush()
        except BrokenPipeError as error:
            self._unread = error
            self._lines.put_nowait(None)  # wakes `listen`, which ends: the reader of our output is gone


def _start_reading(
    loop: asyncio.AbstractEventLoop, lines: asyncio.Queue[str | None], places: threading.Semaphore
) -> None:
    """Reads lines of a pipe, a file or a device alike; None marks their end.

    A thread reads, because not all of these can be polled. It is a daemon on the bare descriptor, so a
    writer that never writes cannot keep the program from ending.
    """

    def hand_over(line: str | None) -> None:
        places.acquire()
        loop.call_soon_threadsafe(lines.put_nowait, line)

    def read() -> None:
        with suppress(RuntimeError):  # the loop has ended, and `listen` with it
            for line in _split(STDIN):
                hand_over(line)
            hand_over(None)

    threading.Thread(target=read, name="stdin", daemon=True).start()


def _split(descriptor: int) -> Iterator[str]:
    pieces: list[bytes] = []
    while data := os.read(descriptor, 65536):
        head, *rest = data.split(b"\n")
        pieces.append(head)
        for line in rest:
            yield _decoded(pieces)
            pieces = [line]
    if any(pieces):
        yield _decoded(pieces)


def _decoded(pieces: list[bytes]) -> str:
    return b"".join(pieces).removesuffix(b"\r").decode("utf-8", "replace")
