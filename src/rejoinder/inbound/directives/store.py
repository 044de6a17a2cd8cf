"""What a directive stores in the session, what it replies, and what the agent is told (IN-54, IN-58)."""

from collections.abc import Iterable
from typing import Any, cast

from msgspec.structs import asdict, replace

from rejoinder.inbound.directives.effective import effective_level, effective_model
from rejoinder.inbound.directives.exec import usage
from rejoinder.inbound.directives.model import DEFAULT_MODEL
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
"""How to spell the options whose typed form differs from their field."""


def plain(value: Any) -> Any:
    """A directive's value as it is shown to scripts: a word, or the options that were given."""
    if isinstance(value, QueueChoice) and value == QueueChoice():
        return {"mode": "default"}
    if isinstance(value, ExecChoice | QueueChoice):
        return {key: said for key, said in asdict(value).items() if said is not None}
    return value


def spoken(value: Any) -> str:
    """A directive's value as one would type it."""
    shown = plain(value)
    if not isinstance(shown, dict):
        return str(shown)
    options = cast("dict[str, Any]", shown)
    return " ".join(SPELT.get(key, f"{key}={{}}").format(said) for key, said in options.items())


def values(tokens: Iterable[Token], agent: AgentProfile) -> dict[str, Any]:
    """The value of each directive, by name: of repeated ones the last counts, for options one by one."""
    meant: dict[str, Any] = {}
    for token in tokens:
        value, before = _resolved(token, agent), meant.get(token.name)
        options = isinstance(before, ExecChoice | QueueChoice) and value != QueueChoice()
        meant[token.name] = _merged(before, value) if options else value
    return meant


def _resolved(token: Token, agent: AgentProfile) -> Any:
    """A model's short name becomes the model."""
    if token.name != "model":
        return token.value
    return DEFAULT_MODEL if token.value.lower() == DEFAULT_MODEL else agent.models.choose(token.value)


def keep(session: Session, name: str, value: Any) -> Session:
    """The session with this directive in it."""
    kept = _stored(session, name, value)
    changed = replace(session, **{name: kept})
    if name in ("model", "elevated", "reasoning") and kept != getattr(session, name):
        return with_event(changed, f"{TITLES[name]} is now {spoken(value)}.")
    return changed


def _stored(session: Session, name: str, value: Any) -> Any:
    if name == "model":
        return None if value == DEFAULT_MODEL else value
    if name == "queue":
        return None if value == QueueChoice() else _merged(session.queue or QueueChoice(), value)
    if name == "exec":
        return _merged(session.exec or ExecChoice(), value)
    return value


def _merged(old: Any, new: Any) -> Any:
    return replace(old, **{key: said for key, said in asdict(new).items() if said is not None})


def current(name: str, session: Session, rules: Rules, channel: ChannelRules) -> str:
    """The answer to a directive without argument: what is in force, and what could be."""
    agent = channel.agent_called(session.agent)
    if name == "model":
        model = effective_model({}, session, agent)
        offered = ", ".join(agent.models.names()) or BY_NAME["model"].options
        return f"Model: {model.value} ({model.whence}). Options: {offered}"
    if name == "queue":
        chosen = _merged(channel.queue, session.queue or QueueChoice())
        return f"Queue: {spoken(chosen)}. Options: {BY_NAME[name].options}"
    if name == "exec":
        said = spoken(session.exec) if session.exec else "not set"
        return f"Exec: {said}. Options: {usage(takes_host=agent.takes_exec_settings, has_list=agent.has_allowlist)}"
    level = effective_level(name, {}, session, rules, agent)
    return f"{TITLES[name]}: {level.value} ({level.whence}). Options: {BY_NAME[name].options}"
