"""The records of `[channels.NAME]`: the settings of each kind of channel, besides those that all have.

Each field has its sentence under it: the configuration's schema, docs and messages are made from these. The records are
apart from the code that reads them, so that a file can be checked before any platform is loaded. A kind may name a
common key again to give it another default.
"""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.keys import Count, DirectAccess, GroupAccess, Network, Port, Text, Url
from rejoinder.secret import Secret

SHORTEST_TOKEN = 12
"""Characters of a token that other machines may try to guess."""


class WebSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat page and the console."""

    host: Text = "127.0.0.1"
    """The address to listen on; anything but loopback asks for a login token."""
    port: Port = 8765
    """The port to listen on; 0 takes a free one."""
    token: Secret | None = None
    """The login token; unset: made at the first start and printed once, where one is needed."""
    hosts: tuple[Text, ...] = ()
    """Names by which browsers reach the page, beside localhost and addresses: behind a proxy, its name."""
    trusted_proxies: Annotated[tuple[Network, ...], Meta(examples=[["127.0.0.1"]])] = ()
    """Addresses or networks of proxies that say for whom they ask (`X-Forwarded-For`); with one, a login is needed also
    on loopback."""
    person_files_mb: Count = 1000
    """Megabytes of uploaded files that are kept for one person."""
    files_mb: Count = 10_000
    """Megabytes of uploaded files that are kept for all people together."""
    faces: dict[str, Text] = {}
    """The emoji of an agent, by its name; without one its initials are shown."""
    dm: DirectAccess = "open"
    """Who may write directly: whoever may open the page."""
    groups: GroupAccess = "open"
    """Rooms of the page."""
    require_mention: bool = False
    """In rooms the agent answers only when mentioned or replied to."""

    @property
    def is_exposed(self) -> bool:
        """Whether people come from other machines: they need a login."""
        return bool(self.trusted_proxies) or not _is_loopback(self.host)

    def problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for index, proxy in enumerate(self.trusted_proxies):
            try:
                ip_network(proxy, strict=False)
            except ValueError as wrong:
                yield ("trusted_proxies", index), f"this is no address and no network: {wrong}"
        if self.token is not None and len(self.token.reveal()) < SHORTEST_TOKEN and self.is_exposed:
            yield (
                ("token",),
                f"a token that other machines can try to guess has at least {SHORTEST_TOKEN} characters; leave it out, "
                "and a good one is made at the first start",
            )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class TerminalSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat of `rejoinder chat`."""

    dm: DirectAccess = "open"
    """Who may write directly: whoever sits at the terminal."""


class TelegramSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


CHANNEL_KINDS: Mapping[str, type[Struct]] = {
    "web": WebSettings,
    "terminal": TerminalSettings,
    "telegram": TelegramSettings,
}
