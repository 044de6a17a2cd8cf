"""Runs one program for one recording or page, and gives back what it wrote.

Rule 1: arguments are a list: there is no shell, and people's words are passed in files or standard input, never here.
Rule 2: it sees the few variables of our environment that every program needs, but no key or token.
Rule 3: its output goes into files of limited size, so that it cannot fill our memory or the disk.
Rule 4: it runs in its own session, which is killed as a whole when the program has ended or its time is up.
"""

import asyncio
import os
import resource
import signal
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import Struct

from rejoinder.environment import environment_for
from rejoinder.errors import NotUnderstood, TookTooLong

MOST_WRITTEN = 64 << 20
"""The most bytes that a program may write into a file."""
LAST_OUTPUT = 500
LESS_URGENT = 10
"""Its niceness, so that other processes go first, including ours."""


class ProgramResult(Struct, frozen=True):
    output: bytes
    errors: str


async def run(
    command: Sequence[str],
    folder: Path,
    *,
    seconds: float,
    most: int,
    reads: Path | None = None,
    writes: int = MOST_WRITTEN,
    memory: int | None = None,
) -> ProgramResult:
    """Raises `NotUnderstood`. `most`: the most bytes of output; `reads`: its standard input; `writes`: the most bytes
    of a file; `memory`: the most bytes of its address space."""
    output, errors = folder / "output", folder / "errors"
    with ExitStack() as stack:
        files = [stack.enter_context(path.open(how)) for path, how in _plumbing(reads, output, errors)]
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                cwd=folder,
                env=environment_for(os.environ),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise NotUnderstood("the program for it could not be started", f"{command[0]}: {error}") from None
    _limit(process.pid, writes, memory)
    try:
        async with asyncio.timeout(seconds):
            code = await process.wait()
    except TimeoutError:
        raise TookTooLong(f"{command[0]} was ended after {seconds:.0f} s") from None
    finally:
        with suppress(ProcessLookupError, PermissionError):  # no process of the group is left
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return await asyncio.to_thread(_result, command[0], code, output, errors, most)


def _plumbing(reads: Path | None, output: Path, errors: Path) -> tuple[tuple[Path, str], ...]:
    return (reads or Path(os.devnull), "rb"), (output, "wb"), (errors, "wb")


def _limit(process: int, writes: int, memory: int | None) -> None:
    """Only Linux can limit another process; elsewhere there is only the time limit."""
    with suppress(OSError):  # chats that wait for an answer go first
        os.setpriority(os.PRIO_PROCESS, process, LESS_URGENT)
    if not hasattr(resource, "prlimit"):
        return
    with suppress(ProcessLookupError, PermissionError):
        resource.prlimit(process, resource.RLIMIT_FSIZE, (writes, writes))
        resource.prlimit(process, resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            resource.prlimit(process, resource.RLIMIT_AS, (memory, memory))


def _result(program: str, code: int, output: Path, errors: Path, most: int) -> ProgramResult:
    words = _end_of(errors)
    if code == -signal.SIGXFSZ or output.stat().st_size > most:
        raise NotUnderstood("the program for it wrote too much", f"{program} wrote more than {most} bytes")
    if code:
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
        raise NotUnderstood("the program for it failed", f"{program} {how}: {words[-LAST_OUTPUT:]}")
    return ProgramResult(output.read_bytes(), words)


def _end_of(errors: Path) -> str:
    with errors.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - (16 << 10)))
        return file.read().decode("utf-8", "replace").strip()
