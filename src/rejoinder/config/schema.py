"""Every key of `rejoinder.toml`, gathered from the rooms that read them.

Each field has its sentence under it: the JSON schema, the docs and the error messages are made from these
records, so there is no second list of keys. A record stands beside the code that reads it; those whose
room is not built yet wait here, each under the name of its room.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, Struct

from rejoinder.secret import Secret
from rejoinder.session import SessionSettings

Text = Annotated[str, Meta(min_length=1)]
Milliseconds = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Url = Annotated[
    str,
    Meta(pattern="^https?://[^/]", extra={"expected": "an address that begins with http:// or https://"}),
]

# --- store and runtime --------------------------------------------------------------------------


class GatewaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The gateway itself."""

    store: Annotated[
        str,
        Meta(
            pattern="^(sqlite:.|postgresql://.)",
            extra={"expected": '"sqlite:FILE" or "postgresql://USER@HOST/DATABASE"'},
        ),
    ] = "sqlite:rejoinder.db"
    """Where everything is kept that must survive: `sqlite:FILE` or `postgresql://...`."""


# --- agents -------------------------------------------------------------------------------------

ThinkLevel = Literal["off", "minimal", "low", "medium", "high", "xhigh"]


class HeartbeatSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The agent's own turns, when nobody has written."""

    model: Text | None = None
    """The model of heartbeat turns; unset: the agent's own."""


class HumanDelay(Struct, frozen=True, forbid_unknown_fields=True):
    """The pause before the second and later blocks of an answer."""

    mode: Literal["off", "natural", "custom"] = "natural"
    """`off`, `natural` (0.8 to 2.5 seconds) or `custom` (`min_ms` to `max_ms`)."""
    min_ms: Milliseconds = 800
    """The shortest pause of `custom`."""
    max_ms: Milliseconds = 2500
    """The longest pause of `custom`."""


class AgentDefaults(Struct, frozen=True, forbid_unknown_fields=True):
    """What holds for every agent unless a session or the agent says otherwise."""

    typing_interval_seconds: Annotated[float, Meta(gt=0)] = 6
    """How often typing is shown anew while a run is open."""
    thinking_default: ThinkLevel | None = None
    """The level of `/think` where nobody chose one; unset: the agent's own."""
    verbose_default: Literal["off", "on", "full"] = "off"
    """The level of `/verbose` where nobody chose one."""
    reasoning_default: Literal["off", "on", "stream"] = "off"
    """The level of `/reasoning` where nobody chose one."""
    block_streaming_default: bool = False
    """Long answers go out in blocks as they are written, where the channel cannot edit messages."""
    context_tokens: Count | None = None
    """The budget of a session's context, at which it is compacted; unset: the model's own."""
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    """The agent's own turns, when nobody has written."""
    human_delay: HumanDelay = HumanDelay()
    """The pause before the second and later blocks of an answer."""


class AgentBase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every kind of agent has."""

    system_prompt: str = ""
    """What the agent is told about itself at the start of every turn."""


class ModelAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every agent has that can run on one of several models."""

    models: dict[str, Text] = {}
    """Aliases for `/model`: the name people say, and the name the agent knows."""
    fallbacks: tuple[Text, ...] = ()
    """Models to try, in this order, when the first is down, refused or out of quota."""


class AcpAgent(ModelAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any program that speaks the Agent Client Protocol on its standard input and output."""

    command: Annotated[tuple[Text, ...], Meta(min_length=1, examples=[["claude-agent-acp"]])]
    """The program and its arguments."""
    cwd: Text = "."
    """The folder it works in; `~` is the home folder."""
    model: Text | None = None
    """The model it begins with; unset: what the agent itself chooses."""
    env: dict[str, Secret] = {}
    """Environment variables it is given beside the harmless ones."""


class OpenAIAgent(ModelAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Any endpoint that speaks OpenAI's chat completions."""

    model: Annotated[str, Meta(min_length=1, examples=["gpt-x"])]
    """The model it begins with."""
    base_url: Url = "https://api.openai.com/v1"
    """The endpoint, up to and with `/v1`."""
    api_key: Secret | None = None
    """The key, if the endpoint wants one: `${OPENAI_API_KEY}`."""


class AnthropicAgent(ModelAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Anthropic's messages endpoint."""

    model: Annotated[str, Meta(min_length=1, examples=["claude-x"])]
    """The model it begins with."""
    base_url: Url = "https://api.anthropic.com"
    """The endpoint."""
    api_key: Annotated[Secret, Meta(examples=["${ANTHROPIC_API_KEY}"])]
    """The key: `${ANTHROPIC_API_KEY}`."""


class HttpAgent(ModelAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A web service that takes a turn and streams its answer."""

    url: Annotated[Url, Meta(examples=["http://127.0.0.1:9000/turn"])]
    """Where a turn is sent."""
    model: Text | None = None
    """The model it begins with; unset: what the agent itself chooses."""
    headers: dict[str, Secret] = {}
    """Headers sent along, such as `Authorization`."""


class PythonAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A function of yours."""

    call: Annotated[
        str,
        Meta(
            pattern=r"^[\w.]+:[\w.]+$",
            examples=["my_bot:answer"],
            extra={"expected": 'a function as "module:name"'},
        ),
    ]
    """The function, as `module:name`."""


class ScriptedAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Says what a file says, for trying things out."""

    script: Annotated[str, Meta(min_length=1, examples=["answers.json"])]
    """The file with its answers."""


class TourAgent(AgentBase, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The built-in agent that shows what rejoinder can do; needs no model."""


class LocalAgent(ModelAgent, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A small model on this machine."""

    model: Text | None = None
    """The model it begins with; unset: what the agent itself chooses."""


AGENT_KINDS: Mapping[str, type[Struct]] = {
    "acp": AcpAgent,
    "openai": OpenAIAgent,
    "anthropic": AnthropicAgent,
    "http": HttpAgent,
    "python": PythonAgent,
    "scripted": ScriptedAgent,
    "tour": TourAgent,
    "local": LocalAgent,
}

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

# --- messages -----------------------------------------------------------------------------------

QueueMode = Literal["steer", "followup", "collect", "interrupt", "steer-backlog", "queue"]


class QueueSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to a message that comes while the agent is still at work."""

    mode: QueueMode = "collect"
    """`collect` gathers into one turn, `followup` runs one turn each, `steer` hands it to the running agent,
    `interrupt` stops the run, `steer-backlog` steers and keeps the rest, `queue` is first in, first out."""
    debounce_ms: Milliseconds = 1000
    """How long it must be quiet before what was gathered is run."""
    cap: Count = 20
    """How many messages may wait."""
    drop: Literal["old", "new", "summarize"] = "summarize"
    """What happens beyond `cap`: the oldest goes, the newest is refused, or the oldest becomes a line."""
    by_channel: dict[str, QueueMode] = {}
    """The mode on a channel, by its name: `{ discord = "steer" }`."""


class InboundDebounce(Struct, frozen=True, forbid_unknown_fields=True):
    """Waiting for the rest of what someone is still typing."""

    debounce_ms: Milliseconds = 0
    """How long to wait for a further message of the same person before the first is taken."""
    by_channel: dict[str, Milliseconds] = {}
    """The same on a channel, by its name."""


class SendRule(Struct, frozen=True, forbid_unknown_fields=True):
    """One rule about answers; every key that is given has to fit."""

    action: Annotated[Literal["allow", "deny"], Meta(examples=["deny"])]
    """What the rule says."""
    channel: Text | None = None
    """The channel's name."""
    chat: Literal["direct", "group", "channel"] | None = None
    """The kind of chat."""
    key_prefix: Text | None = None
    """How the session's key begins."""


class SendPolicy(Struct, frozen=True, forbid_unknown_fields=True):
    """Where the agent's answers go out at all; commands still answer."""

    default: Literal["allow", "deny"] = "allow"
    """What holds where no rule fits."""
    rules: tuple[SendRule, ...] = ()
    """Rules by channel, kind of chat and session; any `deny` that fits wins."""


class MessagesSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How messages are gathered and answers are marked."""

    queue: QueueSettings = QueueSettings()
    """What happens to a message that comes while the agent is still at work."""
    inbound: InboundDebounce = InboundDebounce()
    """Waiting for the rest of what someone is still typing."""
    send_policy: SendPolicy = SendPolicy()
    """Where the agent's answers go out at all; commands still answer."""
    response_prefix: str = ""
    """Put before every answer; may name `{model}`, `{modelFull}`, `{provider}`, `{thinkingLevel}`,
    `{identity.name}`; `auto` is the agent's name in brackets."""


# --- commands and directives --------------------------------------------------------------------


class ElevatedSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Who may lift the agent's permissions with `/elevated`."""

    enabled: bool = False
    """Whether `/elevated` exists at all."""
    allow_from: tuple[Text, ...] = ()
    """The owners who may use it: `channel:id` or `channel:account:id`."""


class CommandsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Slash commands and who may use them."""

    owner_allow_from: tuple[Text, ...] = ()
    """The owners of this gateway: `channel:id` or `channel:account:id`."""
    allow_from: dict[str, tuple[Text, ...]] = {}
    """Who may use the commands of senders, by channel or `*`: lists of ids."""
    text: bool = True
    """Commands may be typed as text; off: only the platform's own slash commands, and stop."""
    bash: bool = False
    """Owners may run shell commands with `/bash`, when elevated."""
    config: bool = False
    """Owners may read and change the configuration with `/config`."""
    debug: bool = False
    """Owners may use `/debug`."""
    elevated: ElevatedSettings = ElevatedSettings()
    """Who may lift the agent's permissions with `/elevated`."""


class DirectivesSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What agents may ask for in their answers."""

    allow: tuple[Literal["send_file", "send_message", "handoff", "voice"], ...] = ()
    """Grants beyond the free directives."""
    silence: Literal["edges", "alone"] = "edges"
    """Whether a silence token counts at the edges of an answer or only alone."""


# --- the whole ----------------------------------------------------------------------------------


class Agent(Struct, frozen=True):
    """One agent as configured: its kind, and the record of that kind."""

    kind: str
    settings: Any


class Channel(Struct, frozen=True):
    """One channel as configured: what all have, and the record of its kind."""

    kind: str
    common: ChannelSettings
    settings: Any


class Settings(Struct, frozen=True):
    """The effective configuration."""

    gateway: GatewaySettings = GatewaySettings()
    agent_defaults: AgentDefaults = AgentDefaults()
    agents: dict[str, Agent] = {}
    channels: dict[str, Channel] = {}
    messages: MessagesSettings = MessagesSettings()
    session: SessionSettings = SessionSettings()
    commands: CommandsSettings = CommandsSettings()
    directives: DirectivesSettings = DirectivesSettings()


SECTIONS: Mapping[str, type[Struct]] = {
    "gateway": GatewaySettings,
    "messages": MessagesSettings,
    "session": SessionSettings,
    "commands": CommandsSettings,
    "directives": DirectivesSettings,
}
"""The sections that are one record each; `agents` and `channels` hold named ones."""


class Kinds(NamedTuple):
    """The kinds of agent and channel there are, each with its record."""

    agents: Mapping[str, type[Struct]]
    channels: Mapping[str, type[Struct]]


BUILT_IN = Kinds(AGENT_KINDS, CHANNEL_KINDS)
