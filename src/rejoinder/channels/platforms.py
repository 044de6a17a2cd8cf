"""What each platform can do, said once: the length of a message, the abilities, the kind of emoji (DE-10, OD-72).

For a channel that exists, this is what the channel does; for one still to come, what the platform would allow.
No SDK is needed to read it: dry runs, docs and the notice to the agent use this table, and a channel uses its own row.
"""

from difflib import get_close_matches

from msgspec import Struct

from rejoinder.channels.base import Limits
from rejoinder.errors import BadUse
from rejoinder.events import Ability, ReactionStyle


class Pace(Struct, frozen=True):
    """How often a platform may be called. A rate is how many calls at once, and how many a second after that."""

    edit: float = 1.0
    """Seconds between two edits of a message that is being written (DE-20)."""
    chat: tuple[int, float] | None = None
    account: tuple[int, float] | None = None
    typing: float | None = None
    """Seconds after which the typing sign must be renewed, if it expires before the configured period (TU-24)."""


class Platform(Struct, frozen=True):
    name: str
    limits: Limits
    can: frozenset[Ability]
    reactions: ReactionStyle = "unicode"
    pace: Pace = Pace()


def _platform(name: str, limits: Limits, can: str, reactions: ReactionStyle, pace: Pace) -> Platform:
    return Platform(name, limits, frozenset(can.split()), reactions, pace)  # type: ignore[arg-type]  # the tests check


PLATFORMS = {
    platform.name: platform
    for platform in (
        _platform("web", Limits(), "reply react send files ephemeral silent previews", "unicode", Pace()),
        _platform("terminal", Limits(), "reply react send", "unicode", Pace()),
        _platform(
            "telegram",
            Limits(4096, "utf16"),
            "reply react send silent previews",
            "telegram",
            Pace(1.0, (5, 1.0), (30, 30.0), typing=4.5),
        ),
        _platform(
            "discord",
            Limits(2000),
            "reply react send files silent previews threads",
            "unicode",
            Pace(1.2, (5, 1.0), (50, 50.0)),
        ),
        _platform("slack", Limits(4000), "reply react send files ephemeral previews", "slack", Pace(1.2, (5, 1.0))),
        _platform("matrix", Limits(60_000, "bytes"), "reply react send files voice", "unicode", Pace(1.2)),
        _platform(
            "whatsapp", Limits(4096), "reply react send files voice previews", "unicode", Pace(1.0, None, (80, 80.0))
        ),
        _platform("signal", Limits(2000), "reply react send files voice", "unicode", Pace()),
    )
}


def platform(name: str) -> Platform:
    try:
        return PLATFORMS[name]
    except KeyError:
        there = sorted(PLATFORMS)
        near = get_close_matches(name, there, n=1)
        guess = f"did you mean {near[0]}? " if near else ""
        raise BadUse(f"no platform called {name!r}; {guess}there are: {', '.join(there)}") from None
