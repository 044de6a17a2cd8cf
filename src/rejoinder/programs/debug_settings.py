"""Settings that hold until the next start: `/debug` (IN-61).

Rule 1: they are laid over the file, also over one that changes meanwhile; the file is never written.
Rule 2: a setting that is wrong, or would have to wait for a start, is refused, and nothing changes.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from rejoinder.app import Gateway
from rejoinder.config.overlay import read_key, read_value
from rejoinder.config.schema import Settings
from rejoinder.config.show import effective, part
from rejoinder.config.wording import dotted
from rejoinder.errors import BadConfiguration, BadUse
from rejoinder.events import ChangeDebug
from rejoinder.programs.reloading import SettingsSource
from rejoinder.rendering.fence import fenced

NOTHING = "Nothing is set: the file applies."


class Debugging:
    """`read` makes settings from the file and from what is in `overlay` at that moment."""

    def __init__(self, gateway: Gateway, read: Callable[[], Settings], overlay: dict[tuple[str, ...], Any]) -> None:
        self._gateway = gateway
        self._read = read
        self._overlay = overlay
        self._one_at_a_time = asyncio.Lock()

    async def change(self, asked: ChangeDebug) -> str:
        async with self._one_at_a_time:
            try:
                return await self._change(asked)
            except (BadUse, BadConfiguration) as wrong:
                return f"Nothing has changed: {_told(wrong)}"

    async def _change(self, asked: ChangeDebug) -> str:
        set_now = self._overlay
        match asked.what:
            case "show":
                return self._shown()
            case "set":
                key = read_key(asked.key)
                await self._lay_over({**set_now, key: read_value(asked.value)}, key)
                return f"Until the next start:\n\n{self._code(key)}"
            case "unset":
                key = read_key(asked.key)
                if key not in set_now:
                    raise BadUse(f"/debug has not set {asked.key}")
                await self._lay_over({path: value for path, value in set_now.items() if path != key})
                return f"{asked.key} is again what the file says."
            case "reset":
                await self._lay_over({})
                return NOTHING

    async def _lay_over(self, overlay: dict[tuple[str, ...], Any], key: tuple[str, ...] = ()) -> None:
        """`key`: the key that has to take effect; if it cannot, the overlay is refused."""
        before = dict(self._overlay)
        self._put(overlay)
        try:
            taken = self._gateway.take_over(await asyncio.to_thread(self._read))
            if key and any(f"{dotted(key)}.".startswith(f"{each}.") for each in taken.later):
                raise BadUse(f"{dotted(key)} takes effect only at a start; write it into the file, then /restart")
        except BaseException:
            self._put(before)
            raise

    def _put(self, overlay: dict[tuple[str, ...], Any]) -> None:
        self._overlay.clear()
        self._overlay.update(overlay)

    def _shown(self) -> str:
        keys = tuple(self._overlay)
        return f"Until the next start:\n\n{self._code(*keys)}" if keys else NOTHING

    def _code(self, *keys: tuple[str, ...]) -> str:
        """Without secrets, as `/config` shows them."""
        document = effective(self._gateway.configured)
        return fenced("\n".join(part(document, dotted(key)) or dotted(key) for key in keys), "toml")


def attach(gateway: Gateway, source: SettingsSource) -> None:
    """Makes `/debug` work."""
    if source.overlay is not None:
        gateway.commands.provide(ChangeDebug, Debugging(gateway, source.read, source.overlay).change)


def _told(wrong: BadUse | BadConfiguration) -> str:
    """Without the place in the file: it is not the file that is wrong."""
    if isinstance(wrong, BadConfiguration) and wrong.mistakes:
        return "; ".join(f"{mistake.key}: {mistake.sentence}" for mistake in wrong.mistakes)
    return str(wrong)
