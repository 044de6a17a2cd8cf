"""Whose a thread is."""

import pytest

from rejoinder.events import EarlierMessage
from rejoinder.inbound.rules import channel_rules
from rejoinder.inbound.threads import hangs_under_ours
from tests.inbound.floor import house, says


@pytest.mark.parametrize(
    ("starter", "ours"),
    [
        (None, False),
        ("a text", False),
        (EarlierMessage("m0", "helper", is_bot=True), True),
        (EarlierMessage("m0", "helper"), False),
        (EarlierMessage("m0", "another", is_bot=True), False),
    ],
)
def test_a_thread_is_ours_if_it_hangs_under_a_message_of_ours(starter, ours):
    """IN-22."""
    rules = house(agents=("helper",))
    inbound = says("x", group=True, thread="7", thread_starter=starter)
    assert hangs_under_ours(inbound, channel_rules(rules, "telegram")) is ours
