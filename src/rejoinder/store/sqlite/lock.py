"""One gateway for one store: a lock on the database itself (DU-13).

Rule 1: the lock belongs to a descriptor of the database, which is opened before SQLite opens the file and closed after
        SQLite has closed it, because a process that closes any descriptor of a file drops the locks that SQLite has on
        it. It is not kept for the life of the process: tests and programs open the store of a gateway that has ended
        again in the same process. At that point no connection is left whose locks could be dropped.
Rule 2: the lock covers one byte far beyond the end of the file, where SQLite locks nothing. The kernel drops it when
        the process ends, in whatever way.
Rule 3: the file beside the database names the process. It is locked as well, for earlier versions and for systems
        without locks of this kind; removing it does not help anybody to get in.
"""

import errno
import fcntl
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from rejoinder.errors import Fault, StoreUnavailable

FAR_BEHIND: Final = 1 << 62
_FLOCK: Final = struct.Struct("hhqqi4x")
"""`struct flock` of Linux: type, whence, start, length, process."""
_SET: Final[int | None] = getattr(fcntl, "F_OFD_SETLK", None)
_GET: Final[int | None] = getattr(fcntl, "F_OFD_GETLK", None)
_FAULTS: Final[dict[int, Fault]] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EACCES: "read-only",
    errno.EPERM: "read-only",
    errno.EROFS: "read-only",
}


class Lock:
    def __init__(self, store: Path) -> None:
        self._store = store
        self._files: list[int] = []
        try:
            self._hold(store, _lock_database)
            self._database = os.fstat(self._files[0])
            self._hold(_beside(store), _lock_file)
        except BlockingIOError:
            named = holder(store) or "process unknown"
            self.release()
            raise StoreUnavailable("taken", str(store), f"a gateway is running on it: {named}") from None
        except OSError as error:
            self.release()
            fault = _FAULTS.get(error.errno or 0, "unreachable")
            raise StoreUnavailable(fault, str(store), error.strerror or str(error)) from None
        with suppress(OSError):  # a full disk: the lock holds without a name on it
            os.ftruncate(self._files[1], 0)
            os.pwrite(self._files[1], f"{os.getpid()}\n".encode(), 0)

    def _hold(self, path: Path, lock: Callable[[int], None]) -> None:
        self._files.append(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        lock(self._files[-1])

    def is_in_place(self) -> bool:
        """Whether the locked file is still the one with this name."""
        try:
            there = os.stat(self._store)
        except OSError:
            return False
        return os.path.samestat(there, self._database)

    def release(self) -> None:
        """Call this after this process has closed all connections to the database."""
        while self._files:
            os.close(self._files.pop())


def _lock_database(file: int) -> None:
    if _SET is not None:
        fcntl.fcntl(file, _SET, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, FAR_BEHIND, 1, 0))


def _lock_file(file: int) -> None:
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def holder(store: Path, database: int | None = None) -> str | None:
    """The process that runs a gateway on this store now, if any.

    `database`: a descriptor of the database, for a caller with open SQLite connections, whose locks would be dropped if
    another descriptor were closed.
    """
    if _GET is None:
        return _holder_of_file(_beside(store))
    try:
        file = os.open(store, os.O_RDONLY) if database is None else database
    except OSError:
        return None
    try:
        found = fcntl.fcntl(file, _GET, _FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, FAR_BEHIND, 1, 0))
    finally:
        if database is None:
            os.close(file)
    kind, *_ = _FLOCK.unpack(found)
    return None if kind == fcntl.F_UNLCK else _name_on(_beside(store))


def _holder_of_file(path: Path) -> str | None:
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError:  # the file is another user's: only a gateway of theirs would have made it
        return "process unknown"
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _name_on(path)
    finally:
        os.close(file)
    return None


def _beside(store: Path) -> Path:
    return store.with_name(store.name + ".lock")


def _name_on(path: Path) -> str:
    try:
        return f"process {path.read_bytes()[:20].decode('ascii', 'replace').strip() or 'unknown'}"
    except OSError:
        return "process unknown"
