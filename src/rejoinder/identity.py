"""What ids of people and groups look like on a platform: a channel declares it, lists are read by it (IN-10)."""

import re
from typing import Literal, NamedTuple

from msgspec import Struct

Whom = Literal["person", "group"]
SenderId = Literal["id", "phone", "address"]


class Shape(NamedTuple):
    """What an id looks like, and how to say so."""

    pattern: re.Pattern[str]
    advice: str


ANY = Shape(re.compile(r"[^@#\s]\S*"), "one word that does not begin with @ or #")


class Identity(Struct, frozen=True):
    """How a platform tells people and groups apart."""

    person: Shape = ANY
    group: Shape = ANY
    order: tuple[SenderId, ...] = ("id", "phone", "address")
    """Which of a sender's ids comes first (IN-13): the platform's own, unless the phone number is the identity."""

    def shape(self, whom: Whom) -> Shape:
        return self.person if whom == "person" else self.group


ANYBODY = Identity()
