"""What an agent saved of a session in an earlier process."""

from typing import NamedTuple


class Saved(NamedTuple):
    id: str
    is_elsewhere: bool = False
    """On another machine: it cannot be loaded here (SC-7)."""
