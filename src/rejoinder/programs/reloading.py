"""Follows the configuration while the gateway runs: notices a changed file, reads it and applies it if possible.

Rule 1: a file is read only when it has stopped changing, because an editor may still be writing it.
Rule 2: if the file is wrong or gone, the gateway keeps its old settings, and says so once.
Rule 3: `config.live` decides what takes effect at once; the gateway names the keys that wait for a start.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from rejoinder.app import Gateway
from rejoinder.config.live import AppliedSettings
from rejoinder.config.schema import Settings
from rejoinder.config.wording import listed
from rejoinder.errors import BadConfiguration

log = logging.getLogger(__name__)

SECONDS = 1.0
"""Seconds between two looks at the file; a look costs one stat."""
AS_IT_WAS = "The gateway keeps its old settings"


class Watch:
    """One file, and its stamp when the settings in effect were read from it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._known = self._seen = self._stamp()

    @property
    def is_gone(self) -> bool:
        return self._seen is None

    def has_changed(self) -> bool:
        """Whether the file has changed, and has not changed further since the last look. Reports each change once."""
        before, self._seen = self._seen, self._stamp()
        if self._seen != before or self._seen == self._known:
            return False
        self._known = self._seen
        return True

    def _stamp(self) -> tuple[int, ...] | None:
        """More than the time: contents may change within one tick of the clock, and a renamed file is a different
        one."""
        try:
            found = os.stat(self.path)
        except (OSError, ValueError):
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev


class SettingsSource(NamedTuple):
    """Where settings come from. `read` makes them from the file, as at the start, with `overlay` laid over it. If
    `overlay` is None, nothing can be laid over it. `check` reads another file in the same way; None: this file cannot
    be written."""

    watch: Watch
    read: Callable[[], Settings]
    overlay: dict[tuple[str, ...], Any] | None = None
    check: Callable[[str], Settings] | None = None


class Reloading:
    """`tell` is called with each sentence; without it, the sentences are logged."""

    def __init__(
        self, gateway: Gateway, source: SettingsSource, tell: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        self._gateway = gateway
        self._watch, self._read = source.watch, source.read
        self._tell = tell

    async def run(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            await self.look()

    async def look(self) -> None:
        if self._watch.has_changed():
            await self._reconfigure()

    async def _reconfigure(self) -> None:
        file, not_in_effect = self._watch.path, self._gateway.not_in_effect
        if self._watch.is_gone:
            return await self._refuse(f"{file} is gone. {AS_IT_WAS}, and reads it when it is back.")
        try:
            taken = self._gateway.reconfigure(await asyncio.to_thread(self._read))
        except BadConfiguration as wrong:
            mistakes = "; ".join(str(wrong).splitlines())
            where = "" if wrong.mistakes else f"{file}: "
            return await self._refuse(f"{where}{_ended(mistakes)} {AS_IT_WAS}.")
        except Exception as error:  # another package's code may raise anything
            log.debug("%s could not be applied", file, exc_info=error)
            return await self._refuse(f"{file} could not be applied ({type(error).__name__}). {AS_IT_WAS}.")
        self._gateway.note_not_in_effect(_waiting(taken))
        if taken.now or taken.later or not_in_effect:
            await self._say(logging.INFO, f"{file} was read again: {_summary(taken)}.")

    async def _refuse(self, sentence: str) -> None:
        self._gateway.note_not_in_effect(sentence)
        await self._say(logging.ERROR, sentence)

    async def _say(self, level: int, sentence: str) -> None:
        if self._tell is None:
            log.log(level, "%s", sentence)
        else:
            await self._tell(sentence)


def _summary(taken: AppliedSettings) -> str:
    now = f"{listed(taken.now)} {_apply(taken.now)} from the next message on" if taken.now else ""
    return "; ".join(filter(None, (now, _waiting(taken)))) or "nothing has changed in it"


def _waiting(taken: AppliedSettings) -> str:
    return f"{listed(taken.later)} {_apply(taken.later)} from the next start on" if taken.later else ""


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def _apply(keys: tuple[str, ...]) -> str:
    return "applies" if len(keys) == 1 else "apply"
