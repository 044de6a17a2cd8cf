"""The options of one session at the agent, and how they are set to a turn's wishes.

Rule 1: the agent's answer replaces what was known, since other options may come and go with a model.
Rule 2: a wish the agent cannot fulfil never fails the turn (TU-35); it is logged once. Three do: a model, because its
        fallbacks are tried then, and a mode or a place of `/exec`, because without them it may do more than was meant.
Rule 3: a wish holds for the turn that has it; after that the agent's own choice applies again.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import structs

from rejoinder.agents.acp import Settings, wire
from rejoinder.agents.acp.wire import Option
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.jsonrpc import RpcError
from rejoinder.agents.thinking_levels import LEVELS, nearest_level
from rejoinder.events import Turn

log = logging.getLogger(__name__)

Ask = Callable[[str, Any], Awaitable[Any]]
"""Sends the agent a request with this method and these parameters."""
THINKING, MODEL, MODE = "thought_level", "model", "mode"


class SessionOptions:
    def __init__(self, session: str, offers: Any, settings: Settings) -> None:
        self._session = session
        self._settings = settings
        self._now = wire.options(offers)
        self._default_model = str(model.current) if (model := self._now.get(MODEL)) is not None else None
        self._default_level: str | None = None
        self._own: dict[str, str | bool] = {}  # the agent's own values of options that `/exec` has set
        self._refused: set[tuple[str, str | bool]] = set()

    @property
    def models(self) -> tuple[str, ...]:
        return self._now[MODEL].values if MODEL in self._now else ()

    @property
    def modes(self) -> tuple[str, ...]:
        return self._now[MODE].values if MODE in self._now else ()

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of `/think` that it takes: all if it has levels, each mapped to the closest of its own."""
        offered = self._now[THINKING].values if THINKING in self._now else ()
        return LEVELS if nearest_level("high", offered) is not None else ()

    def replace(self, offers: Any) -> None:
        self._now = wire.replaced(self._now, offers)

    async def configure(self, ask: Ask, turn: Turn) -> str | None:
        """Sets options, model and thinking as wanted; returns the model if it changed."""
        wanted = turn.model or self._settings.model or self._default_model or ""
        wanted = self._settings.models.get(wanted, wanted)
        changed = bool(wanted) and await self._set(ask, MODEL, wanted)
        # After the model, because the other options depend on it.
        for name, value in self._settings.options.items():
            await self._wish(ask, name, value)
        for key, name in self._settings.exec_options.items():
            await self._place(ask, name, turn.host if key == "host" else turn.node)
        await self._think(ask, turn.think)
        return wanted if changed else None

    async def _think(self, ask: Ask, wanted: str | None) -> None:
        option = self._now.get(THINKING)
        if option is None:
            return
        level = nearest_level(wanted, option.values) if wanted else self._default_level
        if level is not None and level in option.values:
            self._default_level = self._default_level or str(option.current)
            await self._wish(ask, THINKING, level)

    async def _place(self, ask: Ask, name: str, value: str | None) -> None:
        """Sets where the agent runs things; without a wish, to the value that it had before anybody had one."""
        if value is None:
            value = str(self._own.pop(name)) if name in self._own else None
        elif name not in self._own and (option := _called(self._now, name)) is not None:
            self._own[name] = option.current
        if value is not None:
            await self._set(ask, name, value)

    async def _wish(self, ask: Ask, name: str, value: str | bool) -> None:
        option = _called(self._now, name)
        if name == MODE or (option is not None and option.category == MODE):
            await self._set(ask, name, value)
            return
        try:
            await self._set(ask, name, value)
        except (RpcError, RunFailed) as problem:
            why = problem.failure.detail if isinstance(problem, RunFailed) else str(problem)
            if isinstance(problem, RunFailed) and problem.failure.kind in ("timeout", "crashed"):
                raise
            if (name, value) not in self._refused:
                self._refused.add((name, value))
                log.warning("the option %s is not set to %s: %s", name, value, why)

    async def _set(self, ask: Ask, name: str, value: str | bool) -> bool:
        option = _called(self._now, name)
        if option is not None and option.current == value:
            return False
        if option is None or (option.values and value not in option.values):
            offered = ", ".join(option.values) if option is not None else f"no option called {name}"
            kind = "model_not_found" if name == MODEL else "format"
            raise RunFailed(failed(kind, f"{name} cannot be set to {value}; the agent offers: {offered}"))
        result = await ask(option.method, option.setting(self._session, value))
        self._now = {**self._now, option.category: structs.replace(option, current=value)}
        self.replace(result)
        return True


def _called(options: Mapping[str, Option], name: str) -> Option | None:
    """The option with this category or id."""
    return options.get(name) or next((option for option in options.values() if option.id == name), None)
