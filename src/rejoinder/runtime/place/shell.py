"""Shell commands that an owner runs on the gateway's machine (IN-61).

Rule 1: the command is settled before it is run, so it runs at most once, whatever happens meanwhile.
Rule 2: it runs in a session and a process group of its own. The whole group is killed when the command has ended, when
        its time is up and when the gateway ends.
Rule 3: its output cannot fill our memory: only the end is kept, and shown without secrets.
Rule 4: it has no input, and gets only those of our environment variables that every program needs.
"""

import asyncio
import os
import re
import shutil
import signal
from contextlib import suppress
from typing import cast

from msgspec import Struct

from rejoinder.environment import environment_for
from rejoinder.rendering.fence import fenced
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.place.effects import EffectResult
from rejoinder.runtime.session.prefixes import Prefix, no_prefix
from rejoinder.runtime.tasks import Tasks
from rejoinder.unicode_repair import harmless

SECONDS = 60.0
"""How long a command may take."""
MOST_SAID = 3500
"""How many characters of its output are shown."""
MOST_KEPT = 64 * 1024
LAST_OUTPUT = 0.2
"""Seconds to wait for output that is still in the pipe, or is written by processes that the command left behind."""
WITH_THE_GATEWAY = "It was ended with the gateway."
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


class ShellResult(Struct, frozen=True):
    """The kept end of a command's output, how many bytes it wrote in all, and how it failed, if it did."""

    output: bytes
    written: int
    how: str = ""


class Shell:
    """One command at a time."""

    def __init__(self, tasks: Tasks, seconds: float = SECONDS) -> None:
        self._tasks = tasks
        self._seconds = seconds
        self._running: _Command | None = None
        self._task: asyncio.Task[None] | None = None

    def perform(self, command: str, conversation: Conversation, prefix: Prefix = no_prefix) -> EffectResult:
        if self._task is not None and not self._task.done():
            return EffectResult(says=f"A command is already running; it has {self._seconds:.0f} seconds in all.")
        return EffectResult(then=lambda: self._start(command, conversation, prefix))

    async def stop(self) -> None:
        """Ends the running command, and returns when its result has been sent to the chat."""
        if self._running is not None:
            self._running.end(WITH_THE_GATEWAY)
        if self._task is not None:
            await self._tasks.wait(self._task)

    def _start(self, command: str, conversation: Conversation, prefix: Prefix) -> None:
        self._running = _Command()
        self._task = self._tasks.start("bash", self._run(command, self._running, conversation, prefix))

    async def _run(self, words: str, command: "_Command", conversation: Conversation, prefix: Prefix) -> None:
        await conversation.send(prefix(told(await command.run(words, self._seconds))))


class _Command(asyncio.SubprocessProtocol):
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._how: asyncio.Future[str] = self._loop.create_future()
        self._closed = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None
        self._output = bytearray()
        self._written = 0
        self._exited = self._read = False

    async def run(self, words: str, seconds: float) -> ShellResult:
        program = shutil.which("bash") or "sh"
        try:
            transport, _ = await self._loop.subprocess_exec(
                lambda: self,
                *(program, "-c", words),
                stdin=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                env=environment_for(os.environ),
            )
        except (OSError, ValueError) as error:  # for example a NUL in the command
            return ShellResult(b"", 0, f"It could not be started: {error}.")
        try:
            async with asyncio.timeout(seconds):
                how = await self._how
        except TimeoutError:
            how = f"It was ended after {seconds:.0f} seconds."
        finally:
            with suppress(ProcessLookupError, PermissionError):  # no process of the group is left
                os.killpg(transport.get_pid(), signal.SIGKILL)
            transport.close()
        await self._closed.wait()
        return ShellResult(bytes(self._output[-MOST_KEPT:]), self._written, how)

    def end(self, how: str) -> None:
        if not self._how.done():
            self._how.set_result(how)

    # --- called by the event loop ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)  # uvloop's transport does not inherit from it

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._written += len(data)
        self._output += data
        if len(self._output) > 2 * MOST_KEPT:
            del self._output[:-MOST_KEPT]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._read = True
        self._end_when_all_is_read()

    def process_exited(self) -> None:
        self._exited = True
        self._loop.call_later(LAST_OUTPUT, self._end_as_it_did)
        self._end_when_all_is_read()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    def _end_when_all_is_read(self) -> None:
        if self._read and self._exited:
            self._end_as_it_did()

    def _end_as_it_did(self) -> None:
        code = None if self._transport is None else self._transport.get_returncode()
        if code is not None and code < 0:
            self.end(f"It was killed by {signal.Signals(-code).name}.")
        else:
            self.end(f"It exited with status {code}." if code else "")


def told(ran: ShellResult) -> str:
    """The message about a command that ran: its output as code, and what went wrong."""
    text = _COLOURS.sub("", ran.output.decode("utf-8", "replace").replace("\r\n", "\n"))
    lines = [harmless(line.expandtabs()).rstrip() for line in text.splitlines()]
    output = "\n".join(lines).strip("\n")
    said = output[-MOST_SAID:]
    cut = f"The end of {ran.written:,} bytes:" if len(said) < len(output) or ran.written > MOST_KEPT else ""
    code = fenced(said) if said else "" if ran.how else "It wrote nothing."
    return "\n\n".join(filter(None, (cut, code, ran.how)))
