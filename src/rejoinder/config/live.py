"""Decides which changes of a file take effect with the next message, and which at the next start.

Rule 1: WHEN has an entry for every key; a kind of channel may declare that more keys wait. `*` stands for the keys of
        an agent's or a channel's own kind.
Rule 2: a key that has to wait keeps its old value, so the settings in effect are always consistent: a channel never
        gets an agent that does not run yet.
Rule 3: messages name keys, never values, because some values are secrets.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.config.agents import AgentDefaults
from rejoinder.config.channels import usual_bot_messages
from rejoinder.config.jobs import CronJob
from rejoinder.config.kinds import channel_kinds, waits_on
from rejoinder.config.schema import SECTIONS, ConfiguredAgent, ConfiguredChannel, Settings
from rejoinder.config.wording import dotted
from rejoinder.tables import table

AT_ONCE = ""
OPEN = "it is connected already"
WHOSE = "a conversation in progress would continue in two sessions"
NOT_HERE = "its agent does not run yet"

WHEN: Mapping[str, Mapping[str, str]] = {
    "gateway": {
        "store": "it is open already",
        "shards": "the store is open already",
        "lease_seconds": "the store is open already",
        "machine": "agents have saved sessions under its name already",
        "max_runs": AT_ONCE,
        "max_agent_processes": AT_ONCE,
        "idle_timeout_s": AT_ONCE,
        "hard_timeout_s": AT_ONCE,
        "question_timeout_s": AT_ONCE,
        "on_crash": "it is used only at a start",
        "max_file_mb": AT_ONCE,
    },
    "agents.defaults": {
        "thinking_default": AT_ONCE,
        "verbose_default": AT_ONCE,
        "reasoning_default": AT_ONCE,
        "typing_interval_seconds": AT_ONCE,
        "block_streaming_default": AT_ONCE,
        "context_tokens": AT_ONCE,
        "memory_flush": AT_ONCE,
        "describer": AT_ONCE,
        "heartbeat": AT_ONCE,
        "human_delay": AT_ONCE,
    },
    "agents.NAME": {"kind": "another kind is another agent", "heartbeat": AT_ONCE, "*": AT_ONCE},
    "channels.NAME": {
        "kind": "another kind is another channel",
        "agent": AT_ONCE,
        "agents": AT_ONCE,
        "wake": AT_ONCE,
        "dm": AT_ONCE,
        "groups": AT_ONCE,
        "allow": AT_ONCE,
        "allow_groups": AT_ONCE,
        "owners": AT_ONCE,
        "owner_only_commands": AT_ONCE,
        "require_mention": AT_ONCE,
        "mention_patterns": AT_ONCE,
        "mention_roles": AT_ONCE,
        "user_messages": AT_ONCE,
        "bot_messages": AT_ONCE,
        "trusted_bots": AT_ONCE,
        "bot_turns": AT_ONCE,
        "bot_turns_per_day": AT_ONCE,
        "group": AT_ONCE,
        "reply_to_mode": AT_ONCE,
        "response_prefix": AT_ONCE,
        "streaming": AT_ONCE,
        "tables": AT_ONCE,
        "on_unknown": AT_ONCE,
        "pace": AT_ONCE,
        "tool_display": AT_ONCE,
        "extra_system_prompt": AT_ONCE,
        "status_reactions": AT_ONCE,
        "tts": AT_ONCE,
        "*": OPEN,
    },
    "messages": {"queue": AT_ONCE, "inbound": AT_ONCE, "send_policy": AT_ONCE, "response_prefix": AT_ONCE},
    "session": {
        "scope": WHOSE,
        "group_scope": WHOSE,
        "main_key": WHOSE,
        "reset": AT_ONCE,
        "reset_triggers": AT_ONCE,
        "typing_mode": AT_ONCE,
        "identity_links": WHOSE,
        "thread_inherits": AT_ONCE,
    },
    "commands": {
        "owner_allow_from": AT_ONCE,
        "allow_from": AT_ONCE,
        "text": "platforms get their menu of commands at a start",
        "bash": AT_ONCE,
        "config": AT_ONCE,
        "debug": AT_ONCE,
        "skills": AT_ONCE,
        "elevated": AT_ONCE,
    },
    "directives": {"allow": AT_ONCE, "send_to": AT_ONCE, "silence": AT_ONCE},
    "media": {
        "tts_text": AT_ONCE,
        "documents": AT_ONCE,
        "speech_to_text": AT_ONCE,
        "text_to_speech": AT_ONCE,
        "pictures": AT_ONCE,
        "links": AT_ONCE,
    },
    "api": {"tokens": AT_ONCE},
    "cron.NAME": {"*": AT_ONCE},
    "hooks.NAME": {"*": AT_ONCE},
}
"""Section and key, and why it has to wait for a start. A kind of channel may declare more such keys of
`channels.NAME`.

Adding or removing an agent or a channel always waits: much else refers to it."""


class AppliedSettings(Struct, frozen=True):
    """The result of a changed file: the settings in effect, which keys changed in them, and which wait for a start."""

    settings: Settings
    now: tuple[str, ...]
    later: tuple[str, ...]


def apply_changes(old: Settings, new: Settings) -> AppliedSettings:
    merge = _Merge()
    sections = {name: merge.record((name,), getattr(old, name), getattr(new, name), WHEN[name]) for name in SECTIONS}
    agents = {name: merge.agent(name, agent, new.agents.get(name)) for name, agent in old.agents.items()}
    defaults = merge.defaults(old.agent_defaults, new.agent_defaults, agents)
    channels = {
        name: merge.channel(name, channel, new.channels.get(name), agents) for name, channel in old.channels.items()
    }
    jobs = merge.jobs(old.cron, new.cron, agents)
    merge.now += [
        dotted(("hooks", name)) for name in {**old.hooks, **new.hooks} if old.hooks.get(name) != new.hooks.get(name)
    ]
    merge.later += [dotted(("agents", name)) for name in new.agents if name not in agents]
    merge.later += [dotted(("channels", name)) for name in new.channels if name not in channels]
    settings = Settings(
        **sections, agent_defaults=defaults, agents=agents, channels=channels, cron=jobs, hooks=new.hooks
    )
    return AppliedSettings(settings, tuple(merge.now), tuple(merge.later))


class _Merge:
    def __init__(self) -> None:
        self.now: list[str] = []
        self.later: list[str] = []

    def record(self, path: tuple[str, ...], old: Any, new: Any, when: Mapping[str, str]) -> Any:
        """The old record, with the new values that need not wait."""
        values: dict[str, Any] = {}
        for key in _changed(old, new):
            why = when[key if key in when else "*"]
            if why is AT_ONCE:
                values[key] = getattr(new, key)
            (self.now if why is AT_ONCE else self.later).append(dotted((*path, key)))
        return replace(old, **values) if values else old

    def defaults(self, old: AgentDefaults, new: AgentDefaults, agents: Mapping[str, ConfiguredAgent]) -> AgentDefaults:
        when = dict(WHEN["agents.defaults"])
        if new.describer not in {*agents, None}:
            when["describer"] = NOT_HERE
        return self.record(("agents", "defaults"), old, new, when)

    def agent(self, name: str, old: ConfiguredAgent, new: ConfiguredAgent | None) -> ConfiguredAgent:
        path = ("agents", name)
        if new is None or new.kind != old.kind:
            self.later.append(dotted(path if new is None else (*path, "kind")))
            return old
        if not isinstance(new.settings, Struct):
            return old  # a kind that is used without a section has no keys
        if new.heartbeat != old.heartbeat:
            self.now.append(dotted((*path, "heartbeat")))
        return ConfiguredAgent(
            old.kind, self.record(path, old.settings, new.settings, WHEN["agents.NAME"]), new.heartbeat
        )

    def channel(
        self, name: str, old: ConfiguredChannel, new: ConfiguredChannel | None, agents: Mapping[str, ConfiguredAgent]
    ) -> ConfiguredChannel:
        path = ("channels", name)
        if new is None or new.kind != old.kind:
            self.later.append(dotted(path if new is None else (*path, "kind")))
            return old
        when = {**WHEN["channels.NAME"], **waits_on(old.kind)}
        if not {*new.common.agents, new.common.agent} <= {*agents, None}:
            # If the file does not set bot_messages, its value follows from the agents.
            when |= dict.fromkeys(("agent", "agents", "bot_messages"), NOT_HERE)
        common = self.record(path, old.common, new.common, when)
        if all(each.common.bot_messages == usual_bot_messages(each.common) for each in (old, new)):
            self._leave_out(dotted((*path, "bot_messages")))  # the file does not set it
        if old.common.agents != new.common.agents:
            self._leave_out(dotted((*path, "agent")))  # both keys are one choice
        own = [key for key in _changed(old.settings, new.settings) if key not in old.common.__struct_fields__]
        self.later += [dotted((*path, key)) for key in own]
        return replace(old, common=common)

    def _leave_out(self, key: str) -> None:
        self.now, self.later = ([each for each in keys if each != key] for keys in (self.now, self.later))

    def jobs(
        self, old: Mapping[str, CronJob], new: Mapping[str, CronJob], agents: Mapping[str, ConfiguredAgent]
    ) -> dict[str, CronJob]:
        """Jobs are added and removed at once, too, but a job of an agent that does not run yet waits."""
        waiting = {name for name, job in new.items() if job.agent is not None and job.agent not in agents}
        for name in {**old, **new}:
            if old.get(name) != new.get(name):
                (self.later if name in waiting else self.now).append(dotted(("cron", name)))
        held_back = {name: job for name, job in old.items() if name in waiting}
        return {**held_back, **{name: job for name, job in new.items() if name not in waiting}}


def _changed(old: Any, new: Any) -> Iterator[str]:
    fields = new.__struct_fields__ if isinstance(new, Struct) else ()
    return (key for key in fields if getattr(old, key) != getattr(new, key))


# --- the table of the docs ----------------------------------------------------------------------


def markdown_table() -> str:
    """The keys that have to wait for a start, and why."""
    rows = [
        [", ".join(f"`{_shown(section, key)}`" for key in keys if keys[key] == why), why]
        for section, keys in _declared()
        for why in dict.fromkeys(filter(None, keys.values()))
    ]
    return table(["key", "why it waits for a start"], rows)


def _declared() -> Iterator[tuple[str, Mapping[str, str]]]:
    for section, keys in WHEN.items():
        yield section, keys
        if section == "channels.NAME":
            yield from ((f"channels.{name}", kind.waits) for name, kind in channel_kinds().items())


def _shown(section: str, key: str) -> str:
    return f"{section}.{key}".replace("*", "(keys of its kind)")
