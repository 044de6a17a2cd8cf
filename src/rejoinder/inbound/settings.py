"""What an operator may say about this floor, as it stands in `rejoinder.toml`.

These are the records; `rules.py` checks them and makes them ready. Every default is the documented one.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.session import SessionSettings

Count = Annotated[int, Meta(ge=1)]
Millis = Annotated[int, Meta(ge=0)]


class GroupSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What differs in one group; `*` stands for every group."""

    require_mention: Annotated[bool | None, Meta(description="As on the channel.")] = None
    mode: Annotated[
        Literal["on", "listen", "off"],
        Meta(description="`listen`: the agent sees everything and never answers. `off`: nothing is read."),
    ] = "on"
    daily_limit: Annotated[Count | None, Meta(description="Turns a day for the whole group.")] = None
    daily_limit_per_user: Annotated[Count | None, Meta(description="Turns a day for each person.")] = None


class ChannelSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may talk on a channel, and what wakes the agent."""

    agent: Annotated[str | None, Meta(description="The agent that answers here.")] = None
    agents: Annotated[tuple[str, ...], Meta(description="Several agents in one room; the first leads.")] = ()
    wake: Annotated[
        Literal["lead", "all", "mentions"],
        Meta(description="Who takes a message that names nobody, in a room of several agents."),
    ] = "lead"
    dm: Annotated[
        Literal["pairing", "allowlist", "open", "off"], Meta(description="Who may write in direct chats.")
    ] = "pairing"
    groups: Annotated[
        Literal["allowlist", "open", "off"], Meta(description="In which groups the agent may be spoken to.")
    ] = "allowlist"
    allow: Annotated[
        tuple[str, ...],
        Meta(description="People who are let in: stable ids, `channel:id` or `channel:account:id`."),
    ] = ()
    allow_groups: Annotated[tuple[str, ...], Meta(description="Groups that are let in, by id.")] = ()
    owners: Annotated[tuple[str, ...], Meta(description="Owners on this channel, by id.")] = ()
    owner_only_commands: Annotated[
        bool, Meta(description="Only owners may use commands here, but for those anyone may use.")
    ] = False
    require_mention: Annotated[bool, Meta(description="In groups, answer only when spoken to.")] = True
    mention_patterns: Annotated[
        tuple[str, ...], Meta(description="Further ways to name the agent: regular expressions (RE2).")
    ] = ()
    mention_roles: Annotated[
        tuple[str, ...], Meta(description="Ids of roles whose mention counts as ours.")
    ] = ()
    group: Annotated[dict[str, GroupSettings], Meta(description="What differs in a group, by its id.")] = {}
    user_messages: Annotated[
        Literal["mentions", "involved", "multibot-mentions"],
        Meta(description="When people in a thread need not mention the agent."),
    ] = "multibot-mentions"
    bot_messages: Annotated[
        Literal["off", "mentions", "all"] | None,
        Meta(
            description="Which messages of other bots are read. Unset: `mentions` among our own agents, "
            "else `off`."
        ),
    ] = None
    trusted_bots: Annotated[tuple[str, ...], Meta(description="If any, only these bots are read.")] = ()
    bot_turns: Annotated[Count, Meta(description="Bot turns in a row before silence.")] = 10
    bot_turns_per_day: Annotated[
        Count, Meta(description="Bot turns a day in one thread before an owner must reset it.")
    ] = 100


class ElevatedSettings(Struct, frozen=True, forbid_unknown_fields=True):
    enabled: Annotated[bool, Meta(description="Whether `/elevated` may raise anything at all.")] = False
    allow_from: Annotated[tuple[str, ...], Meta(description="Owners who may raise it, as `channel:id`.")] = ()


class CommandSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may command, and which commands exist."""

    owner_allow_from: Annotated[
        tuple[str, ...], Meta(description="The owners, as `channel:id`.", examples=[["telegram:123456"]])
    ] = ()
    allow_from: Annotated[
        dict[str, tuple[str, ...]],
        Meta(
            description="Who may use commands, by channel or `*`. Without an entry for the channel: all who "
            "are let in by name."
        ),
    ] = {}
    text: Annotated[bool, Meta(description="Whether typed commands count; native ones always do.")] = True
    config: Annotated[bool, Meta(description="Whether `/config` works.")] = False
    debug: Annotated[bool, Meta(description="Whether `/debug` works.")] = False
    bash: Annotated[bool, Meta(description="Whether `/bash` works, for who is elevated.")] = False
    elevated: Annotated[ElevatedSettings, Meta(description="What `/elevated` needs.")] = ElevatedSettings()


class SendRule(Struct, frozen=True, forbid_unknown_fields=True):
    """Every field that is given has to fit."""

    action: Literal["allow", "deny"]
    channel: str | None = None
    chat: Literal["direct", "group", "channel"] | None = None
    key_prefix: str | None = None


class SendPolicySettings(Struct, frozen=True, forbid_unknown_fields=True):
    default: Annotated[Literal["allow", "deny"], Meta(description="When no rule fits.")] = "allow"
    rules: Annotated[tuple[SendRule, ...], Meta(description="Any fitting `deny` wins.")] = ()


class DebounceSettings(Struct, frozen=True, forbid_unknown_fields=True):
    debounce_ms: Annotated[Millis, Meta(description="Wait for more of the same sender. 0: do not.")] = 0
    by_channel: Annotated[dict[str, Millis], Meta(description="What differs on a channel.")] = {}


class AgentDefaults(Struct, frozen=True, forbid_unknown_fields=True):
    """The part of `agents.defaults` that decides on levels."""

    thinking_default: Annotated[str | None, Meta(description="The thinking level.")] = None
    verbose_default: Annotated[str | None, Meta(description="The verbosity.")] = None
    reasoning_default: Annotated[str | None, Meta(description="Whether thoughts are shown.")] = None


class InboundSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything this floor reads."""

    channels: dict[str, ChannelSettings] = {}
    commands: CommandSettings = CommandSettings()
    session: SessionSettings = SessionSettings()
    debounce: DebounceSettings = DebounceSettings()
    send_policy: SendPolicySettings = SendPolicySettings()
    defaults: AgentDefaults = AgentDefaults()
