"""Which value is in effect (IN-52, IN-59): this turn > session > `agents.defaults` > the agent's own."""

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from rejoinder.inbound.directives.levels import DEFAULT
from rejoinder.session import ExecChoice, Session, held_by_session

if TYPE_CHECKING:
    from rejoinder.inbound.rules import AgentProfile, Rules


class Effective(Struct, frozen=True):
    value: str
    source: str


BY_DEFAULT = Effective("off", "by default")
UNCHOSEN = "its own choice"
"""Shown as the model of an agent if nobody chose one."""
_DEFAULTS = {"think": "thinking_default", "verbose": "verbose_default", "reasoning": "reasoning_default"}


def effective_level(
    name: str, choices: dict[str, Any], session: Session, rules: "Rules", agent: "AgentProfile"
) -> Effective:
    """The level in effect, and where it was set."""
    said = choices.get(name)
    if said is not None and said != DEFAULT:
        return Effective(said, "this turn")
    if said is None and (value := getattr(session, name)) is not None:
        return Effective(value, held_by_session(name))
    key = _DEFAULTS.get(name)
    if key is not None and (value := getattr(rules.settings.defaults, key)) is not None:
        return Effective(value, f"agents.defaults.{key}")
    if (value := getattr(agent, name, None)) is not None:
        return Effective(value, f"the agent {agent.name}")
    return BY_DEFAULT


def effective_exec(choices: dict[str, Any], session: Session) -> ExecChoice:
    """The options of `/exec`, each looked up separately: this turn > session."""
    own, now = session.exec or ExecChoice(), choices.get("exec")
    if now is None or now == ExecChoice():
        return own if now is None else now
    return replace(own, **{name: said for name, said in asdict(now).items() if said is not None})


def effective_model(choices: dict[str, Any], session: Session, agent: "AgentProfile") -> Effective:
    """The model in effect, in words for people."""
    model, source = _model(choices, session, agent)
    return Effective(UNCHOSEN if model is None else model, source)


def chosen_model(choices: dict[str, Any], session: Session, agent: "AgentProfile") -> str | None:
    """The model in effect; None if the choice is left to the agent."""
    return _model(choices, session, agent)[0]


def _model(choices: dict[str, Any], session: Session, agent: "AgentProfile") -> tuple[str | None, str]:
    """The model by this turn > session > the channel's agent, and where it was set."""
    said = choices.get("model")
    if said is not None and said != DEFAULT:
        return said, "this turn"
    if said is None and session.model is not None:
        return session.model, held_by_session("model")
    return agent.models.default, f"the agent {agent.name}"
