"""One gateway for one store: a lock on a file beside it (DU-13).

It is a separate file, because a process that closes any descriptor of the database itself drops SQLite's own locks.
The kernel drops this lock with the process, however it ends; the file that stays behind means nothing.
"""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from rejoinder.errors import StoreUnavailable

LOOKS, A_LOOK = 5, 0.02
"""How often the lock is tried, and the seconds between tries: `holder` takes it for a moment when it looks."""


class Lock:
    def __init__(self, store: Path) -> None:
        path = _beside(store)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnavailable("unreachable", str(store), f"{path.name}: {error.strerror}") from None
        try:
            self._take()
        except BlockingIOError:
            holder = _name_on(self._file)
            os.close(self._file)
            raise StoreUnavailable("taken", str(store), f"a gateway is running on it: {holder}") from None
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        except OSError:  # a full disk: the lock holds without a name on it
            pass

    def _take(self) -> None:
        for _ in range(LOOKS - 1):
            with suppress(BlockingIOError):
                return fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            time.sleep(A_LOOK)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        os.close(self._file)


def holder(store: Path) -> str | None:
    """The process that runs a gateway on this store now, if any."""
    try:
        file = os.open(_beside(store), os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError:  # the file is another user's: only a gateway of theirs would have made it
        return "process unknown"
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _name_on(file)
    finally:
        os.close(file)
    return None


def _beside(store: Path) -> Path:
    return store.with_name(store.name + ".lock")


def _name_on(file: int) -> str:
    return f"process {os.pread(file, 20, 0).decode('ascii', 'replace').strip() or 'unknown'}"
