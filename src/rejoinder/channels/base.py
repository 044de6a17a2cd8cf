"""The contract of a channel: messages come in through `deliver`, parts go out through `send`.

The smallest channel fits on a screen: `name`, `limits`, `listen(deliver)`, `send(part)`. What it can do
beyond that it says by having the method: `isinstance(channel, CanReact)`.
"""

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from rejoinder.events import Inbound, Part, Route


class Limits(Struct, frozen=True):
    """How long one message may be, counted as the platform counts."""

    length: int | None = None
    unit: Literal["characters", "utf16", "bytes"] = "characters"


class Delivered(Struct, frozen=True):
    """The platform has it, under this id."""

    message: str


class Rejected(Struct, frozen=True):
    """The platform will never take it."""

    reason: str


class RetryAfter(Struct, frozen=True):
    """Try again after so many seconds."""

    seconds: float
    reason: str = ""


class Unknown(Struct, frozen=True):
    """It may or may not have arrived: the one dangerous outcome."""

    reason: str


Outcome = Delivered | Rejected | RetryAfter | Unknown


class Channel(Protocol):
    name: str
    limits: Limits

    async def listen(self, deliver: Callable[[Inbound], Awaitable[None]]) -> None:
        """Runs until the channel is closed; returns from `deliver` mean the message is safe."""
        ...

    async def send(self, part: Part) -> Outcome: ...


@runtime_checkable
class KnowsItself(Protocol):
    """Knows under which id and name the bot stands on the platform, so that a mention of it is one of us."""

    own_id: str
    own_name: str


@runtime_checkable
class PrefersQueue(Protocol):
    """Has a queue mode that suits it better than the usual one, unless somebody chooses (TU-4)."""

    queue_mode: str


@runtime_checkable
class CanReact(Protocol):
    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False) -> Outcome: ...


@runtime_checkable
class CanEdit(Protocol):
    async def edit(self, route: Route, message: str, part: Part) -> Outcome: ...


@runtime_checkable
class CanDelete(Protocol):
    async def delete(self, route: Route, message: str) -> Outcome: ...


@runtime_checkable
class CanType(Protocol):
    async def typing(self, route: Route) -> None: ...


@runtime_checkable
class CanStream(Protocol):
    """Shows a message while it is written: opened by `begin`, grown by `append`, whole after `complete`."""

    async def begin(self, part: Part) -> Outcome: ...

    async def append(self, route: Route, message: str, text: str) -> None: ...

    async def complete(self, route: Route, message: str) -> None: ...


@runtime_checkable
class CanNote(Protocol):
    """Tells the operator something that is no message of the chat, where the operator is who reads it."""

    async def note(self, route: Route, text: str) -> None: ...
