"""Settings that hold until the next start: `/debug` (IN-61).

Rule 1: they are laid over the file, even if it changes meanwhile; the file is never written.
Rule 2: a setting that is wrong, or that could only take effect at a start, is refused, and nothing changes.
Rule 3: if several gateways share a store, the settings are rows in it, and each gateway reads them once a second
        (SC-25). They hold until `/restart`, or until no gateway runs.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from rejoinder.app import Gateway
from rejoinder.config.overlay import read_key, read_value
from rejoinder.config.schema import Settings
from rejoinder.config.show import effective, part
from rejoinder.config.wording import dotted
from rejoinder.errors import BadConfiguration, BadUse, StoreUnavailable
from rejoinder.events import ChangeDebug
from rejoinder.programs.reloading import SettingsSource
from rejoinder.rendering.fence import fenced
from rejoinder.runtime.settings_agreement import DEBUG
from rejoinder.store.base import PutFact

log = logging.getLogger(__name__)

NOTHING = "Nothing is set: the file applies."
HERE: Final = "Until the next start:"
EVERYWHERE: Final = "On all gateways, until /restart or until none of them runs:"
LOOK_SECONDS: Final = 1.0
"""Seconds between two reads of what was set on other gateways."""


class Debugging:
    """`read` makes settings from the file and from the current contents of `overlay`."""

    def __init__(self, gateway: Gateway, read: Callable[[], Settings], overlay: dict[tuple[str, ...], Any]) -> None:
        self._gateway = gateway
        self._read = read
        self._overlay = overlay
        self._one_at_a_time = asyncio.Lock()
        self.is_shared = gateway.store.lease_seconds is not None
        self._rows: dict[str, bytes] | None = None  # the rows as they were last read

    async def change(self, change: ChangeDebug) -> str:
        async with self._one_at_a_time:
            try:
                return await self._change(change)
            except (BadUse, BadConfiguration) as wrong:
                return f"Nothing has changed: {_sentence(wrong)}"

    async def _change(self, change: ChangeDebug) -> str:
        if self.is_shared:
            await self._look()
        set_now = self._overlay
        match change.what:
            case "show":
                return self._shown()
            case "set":
                key = read_key(change.key)
                await self._lay_over({**set_now, key: read_value(change.value)}, key)
                await self._keep({dotted(key): change.value.encode()})
                return f"{self._until}\n\n{self._code(key)}"
            case "unset":
                key = read_key(change.key)
                if key not in set_now:
                    raise BadUse(f"/debug has not set {change.key}")
                await self._lay_over({path: value for path, value in set_now.items() if path != key})
                await self._keep({dotted(key): None})
                return f"{change.key} has the value from the file again."
            case "reset":
                gone: dict[str, bytes | None] = {dotted(key): None for key in set_now}
                await self._lay_over({})
                await self._keep(gone)
                return NOTHING

    async def _lay_over(self, overlay: dict[tuple[str, ...], Any], key: tuple[str, ...] = ()) -> None:
        """`key`: the key that has to take effect; if it cannot, the overlay is refused."""
        before = dict(self._overlay)
        self._put(overlay)
        try:
            taken = self._gateway.reconfigure(await asyncio.to_thread(self._read))
            if key and any(f"{dotted(key)}.".startswith(f"{each}.") for each in taken.later):
                raise BadUse(f"{dotted(key)} takes effect only at a start; write it into the file, then /restart")
        except BaseException:
            self._put(before)
            raise

    # --- together with other gateways -------------------------------------------------------------

    async def _keep(self, changed: dict[str, bytes | None]) -> None:
        """Writes the settings for the other gateways; if that fails, the next read restores what the others have."""
        if not self.is_shared or not changed:
            return
        self._rows = None
        first, *more = (PutFact(DEBUG, key, text) for key, text in changed.items())
        await self._gateway.store.write(first, *more)

    async def follow(self) -> None:
        """Applies what is set on other gateways, until it is cancelled."""
        while True:
            try:
                async with self._one_at_a_time:
                    await self._look()
            except StoreUnavailable as fault:
                log.debug("not now: %s", fault)  # the store logs it itself
            await asyncio.sleep(LOOK_SECONDS)

    async def _look(self) -> None:
        rows = await self._gateway.store.facts(DEBUG)
        if rows == self._rows:
            return
        self._rows = rows
        try:
            wanted = {read_key(key): read_value(text.decode()) for key, text in rows.items()}
            if wanted != self._overlay:
                await self._lay_over(wanted)
        except (BadUse, BadConfiguration) as wrong:  # another gateway has another version, or another file
            sentence = f"What /debug has set on another gateway is not in effect here: {_sentence(wrong)}"
            self._gateway.note_not_in_effect(sentence)
            log.error("%s", sentence)

    @property
    def _until(self) -> str:
        return EVERYWHERE if self.is_shared else HERE

    def _put(self, overlay: dict[tuple[str, ...], Any]) -> None:
        self._overlay.clear()
        self._overlay.update(overlay)

    def _shown(self) -> str:
        keys = tuple(self._overlay)
        return f"{self._until}\n\n{self._code(*keys)}" if keys else NOTHING

    def _code(self, *keys: tuple[str, ...]) -> str:
        """The settings as `/config` shows them, without secrets."""
        document = effective(self._gateway.configured)
        return fenced("\n".join(part(document, dotted(key)) or dotted(key) for key in keys), "toml")


def attach(gateway: Gateway, source: SettingsSource) -> Debugging | None:
    """Makes `/debug` work. If the store is shared, `follow` has to run beside it."""
    if source.overlay is None:
        return None
    debugging = Debugging(gateway, source.read, source.overlay)
    gateway.commands.provide(ChangeDebug, debugging.change)
    return debugging


def _sentence(wrong: BadUse | BadConfiguration) -> str:
    """The mistake without a place in the file, because the file is not wrong."""
    if isinstance(wrong, BadConfiguration) and wrong.mistakes:
        return "; ".join(f"{mistake.key}: {mistake.sentence}" for mistake in wrong.mistakes)
    return str(wrong)
