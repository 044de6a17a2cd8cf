"""`/model`: `[provider/]name[@profile]`, or a short name the configuration gives (IN-52).

Where the directive stands alone, any well-formed name counts as a model, and is refused with a reason if it cannot be
chosen. Before other text (`/model a/b go on`) the argument has to look like a model name; amid other text
(`the /model and/or view`) it must not be mistakable for anything else.
"""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from rejoinder.inbound.directives.argument import Argument, Good, Word

_REFERENCE = re.compile(r"[A-Za-z0-9][\w.:\-]*(?:/[\w.:@\-]+)*(?:@[\w.\-]+)?")
_LONGEST = 200
DEFAULT_MODEL = "default"  # whichever model is the agent's own


Place = Literal["alone", "before", "amid"]
"""Where a directive stands: it is the whole text, all other text follows it, or it is among other words."""


class Models(Struct, frozen=True):
    """The models an agent knows: its own, its fallbacks, short names, and those a person may choose."""

    default: str | None = None
    fallbacks: tuple[str, ...] = ()
    aliases: dict[str, str] = {}
    allowed: tuple[str, ...] = ()  # empty: any

    def known(self, said: str) -> str | None:
        """The model that a known name or alias stands for, in our spelling."""
        folded = said.lower()
        for alias, model in self.aliases.items():
            if alias.lower() == folded:
                return model
        for model in (*self.allowed, *((self.default,) if self.default else ()), *self.fallbacks):
            if model.lower() == folded:
                return model
        return None

    def choose(self, said: str) -> str | None:
        """The model to use for this name, or None when it may not be chosen."""
        name, at, profile = said.partition("@") if "/@" not in said else (said, "", "")
        if model := self.known(name):
            return model + at + profile
        return None if self.allowed else said

    def names(self) -> tuple[str, ...]:
        """The names to offer, each once."""
        own = (self.default,) if self.default else ()
        return tuple(dict.fromkeys((*self.aliases, *own, *self.fallbacks, *self.allowed)))


class ReadModel(Struct, frozen=True):
    models: Models
    place: Place

    def __call__(self, words: Iterator[Word]) -> Argument:
        word = next(words, None)
        if word is None or len(word.text) > _LONGEST:
            return None
        said = word.text.rstrip(".")  # the name may be the end of a sentence
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
