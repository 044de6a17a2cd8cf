"""Tries the models of an agent until one answers (TU-22), and makes room once when the context is full (TU-23).

`turns.fallback` says what each failure means. Once part of the answer has been shown, no second attempt is made: the
beginning would be said twice.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from random import random
from time import monotonic

from msgspec.structs import replace

from rejoinder.agents.base import Agent, CanSetModel, Failed
from rejoinder.bounded import Bounded
from rejoinder.events import Turn
from rejoinder.runtime.abilities import can
from rejoinder.turns.fallback import (
    Candidate,
    Cooldowns,
    FallbackState,
    NoFallback,
    after_failure,
    begin,
    candidates,
    transition_notice,
    with_cooldown,
    without_cooldown,
)

log = logging.getLogger(__name__)

SESSIONS = 10_000
COMPACTED = "The conversation was too long for the model and has been shortened."

Notice = Callable[[str], Awaitable[None]]
Answers = Callable[[], Awaitable[None]]
Try = Callable[[Turn, Answers], Awaitable[Failed | None]]
"""One try at a turn. It calls `Answers` before it passes on the first words, so not for a model that fails."""
Compact = Callable[[str, Agent], Awaitable[bool]]


class Attempts:
    """Remembers between turns which credentials are cooling down, and which model each session was last told about."""

    def __init__(self, compact: Compact, check: Callable[[], None]) -> None:
        """`check` raises once another process may own the shard, so that no try begins then (SC-3)."""
        self._compact = compact
        self._check = check
        self._cooldowns: Cooldowns = {}
        self._told: Bounded[str, str] = Bounded(SESSIONS)

    async def run(
        self, agent: Agent, turn: Turn, attempt: Try, begun: Callable[[], bool], notice: Notice, no_such_model: Notice
    ) -> Failed | None:
        """Returns None if the turn was answered, otherwise the failure that could not be overcome.

        `notice` is for what only verbose sessions are told. `no_such_model` tells a person that the model they chose
        does not exist.
        """
        trial = begin(_models_of(agent, turn), self._cooldowns, monotonic())
        compacted = False
        kind: str | None = None
        while True:
            model = trial.current.model or None
            says = no_such_model if kind == "model_not_found" else notice
            answers = partial(self._tell, turn.session, trial, kind, says)
            self._check()
            failed = await attempt(turn if turn.model == model else replace(turn, model=model), answers)
            if failed is None:
                if self._cooldowns:
                    self._cooldowns = without_cooldown(self._cooldowns, trial.current.credential)
                return None
            log.warning("%s failed (%s): %s", agent.name, failed.kind, failed.detail or failed.sentence)
            if begun():
                return failed
            if failed.kind == "context_overflow" and not compacted:
                compacted = True
                if await self._compact(turn.session, agent):
                    await notice(COMPACTED)
                    continue
                return failed
            following = self._after(trial, failed)
            if following is None:
                return failed
            trial, kind = following, failed.kind
            await asyncio.sleep(trial.wait)

    async def _tell(self, session: str, trial: FallbackState, kind: str | None, notice: Notice) -> None:
        if (told := transition_notice(self._told.get(session), trial, kind)) is not None:
            self._told[session] = trial.current.model
            await notice(told)

    def _after(self, trial: FallbackState, failed: Failed) -> FallbackState | None:
        now = monotonic()
        hurry = (failed.transient, failed.retry_after)
        self._cooldowns = with_cooldown(self._cooldowns, trial, failed.kind, now, *hurry)
        following = after_failure(trial, failed.kind, self._cooldowns, now, *hurry, chance=random())
        return None if isinstance(following, NoFallback) else following


def _models_of(agent: Agent, turn: Turn) -> tuple[Candidate, ...]:
    return candidates(agent.name, turn.model or "", tuple(agent.fallbacks) if can(agent, CanSetModel) else ())
