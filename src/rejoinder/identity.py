"""What ids of people and groups look like on a platform. A channel declares this, and lists of ids are checked by it
(IN-10)."""

import re
from typing import Literal, NamedTuple

from msgspec import Struct

Whom = Literal["person", "group"]
SenderId = Literal["id", "phone", "address"]


class Shape(NamedTuple):
    """A pattern for ids, and its description in words."""

    pattern: re.Pattern[str]
    advice: str


ANY = Shape(re.compile(r"[^@#\s]\S*"), "one word that does not begin with @ or #")


class Identity(Struct, frozen=True):
    """How a platform tells people and groups apart."""

    person: Shape = ANY
    group: Shape = ANY
    order: tuple[SenderId, ...] = ("id", "phone", "address")
    """Which of a sender's ids comes first (IN-13): the platform's own id, unless people are identified by phone
    number."""

    def shape(self, whom: Whom) -> Shape:
        return self.person if whom == "person" else self.group


ANYBODY = Identity()
