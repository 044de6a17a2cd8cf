"""What a platform answered to a call (DE-31, DE-32): a channel returns it, `outbound.verdict` judges it."""

from typing import Literal

from msgspec import Struct

from rejoinder.events import Route


class Delivered(Struct, frozen=True):
    """The platform has it, under this id."""

    message: str
    place: Route | None = None
    """Where the message is, if not where it was sent: in the thread that it opened. Later parts go there too, if they
    have `opens` or the channel `OpensPlaces` (CH-2)."""


Refusal = Literal["formatting", "target", "thread", "kind", "gone", "account", "other"]


class Rejected(Struct, frozen=True):
    """The platform will never accept it in this form.

    `formatting`: it would accept the same words without formatting. `target`: the message to reply to or to edit does
    not exist. `thread`: the thread cannot be opened, but the chat accepts the words. `kind`: it accepts the files only
    as documents. `gone`: the chat is closed to us. `account`: our token is refused, and with it every chat.
    """

    reason: str
    why: Refusal = "other"


class RetryAfter(Struct, frozen=True):
    """The platform certainly did not accept it: try again, after the platform's delay if it named one."""

    seconds: float | None = None
    reason: str = ""
    limited: bool = False
    """Whether this is a rate limit: send nothing to this chat until then, and do not count this as an attempt."""
    everywhere: bool = False
    """Whether the limit is for the whole account."""


class Unknown(Struct, frozen=True):
    """It may or may not have arrived, so sending it again could show it twice."""

    reason: str


Outcome = Delivered | Rejected | RetryAfter | Unknown
