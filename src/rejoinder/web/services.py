"""The values and functions that the pages get from the gateway, so that this room imports no floor and no wiring."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct

from rejoinder.channels.web.channel import WebChannel
from rejoinder.channels.web.logins import Invited
from rejoinder.channels.web.nouns import Room
from rejoinder.store.base import (
    Health,
    PairingRequest,
    PauseJob,
    RequestEventRerun,
    RequestJobRun,
    RequestTurnRerun,
    StoredPart,
    StoredSubagent,
    StoreReader,
)


class ChannelState(Struct, frozen=True):
    """One channel as the operator sees it."""

    name: str
    kind: str
    listening: bool
    problem: str = ""
    """Why it does not listen or cannot send."""
    silent_for: float | None = None
    """Seconds since its platform last gave a sign of life (CH-7); None: there was none, or the channel cannot tell."""
    places: tuple[str, ...] = ()
    """Places where the bot lacks a permission, and what to do; the others are served (CH-13)."""


class ApiMessage(Struct, frozen=True):
    """One message of a conversation under `/v1`, where the caller keeps the conversation."""

    role: str
    text: str
    images: tuple[tuple[str, bytes], ...] = ()
    """The type and the bytes of each image."""


class TokenUsage(Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0


class Unanswered(Exception):
    """The agent failed; the text is a sentence for people, `detail` is for the operator."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail


class Complete(Protocol):
    def __call__(self, agent: str, messages: tuple[ApiMessage, ...]) -> AsyncGenerator[str | TokenUsage]:
        """Pieces of the answer as people would see them; raises `Unanswered`. Closing the iterator stops the agent."""
        ...


class Invitations(Protocol):
    """The people who may log in besides the owner. Raises `BadUse` for what cannot be done."""

    @property
    def closed(self) -> str:
        """Why nobody can be invited; empty: people can be."""
        ...

    async def listed(self) -> tuple[Invited, ...]: ...

    async def invite(self, name: str) -> tuple[str, str]:
        """Returns the name as it is shown, and the link, which is not shown again."""
        ...

    async def revoke(self, who: str) -> str: ...


class ProgramMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """What a program says."""

    chat: Annotated[str, Meta(examples=["web:lobby"])]
    """Where: `channel:chat` or `channel:account:chat`, one of those its token names."""
    text: str
    """Markdown. Commands in it are not run."""
    agent: str = ""
    """The agent that should answer; left out: the first agent of the program's token that is in the chat."""
    thread: str | None = None
    """A thread or topic of the chat."""


class PostedMessage(Struct, frozen=True):
    """A program's message that was accepted."""

    id: str
    chat: str
    agent: str
    """Who answers it."""


class Refusal(Exception):
    """Why a request was not served, in a sentence."""

    def __init__(self, status: int, why: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.headers = headers or {}


class Programs(Protocol):
    """The programs that may write in chats."""

    def name_of(self, token: str) -> str | None: ...

    async def post(self, program: str, message: ProgramMessage, key: str) -> PostedMessage:
        """The same `key` is the same message. Raises `Refusal`."""
        ...


class OfferedTool(Struct, frozen=True):
    name: str
    help: str
    schema: dict[str, Any]


class ToolProblem(Exception):
    """Why a tool did nothing, in a sentence for the agent."""


class Tools(Protocol):
    """The gateway's tools for agents, at `/mcp`."""

    listed: tuple[OfferedTool, ...]

    def session_of(self, token: str) -> str | None:
        """The session of this token, while the session has a run."""
        ...

    async def call(self, session: str, name: str, arguments: Mapping[str, Any]) -> str:
        """Raises `ToolProblem`."""
        ...


class PageServices(Struct, frozen=True):
    """Everything that a page can show or do."""

    channel: WebChannel
    agents: tuple[str, ...]
    version: str
    store: StoreReader
    health: Callable[[], Awaitable[Health]]
    channels: Callable[[], tuple[ChannelState, ...]]
    complete: Complete
    resend: Callable[[StoredPart], Awaitable[None]]
    """Sends a dead or held part once more."""
    drop: Callable[[StoredPart], Awaitable[None]]
    """Gives a dead or held part up for good."""
    rerun: Callable[[RequestEventRerun | RequestTurnRerun], Awaitable[None]]
    """Runs something quarantined again."""
    change_job: Callable[[RequestJobRun | PauseJob], Awaitable[None]]
    """Runs, pauses or resumes a scheduled job."""
    not_in_effect: Callable[[], str]
    """Which part of the configuration is not in effect, and why; empty: everything is."""
    approve: Callable[[str], Awaitable[PairingRequest | None]]
    """Lets the stranger with this code in; None when there is no such code."""
    start: Callable[[str, Coroutine[Any, Any, None]], Any]
    """Starts a task that ends with the gateway."""
    programs: Programs
    sees_subagent: Callable[[str, Room, StoredSubagent], Awaitable[bool]]
    """Whether this person may see what this sub-agent of a room does; `/subagents` there has the same rule."""
    usable_commands: Callable[[str, tuple[Room, ...]], Awaitable[frozenset[tuple[str, bool]]]]
    """The names of the commands that this person, who sees these rooms, may use, each with whether that is in groups;
    `/commands` has the same rule."""
    doing: Callable[[str], tuple[tuple[str, ...], str]] = lambda session: ((), "")
    """What the sub-agent that is working in this session has done and said so far in its turn, if this process
    knows."""
    tools: Tools | None = None
    """None if the package `mcp` is not installed."""
    hooks: Callable[[], tuple[str, ...]] = tuple
    """The names of the programs that get events."""
    invitations: Invitations | None = None
    accounts: tuple[tuple[str, str], ...] = ()
    """The channels and accounts where a stranger can ask to be paired."""
    disagrees: Callable[[], str] = str
    """The setting that differs from that of other gateways on the store, because of which this one serves nobody."""
