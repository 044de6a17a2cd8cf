"""A Telegram bot, by the Bot API: long polling, or a webhook where Telegram can reach us."""

from msgspec import Struct

from rejoinder.channels.base import Channel
from rejoinder.secret import Secret


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    token: Secret
    api_root: str = "https://api.telegram.org"
    webhook_url: str | None = None
    webhook_host: str = "127.0.0.1"
    webhook_port: int = 8766


def open_channel(name: str, settings: Settings) -> Channel:
    from rejoinder.channels.telegram.api import Api  # noqa: PLC0415 - only who serves a bot pays for a client
    from rejoinder.channels.telegram.bot import TelegramBot  # noqa: PLC0415

    api = Api(settings.api_root, settings.token)
    if settings.webhook_url is None:
        return TelegramBot(name, api)
    from rejoinder.channels.telegram.webhook import Hook  # noqa: PLC0415 - who polls needs no server

    return TelegramBot(name, api, Hook(settings.webhook_url, settings.webhook_host, settings.webhook_port))
