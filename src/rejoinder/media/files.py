"""The outbox folders from which agents send files, one for each session (DE-37).

Rule 1: only files in the session's own folder are sent: no path leads out of it, no link is followed, and a file that
        has another name, too (a hard link), is not sent.
Rule 2: a file is opened directory by directory, through descriptors; the opened file is the one that is checked, read
        and sent, whatever happens to its name meanwhile.
Rule 3: only a regular file within the limit is sent: nothing that blocks, grows for ever, or is not a file. A file that
        changes while it is read is refused: half of it would be old.
"""

import errno
import os
import re
import shutil
import stat
import tempfile
import weakref
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path

from rejoinder.errors import FileRefused
from rejoinder.filetypes import BYTES, HEAD, in_words, mime_of, safe_name

LONGEST_NAME = 60
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW


class Folders:
    """`beneath`: the folder that contains all of them; None: a temporary folder that is removed with this process."""

    def __init__(self, beneath: Path | None) -> None:
        self._root = beneath

    def __call__(self, session: str) -> "WorkFolder":
        """The folder of this session, which is made if necessary."""
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="rejoinder-outbox-"))
            weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
        path = self._root.absolute() / _named(session)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return WorkFolder(path)


def _named(session: str) -> str:
    """A readable name that no other session has."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", session).strip("-")[:LONGEST_NAME]
    return f"{plain}-{blake2b(session.encode(), digest_size=4).hexdigest()}"


class OpenFile:
    """A file of an agent, open to be read once, from the beginning to the end."""

    def __init__(self, file: int, path: str, name: str, limit: int) -> None:
        self.name = name
        self.mime = BYTES
        self.size = 0
        self._file = file
        self._path = path
        self._limit = limit
        self._read = 0
        self._when = 0

    def check(self) -> None:
        """Raises `FileRefused` for files that are never sent."""
        found, shown = os.fstat(self._file), repr(self._path)
        if not stat.S_ISREG(found.st_mode):
            raise FileRefused(f"{shown} is not a regular file", denied=True)
        if found.st_nlink > 1:  # its other name may be anywhere
            raise FileRefused(f"{shown} is a link: it has another name elsewhere; copy the file", denied=True)
        if found.st_size > self._limit:
            raise FileRefused(self._too_large())
        if not found.st_size:
            raise FileRefused(f"{shown} is empty")
        self.size, self._when = found.st_size, found.st_mtime_ns
        self.mime = mime_of(self.name, os.pread(self._file, HEAD, 0))

    def read(self, most: int) -> bytes:
        try:
            piece = os.read(self._file, min(most, self._limit + 1 - self._read))  # counted: its size may grow
        except OSError as error:
            raise FileRefused(f"{self._path!r} cannot be read: {error.strerror}") from None
        self._read += len(piece)
        if self._read > self._limit:
            raise FileRefused(self._too_large())
        if not piece:
            found = os.fstat(self._file)
            if (found.st_mtime_ns, found.st_size, self._read) != (self._when, self.size, self.size):
                raise FileRefused(f"{self._path!r} changed while it was read; send it once it is complete")
        return piece

    def close(self) -> None:
        os.close(self._file)

    def _too_large(self) -> str:
        return f"{self._path!r} is larger than the {in_words(self._limit)} that can be sent"


class WorkFolder:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.path = str(path)

    def open(self, name: str, limit: int) -> "OpenFile":
        """Opens the file as it is now. Raises `FileRefused` with what the agent should know."""
        steps = self._steps(name)
        with ExitStack() as stack:
            file = _opened(steps[-1], self._enter(steps, name, stack), name)
        opened = OpenFile(file, name, safe_name(steps[-1]), limit)
        try:
            opened.check()
        except BaseException:
            opened.close()
            raise
        return opened

    def write(self, name: str, text: str, append: bool) -> None:
        """Writes a file of the gateway's own, or appends to it. Raises `FileRefused` when it cannot be written."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_APPEND if append else os.O_TRUNC)
        try:
            with ExitStack() as stack:
                here = self._enter([name], name, stack)
                file = os.open(name, flags | os.O_NONBLOCK, 0o600, dir_fd=here)
                with open(file, "w", encoding="utf-8", errors="replace", newline="") as writing:
                    writing.write(text)
        except OSError as error:
            raise FileRefused(f"{name!r} cannot be written: {error.strerror}") from None

    def remove(self, name: str) -> None:
        """Removes a file that has been sent. Raises `FileRefused` when it cannot be removed."""
        steps = self._steps(name)
        with ExitStack() as stack:
            here = self._enter(steps, name, stack)
            try:
                os.unlink(steps[-1], dir_fd=here)
            except OSError as error:
                raise FileRefused(f"{name!r} cannot be removed: {error.strerror}") from None

    def _steps(self, name: str) -> list[str]:
        """The path of the file within the folder; `name` may also be an absolute path."""
        if "\0" in name:
            raise FileRefused(f"{name!r} is not a file name", denied=True)
        within = name.removeprefix(self.path + "/") if name.startswith("/") else name
        steps = [step for step in within.split("/") if step not in ("", ".")]
        if within.startswith("/") or ".." in steps:
            raise FileRefused(f"{name!r} is not in your outbox folder {self.path}", denied=True)
        if not steps:
            raise FileRefused(f"{name!r} is not a file")
        return steps

    def _enter(self, steps: list[str], name: str, stack: ExitStack) -> int:
        try:
            here = os.open(self.path, _OPEN | os.O_DIRECTORY)
        except OSError as error:  # the agent has removed it, or replaced it with something else
            raise FileRefused(f"your outbox folder {self.path} cannot be opened: {error.strerror}") from None
        stack.callback(os.close, here)
        for step in steps[:-1]:
            here = _opened(step, here, name, os.O_DIRECTORY)
            stack.callback(os.close, here)
        return here


def _opened(step: str, here: int, name: str, flags: int = os.O_NONBLOCK) -> int:
    """Opens without waiting: opening a pipe that has no writer would block."""
    try:
        return os.open(step, _OPEN | flags, dir_fd=here)
    except FileNotFoundError:
        raise FileRefused(f"there is no file {name!r} in your outbox folder") from None
    except OSError as error:  # ENOTDIR, among others: a link where a folder should be
        if error.errno == errno.ELOOP:
            raise FileRefused(f"{name!r} is a link; copy the file", denied=True) from None
        raise FileRefused(f"{name!r} cannot be opened: {error.strerror}", denied=True) from None
