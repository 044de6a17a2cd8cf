"""The contract of an agent: a turn goes in, events come out.

An agent is one object with a `name` and `run(turn)`. It declares further abilities by having the methods:
`isinstance(agent, CanSteer)`. `run` ends with exactly one `Done` or `Failed`; when its iterator is closed early, the
run is cancelled and nothing more may come from it.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from rejoinder.events import Grant as Grant  # these nouns are part of this contract
from rejoinder.events import Option as Option
from rejoinder.events import PromptPart, Turn
from rejoinder.events import Question as Question


class TextDelta(Struct, frozen=True, tag="text"):
    """A piece of the answer, cut anywhere."""

    text: str


class SegmentEnded(Struct, frozen=True, tag="segment"):
    """The agent began a new message, so a header may follow."""


class Thought(Struct, frozen=True, tag="thought"):
    text: str


class ToolStarted(Struct, frozen=True, tag="tool_started"):
    """A tool call begins. It also ends the text segment before it."""

    id: str
    title: str
    kind: str = "other"


class ToolRenamed(Struct, frozen=True, tag="tool_renamed"):
    """A better title for a running tool call than the one it began with."""

    id: str
    title: str


class ToolEnded(Struct, frozen=True, tag="tool_ended"):
    id: str
    ok: bool
    output: str = ""


class FileMade(Struct, frozen=True, tag="file"):
    """A file for the chat: either the path of one in the outbox folder, or its content. It needs the same grant as the
    directive `send-file`."""

    path: str = ""
    name: str = ""
    content: bytes = b""
    """In JSON it is base64."""
    caption: str = ""
    kind: str | None = None
    """image, video, audio, voice or file; None: decided by its bytes."""


class PlanChanged(Struct, frozen=True, tag="plan"):
    entries: tuple[str, ...]


class Usage(Struct, frozen=True, tag="usage"):
    """What the turn cost. `context_tokens` says how full the context is now; 0: unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    context_tokens: int = 0


class ModelSelected(Struct, frozen=True, tag="model"):
    model: str


class SessionOpened(Struct, frozen=True, tag="session"):
    """The agent's own id for this session. It is saved at once, so that CanLoad can continue after a restart.

    `lost`: it replaces a session that the agent could not load."""

    saved: str
    lost: bool = False


class Done(Struct, frozen=True, tag="done"):
    stop: Literal["end", "cancelled", "limit", "refused"] = "end"


FailureKind = Literal[
    "billing",
    "rate_limit",
    "auth",
    "timeout",
    "format",
    "model_not_found",
    "overloaded",
    "context_overflow",
    "unreachable",
    "crashed",
    "other",
]


class Failed(Struct, frozen=True, tag="failed"):
    """The run failed. `sentence` is for the person in the chat, `detail` for the operator.

    `transient` says that the same request may well succeed if it is tried once more; `retry_after` is the wait in
    seconds that the provider asked for.
    """

    kind: FailureKind
    sentence: str
    detail: str = ""
    transient: bool = False
    retry_after: float | None = None


AgentEvent = (
    TextDelta
    | SegmentEnded
    | Thought
    | ToolStarted
    | ToolRenamed
    | ToolEnded
    | FileMade
    | PlanChanged
    | Usage
    | ModelSelected
    | SessionOpened
    | Question
    | Done
    | Failed
)
FINAL_EVENTS = Done, Failed
FREQUENT_EVENTS = frozenset((TextDelta, Thought, ModelSelected, ToolStarted, ToolEnded, Usage))
"""The frequent events after which the run simply goes on: looking a type up here takes a tenth of `isinstance`."""


class Agent(Protocol):
    name: str

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]: ...


@runtime_checkable
class CanSteer(Protocol):
    """Takes a further message into the running turn; returns False when it is too late for that."""

    async def steer(self, turn: Turn) -> bool: ...


@runtime_checkable
class ReportsSteering(Protocol):
    """Has `steer`, but learns only at run time whether it works; None: not known yet."""

    @property
    def steers(self) -> bool | None: ...


@runtime_checkable
class CanCancel(Protocol):
    """Stops the running turn of a session on the agent's side."""

    async def cancel(self, session: str) -> None: ...


@runtime_checkable
class CanLoad(Protocol):
    """Continues sessions of an earlier process.

    Before a session's first turn it is told the id under which the agent saved it (`SessionOpened.saved`), and the
    next run continues there. If the agent refuses, the run opens a new session and says so with a SessionOpened that
    is `lost`; if it merely does not answer in time, the run fails and the id stays valid.
    """

    def load_session(self, session: str, saved: str) -> None: ...


@runtime_checkable
class BoundToMachine(Protocol):
    """Keeps its sessions on the machine it runs on (SC-7)."""

    def is_bound(self) -> bool:
        """False if its files are on a disk that all machines share."""
        ...

    def lose_session(self, session: str, saved: str) -> None:
        """Called instead of `load_session` if the session was saved on another machine: the next run opens a new
        session and says so with a SessionOpened that is `lost`."""
        ...


class Exchange(Struct, frozen=True):
    """A question and its answer; an empty answer means that there was none."""

    parts: tuple[PromptPart, ...]
    answer: str = ""


MOST_REMEMBERED_SESSIONS = 1000
"""How many sessions a CanRecall agent keeps: those with the latest turns."""


@runtime_checkable
class CanRecall(Protocol):
    """Keeps the conversations of the last thousand sessions itself.

    It is told the past conversation before a session's first turn in each process, and again when it may have
    forgotten the session; what it is told replaces what it still remembers.
    """

    def recall(self, session: str, past: tuple[Exchange, ...]) -> None: ...


@runtime_checkable
class CanShowMemory(Protocol):
    """Can show the part of a session's conversation that it would give to its model."""

    def remembered(self, session: str) -> tuple[Exchange, ...]: ...


@runtime_checkable
class CanForget(Protocol):
    """Keeps something between the turns of a session, and can start over."""

    def forget(self, session: str) -> None: ...


@runtime_checkable
class CanCompact(Protocol):
    """Shortens what it keeps of a session so that there is room again; False when it could not.

    `instructions`: what a person asked it to keep; passed only if there is such a wish.

    An agent that is given the conversation again after a restart (CanRecall) returns what it keeps, not True.
    """

    async def compact(self, session: str, instructions: str = "") -> Exchange | bool: ...


@runtime_checkable
class CanSetModel(Protocol):
    """Obeys `turn.model`: `models` are the names it offers, `fallbacks` what to try when a model fails."""

    models: tuple[str, ...]
    fallbacks: tuple[str, ...]


@runtime_checkable
class HasAliases(Protocol):
    """Has short names for models, each mapped to the full name; `/NAME` by itself selects one, too."""

    aliases: Mapping[str, str]


@runtime_checkable
class CanListModels(Protocol):
    """Can list models besides those of its settings; empty: it cannot, so any name may be tried."""

    async def list_models(self) -> tuple[str, ...]: ...


@runtime_checkable
class CanListModes(Protocol):
    """Can list its modes; empty: it has none, or cannot list them."""

    async def list_modes(self) -> tuple[str, ...]: ...


@runtime_checkable
class HasProfiles(Protocol):
    """Has other keys or endpoints, chosen together with a model: `turn.model` is then `name@profile`."""

    profiles: tuple[str, ...]


@runtime_checkable
class TakesExec(Protocol):
    """Obeys these of `turn.host` and `turn.node`, which say where to run things."""

    takes_exec: tuple[str, ...]


@runtime_checkable
class AnnouncesCommands(Protocol):
    """Has its own slash commands: the names it announced last, without the slash."""

    def announced_commands(self) -> frozenset[str]: ...


@runtime_checkable
class CanThink(Protocol):
    """Obeys `turn.think`, at these levels of `/think`."""

    think_levels: tuple[str, ...]


@runtime_checkable
class CanListThinkLevels(Protocol):
    """Learns its thinking levels at run time; None: not known yet, so `think_levels` applies."""

    async def list_think_levels(self) -> tuple[str, ...] | None: ...


@runtime_checkable
class CanShowThoughts(Protocol):
    """Sends its thoughts as `Thought` events, so that `/reasoning` has something to show."""

    shows_thoughts: bool


@runtime_checkable
class CanSeeImages(Protocol):
    """Takes `PromptImage`. An agent that finds out only at run time that it cannot must say so in its answer."""

    sees_images: bool


@runtime_checkable
class CanHearAudio(Protocol):
    """Takes `PromptAudio`: WAV or MP3 if ffmpeg is installed, otherwise the platform's format."""

    hears_audio: bool


@runtime_checkable
class HasLastOutput(Protocol):
    """Keeps the last lines that its process wrote to stderr, for `/status` and the operator."""

    def last_output(self) -> str: ...


@runtime_checkable
class CanAnswer(Protocol):
    """Takes the answer to a Question: the id of one of its options; `allow-once` or `allow-always` if permission was
    given without choosing an option; None if it was denied or nobody answered."""

    async def answer(self, question: str, option: str | None) -> None: ...


@runtime_checkable
class HasAllowList(Protocol):
    """Has tools it may use without asking, and obeys a `turn.permissions` that restricts it to them."""

    allowed: tuple[str, ...]


@runtime_checkable
class HasProcess(Protocol):
    """Works in its own process, which counts against the limit on processes (TU-21).

    `suspend` ends the process while it has no run. The next turn starts it again and continues the sessions that the
    agent can load.
    """

    @property
    def is_alive(self) -> bool: ...

    async def suspend(self) -> None: ...


MAX_ANSWER_CHARS = 200_000
"""The length at which an answer is cut, unless the agent's section says otherwise."""


class RunLimits(Struct, frozen=True):
    """Seconds an agent may be silent, take altogether, and wait for a person's permission (TU-20)."""

    idle: float = 600
    hard: float = 7200
    question: float = 300


@runtime_checkable
class EnforcesRunLimits(Protocol):
    """Ends its runs at these limits by itself, so that it can report a timeout in its own words."""

    def take_limits(self, limits: RunLimits) -> None:
        """Called once, when the agent has been opened."""
        ...


@runtime_checkable
class CanClose(Protocol):
    """Has processes or connections to end."""

    async def close(self) -> None: ...


@runtime_checkable
class CanCheck(Protocol):
    """Can check whether it could answer now, without asking its model anything."""

    async def check(self) -> str:
        """Returns what it found, in a few words; raises RunFailed if the agent could not answer."""
        ...


class ToolSource(Protocol):
    """The gateway's tools, for an agent that speaks MCP."""

    url: str

    def issue(self) -> str:
        """Makes a new token, for one session."""
        ...

    def bind(self, token: str, session: str) -> None:
        """Says which session this token is for."""
        ...


@runtime_checkable
class TakesTools(Protocol):
    def take_tools(self, source: ToolSource) -> None:
        """From now on, new sessions are offered these tools."""
        ...
