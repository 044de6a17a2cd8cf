"""An agent kind that repeats what it hears without a sound, stares at it, and tells whoever keeps it.

Asked "what may you do?" it says which headers it was told of.
"""

import re
from collections.abc import AsyncIterator

from msgspec import Struct

from rejoinder.agents.base import AgentEvent, Done, TextDelta
from rejoinder.agents.declaration import AgentKind
from rejoinder.agents.python import text_of
from rejoinder.events import Turn


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    word: str
    """What it says first."""
    pecks: bool = False
    """Whether the directive `peck` is installed, too."""


class Parrot:
    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self._settings = settings

    async def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        heard = text_of(turn)
        peck = f'<peck at="seed">{heard}</peck>' if self._settings.pecks else ""
        yield TextDelta(f'[[silent]]\n<actions><react emoji="eyes" />{peck}</actions>\n')
        may = ", ".join(re.findall(r"^- `\[\[(\w+)", turn.system, re.MULTILINE))
        yield TextDelta(f"**{self._settings.word}**, {may if heard == 'what may you do?' else heard}")
        yield Done()


AGENT = AgentKind(settings=Settings, open=Parrot)
