"""`/model`: `[provider/]name[@profile]`, or a short name the configuration gives (IN-52).

In a text of its own any well-formed name is meant as one, and refused with a reason if it will not do. In
prose (`the /model is wrong`) a word counts only when it cannot be anything else.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from rejoinder.inbound.directives.argument import Argument, Good, Word

_REFERENCE = re.compile(r"[A-Za-z0-9][\w.:\-]*(?:/[\w.:@\-]+)*(?:@[\w.\-]+)?")
_UNMISTAKABLE = re.compile(r"[a-z][\w.:\-]*/\S+|.+@.+|(?=.*[a-z])(?=.*\d).+", re.IGNORECASE)
_LONGEST = 200


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
    in_prose: bool

    def __call__(self, words: Iterator[Word]) -> Argument:
        word = next(words, None)
        if word is None or len(word.text) > _LONGEST or not _REFERENCE.fullmatch(word.text):
            return None
        name = word.text.partition("@")[0]
        if self.in_prose and not self.models.known(name) and not self._unmistakable(word.text):
            return None
        return Good(word.text, word.end)

    def _unmistakable(self, said: str) -> bool:
        found = _UNMISTAKABLE.fullmatch(said)
        # With a closed list a word like `v2` is prose, an explicit provider or profile is not.
        return bool(found) and (not self.models.allowed or "/" in said or "@" in said)
