"""Signal: declared only, so that dry runs show what it would get; it cannot be connected yet."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import Limits
from rejoinder.channels.declaration import ChannelKind
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Text, Url
from rejoinder.rendering import Renderer, plain


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Signal account, by a signal-cli daemon."""

    account: Annotated[Text, Meta(examples=["+4915112345678"])]
    """The account's number."""
    rpc: Url = "http://127.0.0.1:8080"
    """Where the signal-cli daemon listens."""


IDENTITY = Identity(
    Shape(re.compile(r"\+[0-9]+|[0-9a-fA-F-]{36}"), 'a number such as "+49301234567"'), order=("phone", "id", "address")
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=None,
    limits=Limits(2000),
    can=frozenset({"reply", "react", "send", "files", "voice"}),
    renderer=Renderer(plain.render, keeps_prose=True),
)
