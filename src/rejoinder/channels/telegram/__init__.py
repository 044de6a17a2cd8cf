"""A Telegram bot, by the Bot API: long polling, or a webhook where Telegram can reach us."""

from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.channels.base import Channel, Limits
from rejoinder.channels.declaration import ChannelKind, Pace, Setup
from rejoinder.channels.telegram import render
from rejoinder.channels.telegram.emoji import REACTIONS
from rejoinder.keys import Port, Text, Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret
from rejoinder.setup import Ask

LIMITS = Limits(4096, "utf16")
API_ROOT = "https://api.telegram.org"
LARGEST_ID = 2**52 - 1
"""As Telegram promises."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Telegram bot."""

    token: Annotated[Secret, Meta(examples=["${TELEGRAM_TOKEN}"])]
    """The bot's token from @BotFather."""
    api_root: Url = API_ROOT
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


SETUP = Setup(
    offer="Serve a Telegram bot?",
    steps="Write to @BotFather in Telegram: /newbot. It answers with a token.",
    section={"token": "${TELEGRAM_TOKEN}"},
    asks=(
        Ask(
            key="api_root",
            question="Bot API (Enter: Telegram's own)",
            default=API_ROOT,
            takes="address",
            optional=True,
        ),
    ),
    verified=True,
    asks_then=(
        Ask(
            key="owners",
            question="Your own Telegram id, a number (0: `rejoinder pair` lets you in later)",
            default=0,
            takes="number",
            most=LARGEST_ID,
            optional=True,
            listed=True,
        ),
    ),
    adds={"streaming": "preview", "on_unknown": "hold"},
    advice="""\
  When the connection breaks while a message is sent, Telegram cannot be asked whether it arrived. `on_unknown` says
  what happens then: "hold" never sends it twice, you and the person are told, and /resend repeats it; "resend" repeats
  it at once: nothing is lost, now and then it is there twice. It is "hold" unless you change it in the file.""",
)

CHANNEL = ChannelKind(
    settings=Settings,
    open=open_channel,
    limits=LIMITS,
    can=frozenset({"reply", "react", "send", "silent", "previews"}),
    renderer=Renderer(render.render, render.plain, render.size),
    reactions=REACTIONS,
    pace=Pace(1.0, chat=(5, 1.0), account=(30, 30.0), typing=4.5),
    delivery="blind",
    setup=SETUP,
)
