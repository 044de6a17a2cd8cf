"""Every key of `rejoinder.toml`, gathered from the rooms that read it.

Each field has a sentence under it. The JSON schema, the docs and the error messages are made from these records, so
there is no second list of keys. A record is in the room that reads it; each kind of agent and channel declares its own,
which is found by the name of the kind (`kinds.py`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from rejoinder.config.agents import AgentDefaults
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.jobs import CronJob, HeartbeatSettings
from rejoinder.config.programs import ApiSettings, HookSettings
from rejoinder.inbound.settings import CommandsSettings, InboundDebounce, SendPolicy
from rejoinder.keys import Count, Milliseconds, Seconds, Text
from rejoinder.media.settings import MediaSettings
from rejoinder.outbound.silence import SilenceMode
from rejoinder.session import QueueDrop, QueueMode, SessionSettings

# --- store and runtime --------------------------------------------------------------------------


class GatewaySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The gateway itself."""

    store: Annotated[
        str,
        Meta(
            pattern="^[a-z][a-z0-9_]*:.",
            extra={"expected": '"sqlite:FILE" or "postgresql://..."'},
        ),
    ] = "sqlite:rejoinder.db"
    """Where the gateway keeps everything that must survive a restart: `sqlite:FILE`, relative to the folder of this
    file, or `postgresql://USER@HOST/DATABASE`, which several machines can share (docs/scale.md)."""
    shards: Count | None = None
    """The number of shards that the chats are divided into, so that several processes can share them; unset: 64 in
    PostgreSQL. It is fixed when the store is made. A SQLite file has one."""
    lease_seconds: Annotated[float, Meta(ge=1)] | None = None
    """If a process gives no sign of life for this many seconds, others take over its chats; unset: 10. For
    PostgreSQL."""
    machine: Text | None = None
    """The name of this machine, by which the gateway finds the agents' sessions that are stored on its disk. Unset: the
    host name. Give a container a name that stays the same."""
    max_runs: Count = 256
    """How many agents may work at once, over all sessions; the others wait their turn."""
    max_agent_processes: Count | None = None
    """How many agents of kind `acp` may have a process at once; unset: four for each core. When another agent needs a
    process, an idle one is ended, and started again when it is needed."""
    idle_timeout_s: Seconds = 600
    """Seconds without any sign of life after which a run is ended."""
    hard_timeout_s: Seconds = 7200
    """Seconds after which a run is ended, even if the agent is still writing."""
    question_timeout_s: Seconds = 300
    """Seconds after which an agent's unanswered request for permission is denied."""
    on_crash: Literal["rerun", "ask", "drop"] = "rerun"
    """What happens to an answer that a crash interrupted: `rerun` asks the agent again, `ask` tells the person, who may
    send the message again, `drop` does nothing."""
    max_file_mb: Count = 50
    """The largest file an agent may send, in MB; a platform's own limit may be lower."""


# --- messages -----------------------------------------------------------------------------------


class QueueSection(Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to a message that comes while the agent is still at work."""

    mode: QueueMode | None = None
    """Unset: the channel's own, `collect` on most. `collect` gathers into one turn, `followup` runs one turn
    each, `steer` hands it to the running agent, `interrupt` stops the run, `steer-backlog` steers and keeps
    the rest, `queue` is first in, first out."""
    debounce_ms: Milliseconds = 1000
    """Milliseconds without a new message after which the gathered messages are run."""
    cap: Count = 20
    """How many messages may wait."""
    drop: QueueDrop = "summarize"
    """What happens beyond `cap`: the oldest is dropped (`old`), the newest is refused (`new`), or the oldest becomes a
    line in the next prompt (`summarize`)."""
    grouping: Literal["session", "sender"] = "session"
    """Who shares a turn: everybody who writes in a session (`session`), or each person has turns of their own, one
    after the other (`sender`)."""
    max_batch: Count = 10
    """The most messages that one turn gathers."""
    max_batch_tokens: Count = 24_000
    """Their greatest total length, in estimated tokens; a longer message gets a turn of its own."""
    by_channel: dict[str, QueueMode] = {}
    """The mode on a channel, by its name: `{ discord = "steer" }`."""


class MessagesSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How messages are gathered and answers are marked."""

    queue: QueueSection = QueueSection()
    """What happens to a message that comes while the agent is still at work."""
    inbound: InboundDebounce = InboundDebounce()
    """Waiting for the rest of what someone is still typing."""
    send_policy: SendPolicy = SendPolicy()
    """Where agents may answer at all; commands are always answered."""
    response_prefix: str = ""
    """Text put before every answer and every reply of the gateway; it may contain `{model}`, `{modelFull}`,
    `{provider}`, `{thinkingLevel}`, `{identity.name}`, and `{{Name}}` as in `system_prompt` of an agent; `auto` is the
    agent's name in brackets."""


# --- directives ---------------------------------------------------------------------------------


class DirectivesSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """What agents may request in their answers."""

    allow: tuple[Literal["send_file", "send_message", "handoff", "spawn", "voice", "cleanup"], ...] = ()
    """Directives that need a grant, and are granted; `cleanup` lets a file be removed from the outbox folder
    once it is sent."""
    send_to: tuple[str, ...] = ()
    """Chats that `send_message` and `send_file` may reach besides those an agent serves: `telegram:-1001234567890`."""
    silence: SilenceMode = "edges"
    """Where a silence token (`NO_REPLY`) counts: at the beginning and end of an answer (`edges`), or only as the
    whole of it (`alone`)."""


# --- the whole ----------------------------------------------------------------------------------


class ConfiguredAgent(Struct, frozen=True):
    """One agent as configured: its kind, and the record of that kind."""

    kind: str
    settings: Any
    heartbeat: HeartbeatSettings | None = None


class ConfiguredChannel(Struct, frozen=True):
    """One channel as configured: the keys of all channels, and the record of its kind."""

    kind: str
    common: CommonChannelSettings
    settings: Any


class Settings(Struct, frozen=True):
    """The effective configuration."""

    gateway: GatewaySettings = GatewaySettings()
    agent_defaults: AgentDefaults = AgentDefaults()
    agents: dict[str, ConfiguredAgent] = {}
    channels: dict[str, ConfiguredChannel] = {}
    cron: dict[str, CronJob] = {}
    messages: MessagesSettings = MessagesSettings()
    session: SessionSettings = SessionSettings()
    commands: CommandsSettings = CommandsSettings()
    directives: DirectivesSettings = DirectivesSettings()
    media: MediaSettings = MediaSettings()
    api: ApiSettings = ApiSettings()
    hooks: dict[str, HookSettings] = {}


SECTIONS: Mapping[str, type[Struct]] = {
    "gateway": GatewaySettings,
    "messages": MessagesSettings,
    "session": SessionSettings,
    "commands": CommandsSettings,
    "directives": DirectivesSettings,
    "media": MediaSettings,
    "api": ApiSettings,
}
"""The sections that are one record each; `agents`, `channels`, `cron` and `hooks` hold named ones."""
