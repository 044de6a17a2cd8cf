"""What a configuration may name that does not work yet: said here and nowhere else.

A channel to come has its record here, so that a file can be checked already; of some not even the keys are known.
Once the channel is written, its record moves to `rejoinder.channels.settings`.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from rejoinder.keys import Url
from rejoinder.secret import Secret


class DiscordSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Discord bot; the channel is to come."""

    token: Annotated[Secret, Meta(examples=["${DISCORD_TOKEN}"])]
    """The bot's token from the developer portal."""
    api_root: Url = "https://discord.com/api"
    """For tests and proxies."""


class SlackSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Slack app in Socket Mode; the channel is to come."""

    bot_token: Annotated[Secret, Meta(examples=["${SLACK_BOT_TOKEN}"])]
    """The bot token, `xoxb-...`."""
    app_token: Annotated[Secret, Meta(examples=["${SLACK_APP_TOKEN}"])]
    """The app-level token, `xapp-...`, with `connections:write`."""
    api_root: Url = "https://slack.com/api/"
    """For tests and proxies."""


class MatrixSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Matrix account; the channel is to come."""

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


CHANNELS: Mapping[str, type[Struct]] = {
    "discord": DiscordSettings,
    "slack": SlackSettings,
    "matrix": MatrixSettings,
}
UNDECLARED = ("whatsapp", "signal")
"""Channels to come of which not even the keys are known."""


def channel_to_come(kind: str, channels: Mapping[str, type[Struct]]) -> str | None:
    """Why this channel cannot be served; None where it can, perhaps by another package. `channels`: all there are."""
    if kind not in (*CHANNELS, *UNDECLARED) or channels.get(kind) is not CHANNELS.get(kind):
        return None
    here = sorted(name for name in channels if name not in CHANNELS and name != "terminal")
    return f"the channel {kind} is not written yet; take this section out (there are: {', '.join(here)})"


def store_to_come(store: str) -> str | None:
    return 'PostgreSQL is not written yet; write "sqlite:FILE"' if store.startswith("postgresql:") else None
