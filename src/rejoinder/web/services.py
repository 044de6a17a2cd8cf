"""What the pages get from the gateway: values and functions, so that this room imports no floor and no wiring."""

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
    """Why it does not listen, or nothing can be sent."""
    silent_for: float | None = None
    """Seconds since its platform last showed that it hears us (CH-7); None: it does not tell, or there was no sign."""
    places: tuple[str, ...] = ()
    """In which places something is not allowed, and what to do; the others are served (CH-13)."""


class ApiMessage(Struct, frozen=True):
    """One message of a conversation that the caller keeps, under `/v1`."""

    role: str
    text: str
    images: tuple[tuple[str, bytes], ...] = ()
    """Kind and bytes of each."""


class TokenUsage(Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0


class Unanswered(Exception):
    """The agent failed; the text is its sentence for people, `detail` is for the operator."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail


class Complete(Protocol):
    def __call__(self, agent: str, messages: tuple[ApiMessage, ...]) -> AsyncGenerator[str | TokenUsage]:
        """Pieces of the answer as people would see it; raises `Unanswered`. Closing it stops the agent."""
        ...


class Invitations(Protocol):
    """Who may log in besides the owner. What cannot be done raises `BadUse`."""

    @property
    def closed(self) -> str:
        """Why nobody can be invited; empty: people can."""
        ...

    async def listed(self) -> tuple[Invited, ...]: ...

    async def invite(self, name: str) -> tuple[str, str]:
        """The name as it is shown, and the link, which is not shown again."""
        ...

    async def revoke(self, who: str) -> str: ...


class ProgramMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """What a program says."""

    chat: Annotated[str, Meta(examples=["web:lobby"])]
    """Where: `channel:chat` or `channel:account:chat`, one of those its token names."""
    text: str
    """Markdown. Commands in it are not run."""
    agent: str = ""
    """Who is to answer; left out: the first agent of its token that is in the chat."""
    thread: str | None = None
    """A thread or topic of the chat."""


class PostedMessage(Struct, frozen=True):
    """A program's message that was taken."""

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
        """Whose token it is, while that session has a run."""
        ...

    async def call(self, session: str, name: str, arguments: Mapping[str, Any]) -> str:
        """Raises `ToolProblem`."""
        ...


class PageServices(Struct, frozen=True):
    """Everything a page may ask for or do."""

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
    """Runs, pauses or resumes a job of the clock."""
    not_in_effect: Callable[[], str]
    """Which part of the configuration is not in effect, and why; empty: all of it is."""
    approve: Callable[[str], Awaitable[PairingRequest | None]]
    """Lets the stranger with this code in; None when there is no such code."""
    start: Callable[[str, Coroutine[Any, Any, None]], Any]
    """Starts a task that ends with the gateway."""
    programs: Programs
    sees_subagent: Callable[[str, Room, StoredSubagent], Awaitable[bool]]
    """Whether this person may know what this run beside a room does: whoever `/subagents` would tell it there."""
    doing: Callable[[str], tuple[tuple[str, ...], str]] = lambda session: ((), "")
    """What the sub-agent at work in this session has done and said so far in its turn, where this process knows."""
    tools: Tools | None = None
    """Where the package `mcp` is installed."""
    hooks: Callable[[], tuple[str, ...]] = tuple
    """The names of the programs that are told what happens."""
    invitations: Invitations | None = None
    accounts: tuple[tuple[str, str], ...] = ()
    """Channel and account of each place where a stranger could ask to be paired."""
    disagrees: Callable[[], str] = str
    """Which setting differs from that of other gateways on the store, so that this one serves nobody."""
