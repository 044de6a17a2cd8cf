"""The settings of the runtime, which include those of the floors. The wiring builds them, ready for use."""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from rejoinder.agents.base import MAX_ANSWER_CHARS
from rejoinder.events import ReplyMode
from rejoinder.inbound.rules import Rules
from rejoinder.inbound.understanding import UnderstandingSettings
from rejoinder.media_services import (
    CanDescribePictures,
    CanLoadFiles,
    CanPrepareRecordings,
    CanReadDocuments,
    CanReadPages,
    CanSpeak,
    CanTranscribe,
    VoiceForm,
)
from rejoinder.outbound.budget import Rate
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.draft import Streaming
from rejoinder.outbound.silence import SilenceMode
from rejoinder.outbound.tools import Display
from rejoinder.outbound.typing import TypingSettings
from rejoinder.outbound.verdict import OnUnknown
from rejoinder.rendering import RenderOptions
from rejoinder.rendering.emoji import ANY_EMOJI, ReactionNames
from rejoinder.runtime.folders import OutboxFolder
from rejoinder.session import TypingMode
from rejoinder.turns.choose import SlotLimits
from rejoinder.turns.compaction import CompactionSettings
from rejoinder.turns.heartbeat import ACK_MAX_CHARS
from rejoinder.turns.modes import QueueOverride
from rejoinder.turns.run_timeout import RunTimeouts
from rejoinder.turns.status import StatusSettings

OnCrash = Literal["rerun", "ask", "drop"]
"""What happens to an answer that a crash interrupted (DU-2)."""


class DeliveryOptions(Struct, frozen=True):
    """How to send on one channel."""

    options: RenderOptions = RenderOptions()
    streaming: Streaming = Streaming("live")
    """Applied as far as the channel supports it."""
    reply_direct: ReplyMode | None = None
    reply_group: ReplyMode | None = None
    replies_are_threads: bool = False
    """All messages of an answer go into the thread of the answered message."""
    prefix: str = ""
    reactions: ReactionNames = ANY_EMOJI
    on_unknown: OnUnknown = "hold"
    chat_rate: Rate | None = None
    account_rate: Rate | None = None
    human_delay: tuple[float, float] = (0.8, 2.5)
    """The shortest and longest pause before the second and later blocks, in seconds (DE-22)."""


class ChannelFacts(Struct, frozen=True):
    """What is configured for one channel. `can`: the abilities of its platform, as directives name them (OD-54)."""

    can: frozenset[str] = frozenset()
    queue: QueueOverride | None = None
    plugin_queue: QueueOverride | None = None
    tool_display: Display | None = None
    extra_system_prompt: str = ""
    status: StatusSettings = StatusSettings()
    typing: TypingSettings = TypingSettings()
    delivery: DeliveryOptions = DeliveryOptions()
    replies_across_threads: bool = True
    private_needs_interaction: bool = False
    edits_told: bool = False
    voice_form: VoiceForm = "opus"


class SpeechOptions(Struct, frozen=True):
    """How answers are spoken."""

    speaks: CanSpeak
    keeps_text: bool = True
    """Whether the text of a spoken answer is sent as well."""
    asks_agent: bool = False
    """Whether the agent shortens what is too long to be read aloud."""


class AgentFacts(Struct, frozen=True, kw_only=True):
    """What is configured for one agent."""

    system_prompt: str = ""
    """The operator's."""
    max_answer_chars: int = MAX_ANSWER_CHARS
    """The number of characters after which an answer is cut."""
    ack_max_chars: int = ACK_MAX_CHARS
    """How many characters besides HEARTBEAT_OK are suppressed at most."""
    spawns: tuple[str, ...] | None = None
    """The agents that it may start (TU-36); None: only itself."""


class MediaServices(Struct, frozen=True, kw_only=True):
    """The services that hear, speak, read and load; None if there is none."""

    understanding: UnderstandingSettings = UnderstandingSettings()
    """What has to be understood in a message before it is decided."""
    hears: CanTranscribe | None = None
    """Listens to recordings."""
    speech: SpeechOptions | None = None
    """Speaks answers."""
    reads_documents: CanReadDocuments | None = None
    """Reads documents and scales pictures; None: only text is read, and pictures stay as they are."""
    describer: str | None = None
    """The agent that describes pictures for other agents (IN-9)."""
    describes_pictures: CanDescribePictures | None = None
    """The program that describes pictures if no agent does."""
    prepares_recordings: CanPrepareRecordings | None = None
    """Converts recordings for agents that can hear, into a form that models take."""
    reads_pages: CanReadPages | None = None
    """Reads pages that people link to."""
    loads_files: CanLoadFiles | None = None
    """Loads files that agents name by their address."""


class RuntimeSettings(Struct, frozen=True, kw_only=True):
    rules: Rules
    channels: Mapping[str, ChannelFacts] = {}
    agents: Mapping[str, AgentFacts] = {}
    media: MediaServices = MediaServices()
    queue: QueueOverride = QueueOverride()
    run_timeouts: RunTimeouts = RunTimeouts()
    limits: SlotLimits = SlotLimits()
    typing_mode: TypingMode | None = None
    silence: SilenceMode = "edges"
    granted: frozenset[str] = frozenset()
    """Directives the operator allows beyond the free ones (OD-52)."""
    send_to: tuple[str, ...] = ()
    """Chats that agents may send to, besides those they serve."""
    directives: Registry = default_registry()
    """All directives an agent may write."""
    compaction: CompactionSettings = CompactionSettings()
    question_seconds: float = 300
    on_crash: OnCrash = "rerun"
    outbox_of: Callable[[str], OutboxFolder] | None = None
    """The folder from which a session's agent sends files."""
    max_file_bytes: int = 50_000_000
    """The largest file that is stored for an agent, whatever the platform takes."""
    version: str = ""
    not_in_effect: str = ""
    """A sentence for owners: which part of the configuration is not in effect, and why (it is invalid, or needs a
    restart)."""
    show_config: Callable[[str], str] = lambda key: ""
    """The configuration in effect below this key, in a form that is safe to show."""

    def channel(self, name: str) -> ChannelFacts:
        return self.channels.get(name, _UNKNOWN)

    def agent(self, name: str) -> AgentFacts:
        return self.agents.get(name, _UNKNOWN_AGENT)

    def may_spawn(self, agent: str) -> tuple[str, ...]:
        spawns = self.agent(agent).spawns
        return (agent,) if spawns is None else spawns


_UNKNOWN = ChannelFacts()
_UNKNOWN_AGENT = AgentFacts()
