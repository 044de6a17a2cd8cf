"""Which value counts in the end (IN-52, IN-59): this turn > session > `agents.defaults` > the agent's own."""

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rejoinder.session import Session

if TYPE_CHECKING:
    from rejoinder.inbound.rules import AgentProfile, Rules


class Effective(Struct, frozen=True):
    value: str
    whence: str


_DEFAULTS = {"think": "thinking_default", "verbose": "verbose_default", "reasoning": "reasoning_default"}


def effective_level(
    name: str, choices: dict[str, Any], session: Session, rules: "Rules", agent: "AgentProfile"
) -> Effective:
    """The level in force, and who said so."""
    key = _DEFAULTS.get(name)
    sources = (
        (choices.get(name), "this turn"),
        (getattr(session, name), "this session"),
        (getattr(rules.settings.defaults, key) if key else None, f"agents.defaults.{key}"),
        (getattr(agent, name, None), f"the agent {agent.name}"),
    )
    for value, whence in sources:
        if value is not None:
            return Effective(value, whence)
    return Effective("off", "by default")


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
