"""Makes the runtime's settings from the configuration and from what channels and agents can do."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

import rejoinder
from rejoinder import plugins
from rejoinder.agents.base import MAX_ANSWER_CHARS, Agent
from rejoinder.channels.base import (
    CanEdit,
    CanReact,
    CanSendFiles,
    CanStream,
    Channel,
    PrefersQueue,
    RelaysAgentMessages,
)
from rejoinder.channels.declaration import BringsDeclaration, ChannelKind, Pace
from rejoinder.config import schema
from rejoinder.config.channels import CommonChannelSettings, PaceSettings, RateSettings, ReplyToModes
from rejoinder.config.floors import inbound_settings, queue_of_channel, queue_of_gateway
from rejoinder.config.jobs import merged
from rejoinder.config.kinds import channel_kind
from rejoinder.config.show import effective, part
from rejoinder.config.skills import read_skills
from rejoinder.events import Ability
from rejoinder.inbound.rules import make_rules
from rejoinder.media.files import Folders
from rejoinder.outbound.budget import Rate
from rejoinder.outbound.directives import registry_with
from rejoinder.outbound.draft import Streaming
from rejoinder.outbound.prefix import AUTO
from rejoinder.outbound.typing import TypingSettings
from rejoinder.rendering import RenderOptions
from rejoinder.runtime.profiles import profile_of
from rejoinder.runtime.settings import AgentFacts, ChannelFacts, DeliveryOptions, RuntimeSettings
from rejoinder.session import QueueChoice
from rejoinder.turns.choose import SlotLimits
from rejoinder.turns.compaction import CompactionSettings
from rejoinder.turns.heartbeat import ACK_MAX_CHARS
from rejoinder.turns.modes import Mode, QueueOverride, resolve
from rejoinder.turns.run_timeout import RunTimeouts
from rejoinder.turns.status import StatusSettings
from rejoinder.wiring.media import media_services
from rejoinder.wiring.stores import outbox_beside

if TYPE_CHECKING:
    from rejoinder.turns.job import Job

PROCESSES_PER_CORE = 4
"""More than one, because agents that are programs mostly wait for a model."""
PATIENCE = 1.1
"""The lease of a run lasts this many times as long as the agent's own limit."""
NOBODY_CAN = {"threads"}
"""Directives that no channel supports so far; an agent that knew of them would try them (OD-54)."""


def runtime_settings(
    settings: schema.Settings, agents: Mapping[str, Agent], channels: Mapping[str, Channel]
) -> RuntimeSettings:
    gateway, defaults = queue_of_gateway(settings), settings.agent_defaults
    here = {name: _channel_facts(name, channel, settings) for name, channel in channels.items()}
    directives = registry_with(
        (module.DIRECTIVE for module in plugins.others("directive")), links=settings.media.links.enabled
    )
    queues = {name: _usual_queue(facts, gateway) for name, facts in here.items()}
    return RuntimeSettings(
        rules=make_rules(
            inbound_settings(settings),
            map(profile_of, agents.values()),
            plugins=plugins.commands_of_others(),
            skills=read_skills(settings.commands.skills) if settings.commands.skills is not None else (),
            queues=queues,
        ),
        channels=here,
        agents={name: _agent_facts(agent, defaults) for name, agent in settings.agents.items()},
        media=media_services(settings.media, defaults.describer),
        queue=gateway,
        run_timeouts=_run_timeouts(settings.gateway),
        limits=_limits(settings.gateway),
        question_seconds=settings.gateway.question_timeout_s,
        on_crash=settings.gateway.on_crash,
        typing_mode=settings.session.typing_mode,
        silence=settings.directives.silence,
        granted=frozenset(settings.directives.allow) | directives.brought,
        send_to=settings.directives.send_to,
        directives=directives,
        compaction=CompactionSettings(
            budget=defaults.context_tokens or 0,
            flushes=defaults.memory_flush,
            startup_notes={
                name: getattr(agent.settings, "startup_notes", "") for name, agent in settings.agents.items()
            },
        ),
        outbox_of=Folders(outbox_beside(settings.gateway.store)),
        max_file_bytes=settings.gateway.max_file_mb * 1_000_000,
        version=rejoinder.__version__,
        show_config=lambda key: _configured(settings, key),
    )


def timed_jobs(settings: schema.Settings) -> "tuple[Job, ...]":
    """The jobs that need the clock."""
    if not settings.cron and all(agent.heartbeat is None for agent in settings.agents.values()):
        return ()
    from rejoinder.wiring.jobs import jobs_of  # noqa: PLC0415 - only loaded where there are jobs

    return jobs_of(settings)


def _agent_facts(agent: schema.ConfiguredAgent, defaults: schema.AgentDefaults) -> AgentFacts:
    said, beat = agent.settings, agent.heartbeat
    most = merged(beat, defaults.heartbeat).ack_max_chars if beat is not None else None
    return AgentFacts(
        system_prompt=getattr(said, "system_prompt", ""),
        max_answer_chars=getattr(said, "max_answer_chars", MAX_ANSWER_CHARS),
        ack_max_chars=ACK_MAX_CHARS if most is None else most,
        spawns=getattr(said, "spawn", None),
    )


def _run_timeouts(gateway: schema.GatewaySettings) -> RunTimeouts:
    """An agent that watches its own limit fails before the lease ends, and another model may be tried; the lease is for
    agents that do not watch it."""
    return RunTimeouts(gateway.idle_timeout_s * PATIENCE, gateway.hard_timeout_s)


def _limits(gateway: schema.GatewaySettings) -> SlotLimits:
    return SlotLimits(gateway.max_runs, gateway.max_agent_processes or PROCESSES_PER_CORE * (os.cpu_count() or 1))


def _configured(settings: schema.Settings, key: str) -> str:
    """The answer to `/config`."""
    shown = part(effective(settings), key)
    if shown is None:
        return f"The configuration has nothing under {key}."
    return f"```toml\n{shown}\n```"


def _usual_queue(here: ChannelFacts, gateway: QueueOverride) -> QueueChoice:
    """The queue settings of a session that has chosen none."""
    usual = resolve(channel=here.queue, gateway=gateway, plugin=here.plugin_queue)
    return QueueChoice(usual.mode.value, usual.debounce_ms, usual.cap, usual.drop.value)


def _channel_facts(name: str, channel: Channel, settings: schema.Settings) -> ChannelFacts:
    configured = settings.channels[name]
    kind = _kind_of(channel, configured.kind)
    return ChannelFacts(
        can=(kind.can | _also_can(channel)) - _cannot(channel, settings),
        queue=queue_of_channel(settings, name),
        plugin_queue=QueueOverride(mode=Mode(channel.queue_mode)) if isinstance(channel, PrefersQueue) else None,
        tool_display=configured.common.tool_display,
        extra_system_prompt=configured.common.extra_system_prompt,
        status=_status(configured.common.status_reactions),
        typing=_typing(settings.agent_defaults.typing_interval_seconds, kind.pace),
        delivery=_delivery(name, channel, kind, settings),
        replies_across_threads=kind.replies_across_threads,
        private_needs_interaction=kind.private_needs_interaction,
        edits_told=kind.edits == "told",
        voice_form=kind.voice,
    )


def _kind_of(channel: Channel, name: str) -> ChannelKind:
    if isinstance(channel, BringsDeclaration):
        return channel.declaration
    return channel_kind(name) if plugins.exists("channel", name) else ChannelKind()


def _status(wanted: bool | Literal["removed"]) -> StatusSettings:
    return StatusSettings(enabled=wanted is not False, remove_when_done=wanted == "removed")


def _typing(seconds: float, pace: Pace) -> TypingSettings:
    """How often to renew the typing sign: as configured, or more often if the platform's sign disappears earlier."""
    return TypingSettings(period_ms=int(min(seconds, pace.typing or seconds) * 1000))


def _also_can(channel: Channel) -> set[Ability]:
    """Abilities of this channel that are not declared, because it serves a program."""
    return {"files", "voice"} if isinstance(channel, CanSendFiles) else set()


def _cannot(channel: Channel, settings: schema.Settings) -> set[str]:
    """Abilities that the platform has but this channel lacks: a voice note needs files and a text-to-speech service."""
    abilities = {"react": CanReact, "files": CanSendFiles, "voice": CanSendFiles}
    unspoken = set[str]() if settings.media.text_to_speech.is_on else {"voice"}
    return NOBODY_CAN | unspoken | {name for name, ability in abilities.items() if not isinstance(channel, ability)}


def _delivery(name: str, channel: Channel, kind: ChannelKind, settings: schema.Settings) -> DeliveryOptions:
    """How to send to a channel: its platform's limits and pace, with what is configured."""
    common, defaults = settings.channels[name].common, settings.agent_defaults
    pace = _pace(kind.pace, common.pace)
    modes = common.reply_to_mode
    by_kind = modes if isinstance(modes, ReplyToModes) else ReplyToModes(modes, modes)
    grows = "edits" if isinstance(channel, CanStream | CanEdit) else "off"
    mode = common.streaming or ("blocks" if defaults.block_streaming_default else grows)
    delay = defaults.human_delay
    return DeliveryOptions(
        options=RenderOptions(kind.renderer, channel.limits.length, channel.limits.unit, common.tables),
        streaming=Streaming(mode, pace.edit),
        reply_direct=by_kind.direct,
        reply_group=by_kind.group or ("off" if kind.replies_are_threads else None),
        replies_are_threads=kind.replies_are_threads,
        prefix=_prefix(common, channel, settings.messages.response_prefix),
        reactions=kind.reactions,
        on_unknown=common.on_unknown,
        chat_rate=None if pace.chat is None else Rate(*pace.chat),
        account_rate=None if pace.account is None else Rate(*pace.account),
        human_delay=_HUMAN_DELAYS.get(delay.mode, (delay.min_ms / 1000, delay.max_ms / 1000)),
    )


def _pace(usual: Pace, wanted: PaceSettings) -> Pace:
    """The pace of a platform, overridden by what is configured."""
    return replace(
        usual,
        edit=wanted.edit_seconds or usual.edit,
        chat=_rate(usual.chat, wanted.chat),
        account=_rate(usual.account, wanted.account),
    )


def _rate(
    usual: tuple[int, float] | None, wanted: RateSettings | Literal["unlimited"] | None
) -> tuple[int, float] | None:
    match wanted:
        case None:
            return usual
        case RateSettings():
            return wanted.burst, wanted.per_second
        case "unlimited":
            return None


def _prefix(common: CommonChannelSettings, channel: Channel, everywhere: str) -> str:
    """If several agents speak through one bot and no prefix is configured, their answers begin with their names."""
    if common.response_prefix is not None:
        return common.response_prefix
    one_voice = len(common.agents) > 1 and not isinstance(channel, RelaysAgentMessages)
    return everywhere or (AUTO if one_voice else "")


_HUMAN_DELAYS = {"off": (0.0, 0.0), "natural": (0.8, 2.5)}
