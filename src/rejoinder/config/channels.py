"""The records of `[channels.*]`: what all channels have, and what each kind has besides.

Those of a kind stand here, not in its room, so that a file is checked before any platform is loaded.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.config.types import Text, Url
from rejoinder.events import ReplyMode, TableStyle
from rejoinder.inbound import settings as inbound
from rejoinder.outbound.tools import Display
from rejoinder.secret import Secret

# --- channels: what all have --------------------------------------------------------------------


class ReplyToModes(Struct, frozen=True, forbid_unknown_fields=True):
    """`reply_to_mode` by kind of chat."""

    direct: ReplyMode | None = None
    """In direct chats; unset: off."""
    group: ReplyMode | None = None
    """In groups; unset: first, but off where another bot has posted."""


class ChannelSettings(inbound.ChannelSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every channel has: who answers there, who may talk, when the agent listens."""

    reply_to_mode: ReplyMode | ReplyToModes | None = None
    """Whether answers quote the message they answer, where the agent does not say: `off`, the `first` part,
    or `all`; or by kind of chat. Unset: off in direct chats and among bots, first in other groups."""
    response_prefix: str | None = None
    """As `messages.response_prefix`, for this channel. Unset in both, several agents behind one bot say their names
    (`auto`)."""
    streaming: Literal["edits", "preview", "blocks", "off"] | None = None
    """How an answer is shown while it is written: one message that is changed (`edits`), the platform's own preview
    of a message to come where it has one, else edits (`preview`), whole pieces (`blocks`), or not at all (`off`).
    Unset: edits where the channel can, else as `agents.defaults.block_streaming_default`."""
    tables: TableStyle = "code"
    """What becomes of a table where the platform has none: aligned in a block of code, a list, or as written."""
    on_unknown: Literal["hold", "resend"] = "hold"
    """What is done with a message of which nobody can tell whether it arrived: `hold` never sends it twice,
    `/resend` does; `resend` never loses it."""
    tool_display: Display | None = None
    """How the agent's tools are shown in a verbose session: what each does (`full`), its kind alone (`compact`), or
    not at all (`none`). Unset: full in direct chats, compact in groups. Command lines are shown to nobody who is not
    on the allow-list, and in no group."""
    extra_system_prompt: str = ""
    """Told to the agent in every turn from this channel; `{{Name}}` as in `system_prompt` of an agent."""
    status_reactions: bool | Literal["removed"] = False
    """Reactions on a message show what becomes of it: queued, thinking, at work, done; with `removed` the last one
    is taken away as well."""


# --- channels: what each kind has besides -------------------------------------------------------
# A kind may name a common key again to give it another default.


class WebChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat page and the console."""

    host: Text = "127.0.0.1"
    """The address to listen on; anything but loopback asks for a login token."""
    port: Annotated[int, Meta(ge=0, le=65535)] = 8765
    """The port to listen on; 0 takes a free one."""
    token: Secret | None = None
    """The login token; unset: made at the first start and printed once, where one is needed."""
    hosts: tuple[Text, ...] = ()
    """Names by which browsers reach the page, beside localhost and addresses: behind a proxy, its name."""
    faces: dict[str, Text] = {}
    """The emoji of an agent, by its name; without one its initials are shown."""
    dm: inbound.DirectAccess = "open"
    """Who may write directly: whoever may open the page."""
    groups: inbound.GroupAccess = "open"
    """Rooms of the page."""
    require_mention: bool = False
    """In rooms the agent answers only when mentioned or replied to."""


class TerminalChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat of `rejoinder chat`."""

    dm: inbound.DirectAccess = "open"
    """Who may write directly: whoever sits at the terminal."""


class TelegramChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Telegram bot."""

    token: Annotated[Secret, Meta(examples=["${TELEGRAM_TOKEN}"])]
    """The bot's token from @BotFather."""
    api_root: Url = "https://api.telegram.org"
    """Any Bot API server."""
    webhook_url: Annotated[Url, Meta(examples=["https://bot.example.org/telegram"])] | None = None
    """The public https address at which Telegram calls; unset: the bot asks for its messages itself."""
    webhook_host: Text = "127.0.0.1"
    """The address to listen on for these calls, behind whatever holds the certificate."""
    webhook_port: Annotated[int, Meta(ge=0, le=65535)] = 8766
    """The port to listen on for these calls."""


class DiscordChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Discord bot; the channel is to come."""

    token: Annotated[Secret, Meta(examples=["${DISCORD_TOKEN}"])]
    """The bot's token from the developer portal."""
    api_root: Url = "https://discord.com/api"
    """For tests and proxies."""


class SlackChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Slack app in Socket Mode; the channel is to come."""

    bot_token: Annotated[Secret, Meta(examples=["${SLACK_BOT_TOKEN}"])]
    """The bot token, `xoxb-...`."""
    app_token: Annotated[Secret, Meta(examples=["${SLACK_APP_TOKEN}"])]
    """The app-level token, `xapp-...`, with `connections:write`."""
    api_root: Url = "https://slack.com/api/"
    """For tests and proxies."""


class MatrixChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


CHANNEL_KINDS: Mapping[str, type[Struct]] = {
    "web": WebChannel,
    "terminal": TerminalChannel,
    "telegram": TelegramChannel,
    "discord": DiscordChannel,
    "slack": SlackChannel,
    "matrix": MatrixChannel,
}

UNDECLARED = ("whatsapp", "signal")
"""Channels to come of which not even the keys are known."""
