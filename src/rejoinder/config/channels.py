"""The records of `[channels.*]`: what all channels have, and what each kind has besides.

Those of a kind wait here until its room declares them.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.config.types import Count, Text, Url
from rejoinder.secret import Secret

# --- channels: what all have --------------------------------------------------------------------

UserMessages = Literal["mentions", "involved", "multibot-mentions"]
BotMessages = Literal["off", "mentions", "all"]
ReplyToMode = Literal["off", "first", "all"]


class GroupSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What differs in one group; `*` means every group that has no entry of its own."""

    mode: Literal["on", "listen", "off"] = "on"
    """`listen`: the agent sees everything and never answers; `off`: the group is ignored."""
    require_mention: bool | None = None
    """As the channel's `require_mention`."""
    extra_system_prompt: str = ""
    """Told to the agent in this group, after the channel's."""
    daily_limit: Count | None = None
    """How many messages of this group the agent answers in a day."""
    daily_limit_per_user: Count | None = None
    """How many messages of one person in this group the agent answers in a day."""


class ReplyToModes(Struct, frozen=True, forbid_unknown_fields=True):
    """`reply_to_mode` by kind of chat."""

    direct: ReplyToMode | None = None
    """In direct chats; unset: off."""
    group: ReplyToMode | None = None
    """In groups; unset: first, but off where another bot has posted."""


class ChannelSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every channel has: who answers there, who may talk, when the agent listens."""

    agent: Text | None = None
    """The agent that answers here; may be left out when there is only one."""
    agents: tuple[Text, ...] = ()
    """Several agents in one room, instead of `agent`; the first one leads."""
    wake: Literal["lead", "all", "mentions"] = "lead"
    """Who takes a message that names nobody in a room of several agents: the first, all, or none."""
    dm: Literal["pairing", "allowlist", "open", "off"] = "pairing"
    """Who may write directly: people an owner has approved, those in `allow`, everybody, or nobody."""
    groups: Literal["allowlist", "open", "off"] = "allowlist"
    """In which groups the agent takes part: those in `allow_groups`, all, or none."""
    allow: tuple[Text, ...] = ()
    """People who may talk to the agent, by id, `channel:id` or `channel:account:id`; never by name."""
    allow_groups: tuple[Text, ...] = ()
    """Groups in which the agent takes part, by id."""
    owners: tuple[Text, ...] = ()
    """People who own the bot on this channel, by id, beside `commands.owner_allow_from`."""
    owner_only_commands: bool = False
    """Only owners may use commands on this channel, but for those anyone may use."""
    require_mention: bool = True
    """In groups the agent answers only when mentioned or replied to."""
    mention_patterns: tuple[Text, ...] = ()
    """Regular expressions (RE2) that count as a mention."""
    mention_roles: tuple[Text, ...] = ()
    """Roles whose mention counts as the agent's, by id."""
    user_messages: UserMessages = "multibot-mentions"
    """In a thread the agent takes part in: mention always needed, never needed, or only when another bot has
    posted there."""
    bot_messages: BotMessages | None = None
    """Whether other bots are heard: `off`, when they mention the agent, or `all`. Unset: off, and `mentions`
    in a room of several agents."""
    trusted_bots: tuple[Text, ...] = ()
    """The bots that `bot_messages` lets in, by id; empty: any."""
    bot_turns: Count = 10
    """Messages of bots in a row in one thread, then silence until a person writes."""
    bot_turns_per_day: Count = 100
    """Messages of bots in one thread and day, then silence until an owner resets it."""
    reply_to_mode: ReplyToMode | ReplyToModes | None = None
    """Whether answers quote the message they answer, where the agent does not say: `off`, the `first` part,
    or `all`; or by kind of chat. Unset: off in direct chats and among bots, first in other groups."""
    response_prefix: str | None = None
    """As `messages.response_prefix`, for this channel."""
    extra_system_prompt: str = ""
    """Told to the agent in every turn from this channel."""
    group: dict[str, GroupSettings] = {}
    """What differs in single groups, by id, or `*`."""


# --- channels: what each kind has besides -------------------------------------------------------
# A kind may name a common key again to give it another default.


class WebChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat page and the console."""

    host: Text = "127.0.0.1"
    """The address to listen on; anything but loopback asks for a login token."""
    port: Annotated[int, Meta(ge=0, le=65535)] = 8765
    """The port to listen on; 0 takes a free one."""
    token: Secret | None = None
    """The login token; unset: made at start and printed, where one is needed."""
    dm: Literal["pairing", "allowlist", "open", "off"] = "open"
    """Who may write directly: whoever may open the page."""
    groups: Literal["allowlist", "open", "off"] = "open"
    """Rooms of the page."""
    require_mention: bool = False
    """In rooms the agent answers only when mentioned or replied to."""


class TerminalChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chat of `rejoinder chat`."""

    dm: Literal["pairing", "allowlist", "open", "off"] = "open"
    """Who may write directly: whoever sits at the terminal."""


class TelegramChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Telegram bot."""

    token: Annotated[Secret, Meta(examples=["${TELEGRAM_TOKEN}"])]
    """The bot's token from @BotFather."""
    api_root: Url = "https://api.telegram.org"
    """Any Bot API server."""


class DiscordChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Discord bot."""

    token: Annotated[Secret, Meta(examples=["${DISCORD_TOKEN}"])]
    """The bot's token from the developer portal."""
    api_root: Url = "https://discord.com/api"
    """For tests and proxies."""


class SlackChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Slack app in Socket Mode."""

    bot_token: Annotated[Secret, Meta(examples=["${SLACK_BOT_TOKEN}"])]
    """The bot token, `xoxb-...`."""
    app_token: Annotated[Secret, Meta(examples=["${SLACK_APP_TOKEN}"])]
    """The app-level token, `xapp-...`, with `connections:write`."""
    api_root: Url = "https://slack.com/api/"
    """For tests and proxies."""


class MatrixChannel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Matrix account."""

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
