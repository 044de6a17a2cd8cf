"""What to do when a model fails: retry it, try the next one, or give up (TU-22).

Rule 1: one table says what each kind of failure means.
Rule 2: within a turn every model is tried once, or twice if the failure may have been a hiccup, so the turn always
        ends. The second try never comes at once, nor at the same moment in every chat (DE-32).
Rule 3: a credential that failed rests for a while, longer each time. But a rest is only advice: if nothing else is
        left, the credential whose rest ends first is tried, because a user is waiting for an answer.
Rule 4: an abort is not a failure, and a context that is too long is too long for the next model too.
"""

from functools import lru_cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

COOLDOWN_MINUTES: Final = (1, 5, 25, 60)


class FailureHandling(Struct, frozen=True):
    meaning: str
    retry: bool = False
    """Whether to try the same model once more first."""
    next_model: bool = False
    cools_down: bool = False
    """Whether the credential is at fault and gets a cool-down."""


ON_FAILURE: Final[dict[str, FailureHandling]] = {
    "billing": FailureHandling("the account has no credit left", next_model=True, cools_down=True),
    "rate_limit": FailureHandling("the account made too many requests", next_model=True, cools_down=True),
    "auth": FailureHandling("the credential is not accepted", next_model=True, cools_down=True),
    "timeout": FailureHandling("no answer in time", next_model=True, cools_down=True),
    "overloaded": FailureHandling("the provider is overloaded", retry=True, next_model=True, cools_down=True),
    "format": FailureHandling("the model does not take this request", next_model=True),
    "model_not_found": FailureHandling("there is no such model", next_model=True),
    "unreachable": FailureHandling("the connection failed", retry=True),
    "context_overflow": FailureHandling("the conversation is too long for the model"),
    "crashed": FailureHandling("the agent ended before its answer"),
    "aborted": FailureHandling("somebody stopped it"),
    "other": FailureHandling("not classified"),
}


class Candidate(Struct, frozen=True):
    model: str
    credential: str


@lru_cache
def candidates(agent: str, selected: str, fallbacks: tuple[str, ...]) -> tuple[Candidate, ...]:
    """The selected model, then the agent's fallbacks, each once.

    An agent has one key, so the cool-down applies to that key with that model: otherwise no fallback would be left.
    """
    return tuple([Candidate(model, f"{agent}/{model}") for model in dict.fromkeys((selected, *fallbacks))])


class Cooldown(Struct, frozen=True):
    """One credential's cool-down. Times are seconds of whatever clock the caller uses."""

    failures: int = 0
    until: float = 0


Cooldowns = dict[str, Cooldown]


BACK_OFF: Final = 0.5
"""The fewest seconds between two tries of one model. A random part makes them up to twice as many."""
LONGEST_WAIT: Final = 5.0
"""The most seconds a turn waits if the provider says when to retry; a longer wait is no hiccup."""


class FallbackState(Struct, frozen=True):
    """The state of one turn: the model being tried, those already tried, and whether the retry is used up."""

    candidates: tuple[Candidate, ...]
    current: Candidate
    tried: tuple[Candidate, ...] = ()
    retried: bool = False
    wait: float = 0
    """Seconds to wait before this try."""


class NoFallback(Struct, frozen=True):
    """No other model can help: the user is told of the failure."""

    kind: str


def begin(candidates: tuple[Candidate, ...], cooldowns: Cooldowns, now: float) -> FallbackState:
    """Begins with the selected model, then its fallbacks; uses one that rests only if all of them rest."""
    return FallbackState(candidates, _pick(candidates, cooldowns, now))


def after_failure(
    trial: FallbackState,
    kind: str,
    cooldowns: Cooldowns,
    now: float,
    transient: bool = False,
    retry_after: float | None = None,
    chance: float = 0.0,
) -> FallbackState | NoFallback:
    """What to do after a failure. `cooldowns` must already include this failure (see `with_cooldown`).

    `transient` and `retry_after` come from the provider: whether it was a hiccup, and when to try again. `chance`, from
    0 to 1, spreads the second tries of many chats.
    """
    treatment = ON_FAILURE.get(kind, ON_FAILURE["other"])
    if _is_hiccup(trial, treatment, transient, retry_after):
        return replace(trial, retried=True, wait=_wait(retry_after or 0, chance))
    if not treatment.next_model:
        return NoFallback(kind)
    tried = (*trial.tried, trial.current)
    left = tuple(candidate for candidate in trial.candidates if candidate not in tried)
    if left:
        return FallbackState(trial.candidates, _pick(left, cooldowns, now), tried)
    if retry_after is not None and _is_soon(trial, retry_after):
        # No other model is left, and this one says when it will answer.
        return replace(trial, retried=True, wait=_wait(retry_after, chance))
    return NoFallback(kind)


def with_cooldown(
    cooldowns: Cooldowns,
    trial: FallbackState,
    kind: str,
    now: float,
    transient: bool = False,
    retry_after: float | None = None,
) -> Cooldowns:
    """The cool-downs after a failure: 1, 5, 25, then 60 minutes, or the time the provider requested if that is longer.
    A first hiccup is not counted."""
    treatment = ON_FAILURE.get(kind, ON_FAILURE["other"])
    if not treatment.cools_down or _is_hiccup(trial, treatment, transient, retry_after):
        return cooldowns
    failures = cooldowns.get(trial.current.credential, Cooldown()).failures + 1
    minutes = COOLDOWN_MINUTES[min(failures, len(COOLDOWN_MINUTES)) - 1]
    return {**cooldowns, trial.current.credential: Cooldown(failures, now + max(60 * minutes, retry_after or 0))}


def without_cooldown(cooldowns: Cooldowns, credential: str) -> Cooldowns:
    """The cool-downs after a success: this credential starts from the beginning."""
    return {name: cooldown for name, cooldown in cooldowns.items() if name != credential}


def transition_notice(told: str | None, trial: FallbackState, kind: str | None) -> str | None:
    """The line for a verbose session, once for each transition. `told`: the model the session was last told about."""
    selected, active = trial.candidates[0].model, trial.current.model
    if active == (told or selected):
        return None
    if active == selected:
        return f"Model fallback ended: {selected} answers again (was {told})."
    reason = f": {ON_FAILURE[kind].meaning}" if kind in ON_FAILURE else ""
    return f"Model fallback: {active} answers instead of {selected}{reason}."


def _is_hiccup(trial: FallbackState, treatment: FailureHandling, transient: bool, retry_after: float | None) -> bool:
    """Whether it is worth trying the same model once more, and soon."""
    return (treatment.retry or transient) and _is_soon(trial, retry_after or 0)


def _wait(asked: float, chance: float) -> float:
    return max(asked, BACK_OFF) + chance * BACK_OFF


def _is_soon(trial: FallbackState, wait: float) -> bool:
    return not trial.retried and wait <= LONGEST_WAIT


def _pick(candidates: tuple[Candidate, ...], cooldowns: Cooldowns, now: float) -> Candidate:
    if not cooldowns:
        return candidates[0]

    def wait(candidate: Candidate) -> float:
        return max(0.0, cooldowns.get(candidate.credential, Cooldown()).until - now)

    return min(candidates, key=wait)
