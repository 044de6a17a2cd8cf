"""What a kind of channel declares about itself, in its own folder and nowhere else (CH-1).

A channel is a module with `CHANNEL = ChannelKind(...)`. Reading a declaration loads no SDK: configuration, dry runs,
docs and the notice to the agent use it without connecting anything, so `open` imports what it needs when it is called.
"""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from rejoinder.channels.base import Channel, Limits
from rejoinder.events import Ability
from rejoinder.rendering import MARKDOWN, Renderer
from rejoinder.rendering.emoji import ANY_EMOJI, ReactionNames

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


class Nothing(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a channel that has none of its own."""


class ChannelKind(Struct, frozen=True, kw_only=True):
    """All that is known of a kind of channel before it is connected."""

    settings: type[Struct] = Nothing
    """The record of its section, `[channels.NAME]`, besides the keys that all channels have."""
    open: Callable[..., Channel] | None = None
    """Makes the channel, given its name and its settings; None: the connection is not written yet."""
    limits: Limits = Limits()
    can: frozenset[Ability] = frozenset({"reply", "react", "send"})
    """What the platform lets a channel do, as directives ask for it (OD-72)."""
    renderer: Renderer = MARKDOWN
    reactions: ReactionNames = ANY_EMOJI
    pace: Pace = Pace()
    delivery: DeliveryClass = "blind"
    served: bool = True
    """Whether `rejoinder run` opens it by itself; the page is opened with its server, the terminal by its command."""
