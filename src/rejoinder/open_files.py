"""The error of having no file descriptor left for a connection: the fault lies with this process, not with the
server."""

import errno
from typing import Final

TOO_MANY_OPEN: Final = (
    "rejoinder has too many files and connections open; raise its limit (`ulimit -n`, or LimitNOFILE in its systemd "
    "unit) and restart it"
)
"""For the operator."""


def has_too_many_open(problem: BaseException) -> bool:
    return isinstance(problem, OSError) and problem.errno == errno.EMFILE
