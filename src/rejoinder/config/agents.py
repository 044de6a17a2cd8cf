"""The record of `[agents.defaults]`; each kind of agent has its record in its declaration."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.config.jobs import HeartbeatSettings
from rejoinder.inbound.settings import LevelDefaults
from rejoinder.keys import Count, Milliseconds, Text


class HumanDelay(Struct, frozen=True, forbid_unknown_fields=True):
    """The pause before the second and later blocks of an answer."""

    mode: Literal["off", "natural", "custom"] = "natural"
    """`off`, `natural` (0.8 to 2.5 seconds) or `custom` (`min_ms` to `max_ms`)."""
    min_ms: Milliseconds = 800
    """The shortest pause of `custom`."""
    max_ms: Milliseconds = 2500
    """The longest pause of `custom`."""


class AgentDefaults(LevelDefaults, frozen=True, forbid_unknown_fields=True):
    """Settings for every agent, unless a session or the agent overrides them."""

    typing_interval_seconds: Annotated[float, Meta(gt=0)] = 6
    """How often the typing sign is renewed while a run is open."""
    block_streaming_default: bool = False
    """Long answers go out in blocks as they are written, on every channel whose own `streaming` is unset."""
    context_tokens: Count | None = None
    """How many tokens of context a session may use. After a turn that goes beyond it, the conversation is shortened,
    where the agent's kind can do that. Unset: it is shortened when the model says that its context is full."""
    memory_flush: bool = True
    """Before a conversation is shortened, the agent gets a turn to write down what it must not forget."""
    describer: Text | None = None
    """The agent that describes pictures for agents that cannot see them; unset: those are only told that there is a
    picture."""
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    """Defaults for the heartbeats of all agents that have them; see `heartbeat` of `[agents.NAME]`."""
    human_delay: HumanDelay = HumanDelay()
    """The pause before the second and later blocks of an answer."""
