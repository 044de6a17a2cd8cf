"""Which value is in force (IN-52, IN-59): this turn > session > `agents.defaults` > the agent's own."""

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from rejoinder.session import ExecChoice, Session

if TYPE_CHECKING:
    from rejoinder.inbound.rules import AgentProfile, Rules


class Effective(Struct, frozen=True):
    value: str
    whence: str


BY_DEFAULT = Effective("off", "by default")
_DEFAULTS = {"think": "thinking_default", "verbose": "verbose_default", "reasoning": "reasoning_default"}


def effective_level(
    name: str, choices: dict[str, Any], session: Session, rules: "Rules", agent: "AgentProfile"
) -> Effective:
    """The level in force, and where it was set."""
    if (value := choices.get(name)) is not None:
        return Effective(value, "this turn")
    if (value := getattr(session, name)) is not None:
        return Effective(value, "this session")
    key = _DEFAULTS.get(name)
    if key is not None and (value := getattr(rules.settings.defaults, key)) is not None:
        return Effective(value, f"agents.defaults.{key}")
    if (value := getattr(agent, name, None)) is not None:
        return Effective(value, f"the agent {agent.name}")
    return BY_DEFAULT


def effective_exec(choices: dict[str, Any], session: Session) -> ExecChoice:
    """The options of `/exec`, each looked up by itself: this turn > session."""
    own, now = session.exec or ExecChoice(), choices.get("exec") or ExecChoice()
    return replace(own, **{name: said for name, said in asdict(now).items() if said is not None})


def effective_model(
    choices: dict[str, Any], session: Session, agent: "AgentProfile", heartbeat: str | None = None
) -> Effective:
    """A heartbeat's own model > this turn > session > the agent of the channel."""
    sources = (
        (heartbeat, "the heartbeat"),
        (choices.get("model"), "this turn"),
        (session.model, "this session"),
        (agent.models.default, f"the agent {agent.name}"),
    )
    for value, whence in sources:
        if value is not None:
            return Effective(value, whence)
    return Effective("its own choice", f"the agent {agent.name}")


def chosen_model(choices: dict[str, Any], session: Session, agent: "AgentProfile") -> str | None:
    """The model in force; None: which one is left to the agent."""
    if agent.models.default or session.model or "model" in choices:
        return effective_model(choices, session, agent).value
    return None
