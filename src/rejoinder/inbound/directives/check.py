"""Whether a directive can be honoured by this agent, for this sender, in this place (IN-57, IN-59).

A directive that is understood but cannot be honoured is refused with the reason; a setting that would have no effect
is never stored.
"""

from msgspec import Struct

from rejoinder.inbound.directives import levels
from rejoinder.inbound.directives.exec import HANDED_OVER, usage
from rejoinder.inbound.directives.tokenise import Token
from rejoinder.inbound.elevation import gates
from rejoinder.inbound.gate import Actor
from rejoinder.inbound.rules import AgentProfile, ChannelRules, Rules
from rejoinder.session import ExecChoice


class DirectiveContext(Struct, frozen=True):
    """Where the directive was written, and by whom."""

    rules: Rules
    channel: ChannelRules
    actor: Actor
    account: str
    candidates: tuple[str, ...]
    agent: AgentProfile
    """The agent's profile, with the models it offers at this moment, if it lists any."""


def find_problem(token: Token, here: DirectiveContext) -> str | None:
    """What is wrong with the directive, in a sentence for the sender; None if nothing is."""
    if token.problem or token.value is None:
        return token.problem
    check = _CHECKS.get(token.name)
    return check(token, here) if check else None


def _think(token: Token, here: DirectiveContext) -> str | None:
    able = here.agent.think_levels
    if token.value in (*able, levels.DEFAULT):
        return None
    if not able:
        return f"The agent {here.agent.name} has no thinking levels."
    return f"The agent {here.agent.name} cannot think at {token.value}; valid: {', '.join(able)}"


def _reasoning(token: Token, here: DirectiveContext) -> str | None:
    if token.value in ("off", levels.DEFAULT) or here.agent.shows_thoughts:
        return None
    return f"The agent {here.agent.name} does not show its thoughts."


def _elevated(token: Token, here: DirectiveContext) -> str | None:
    if token.value in ("off", levels.DEFAULT):
        return None
    if not here.agent.asks_permission:
        return f"The agent {here.agent.name} never asks for permission, so /elevated would change nothing."
    if closed := gates(here.rules, here.channel, here.account, here.candidates):
        return f"Elevated is not available: {'; '.join(closed)}."
    if reason := levels.UNHONOURED.get(("elevated", token.value)):
        return f"Elevated {token.value} {reason}; valid: {', '.join(levels.level_names('elevated'))}"
    return None


def _exec(token: Token, here: DirectiveContext) -> str | None:
    choice: ExecChoice = token.value
    name, takes = here.agent.name, here.agent.takes_exec
    if (choice.security or choice.ask) and not here.agent.asks_permission:
        return f"The agent {name} never asks for permission, so security and ask would change nothing."
    if untaken := [key for key in HANDED_OVER if getattr(choice, key) and key not in takes]:
        return f"The agent {name} does not take {' or '.join(untaken)}; valid: {exec_options(here.agent)}"
    if choice.security == "allowlist" and not here.agent.has_allowlist:
        return f"The agent {name} has no list of what it may do without asking."
    return None


def exec_options(agent: AgentProfile) -> str:
    """The options of `/exec` for this agent."""
    return usage(asks=agent.asks_permission, takes=agent.takes_exec, has_list=agent.has_allowlist)


def _model(token: Token, here: DirectiveContext) -> str | None:
    models = here.agent.models
    if token.value.lower() == levels.DEFAULT:
        return None
    if not here.agent.changes_model:
        return f"The agent {here.agent.name} does not change its model."
    return models.problem(token.value) if models.choose(token.value) is None else None


_CHECKS = {
    "think": _think,
    "reasoning": _reasoning,
    "elevated": _elevated,
    "exec": _exec,
    "model": _model,
}
