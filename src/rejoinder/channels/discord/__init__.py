"""Discord: declared, so that dry runs show what it would get; its connection is to come."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import Limits
from rejoinder.channels.declaration import ChannelKind, Pace
from rejoinder.channels.discord import render
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Discord bot."""

    token: Annotated[Secret, Meta(examples=["${DISCORD_TOKEN}"])]
    """The bot's token from the developer portal."""
    api_root: Url = "https://discord.com/api"
    """For tests and proxies."""


_SNOWFLAKE = re.compile(r"[0-9]{5,20}")
IDENTITY = Identity(
    Shape(_SNOWFLAKE, 'a number such as "80351110224678912"'),
    Shape(_SNOWFLAKE, 'a number such as "41771983423143937"'),
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=None,
    limits=Limits(2000),
    can=frozenset({"reply", "react", "send", "files", "silent", "previews", "threads"}),
    renderer=Renderer(render.render, render.plain),
    pace=Pace(1.2, chat=(5, 1.0), account=(50, 50.0)),
    delivery="short-window key",
)
