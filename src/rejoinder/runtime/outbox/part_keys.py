"""The key of a part says for what purpose the gateway sends it. Only this file makes and reads this prefix.

A key goes to the platform with its part, and a restart makes the same key again. It begins with the purpose:
`event/7/…`, `offer/abc/…`, `unconfirmed/t4/…`. The rest distinguishes the parts.
"""

from typing import Final, Literal, get_args

from msgspec import Struct

from rejoinder.store.base import StoredPart, said_about

Purpose = Literal["event", "offer", "unconfirmed"]
"""The gateway's own answer to an event; a message with buttons; the notice that something may not have arrived."""
OFFERS: Final[Purpose] = "offer"
ACTIONS: Final = "act"


class Origin(Struct, frozen=True):
    """`about`: the event, the name of the offer, or the subject of the notice."""

    purpose: Purpose
    about: str

    @property
    def stem(self) -> str:
        """The prefix of the keys of all its parts."""
        return f"{self.purpose}/{self.about}"


def offer(name: str) -> Origin:
    return Origin("offer", name)


def notice_about(about: str) -> Origin:
    return Origin("unconfirmed", about)


def origin_of(row: StoredPart) -> Origin | None:
    """The origin of a part; None for an agent's words and for parts that are not looked up by key."""
    purpose, _, rest = row.key.partition("/")
    for known in get_args(Purpose):
        if purpose == known:
            return Origin(known, rest.partition("/")[0])
    return None


def action_stem(answer: str) -> str:
    """The stem of the keys of an answer's actions."""
    return f"{answer}/{ACTIONS}"


def is_action(row: StoredPart, answer: str) -> bool:
    return row.key.startswith(f"{action_stem(answer)}/")


assert said_about(7) == Origin("event", "7").stem, "the store writes these keys too"
