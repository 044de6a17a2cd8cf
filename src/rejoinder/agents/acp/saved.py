"""The id under which an agent saved a session in an earlier process."""

from typing import NamedTuple


class Saved(NamedTuple):
    id: str
    is_elsewhere: bool = False
    """Whether it is on another machine, so that it cannot be loaded here (SC-7)."""
