"""What a kind of channel declares about itself, in its own folder and nowhere else (CH-1).

A channel is a module with `CHANNEL = ChannelKind(...)`. Reading a declaration loads no SDK: configuration, dry runs,
docs and the notice to the agent use it without connecting anything, so `open` imports what it needs when it is called.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from rejoinder.channels.base import Channel, FileLimits, Limits
from rejoinder.events import Ability
from rejoinder.identity import ANYBODY, Identity
from rejoinder.media_services import VoiceForm
from rejoinder.rendering import MARKDOWN, Renderer
from rejoinder.rendering.emoji import ANY_EMOJI, ReactionNames
from rejoinder.setup import SetupQuestion

DeliveryClass = Literal["native key", "short-window key", "read back", "blind"]
"""What is known of a message whose send was interrupted (DU-3): the platform takes each key once, takes it once for a
while, can be asked, or cannot tell."""


class Pace(Struct, frozen=True):
    """How often a platform may be called. A rate is how many calls at once, and how many a second after that."""

    edit: float = 1.0
    """Seconds between two edits of a message that is being written (DE-20)."""
    chat: tuple[int, float] | None = None
    account: tuple[int, float] | None = None
    typing: float | None = None
    """Seconds after which the typing sign must be renewed, if it expires before the configured period (TU-24)."""


class Setup(Struct, frozen=True, kw_only=True):
    """What `rejoinder init` asks to write the section of a channel."""

    offer: str
    """The question whether to serve it at all."""
    offered: bool = False
    """The answer if a person just presses Enter."""
    steps: str = ""
    """What to do on the platform first."""
    section: Mapping[str, Any] = {}
    """What is written without a question. A `${VARIABLE}` that is not set is asked for, to verify it."""
    asks: tuple[SetupQuestion, ...] = ()
    verified: bool = False
    """Whether the section is tried as `rejoinder doctor` does, before the rest is asked."""
    asks_then: tuple[SetupQuestion, ...] = ()
    adds: Mapping[str, Any] = {}
    """What is written besides, in the end."""
    advice: str = ""
    """What the person should know of it."""


class NoSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a channel that has none of its own."""


class ChannelKind(Struct, frozen=True, kw_only=True):
    """All that is known of a kind of channel before it is connected."""

    settings: type[Struct] = NoSettings
    """The record of its section, `[channels.NAME]`, besides the keys that all channels have."""
    open: Callable[..., Channel] | None = None
    """Makes the channel, given its name and its settings; None: the connection is not written yet."""
    accounts: Callable[[Any], Mapping[str, Any]] | None = None
    """For a channel with several accounts side by side (CH-4): the settings of each by its name. Each is opened by
    itself, `open` then takes its `account`."""
    limits: Limits = Limits()
    can: frozenset[Ability] = frozenset({"reply", "react", "send"})
    """What the platform lets a channel do, as directives ask for it (OD-72)."""
    voice: VoiceForm = "opus"
    """What its voice notes are made of (ME-3)."""
    files: FileLimits | None = None
    """Which files the channel sends; None: it sends none."""
    renderer: Renderer = MARKDOWN
    reactions: ReactionNames = ANY_EMOJI
    identity: Identity = ANYBODY
    """What ids of people and groups look like there: lists of people refuse anything else."""
    pace: Pace = Pace()
    delivery: DeliveryClass = "blind"
    edits: Literal["turn", "told"] = "turn"
    """What an edit by a person leads to once the message has been answered: a turn, or one line that the agent is told
    with its next turn (CH-8)."""
    replies_across_threads: bool = True
    """Whether a message in a thread can be a native reply to one of the chat around it."""
    replies_are_threads: bool = False
    """A native reply stands in the thread of what it answers. So an answer is none unless the agent or the
    configuration says so, and all messages of one stand there (CH-31)."""
    private_needs_interaction: bool = False
    """`[[ephemeral]]` works on answers to interactions only (CH-29)."""
    opened_by: Literal["run", "page", "command"] = "run"
    """`rejoinder run` opens a channel by itself, the page with its server; the terminal is opened by its command."""
    only_one: str = ""
    """Why a configuration has at most one of it, if that is so: "there is one page"."""
    waits: Mapping[str, str] = {}
    """Which of the keys that all channels have wait for a start here, and why."""
    setup: Setup | None = None
    """The questions of `rejoinder init`; None: it does not offer this channel."""
    manifest: Mapping[str, Any] = {}
    """What an app of this platform needs there, in a form to paste."""
    check: Callable[[Any, str | None], Awaitable[str]] | None = None
    """What `rejoinder doctor` finds, given the settings and the gateway that runs already, if one does. None: the
    channel is opened and asked, if it `CanCheck`."""


@runtime_checkable
class BringsDeclaration(Protocol):
    """A channel that a program hands over need not be installed under a name: it may bring what it declares."""

    declaration: ChannelKind
