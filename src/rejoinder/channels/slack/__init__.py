"""Slack: declared, so that dry runs show what it would get; its connection is to come."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import Limits
from rejoinder.channels.declaration import ChannelKind, Pace
from rejoinder.channels.slack import render
from rejoinder.channels.slack.emoji import REACTIONS
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Slack app in Socket Mode."""

    bot_token: Annotated[Secret, Meta(examples=["${SLACK_BOT_TOKEN}"])]
    """The bot token, `xoxb-...`."""
    app_token: Annotated[Secret, Meta(examples=["${SLACK_APP_TOKEN}"])]
    """The app-level token, `xapp-...`, with `connections:write`."""
    api_root: Url = "https://slack.com/api/"
    """For tests and proxies."""


_ID = re.compile(r"[A-Z][A-Z0-9]{2,}")
IDENTITY = Identity(
    Shape(_ID, 'letters and digits such as "U045VRZFT"'),
    Shape(_ID, 'letters and digits such as "C024BE91L"'),
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=None,
    limits=Limits(4000),
    can=frozenset({"reply", "react", "send", "files", "ephemeral", "previews"}),
    renderer=Renderer(render.render, render.plain),
    reactions=REACTIONS,
    pace=Pace(1.2, chat=(5, 1.0)),
    delivery="read back",
)
