"""The operator's settings for this floor, as they appear in `rejoinder.toml`.

These are the records, each field with its sentence below it; `rules.py` checks and prepares them.
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
    """Which agents answer a message that names none of them, in a room of several: the first (`lead`), `all`, or none
    (`mentions`)."""
    dm: DirectAccess = "pairing"
    """Who may write directly: people an owner has approved (`pairing`), those in `allow` (`allowlist`), everybody
    (`open`), or nobody (`off`)."""
    groups: GroupAccess = "allowlist"
    """In which groups the agent takes part: those in `allow_groups` (`allowlist`), all (`open`), or none (`off`)."""
    allow: tuple[Text, ...] = ()
    """People who may talk to the agent, by id, `channel:id` or `channel:account:id`; never by name."""
    allow_groups: tuple[Text, ...] = ()
    """Groups in which the agent takes part, by id."""
    owners: tuple[Text, ...] = ()
    """People who own the bot on this channel, by id, in addition to `commands.owner_allow_from`."""
    owner_only_commands: bool = False
    """Only owners may use commands on this channel, except those that anyone may use."""
    require_mention: bool = True
    """In groups the agent answers only when mentioned or replied to."""
    mention_patterns: tuple[Text, ...] = ()
    """Regular expressions (RE2) that count as a mention."""
    mention_roles: tuple[Text, ...] = ()
    """Roles whose mention counts as the agent's, by id."""
    user_messages: Literal["mentions", "involved", "multibot-mentions"] = "multibot-mentions"
    """Whether people have to mention the agent in a thread it takes part in: always (`mentions`), never (`involved`),
    or only where another bot has posted (`multibot-mentions`)."""
    bot_messages: BotMessages | None = None
    """Whether other bots are heard: `off`, when they mention the agent, or `all`. Unset: off, and `mentions`
    in a room of several agents."""
    trusted_bots: tuple[Text, ...] = ()
    """The bots that `bot_messages` lets in, by id; empty: any."""
    bot_turns: Count = 10
    """How many turns in a row without a person a thread may have, the agents' own included; then the agents are silent
    until a person writes."""
    bot_turns_per_day: Count = 100
    """How many turns of bots a thread may have in a day; then the agents are silent until an owner says
    `/session bots`."""
    group: dict[str, GroupSettings] = {}
    """What differs in single groups, by id, or `*`."""


# --- commands -----------------------------------------------------------------------------------


class ElevatedSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may raise the agent's permissions with `/elevated`."""

    enabled: bool = False
    """Whether `/elevated` may raise anything at all."""
    allow_from: tuple[Text, ...] = ()
    """The owners who may use it: `channel:id` or `channel:account:id`."""


class CommandsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Slash commands and who may use them."""

    owner_allow_from: tuple[Text, ...] = ()
    """The owners of this gateway: `channel:id` or `channel:account:id`."""
    allow_from: dict[str, tuple[Text, ...]] = {}
    """Who may use the commands that are for senders: lists of ids, by channel or `*`. Without a list for a channel:
    everybody who is paired or in its `allow` list."""
    text: bool = True
    """Commands may be typed as text; off: only the platform's own slash commands, and stop."""
    bash: bool = False
    """Owners who are listed in `commands.elevated` may run shell commands where the gateway runs, with `/bash` or
    `! command`."""
    config: bool = False
    """Owners may read the configuration, without its secrets, with `/config`, and change keys of its file, except
    those that say who may do what, or what is run."""
    debug: bool = False
    """Owners may change settings until the next start, with `/debug`, with the same exceptions."""
    skills: Text | None = None
    """A folder of skills, each a folder with a `SKILL.md`, used by `/NAME input`; relative to the folder in which
    rejoinder is started."""
    elevated: ElevatedSettings = ElevatedSettings()
    """Who may raise the agent's permissions with `/elevated`."""


# --- messages -----------------------------------------------------------------------------------


class SendRule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule about answers; every key that is given has to fit."""

    action: Annotated[Literal["allow", "deny"], Meta(examples=["deny"])]
    """Whether agents may answer there."""
    channel: Text | None = None
    """The channel's name."""
    chat: ChatKind | None = None
    """The kind of chat."""
    key_prefix: Text | None = None
    """How the session's key begins."""


class SendPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """Where agents may answer at all; commands are always answered."""

    default: Literal["allow", "deny"] = "allow"
    """What applies where no rule matches."""
    rules: tuple[SendRule, ...] = ()
    """Rules by channel, kind of chat and session; any `deny` that matches wins."""


class InboundDebounce(Struct, frozen=True, forbid_unknown_fields=True):
    """Waiting for the rest of what someone is still typing: messages that come meanwhile are joined into one."""

    debounce_ms: Milliseconds = 0
    """Milliseconds to wait for a further message of the same person before the first is handled. Each one restarts the
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
    """The settings for spoken answers (ME-2)."""

    on: bool = False
    """Something can speak."""
    by_channel: dict[str, TtsMode] = {}
    by_agent: dict[str, TtsMode] = {}
    voice: str = ""
    limit: int = 1500
    """How many characters of an answer are read aloud."""


class InboundSettings(Struct, frozen=True):
    """Everything this floor reads: `[channels.*]`, `[commands]`, `[session]`, parts of `[messages]` and
    `[agents.defaults]`."""

    channels: dict[str, ChannelSettings] = {}
    kinds: dict[str, str] = {}  # of channels whose name differs from their kind
    identities: dict[str, Identity] = {}  # what ids look like, by channel
    commands: CommandsSettings = CommandsSettings()
    session: SessionSettings = SessionSettings()
    debounce: InboundDebounce = InboundDebounce()
    send_policy: SendPolicy = SendPolicy()
    defaults: LevelDefaults = LevelDefaults()
    speech: SpeechSettings = SpeechSettings()
