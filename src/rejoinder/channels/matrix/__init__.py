"""Matrix: declared only, so that dry runs show what it would get; it cannot be connected yet."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import Limits
from rejoinder.channels.declaration import ChannelKind, Pace
from rejoinder.channels.matrix import render
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Matrix account."""

    homeserver: Annotated[Url, Meta(examples=["https://matrix.org"])]
    """The homeserver's address."""
    user: Annotated[
        str,
        Meta(
            pattern="^@[^:]+:.+$",
            examples=["@bot:matrix.org"],
            extra={"expected": 'a full Matrix id such as "@bot:matrix.org"'},
        ),
    ]
    """The account's full id."""
    access_token: Annotated[Secret, Meta(examples=["${MATRIX_TOKEN}"])]
    """The account's access token."""


IDENTITY = Identity(
    Shape(re.compile(r"@[^:\s]+:\S+"), 'the full form such as "@anna:matrix.org"'),
    Shape(re.compile(r"!\S+"), 'the room\'s internal id such as "!abc:matrix.org"'),
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=None,
    limits=Limits(60_000, "bytes"),
    can=frozenset({"reply", "react", "send", "files", "voice"}),
    renderer=Renderer(render.render, render.plain, render.size, keeps_prose=True),
    pace=Pace(1.2),
    delivery="native key",
)
