"""What a directive stores in the session, the reply to it, and what the agent is told (IN-54, IN-58)."""

from collections.abc import Iterable
from typing import Any, cast

from msgspec.structs import asdict, replace

from rejoinder.inbound.directives.check import exec_options
from rejoinder.inbound.directives.effective import effective_level, effective_model
from rejoinder.inbound.directives.levels import DEFAULT, LEVELS
from rejoinder.inbound.directives.queue import STEERING, cannot_steer
from rejoinder.inbound.directives.table import BY_NAME
from rejoinder.inbound.directives.tokenise import Token
from rejoinder.inbound.rules import AgentProfile, ChannelRules, Rules
from rejoinder.session import ExecChoice, QueueChoice, Session, with_event

TITLES = {
    "think": "Thinking",
    "verbose": "Verbose",
    "reasoning": "Reasoning",
    "elevated": "Elevated",
    "exec": "Exec",
    "model": "Model",
    "queue": "Queue",
}

SPELT = {"mode": "{}", "debounce_ms": "debounce={}ms"}
"""The spelling of options whose typed form differs from their field."""


def plain(value: Any) -> Any:
    """A directive's value in the form for scripts: a word, or the options that were given."""
    if isinstance(value, QueueChoice) and value == QueueChoice():
        return {"mode": DEFAULT}
    if isinstance(value, ExecChoice | QueueChoice):
        return {key: said for key, said in asdict(value).items() if said is not None}
    return value


def spoken(value: Any) -> str:
    """A directive's value as a person would type it."""
    shown = plain(value)
    if not isinstance(shown, dict):
        return str(shown)
    if not shown:
        return DEFAULT
    options = cast("dict[str, Any]", shown)
    return " ".join(SPELT.get(key, f"{key}={{}}").format(said) for key, said in options.items())


def values(tokens: Iterable[Token], agent: AgentProfile) -> dict[str, Any]:
    """The value of each directive, by name. If one is repeated the last one counts; options count one by one."""
    chosen: dict[str, Any] = {}
    for token in tokens:
        value, before = _resolved(token, agent), chosen.get(token.name)
        options = isinstance(before, ExecChoice | QueueChoice) and value not in (ExecChoice(), QueueChoice())
        chosen[token.name] = _merged(before, value) if options else value
    return chosen


def _resolved(token: Token, agent: AgentProfile) -> Any:
    """The value, with a model's short name replaced by the model."""
    if token.name != "model":
        return token.value
    return DEFAULT if token.value.lower() == DEFAULT else agent.models.choose(token.value)


def keep(session: Session, name: str, value: Any) -> Session:
    """The session with this directive in it."""
    kept = _stored(session, name, value)
    changed = replace(session, **{name: kept})
    if name in ("model", "elevated", "reasoning") and kept != getattr(session, name):
        return with_event(changed, f"{TITLES[name]} is now {spoken(value)}.")
    return changed


def _stored(session: Session, name: str, value: Any) -> Any:
    if value in (DEFAULT, QueueChoice(), ExecChoice()):
        return None
    if name == "queue":
        return _merged(session.queue or QueueChoice(), value)
    if name == "exec":
        return _merged(session.exec or ExecChoice(), value)
    return value


def takes_effect(name: str, value: Any) -> bool:
    """Whether this sets something; `default` only unsets a level, or options."""
    return not (name in LEVELS and value == DEFAULT) and value != ExecChoice()


def acknowledged(name: str, value: Any, session: Session, rules: Rules, agent: AgentProfile) -> str:
    """The line about a directive that was stored in the session; if it unset a level, the line says what applies
    instead."""
    if name in LEVELS and value == DEFAULT:
        return f"{TITLES[name]}: default, which is {effective_level(name, {}, session, rules, agent).value}."
    if isinstance(value, QueueChoice) and value.mode in STEERING and not agent.steers:
        return f"{TITLES[name]}: {spoken(value)}. {cannot_steer(agent.name)}"
    return f"{TITLES[name]}: {spoken(value)}."


def _merged(old: Any, new: Any) -> Any:
    return replace(old, **{key: said for key, said in asdict(new).items() if said is not None})


def current(name: str, session: Session, rules: Rules, channel: ChannelRules, agent: AgentProfile) -> str:
    """The answer to a directive without argument: the value in effect, and the possible values."""
    if name == "model":
        model = effective_model({}, session, agent)
        offered = ", ".join(agent.models.names()) or BY_NAME["model"].options
        more = "; /models lists more" if agent.models.offered else ""
        return f"Model: {model.value} ({model.source}). Options: {offered}{more}"
    if name == "queue":
        chosen = _merged(channel.queue, session.queue or QueueChoice())
        return f"Queue: {spoken(chosen)}. Options: {BY_NAME[name].options}"
    if name == "exec":
        said = spoken(session.exec) if session.exec else "not set"
        options = exec_options(agent)
        if options == DEFAULT and not session.exec:
            return f"Exec: {said}. The agent {agent.name} has no options for it."
        return f"Exec: {said}. Options: {options}"
    level = effective_level(name, {}, session, rules, agent)
    return f"{TITLES[name]}: {level.value} ({level.source}). Options: {BY_NAME[name].options}"
