"""`/config set` and `/config unset`: change one key of the file from a chat (IN-61).

Rule 1: the new file is checked as a whole before it replaces the old one; if it is wrong, nothing changes.
Rule 2: the old file is kept beside it, with `.bak` at the end of its name.
Rule 3: a file that somebody else changes meanwhile is not overwritten.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from rejoinder.app import Gateway
from rejoinder.config.editing import holds_secret, with_key, without_key
from rejoinder.config.live import AppliedSettings
from rejoinder.config.overlay import read_key, read_value
from rejoinder.config.schema import Settings
from rejoinder.config.show import effective, part
from rejoinder.config.wording import dotted
from rejoinder.errors import BadConfiguration, BadUse
from rejoinder.events import WriteConfig
from rejoinder.programs.reloading import SettingsSource
from rejoinder.rendering.fence import fenced

EACH_ITS_OWN = (
    "Nothing has changed: several gateways share this store, and each machine has its own file. Change it on all "
    "of them; most settings apply from the next message on, the others from the next start."
)
NO_FILE = "there is no file yet; `rejoinder init` makes one"


class ConfigWriting:
    """`check` reads a file as a start would, and raises BadConfiguration if it is wrong."""

    def __init__(self, gateway: Gateway, source: SettingsSource, check: Callable[[str], Settings]) -> None:
        self._gateway = gateway
        self._source = source
        self._check = check
        self._one_at_a_time = asyncio.Lock()

    async def write(self, change: WriteConfig) -> str:
        async with self._one_at_a_time:
            try:
                key = read_key(change.key)
                backup = await asyncio.to_thread(self._write, key, change.value)
                taken = self._gateway.reconfigure(await asyncio.to_thread(self._source.read))
            except (BadUse, BadConfiguration) as wrong:
                return f"Nothing has changed: {_sentence(wrong)}"
            except OSError as wrong:
                return f"Nothing has changed: {self._source.watch.path} cannot be written ({wrong.strerror})."
        return self._report(key, change.value, taken, backup)

    def _write(self, key: tuple[str, ...], value: str | None) -> Path:
        """Writes or removes the key; returns the path at which the previous file is kept."""
        file = Path(self._source.watch.path).resolve()  # a symbolic link stays one
        try:
            text = file.read_text("utf-8")
        except FileNotFoundError:
            raise BadUse(NO_FILE) from None
        changed = without_key(text, key) if value is None else with_key(text, key, read_value(value))
        new, backup = file.with_name(f"{file.name}.new"), file.with_name(f"{file.name}.bak")
        try:
            _put(new, changed, like=file)
            if any(holds_secret(settings, key) for settings in (self._gateway.configured, self._check(str(new)))):
                raise BadUse(f"{dotted(key)} holds a secret; write it into the file by hand, best as ${{VARIABLE}}")
            if file.read_text("utf-8") != text:
                raise BadUse("somebody else has just changed the file; try again")
            _put(backup, text, like=file)
            new.replace(file)
        finally:
            new.unlink(missing_ok=True)
        return backup

    def _report(self, key: tuple[str, ...], value: str | None, taken: AppliedSettings, backup: Path) -> str:
        name = dotted(key)
        waits = any(f"{name}.".startswith(f"{each}.") or each.startswith(f"{name}.") for each in taken.later)
        when = "It takes effect at the next start: /restart." if waits else "It takes effect with the next message."
        done = f"{name} is no longer in the file." if value is None else "Written into the file."
        shown = None if waits else part(effective(self._gateway.configured), name)
        code = f"\n\n{fenced(shown, 'toml')}" if shown else ""
        return f"{done} {when} The previous file is {backup.name}.{code}"


def attach(gateway: Gateway, source: SettingsSource) -> None:
    """Makes `/config set` and `/config unset` work."""
    if gateway.store.lease_seconds is not None:
        gateway.commands.provide(WriteConfig, _refuse)
    elif source.check is not None:
        gateway.commands.provide(WriteConfig, ConfigWriting(gateway, source, source.check).write)


async def _refuse(_: WriteConfig) -> str:
    """Refuses if the store is shared: one machine's file would then differ from the others' (SC-25)."""
    return EACH_ITS_OWN


def _put(path: Path, text: str, *, like: Path) -> None:
    """Writes a complete file, with the same permissions as the other one."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    shutil.copymode(like, path)


def _sentence(wrong: BadUse | BadConfiguration) -> str:
    """The mistake without its line: the file with the mistake is not kept."""
    if isinstance(wrong, BadConfiguration) and wrong.mistakes:
        return "; ".join(f"{mistake.key}: {mistake.sentence}" for mistake in wrong.mistakes)
    return str(wrong)
