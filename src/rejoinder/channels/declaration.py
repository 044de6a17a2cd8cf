"""What a kind of channel declares about itself, in its own folder and nowhere else (CH-1).

A channel is a module with `CHANNEL = ChannelKind(...)`. Reading a declaration loads no SDK: configuration, dry runs,
docs and the system prompt use it without a connection, so `open` imports what it needs only when it is called.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from rejoinder.channels.base import Channel, FileLimits, Limits
from rejoinder.events import Ability
from rejoinder.identity import ANYBODY, Identity
from rejoinder.media_services import VoiceForm
from rejoinder.rendering import MARKDOWN, Renderer
from rejoinder.rendering.emoji import ANY_EMOJI, ReactionNames
from rejoinder.room_log import RoomLogReader
from rejoinder.setup import SetupQuestion

DeliveryClass = Literal["native key", "short-window key", "read back", "blind"]
"""What can be done about a message whose send was interrupted (DU-3). The platform takes each key only once, or only
once within a short time, or can be asked whether the message is there, or offers no way to find out."""


class Pace(Struct, frozen=True):
    """How often a platform may be called. A rate is how many calls at once, and how many a second after that."""

    edit: float = 1.0
    """Seconds between two edits of a message that is being written (DE-20)."""
    chat: tuple[int, float] | None = None
    account: tuple[int, float] | None = None
    typing: float | None = None
    """Seconds after which the typing sign must be renewed, if it expires before the configured period (TU-24)."""


class Setup(Struct, frozen=True, kw_only=True):
    """What `rejoinder init` asks before it writes the section of a channel."""

    offer: str
    """The question whether to set up this channel."""
    offered: bool = False
    """The answer if a person just presses Enter."""
    steps: str = ""
    """What the person has to do on the platform before these questions."""
    section: Mapping[str, Any] = {}
    """Keys written without a question. `init` asks for the value of a `${VARIABLE}` that is not set, so that the
    section can be verified."""
    asks: tuple[SetupQuestion, ...] = ()
    verified: bool = False
    """Whether `init` tries the section, as `rejoinder doctor` does, before it asks the remaining questions."""
    asks_then: tuple[SetupQuestion, ...] = ()
    adds: Mapping[str, Any] = {}
    """More keys without a question, written last."""
    advice: str = ""
    """Shown to the person at the end."""


class NoSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a channel that has none of its own."""


class ChannelKind(Struct, frozen=True, kw_only=True):
    """All that is known of a kind of channel before it is connected."""

    settings: type[Struct] = NoSettings
    """The record of its section, `[channels.NAME]`, besides the keys that all channels have."""
    open: Callable[..., Channel] | None = None
    """Makes the channel, given its name and its settings; None: the connection is not written yet."""
    accounts: Callable[[Any], Mapping[str, Any]] | None = None
    """For a channel with several accounts side by side (CH-4): the settings of each account by its name. Each account
    is opened separately; `open` then takes its name as `account`."""
    limits: Limits = Limits()
    can: frozenset[Ability] = frozenset({"reply", "react", "send"})
    """The abilities that directives may need and this platform has (OD-72)."""
    voice: VoiceForm = "opus"
    """The audio format of its voice notes (ME-3)."""
    files: FileLimits | None = None
    """The limits for files that the channel sends; None: it sends no files."""
    renderer: Renderer = MARKDOWN
    reactions: ReactionNames = ANY_EMOJI
    identity: Identity = ANYBODY
    """The form of ids of people and groups on the platform; lists of people in the settings accept nothing else."""
    pace: Pace = Pace()
    delivery: DeliveryClass = "blind"
    edits: Literal["turn", "told"] = "turn"
    """What happens when somebody edits a message that has been answered already: a new turn, or one line in the agent's
    next turn (CH-8)."""
    replies_across_threads: bool = True
    """Whether a message in a thread can be a native reply to a message of the surrounding chat."""
    replies_are_threads: bool = False
    """Whether a native reply appears in the thread of the message it replies to. If so, an answer is a native reply
    only if the agent or the configuration asks for it, and then all of its messages are (CH-31)."""
    private_needs_interaction: bool = False
    """Whether `[[ephemeral]]` works only in answers to interactions (CH-29)."""
    opened_by: Literal["run", "page", "command"] = "run"
    """What opens the channel: `rejoinder run`, the server of the pages, or its own command (the terminal)."""
    by_default: bool = False
    """Whether it is served with default settings if the configuration has no channel that `rejoinder run` serves."""
    only_one: str = ""
    """If a configuration can have only one of it, the reason, such as "there is one page"."""
    waits: Mapping[str, str] = {}
    """Keys common to all channels whose changes take effect on this one only after a restart, each with the reason."""
    setup: Setup | None = None
    """The questions of `rejoinder init`; None: it does not offer this channel."""
    manifest: Mapping[str, Any] = {}
    """The app manifest to paste on the platform; `rejoinder init --manifest KIND` prints it as JSON."""
    chat_problem: Callable[[RoomLogReader, str, Collection[str]], Awaitable[str]] | None = None
    """For a channel that keeps its rooms in the gateway's store: takes its log, a chat and the names of the agents, and
    returns why a message to this chat would be lost, or nothing if it would not be. None: only the platform knows its
    chats."""
    check: Callable[[Any, str | None], Awaitable[str]] | None = None
    """`rejoinder doctor` calls it with the settings and with the gateway that is already running, if any. None:
    `doctor` opens the channel and asks it, if it `CanCheck`."""


@runtime_checkable
class BringsDeclaration(Protocol):
    """Has its own declaration, for a channel that a program passes in without installing it under a name."""

    declaration: ChannelKind
