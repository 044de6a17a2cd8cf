"""The names by which a process is known to others on the same store: unique, also for two gateways in one process."""

import os
import socket
from itertools import count

from rejoinder.runtime.entropy import random_bytes

_COUNT = count(1)


def process_name() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{next(_COUNT)}:{random_bytes().hex()[:8]}"


def machine_name(configured: str | None) -> str:
    return configured or socket.gethostname()
