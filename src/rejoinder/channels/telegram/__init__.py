"""A Telegram bot, by the Bot API: long polling, or a webhook where Telegram can reach us."""

from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import Channel, Limits
from rejoinder.channels.declaration import ChannelKind, Pace
from rejoinder.channels.telegram import render
from rejoinder.channels.telegram.emoji import REACTIONS
from rejoinder.keys import Port, Text, Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret

LIMITS = Limits(4096, "utf16")


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Telegram bot."""

    token: Annotated[Secret, Meta(examples=["${TELEGRAM_TOKEN}"])]
    """The bot's token from @BotFather."""
    api_root: Url = "https://api.telegram.org"
    """Any Bot API server."""
    webhook_url: Annotated[Url, Meta(examples=["https://bot.example.org/telegram"])] | None = None
    """The public https address at which Telegram calls; unset: the bot asks for its messages itself."""
    webhook_host: Text = "127.0.0.1"
    """The address to listen on for these calls, behind whatever holds the certificate."""
    webhook_port: Port = 8766
    """The port to listen on for these calls."""


def open_channel(name: str, settings: Settings) -> Channel:
    from rejoinder.channels.telegram.api import Api  # noqa: PLC0415 - only serving a bot needs a client
    from rejoinder.channels.telegram.bot import TelegramBot  # noqa: PLC0415

    api = Api(settings.api_root, settings.token)
    if settings.webhook_url is None:
        return TelegramBot(name, api)
    from rejoinder.channels.telegram.webhook import Hook  # noqa: PLC0415 - polling needs no server

    return TelegramBot(name, api, Hook(settings.webhook_url, settings.webhook_host, settings.webhook_port))


CHANNEL = ChannelKind(
    settings=Settings,
    open=open_channel,
    limits=LIMITS,
    can=frozenset({"reply", "react", "send", "silent", "previews"}),
    renderer=Renderer(render.render, render.plain, render.size),
    reactions=REACTIONS,
    pace=Pace(1.0, chat=(5, 1.0), account=(30, 30.0), typing=4.5),
    delivery="blind",
)
