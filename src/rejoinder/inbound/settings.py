"""What an operator may say about this floor, as it stands in `rejoinder.toml`.

These are the records, each field with its sentence under it; `rules.py` checks them and makes them ready.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.events import ChatKind
from rejoinder.identity import Identity
from rejoinder.keys import Count, DirectAccess, GroupAccess, Milliseconds, Text, ThinkLevel
from rejoinder.session import SessionSettings, TtsMode

# --- channels -----------------------------------------------------------------------------------

Wake = Literal["lead", "all", "mentions"]
BotMessages = Literal["off", "mentions", "all"]


class GroupSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
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


class ChannelSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who answers on a channel, who may talk there, and what wakes the agent."""

    agent: Text | None = None
    """The agent that answers here; may be left out when there is only one."""
    agents: tuple[Text, ...] = ()
    """Several agents in one room, instead of `agent`; the first one leads."""
    wake: Wake = "lead"
    """Who takes a message that names nobody in a room of several agents: the first, all, or none."""
    dm: DirectAccess = "pairing"
    """Who may write directly: people an owner has approved, those in `allow`, everybody, or nobody."""
    groups: GroupAccess = "allowlist"
    """In which groups the agent takes part: those in `allow_groups`, all, or none."""
    allow: tuple[Text, ...] = ()
    """People who may talk to the agent, by id, `channel:id` or `channel:account:id`; never by name."""
    allow_groups: tuple[Text, ...] = ()
    """Groups in which the agent takes part, by id."""
    owners: tuple[Text, ...] = ()
    """People who own the bot on this channel, by id, in addition to `commands.owner_allow_from`."""
    owner_only_commands: bool = False
    """Only owners may use commands on this channel, but for those anyone may use."""
    require_mention: bool = True
    """In groups the agent answers only when mentioned or replied to."""
    mention_patterns: tuple[Text, ...] = ()
    """Regular expressions (RE2) that count as a mention."""
    mention_roles: tuple[Text, ...] = ()
    """Roles whose mention counts as the agent's, by id."""
    user_messages: Literal["mentions", "involved", "multibot-mentions"] = "multibot-mentions"
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
    group: dict[str, GroupSettings] = {}
    """What differs in single groups, by id, or `*`."""


# --- commands -----------------------------------------------------------------------------------


class ElevatedSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may lift the agent's permissions with `/elevated`."""

    enabled: bool = False
    """Whether `/elevated` may raise anything at all."""
    allow_from: tuple[Text, ...] = ()
    """The owners who may use it: `channel:id` or `channel:account:id`."""


class CommandsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Slash commands and who may use them."""

    owner_allow_from: tuple[Text, ...] = ()
    """The owners of this gateway: `channel:id` or `channel:account:id`."""
    allow_from: dict[str, tuple[Text, ...]] = {}
    """Who may use the commands of senders, by channel or `*`: lists of ids. Without a list for a channel: all
    who are let in there by name."""
    text: bool = True
    """Commands may be typed as text; off: only the platform's own slash commands, and stop."""
    bash: bool = False
    """Owners who are listed in `commands.elevated` may run shell commands where the gateway runs, with `/bash` or
    `! command`."""
    config: bool = False
    """Owners may read the configuration, without its secrets, with `/config`, and change keys of its file; not who may
    do what, nor what is run."""
    debug: bool = False
    """Owners may change settings until the next start, with `/debug`; not who may do what, nor what is run."""
    skills: Text | None = None
    """A folder of skills, each a folder with a `SKILL.md`, used by `/NAME input`; from where rejoinder is started."""
    elevated: ElevatedSettings = ElevatedSettings()
    """Who may lift the agent's permissions with `/elevated`."""


# --- messages -----------------------------------------------------------------------------------


class SendRule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule about answers; every key that is given has to fit."""

    action: Annotated[Literal["allow", "deny"], Meta(examples=["deny"])]
    """What the rule says."""
    channel: Text | None = None
    """The channel's name."""
    chat: ChatKind | None = None
    """The kind of chat."""
    key_prefix: Text | None = None
    """How the session's key begins."""


class SendPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the agent's answers go out at all; commands still answer."""

    default: Literal["allow", "deny"] = "allow"
    """What holds where no rule fits."""
    rules: tuple[SendRule, ...] = ()
    """Rules by channel, kind of chat and session; any `deny` that fits wins."""


class InboundDebounce(Struct, frozen=True, forbid_unknown_fields=True):
    """Waiting for the rest of what someone is still typing: what comes meanwhile is one message."""

    debounce_ms: Milliseconds = 0
    """How long to wait for a further message of the same person before the first is taken. Each one restarts the
    wait, up to five times its length; files and commands end it."""
    by_channel: dict[str, Milliseconds] = {}
    """The same on a channel, by its name."""


# --- agents -------------------------------------------------------------------------------------


class LevelDefaults(Struct, frozen=True, forbid_unknown_fields=True):
    """The levels of `agents.defaults`."""

    thinking_default: ThinkLevel | None = None
    """The level of `/think` where nobody chose one; unset: the agent's own."""
    verbose_default: Literal["off", "on", "full"] | None = None
    """The level of `/verbose` where nobody chose one; unset: the agent's own."""
    reasoning_default: Literal["off", "on", "stream"] | None = None
    """The level of `/reasoning` where nobody chose one; unset: the agent's own."""


class SpeechSettings(Struct, frozen=True):
    """What is configured of spoken answers (ME-2)."""

    on: bool = False
    """Something can speak."""
    by_channel: dict[str, TtsMode] = {}
    by_agent: dict[str, TtsMode] = {}
    voice: str = ""
    limit: int = 1500
    """Characters of an answer that are read out."""


class InboundSettings(Struct, frozen=True):
    """Everything this floor reads: `[channels.*]`, `[commands]`, `[session]`, parts of `[messages]` and
    `[agents.defaults]`."""

    channels: dict[str, ChannelSettings] = {}
    kinds: dict[str, str] = {}  # of channels whose name is another
    identities: dict[str, Identity] = {}  # what ids look like there, by channel
    commands: CommandsSettings = CommandsSettings()
    session: SessionSettings = SessionSettings()
    debounce: InboundDebounce = InboundDebounce()
    send_policy: SendPolicy = SendPolicy()
    defaults: LevelDefaults = LevelDefaults()
    speech: SpeechSettings = SpeechSettings()
