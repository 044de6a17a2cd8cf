"""A Telegram bot, by the Bot API: long polling, or a webhook where Telegram can reach us."""

import re
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from rejoinder.channels.accounts import name_problems
from rejoinder.channels.base import DEFAULT_ACCOUNT, Channel, Limits
from rejoinder.channels.declaration import ChannelKind, Pace, Setup
from rejoinder.channels.telegram import files, render
from rejoinder.channels.telegram.emoji import REACTIONS
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Port, Text, Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion, asks_api_root

LIMITS = Limits(4096, "utf16")
API_ROOT = "https://api.telegram.org"
LARGEST_ID = 2**52 - 1
"""As Telegram promises."""


class Account(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bot of several."""

    token: Annotated[Secret, Meta(examples=["${WORK_TOKEN}"])]
    """The token of this bot."""
    api_root: Url | None = None
    """The Bot API server of this bot; unset: as the section says."""
    webhook_url: Annotated[Url, Meta(examples=["https://bot.example.org/work"])] | None = None
    """The public https address at which Telegram calls for this bot."""
    webhook_port: Port = 8767
    """The port to listen on for these calls: one for each bot."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Telegram bot, or several."""

    token: Annotated[Secret | None, Meta(examples=["${TELEGRAM_TOKEN}"], extra={"unless": "accounts"})] = None
    """The bot's token from @BotFather; needed unless there are `accounts`."""
    accounts: dict[str, Account] = {}
    """Several bots side by side, by name, all with the other keys of this section. What each has read, its sessions and
    its failures are its own."""
    api_root: Url = API_ROOT
    """Any Bot API server."""
    webhook_url: Annotated[Url, Meta(examples=["https://bot.example.org/telegram"])] | None = None
    """The public https address at which Telegram calls; unset: the bot asks for its messages itself."""
    webhook_host: Text = "127.0.0.1"
    """The address to listen on for these calls, behind the proxy that holds the certificate."""
    webhook_port: Port = 8766
    """The port to listen on for these calls."""

    def problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from name_problems(self.accounts)
        ports = {self.webhook_port: "this section"} if self.webhook_url is not None else {}
        for name, own in self.accounts.items():
            if own.webhook_url is not None and (other := ports.setdefault(own.webhook_port, name)) != name:
                yield ("accounts", name, "webhook_port"), f"{own.webhook_port} is the port of {other}; choose another"


def accounts(settings: Settings) -> dict[str, Settings]:
    """The settings of each bot."""
    found = {} if settings.token is None else {DEFAULT_ACCOUNT: settings}
    for name, own in settings.accounts.items():
        where = {"api_root": own.api_root or settings.api_root}
        hook = {"webhook_url": own.webhook_url, "webhook_port": own.webhook_port}
        found[name] = replace(settings, token=own.token, **where, **hook)
    return found


def open_channel(name: str, settings: Settings, account: str = DEFAULT_ACCOUNT) -> Channel:
    from rejoinder.channels.telegram.api import Api  # noqa: PLC0415 - only serving a bot needs a client
    from rejoinder.channels.telegram.bot import TelegramBot  # noqa: PLC0415

    assert settings.token is not None, "an account has a token"
    api = Api(settings.api_root, settings.token)
    if settings.webhook_url is None:
        return TelegramBot(name, api, account=account)
    from rejoinder.channels.telegram.webhook import WebhookAddress  # noqa: PLC0415 - polling needs no server

    hook = WebhookAddress(settings.webhook_url, settings.webhook_host, settings.webhook_port)
    return TelegramBot(name, api, hook, account=account)


SETUP = Setup(
    offer="Serve a Telegram bot?",
    steps="Write to @BotFather in Telegram: /newbot. It answers with a token.",
    section={"token": "${TELEGRAM_TOKEN}"},
    asks=(asks_api_root("Bot API", "Telegram", API_ROOT),),
    verified=True,
    asks_then=(
        SetupQuestion(
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
  If the connection breaks while a message is sent, Telegram cannot be asked whether it arrived. `on_unknown` says
  what happens then. "hold" never sends it twice: you and the person are told, and /resend repeats it. "resend" repeats
  it at once: nothing is lost, but now and then a message appears twice. The default is "hold".""",
)

IDENTITY = Identity(
    Shape(re.compile(r"-?[0-9]+"), 'a number such as "123456789"'),
    Shape(re.compile(r"-?[0-9]+"), 'a number such as "-1001234567890"'),
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=open_channel,
    accounts=accounts,
    limits=LIMITS,
    can=frozenset({"reply", "react", "send", "files", "voice", "silent", "previews"}),
    files=files.FILES,
    renderer=Renderer(render.render, render.plain, render.size, keeps_prose=True),
    reactions=REACTIONS,
    pace=Pace(1.0, chat=(5, 1.0), account=(30, 30.0), typing=4.5),
    delivery="blind",
    setup=SETUP,
)
