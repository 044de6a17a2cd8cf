"""`/model`: `[provider/]name[@profile]`, or a short name the configuration gives (IN-52).

In a text of its own any well-formed name is meant as one, and refused with a reason if it will not do. Before
other words (`/model a/b go on`) it has to look like one, and amid them (`the /model and/or view`) like nothing else.
"""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from rejoinder.inbound.directives.argument import Argument, Good, Word

_REFERENCE = re.compile(r"[A-Za-z0-9][\w.:\-]*(?:/[\w.:@\-]+)*(?:@[\w.\-]+)?")
_LONGEST = 200
DEFAULT_MODEL = "default"  # the agent's own, whatever it is


Place = Literal["alone", "before", "amid"]
"""Where a directive stands: nothing else is said, everything else follows, or it stands among other words."""


class Models(Struct, frozen=True):
    """The models an agent knows: its own, its fallbacks, short names, and those a person may choose."""

    default: str | None = None
    fallbacks: tuple[str, ...] = ()
    aliases: dict[str, str] = {}
    allowed: tuple[str, ...] = ()  # empty: any

    def known(self, said: str) -> str | None:
        """The model meant by a word we have seen before: the alias resolved, the spelling ours."""
        folded = said.lower()
        for alias, model in self.aliases.items():
            if alias.lower() == folded:
                return model
        for model in (*self.allowed, *((self.default,) if self.default else ()), *self.fallbacks):
            if model.lower() == folded:
                return model
        return None

    def choose(self, said: str) -> str | None:
        """The model to use for what was said, or None when it may not be chosen."""
        name, at, profile = said.partition("@") if "/@" not in said else (said, "", "")
        if model := self.known(name):
            return model + at + profile
        return None if self.allowed else said

    def names(self) -> tuple[str, ...]:
        """What to offer, each once."""
        own = (self.default,) if self.default else ()
        return tuple(dict.fromkeys((*self.aliases, *own, *self.fallbacks, *self.allowed)))


class ReadModel(Struct, frozen=True):
    models: Models
    place: Place

    def __call__(self, words: Iterator[Word]) -> Argument:
        word = next(words, None)
        if word is None or len(word.text) > _LONGEST:
            return None
        said = word.text.rstrip(".")  # a name may end a sentence
        end = word.end if self.place == "alone" else word.end - len(word.text) + len(said)
        if not _REFERENCE.fullmatch(said):
            return None
        name = said.partition("@")[0]
        is_known = any(self.models.known(said) is not None for said in (name, name.rpartition("/")[2]))
        if self.place == "alone" or is_known or self._looks_like_one(said):
            return Good(said, end)
        return None

    def _looks_like_one(self, said: str) -> bool:
        explicit = "/" in said or "@" in said
        numbered = said[0].isalpha() and any(letter.isdigit() for letter in said)
        if self.models.allowed and not explicit:
            return False  # with a closed list a word like `v2` is prose
        if self.place == "before":
            return explicit or numbered
        return "@" in said or ("/" in said and "-" in said) or (numbered and any(mark in said for mark in "/-.:"))
