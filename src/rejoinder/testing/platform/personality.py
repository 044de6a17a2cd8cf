"""The contract of a fake platform: a file or folder here, found by its name, that defines `personality`.

A personality shows frames to `stage.truth`, asks `stage.faults` for the fault of each call, and lets people act.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from aiohttp import web
from msgspec import Struct

from rejoinder.testing.platform.faults import Faults
from rejoinder.testing.platform.truth import Truth


class Stage(Struct, frozen=True):
    truth: Truth
    faults: Faults
    options: Mapping[str, Any]
    """Options of the personality, by its own names."""


class Personality(Protocol):
    name: str

    def routes(self) -> list[web.RouteDef]:
        """The routes that it serves; a personality that is a client serves nothing."""
        ...

    def config(self, url: str) -> str:
        """The lines under `[channels.NAME]` that connect a gateway to it."""
        ...

    def id_of(self, name: str) -> str:
        """The platform's id of a person or a chat."""
        ...

    async def start(self, url: str) -> None: ...

    async def stop(self) -> None: ...

    async def says(self, chat: str, person: str, text: str, **how: Any) -> str:
        """A person writes; returns the id of the message."""
        ...

    async def edits(self, chat: str, person: str, message: str, text: str) -> None: ...

    async def reacts(self, chat: str, person: str, message: str, emoji: str) -> None: ...

    async def presses(self, chat: str, person: str, message: str, label: str) -> None:
        """Presses a button under a message."""
        ...
