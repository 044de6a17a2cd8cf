"""WhatsApp (Cloud API): declared only, so that dry runs show what it would get; it cannot be connected yet."""

import re
from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import Limits
from rejoinder.channels.declaration import ChannelKind, Pace
from rejoinder.channels.whatsapp import render
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Text, Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A WhatsApp business number, by the Cloud API."""

    phone_number_id: Annotated[Text, Meta(examples=["106540352242922"])]
    """The id of the number, from the app's page; not the number itself."""
    access_token: Annotated[Secret, Meta(examples=["${WHATSAPP_TOKEN}"])]
    """The token of the app's system user."""
    app_secret: Annotated[Secret, Meta(examples=["${WHATSAPP_APP_SECRET}"])]
    """The app's secret, with which Meta signs what it sends."""
    verify_token: Annotated[Secret, Meta(examples=["${WHATSAPP_VERIFY_TOKEN}"])]
    """A word of your choice, entered again where the webhook is set up."""
    api_root: Url = "https://graph.facebook.com"
    """For tests and proxies."""


IDENTITY = Identity(
    Shape(re.compile(r"\+?[0-9]+(?:@\S+)?"), 'a number such as "+49301234567"'), order=("phone", "id", "address")
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=None,
    limits=Limits(4096),
    can=frozenset({"reply", "react", "send", "files", "voice", "previews"}),
    renderer=Renderer(render.render, keeps_prose=True),
    pace=Pace(1.0, account=(80, 80.0)),
)
