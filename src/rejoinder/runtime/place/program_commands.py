"""Commands that only the program around the gateway can carry out, because it knows the configuration file and the
page."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from rejoinder.events import ChangeDebug, ChangeInvitations, WriteConfig
from rejoinder.runtime.toolbox import Toolbox

NO_FILE: Final = "This gateway got its settings from another program: it has no configuration file."
NO_PAGE: Final = "This gateway has no chat page to invite anybody to."

ProgramCommand = ChangeDebug | WriteConfig | ChangeInvitations
Kind = TypeVar("Kind", ChangeDebug, WriteConfig, ChangeInvitations)

UNAVAILABLE: Final[dict[type[ProgramCommand], str]] = {
    ChangeDebug: NO_FILE,
    WriteConfig: NO_FILE,
    ChangeInvitations: NO_PAGE,
}


class ProgramCommands:
    def __init__(self) -> None:
        self.tools = Toolbox()
        """The tools of runs, which the program serves if it serves anything."""
        self._provided: dict[type[ProgramCommand], Callable[[Any], Awaitable[str]]] = {}

    def provide(self, kind: type[Kind], run: Callable[[Kind], Awaitable[str]]) -> None:
        """Registers `run` for commands of this kind; it carries them out and returns what to tell the person."""
        self._provided[kind] = run

    async def run(self, command: ProgramCommand) -> str:
        run = self._provided.get(type(command))
        return UNAVAILABLE[type(command)] if run is None else await run(command)
