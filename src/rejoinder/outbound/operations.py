"""What an outbox row tells a channel to do: frozen values, written before the first byte goes out (DE-30).

The row contains the operation as JSON, so that people who look into the store can read it.
"""

from hashlib import blake2b

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from rejoinder.events import Part
from rejoinder.unicode_repair import as_json


class Say(Struct, frozen=True, omit_defaults=True, tag="say"):
    """A new message. `plain`: the same words for a platform that refused the formatting (DE-13)."""

    part: Part
    plain: Part | None = None


class Open(Struct, frozen=True, omit_defaults=True, tag="open"):
    """The beginning of a message that is still being written."""

    part: Part


class Amend(Struct, frozen=True, omit_defaults=True, tag="edit"):
    """The final text of a message that is already shown. `grown`: how much of it the platform already has.

    `resend_if_gone`: if the message has been deleted meanwhile, its words are sent as a new one.
    """

    message: str
    part: Part
    plain: Part | None = None
    grown: int = 0
    resend_if_gone: bool = field(default=True, name="anew")


class React(Struct, frozen=True, omit_defaults=True, tag="react"):
    message: str
    emoji: str
    remove: bool = False
    author: str = ""
    """The agent that reacts."""


class Remove(Struct, frozen=True, omit_defaults=True, tag="delete"):
    """Deletes a message. `after`: waits until all of these parts have arrived (OD-61)."""

    message: str
    after: tuple[str, ...] = ()


Words = Say | Open | Amend
Sign = React | Remove
Operation = Words | Sign

_encode = msgspec.json.Encoder().encode
_reading = msgspec.json.Decoder[Operation](Operation)


def kind(operation: Operation) -> str:
    return str(operation.__struct_config__.tag)


def encode(operation: Operation) -> bytes:
    return as_json(operation)


def decode(body: bytes) -> Operation:
    return _reading.decode(body)


def words(operation: Operation) -> str:
    """The words of the operation that people would read."""
    if isinstance(operation, Words):
        return operation.part.text or ", ".join(file.name for file in operation.part.files)
    return operation.emoji if isinstance(operation, React) else ""


def keyed(operation: Operation, stem: str) -> tuple[str, Operation]:
    """A key that identifies these bytes for ever, and the operation that carries it (DU-4).

    The same operation of the same turn has the same key, whichever attempt planned it. The operation is returned as its
    row will have it: lone surrogates in names and titles, which no platform takes, are replaced here.
    """
    try:
        body = _encode(operation)
    except UnicodeEncodeError:
        body = as_json(operation)
        operation = decode(body)
    key = f"{stem}/{blake2b(body, digest_size=9).hexdigest()}"
    if isinstance(operation, Say) and operation.plain is None:  # checked first, as it is the most frequent case
        return key, Say(replace(operation.part, key=key))
    if isinstance(operation, Sign):
        return key, operation
    if isinstance(operation, Open) or operation.plain is None:
        return key, replace(operation, part=replace(operation.part, key=key))
    # The plain version has different bytes, so it is sent under another key.
    return key, replace(
        operation, part=replace(operation.part, key=key), plain=replace(operation.plain, key=f"{key}/plain")
    )
