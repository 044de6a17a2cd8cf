"""Fresh random bytes, drawn in bulk: each draw releases the GIL, so one per message would yield to other threads."""

import secrets
from collections import deque

DRAWN = 4096
SIZE = 16

_ready: deque[bytes] = deque()


def random_bytes() -> bytes:
    if not _ready:
        drawn = secrets.token_bytes(DRAWN)
        _ready.extend(drawn[at : at + SIZE] for at in range(0, DRAWN, SIZE))
    return _ready.popleft()
