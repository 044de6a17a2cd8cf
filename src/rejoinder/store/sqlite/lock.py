"""One gateway for one store: a lock on a file beside it (DU-13).

Beside it, because a process that closes any descriptor of the database itself drops SQLite's own locks.
The kernel drops this lock with the process, however it ends; the file stays and means nothing.
"""

import fcntl
import os
from pathlib import Path

from rejoinder.errors import StoreUnavailable


class Lock:
    def __init__(self, store: Path) -> None:
        path = store.with_name(store.name + ".lock")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise StoreUnavailable("unreachable", str(store), f"{path.name}: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 20, 0).decode("ascii", "replace").strip()
            os.close(self._file)
            raise StoreUnavailable(
                "locked", str(store), f"a gateway is running on it: process {holder or 'unknown'}"
            ) from None
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        except OSError:  # a full disk: the lock holds without a name on it
            pass

    def release(self) -> None:
        os.close(self._file)
