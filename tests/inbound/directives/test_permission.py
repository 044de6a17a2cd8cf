"""IN-59: how strict a session is with its agent, and who may grant what the agent asks for."""

from itertools import product
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from rejoinder.events import Entry, Sender
from rejoinder.inbound.directives.exec import strictness_of
from rejoinder.inbound.directives.permission import may_grant
from rejoinder.inbound.gate import Actor, Role
from rejoinder.inbound.message import InboundMessage
from rejoinder.session import ExecAsk, ExecChoice, ExecSecurity
from tests.inbound.floor import FACTS, says

STRICT = {
    ("deny", "off"): "deny",
    ("deny", "on-miss"): "deny",
    ("deny", "always"): "deny",
    ("deny", None): "deny",
    ("allowlist", "off"): "list",
    ("allowlist", "on-miss"): "list",
    ("allowlist", "always"): "ask",
    ("allowlist", None): "list",
    ("full", "off"): None,
    ("full", "on-miss"): None,
    ("full", "always"): "ask",
    ("full", None): None,
    (None, "off"): None,
    (None, "on-miss"): None,
    (None, "always"): "ask",
    (None, None): None,
}
"""`security` and `ask` of `/exec`, and what the agent is told."""


@pytest.mark.parametrize(("security", "ask"), STRICT)
def test_the_stricter_option_counts(security: Any, ask: Any):
    """IN-59: to deny is stricter than to ask, and to ask is stricter than a list."""
    assert strictness_of(ExecChoice(security=security, ask=ask)) == STRICT[security, ask]


def test_every_pair_of_options_has_a_row():
    assert set(STRICT) == set(product((*get_args(ExecSecurity), None), (*get_args(ExecAsk), None)))


def message(
    role: Role = "sender", sender: str = "ann", *, bot: bool = False, entry: Entry = "text", **more: Any
) -> InboundMessage:
    inbound = replace(says("hi"), sender=Sender(sender, is_bot=bot), entry=entry)
    return InboundMessage(inbound, FACTS, actor=Actor(role), **more)


MAY_GRANT: dict[str, tuple[InboundMessage, set[str]]] = {
    "an owner": (message("owner"), {"ann"}),
    "a sender": (message("sender"), {"ann"}),
    "a guest": (message("guest"), set()),
    "a stranger": (message("stranger"), set()),
    "a bot": (message("bot", bot=True), set()),
    "a bot that is named as an owner": (message("owner", bot=True), set()),
    "somebody whose role is not established": (InboundMessage(says("hi"), FACTS), set()),
    "an owner who is only listened to": (message("owner", listening=True), set()),
    "a job, which acts for the owner": (message("owner", entry="cron"), set()),
    "a job that a sender's words led to": (message("owner", entry="cron", answerable=("bob",)), {"bob"}),
    "a sub-agent of two people": (message("owner", entry="cron", subagent=True, answerable=("a", "b")), {"a", "b"}),
}


@pytest.mark.parametrize("who", MAY_GRANT)
def test_who_may_grant_what_the_agent_asks_for(who: str):
    """IN-59, TU-34: the people who asked for the turn and may use commands, and nobody else."""
    asked, granted_by = MAY_GRANT[who]
    assert may_grant([asked]) == granted_by


def test_every_role_has_a_row():
    assert {asked.actor.role for asked, _ in MAY_GRANT.values()} == set(get_args(Role))


def test_a_turn_of_several_messages():
    """TU-34: each of the people may answer who could alone; the others gain nothing by speaking beside them."""
    asked = [message("guest", sender="eve"), message("owner"), message(sender="bob"), message("bot", bot=True)]
    assert may_grant(asked) == {"ann", "bob"}


def test_a_turn_of_nobody():
    assert may_grant([]) == frozenset()
