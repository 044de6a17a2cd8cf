"""A turn of the clock before the gate (IN-12, IN-75, TU-27)."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.inbound.directives.model import Models
from rejoinder.inbound.gate import CARRIES, Actor
from rejoinder.inbound.rules import AgentProfile, make_rules
from rejoinder.inbound.scheduled import refusal, scheduled_message
from rejoinder.inbound.settings import InboundSettings, SendPolicy, SendRule
from rejoinder.session import Session

NOW = datetime(2026, 11, 16, tzinfo=UTC)
SESSION = Session(key="helper:cron:tidy", agent="helper", started=NOW, touched=NOW)
INBOUND = Inbound("fake", "tidy@1", "", Chat("room"), Sender(""), "/new Tidy up.", entry="cron")


def rules(policy: SendPolicy | None = None):
    settings = InboundSettings(send_policy=policy or SendPolicy())
    return make_rules(settings, [AgentProfile("helper", Models(aliases={"Small": "vendor/small-1"}))])


def test_it_acts_for_the_operator_by_the_listener_the_clock():
    """IN-12: who configured it owns the bot; the door takes away what nobody watches over."""
    message = scheduled_message(INBOUND, "helper", None, rules(), heartbeat=False)
    assert message.actor == Actor("owner", "cron")
    assert message.background
    assert message.refusal is None


def test_nothing_is_looked_for_in_its_words():
    """TU-27: the prompt is given to the agent as it stands."""
    message = scheduled_message(INBOUND, "helper", None, rules(), heartbeat=False)
    assert message.agent_text == "/new Tidy up."
    assert not message.choices


@pytest.mark.parametrize(("said", "model"), [("small", "vendor/small-1"), ("other", "other")])
def test_a_model_is_named_as_people_name_it(said, model):
    """IN-52: the alias resolved."""
    assert scheduled_message(INBOUND, "helper", said, rules(), heartbeat=True).choices == {"model": model}


@pytest.mark.parametrize(
    ("policy", "session", "why"),
    [
        (SendPolicy(), SESSION, None),
        (SendPolicy(default="deny"), SESSION, "the send policy denies it by default"),
        (
            SendPolicy(rules=(SendRule(action="deny", channel="fake"),)),
            SESSION,
            "a send rule denies it (channel = fake)",
        ),
        (SendPolicy(), replace(SESSION, send_policy="off"), "/send off is set in this session"),
        (SendPolicy(default="deny"), replace(SESSION, send_policy="on"), None),
    ],
)
def test_where_nothing_may_be_sent_nobody_is_asked(policy, session, why):
    """IN-75: the same policy as for everybody."""
    message = scheduled_message(INBOUND, "helper", None, rules(policy), heartbeat=False)
    assert refusal(message, session, rules(policy), NOW) == why


def test_the_gate_is_asked(monkeypatch):
    """IN-12: if the clock's door carried nothing, there would be no turn."""
    monkeypatch.setitem(CARRIES, "cron", None)
    message = scheduled_message(INBOUND, "helper", None, rules(), heartbeat=False)
    assert refusal(message, SESSION, rules(), NOW) == "a turn: cron carries no authority"
