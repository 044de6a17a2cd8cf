"""Where the gateway is killed, how it is brought there, and where a point does not exist (DU-20)."""

from typing import Literal

from msgspec import Struct

from rejoinder.config.kinds import channel_kind

Personality = Literal["telegram hold", "telegram resend", "discord", "slack", "web"]
PERSONALITIES: tuple[Personality, ...] = ("telegram hold", "telegram resend", "discord", "slack", "web")

Way = Literal["serving", "sigterm", "first start", "grown old", "at random"]


class Point(Struct, frozen=True):
    """`passes`: at which it dies, a trial each: much has happened before, and much is still to come."""

    name: str
    passes: tuple[int, ...]
    what: str
    way: Way = "serving"
    earlier: tuple[str, ...] = ()
    """Where a gateway was killed before, with its pass: only then another one comes to this point."""
    not_on_web: str = ""
    """Why a gateway with the web channel never passes it."""

    def applies_to(self, personality: Personality) -> bool:
        return personality != "web" or not self.not_on_web


POINTS: tuple[Point, ...] = (
    Point("K1", (3,), "bytes read"),
    Point("K2", (3,), "parsed"),
    Point("K3", (3,), "inside the inbox transaction"),
    Point("K4", (3,), "committed, not acknowledged"),
    Point("K5", (3,), "acknowledged"),
    Point("K6", (2,), "debounce armed"),
    Point("K7", (4,), "lane claimed"),
    Point("K8", (4,), "run row written"),
    Point("K9", (4,), "agent about to be asked"),
    Point("K10", (2, 12), "n-th delta"),
    Point("K11", (2, 5), "placeholder accepted, answer unread"),
    Point("K12", (2, 5), "placeholder id read, not stored"),
    Point("K13", (2,), "between edits", not_on_web="a message grows there piece by piece and is never edited"),
    Point("K14", (4,), "agent ended, text not stored"),
    Point("K15", (4,), "intents committed"),
    Point("K16", (1, 4, 8), "part marked sending"),
    Point("K17", (1, 4, 8), "part accepted, answer unread"),
    Point("K18", (1, 4, 8), "answer read, receipt not committed"),
    Point("K19", (1, 4), "between parts"),
    Point("K20", (2,), "before an action"),
    Point("K21", (2,), "action accepted, no receipt"),
    Point("K22", (3,), "receipts in, turn open"),
    Point("K23", (3,), "closed, not cleaned"),
    Point("K24", (1,), "drain after SIGTERM", "sigterm"),
    Point("K25", (1,), "during recovery", earlier=("K9:2",)),
    Point("K26", (4,), "during a migration", "first start"),
    Point("K26", (1,), "during a sweep", "grown old"),
)

HANDING_OVER: tuple[tuple[str, int], ...] = (
    ("K3", 3),
    ("K4", 4),
    ("K14", 2),
    ("K15", 2),
    ("K16", 2),
    ("K17", 2),
    ("K18", 2),
    ("K19", 1),
    ("K19", 2),
    ("K22", 1),
    ("K22", 2),
    ("K23", 1),
    ("K9", 3),
)
"""Points, each with a pass, around what one agent hands to another: its row and the answer that holds it are about to
be committed, are committed, are said in part and in whole; it is decided, and begun."""


CROSSED: tuple[tuple[str, str, int], ...] = (
    ("K3:3", "K25", 1),
    ("K10:12", "K25", 1),
    ("K12:2", "K25", 1),
    ("K15:4", "K25", 1),
    ("K17:4", "K25", 1),
    ("K18:4", "K25", 1),
    ("K22:3", "K25", 1),
    ("K8:4", "K8", 1),
    ("K12:2", "K14", 1),
    ("K15:4", "K17", 1),
    ("K17:4", "K19", 1),
)
"""Killed once, and the next gateway too: while it recovers, or at the first pass of something else."""

ALONE: tuple[tuple[str, int], ...] = (
    ("K14", 2),
    ("K15", 1),
    ("K16", 1),
    ("K16", 4),
    ("K17", 1),
    ("K17", 4),
    ("K18", 1),
    ("K18", 5),
    ("K19", 2),
    ("K22", 2),
    ("K23", 2),
)
"""Points around the sending of a message, each with a pass that is of one. Where nothing else is said and every answer
is whole when it is sent, it is known exactly whether one is held or said twice on a blind channel, or none."""

AT_RANDOM = Point("any", tuple(range(1, 6)), "three gateways in a row, at moments that nobody chose", "at random")
"""Its passes are seeds."""


FILE_KEPT = Point("K27", (2,), "file kept, its part not planned")
SENDING_FILES: tuple[tuple[str, int], ...] = (("K27", 2), ("K14", 2), ("K15", 2), ("K16", 2), ("K17", 2), ("K18", 2))
"""Points around a file that an agent sends, each with a pass."""


SPEAKING: tuple[tuple[str, int], ...] = (
    ("K27", 1),
    ("K27", 2),
    ("K14", 1),
    ("K15", 2),
    ("K16", 2),
    ("K17", 2),
    ("K18", 2),
)
"""Points around a voice note, of an answer or of `/tts`."""


def point(name: str) -> Point:
    return next(each for each in (*POINTS, FILE_KEPT) if each.name == name)


def sends_files(personality: Personality) -> bool:
    return channel_kind(personality.partition(" ")[0]).files is not None
