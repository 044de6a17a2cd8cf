"""What the runtime obeys: the floors' own settings made ready, gathered by the wiring."""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from rejoinder.inbound.rules import Rules
from rejoinder.outbound.typing import Mode, TypingSettings
from rejoinder.runtime.compaction import CompactionSettings
from rejoinder.turns.choose import Limits
from rejoinder.turns.lease import LeaseSettings
from rejoinder.turns.modes import QueueOverride
from rejoinder.turns.status import StatusSettings


class ChannelFacts(Struct, frozen=True):
    """What is said of one channel. `can`: what its platform can do, as directives name it (OD-54)."""

    can: frozenset[str] = frozenset()
    queue: QueueOverride | None = None
    plugin_queue: QueueOverride | None = None
    extra_system_prompt: str = ""
    status: StatusSettings = StatusSettings()


class RuntimeSettings(Struct, frozen=True, kw_only=True):
    rules: Rules
    channels: Mapping[str, ChannelFacts] = {}
    queue: QueueOverride = QueueOverride()
    lease: LeaseSettings = LeaseSettings()
    limits: Limits = Limits()
    typing_mode: Mode | None = None
    typing: TypingSettings = TypingSettings()
    system_prompts: Mapping[str, str] = {}
    """The operator's words to each agent, by its name."""
    silence: Literal["edges", "alone"] = "edges"
    compaction: CompactionSettings = CompactionSettings()
    question_seconds: float = 300
    version: str = ""
    show_config: Callable[[str], str] = lambda key: ""
    """The configuration in effect from this key on, as one may show it."""

    def channel(self, name: str) -> ChannelFacts:
        return self.channels.get(name, _UNKNOWN)


_UNKNOWN = ChannelFacts()
