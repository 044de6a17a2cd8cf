"""`/model`: `[provider/]name[@profile]`, or a short name the configuration gives (IN-52).

Alone and at the beginning of a text (`/model a/b go on`), the word after the directive is a model, and is refused with
a reason if it cannot be chosen. Inside other text (`the /model and/or view`), the word counts only if it cannot be
mistaken for anything else.
"""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

from rejoinder.inbound.directives.argument import Argument, ValidArgument, Word
from rejoinder.inbound.directives.levels import DEFAULT

_REFERENCE = re.compile(r"[A-Za-z0-9][\w.:\-]*(?:/[\w.:@\-]+)*(?:@[\w.\-]+)?")
_LONGEST = 200
_NEAREST = 5
_GOES_ON = ("-", ":", "@")  # after the name of a family: `llama3:8b`, `claude-x-2030-01-02`
_LATEST = "-latest"


Place = Literal["alone", "before", "amid"]
"""The position of a directive: it is the whole text, all other text follows it, or it is among other words."""


class Models(Struct, frozen=True):
    """The models an agent knows: its own, its fallbacks, short names, those a person may choose, those it offers."""

    default: str | None = None
    fallbacks: tuple[str, ...] = ()
    aliases: dict[str, str] = {}
    allowed: tuple[str, ...] = ()  # empty: any
    profiles: tuple[str, ...] = ()  # other keys and endpoints, written behind an `@`
    offered: tuple[str, ...] = ()  # the models that the agent itself lists; empty if it lists none

    def known(self, said: str) -> str | None:
        """The model that a known name or alias stands for, in our spelling."""
        folded = said.lower()
        for alias, model in self.aliases.items():
            if alias.lower() == folded:
                return model
        own = (self.default,) if self.default else ()
        for model in (*self.allowed, *own, *self.fallbacks, *self.offered):
            if model.lower() == folded:
                return model
        return None

    def is_known(self, said: str) -> bool:
        """Whether it names a model we have heard of, with a profile or without."""
        return self.known(said) is not None or self.known(self.parted(said)[0]) is not None

    def choose(self, said: str) -> str | None:
        """The model to use for this name, or None if it may not be chosen."""
        if whole := self.known(said):
            return whole
        name, profile = self.parted(said)
        if profile and profile not in self.profiles:
            return None
        model = self.known(name) or (None if self.allowed else self._offered(name))
        return None if model is None else f"{model}@{profile}" if profile else model

    def parted(self, said: str) -> tuple[str, str]:
        """The name, and the profile after its last `@`, as it is configured. A word with a `/` is no profile."""
        name, _, profile = said.rpartition("@")
        if not name or "/" in profile or self.known(said):
            return said, ""
        return name, next((each for each in self.profiles if each.lower() == profile.lower()), profile)

    def _offered(self, name: str) -> str | None:
        """The offered model of this name. A family may be named without the part that distinguishes its members, and a
        provider's name may come first."""
        if not self.offered:
            return name
        bare = name.partition("/")[2]
        if bare and (model := self.known(bare)):
            return model
        family = name.lower().removesuffix(_LATEST)
        return name if any(each.lower().startswith(_goes_on(family)) for each in self.offered) else None

    def problem(self, said: str) -> str:
        """Why this name cannot be chosen, and which names are close to it."""
        name, profile = self.parted(said)
        if profile and profile not in self.profiles:
            there = f"there are: {', '.join(self.profiles)}" if self.profiles else "this agent has none"
            return f"There is no profile {profile!r}; {there}."
        folded = {each.lower(): each for each in self._choices()}
        near = get_close_matches(name.lower(), folded, _NEAREST, 0.4)
        offered = ", ".join(folded[each] for each in near) or ", ".join(self.names()[:_NEAREST])
        more = "; /models lists more" if self.offered else ""
        return f"{name} is not a model you can choose here; valid: {offered}{more}"

    def _choices(self) -> Iterable[str]:
        return (*self.names(), *(() if self.allowed else self.offered))

    def names(self) -> tuple[str, ...]:
        """The names in the configuration, each once."""
        own = (self.default,) if self.default else ()
        return tuple(dict.fromkeys((*self.aliases, *own, *self.fallbacks, *self.allowed)))


def _goes_on(family: str) -> tuple[str, ...]:
    return tuple(family + mark for mark in _GOES_ON)


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
        return ValidArgument(said, end) if self.place != "amid" or self._is_one(said) else None

    def _is_one(self, said: str) -> bool:
        """Whether a word among others can only be a model."""
        name, profile = self.models.parted(said)
        if profile or any(self.models.known(each) is not None for each in (name, name.rpartition("/")[2])):
            return True
        if name.lower() == DEFAULT:
            return True
        numbered = said[0].isalpha() and any(letter.isdigit() for letter in said)
        if self.models.allowed and "/" not in said:
            return False  # if the list is closed, a word like `v2` is prose
        if "/" in said:
            return numbered or said.count("/") > 1 or any(mark in said for mark in "-:@")
        return numbered and any(mark in said for mark in "-.:")
