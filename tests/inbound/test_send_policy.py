"""IN-75: whether an answer may be sent."""

from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.inbound.rules import Rules, make_rules
from rejoinder.inbound.settings import SendPolicy, SendRule
from tests.inbound.floor import AGENT, AT_US, OWNER, house, outcome, says, send, session


def with_policy(*rules: SendRule, default: Any = "allow") -> Rules:
    policy = SendPolicy(default=default, rules=rules)
    return make_rules(replace(house().settings, send_policy=policy), (AGENT,))


DENY_GROUPS = SendRule("deny", chat="group")
ALLOW_TELEGRAM = SendRule("allow", channel="telegram")


@pytest.mark.parametrize(
    ("rules", "default", "own", "group", "expected"),
    [
        ((), "allow", None, False, "turn"),
        ((), "deny", None, False, "drop"),
        ((DENY_GROUPS,), "allow", None, True, "drop"),
        ((DENY_GROUPS,), "allow", None, False, "turn"),
        ((ALLOW_TELEGRAM,), "deny", None, False, "turn"),
        ((ALLOW_TELEGRAM, DENY_GROUPS), "deny", None, True, "drop"),
        ((DENY_GROUPS, ALLOW_TELEGRAM), "deny", None, True, "drop"),
        ((SendRule("deny", key_prefix="helper:"),), "allow", None, False, "drop"),
        ((SendRule("deny", key_prefix="other:"),), "allow", None, False, "turn"),
        ((SendRule("deny", channel="slack", chat="direct"),), "allow", None, False, "turn"),
        ((DENY_GROUPS,), "deny", "on", True, "turn"),
        ((), "allow", "off", False, "drop"),
    ],
)
def test_session_over_rules_over_default(rules: Any, default: Any, own: Any, group: bool, expected: str) -> None:
    """IN-75: any fitting deny wins over any allow."""
    done = send(
        says("@ourbot hi", group=group, mentions=AT_US),
        with_policy(*rules, default=default),
        of=session(send_policy=own),
    )
    assert outcome(done) == expected


def test_commands_still_answer() -> None:
    """IN-75: the policy is looked at after them, so it can be undone by `/send on`."""
    rules = with_policy(default="deny")
    assert outcome(send(says("/status"), rules)) == "answer"
    on = send(says("/send on", OWNER), rules, of=session(send_policy="off"))
    assert on.session is not None
    assert on.session.send_policy == "on"
    inherit = send(says("/send inherit", OWNER), rules, of=on.session)
    assert inherit.session is not None
    assert inherit.session.send_policy is None
