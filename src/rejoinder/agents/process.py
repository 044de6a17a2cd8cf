"""A program that exchanges lines on its pipes, and leaves no process behind when it ends.

Rule 1: it runs in its own process group and session, and everything it started is killed with it: the group by a
signal, and processes that left the group by the mark in their environment. If a gateway was killed, the next one kills
the processes it left before it starts its own: two agents in one folder would undo each other's work.
Rule 2: it sees only the environment that it is given.
Rule 3: its output cannot fill our memory: lines have a limit, and only the last lines of stderr are kept.
Rule 4: `on_gone` is called once, however the program ended; after that no line comes.
"""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast
from uuid import uuid4

from rejoinder.agents.lines import Lines, LineTooLong

STDERR_LINES = 200
STDERR_LINE_LENGTH = 2000
GRACE_SECONDS = 1.0
LAST_OUTPUT_SECONDS = 0.2
MARK = "REJOINDER_AGENT_PROCESS"

STDOUT, STDERR = 1, 2


class AgentProcess(asyncio.SubprocessProtocol):
    """Made by `start_process`. Lines come through `on_line` as they are written, in order."""

    def __init__(self, on_line: Callable[[bytes], None], on_gone: Callable[[str], None], mark: str) -> None:
        self._on_line = on_line
        self._on_gone: Callable[[str], None] | None = on_gone
        self._mark = mark
        self._lines = Lines()
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._stderr_line = b""
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._exited = loop.create_future()
        self._closed = loop.create_future()
        self._lost: set[int] = set()
        self._killed = False
        self._transport: asyncio.SubprocessTransport | None = None

    # --- our side -------------------------------------------------------------------------------

    def write_line(self, line: bytes) -> None:
        pipe = self._pipe(0)
        if pipe is not None and not pipe.is_closing():
            cast(asyncio.WriteTransport, pipe).write(line + b"\n")

    def pause(self, paused: bool) -> None:
        """Stops reading while a reader is behind, so that the program waits and our memory does not grow."""
        pipe = cast(asyncio.ReadTransport | None, self._pipe(STDOUT))
        if pipe is not None and not pipe.is_closing():
            if paused:
                pipe.pause_reading()
            else:
                pipe.resume_reading()

    def last_output(self) -> str:
        """The end of its stderr."""
        rest = self._stderr_line.decode("utf-8", "replace")
        return "\n".join((*self._stderr, *([rest] if rest else ())))

    def keep_words(self, words: str) -> None:
        """Adds a line to the kept stderr, such as noise from stdout."""
        self._stderr.append(words[:STDERR_LINE_LENGTH])

    async def stop(self, reason: str = "it was stopped") -> None:
        """Asks it to end, waits a moment, and kills whatever is left."""
        self._gone(reason)
        if not self._exited.done():
            self._signal(signal.SIGTERM)
            await asyncio.wait((self._exited,), timeout=GRACE_SECONDS)
        self._kill()
        await self._closed

    def kill(self, reason: str) -> None:
        """Ends it at once."""
        self._gone(reason)
        self._kill()

    # --- called by the event loop ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)  # uvloop's transport is not of that class

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == STDERR:
            self._take_stderr(data)
            return
        try:
            for line in self._lines.feed(data):
                if self._on_gone is None:
                    return
                self._on_line(line)
        except LineTooLong as problem:
            self._gone(f"it wrote {problem}")
            self._kill()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._lost.add(fd)
        if self._exited.done():
            self._end_when_all_is_read()
        elif fd == STDOUT:
            # The program usually exits a moment later, and its exit status tells more.
            self._loop.call_later(LAST_OUTPUT_SECONDS, self._end, "it closed its output")

    def process_exited(self) -> None:
        if not self._exited.done():
            self._exited.set_result(None)
        # Its last lines may still be in the pipes; a descendant that holds them must not keep us waiting.
        self._loop.call_later(LAST_OUTPUT_SECONDS, self._end, self._exit_words())
        self._end_when_all_is_read()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._closed.done():
            self._closed.set_result(None)

    # --- the end ----------------------------------------------------------------------------------

    def _end_when_all_is_read(self) -> None:
        if {STDOUT, STDERR} <= self._lost:
            self._end(self._exit_words())

    def _end(self, reason: str) -> None:
        self._gone(self._exit_words() if self._exited.done() else reason)
        self._kill()

    def _gone(self, reason: str) -> None:
        if self._on_gone is not None:
            tell, self._on_gone = self._on_gone, None
            tell(reason)

    def _exit_words(self) -> str:
        code = None if self._transport is None else self._transport.get_returncode()
        if code is not None and code < 0:
            return f"it was killed by {signal.Signals(-code).name}"
        return f"it exited with status {code}"

    def _signal(self, number: signal.Signals) -> None:
        if self._transport is not None:
            with suppress(ProcessLookupError, PermissionError):  # the group is empty
                os.killpg(self._transport.get_pid(), number)

    def _kill(self) -> None:
        if self._killed:
            return  # the process id may belong to another process by now
        self._killed = True
        self._signal(signal.SIGKILL)
        kill_marked(self._mark)
        if self._transport is not None:
            self._transport.close()

    def _pipe(self, fd: int) -> asyncio.BaseTransport | None:
        return None if self._transport is None else self._transport.get_pipe_transport(fd)

    def _take_stderr(self, data: bytes) -> None:
        *ended, rest = (self._stderr_line + data).split(b"\n")
        for line in ended:
            self.keep_words(line.decode("utf-8", "replace"))
        self._stderr_line = rest[-STDERR_LINE_LENGTH:]


async def start_process(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    on_line: Callable[[bytes], None],
    on_gone: Callable[[str], None],
) -> AgentProcess:
    """Raises OSError when there is no such program or directory."""
    kill_orphans()
    mark = f"{_room()}/{os.getpid()}/{uuid4().hex}"
    _, process = await asyncio.get_running_loop().subprocess_exec(
        lambda: AgentProcess(on_line, on_gone, mark),
        *command,
        cwd=cwd,
        env={**env, MARK: mark},
        start_new_session=True,
    )
    return process


def kill_marked(mark: str) -> None:
    """Kills every process that carries the mark, wherever it has moved to."""
    for process, its_mark in _marked():
        if its_mark == mark:
            _kill_one(process)


def kill_orphans() -> None:
    """Kills every process that carries the mark of a gateway that is gone."""
    for process, mark in _marked():
        if process == os.getpid():
            continue  # this gateway may itself have been started by an agent
        room, _, gateway = mark.rpartition("/")[0].rpartition("/")
        if gateway and room == _room() and not Path("/proc", gateway).exists():
            _kill_one(process)


def _marked() -> Iterator[tuple[int, str]]:
    """The processes that carry a mark; only Linux lets us see them."""
    sought = f"{MARK}=".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile, or belongs to another user
            for variable in (entry / "environ").read_bytes().split(b"\0"):
                if variable.startswith(sought):
                    yield int(entry.name), variable.removeprefix(sought).decode("utf-8", "replace")


def _kill_one(process: int) -> None:
    with suppress(OSError):
        os.kill(process, signal.SIGKILL)


def _room() -> str:
    """The PID namespace, within which process ids are comparable; a container has its own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
