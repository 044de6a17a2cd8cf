"""A Telegram bot, by the Bot API: long polling, or a webhook where Telegram can reach us."""

from rejoinder.channels.base import Channel
from rejoinder.channels.settings import TelegramSettings as Settings


def open_channel(name: str, settings: Settings) -> Channel:
    from rejoinder.channels.telegram.api import Api  # noqa: PLC0415 - only serving a bot needs a client
    from rejoinder.channels.telegram.bot import TelegramBot  # noqa: PLC0415

    api = Api(settings.api_root, settings.token)
    if settings.webhook_url is None:
        return TelegramBot(name, api)
    from rejoinder.channels.telegram.webhook import Hook  # noqa: PLC0415 - polling needs no server

    return TelegramBot(name, api, Hook(settings.webhook_url, settings.webhook_host, settings.webhook_port))
