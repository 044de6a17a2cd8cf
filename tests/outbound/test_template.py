"""Words of the operator with names in them."""

import pytest

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.outbound.template import fill, values_of

INBOUND = Inbound(
    "telegram", "e1", "42", Chat("7", "group", "Ops"), Sender("1", "ann", "Ann"), text=" Hello {{SessionId}} "
)
VALUES = values_of(INBOUND, "main", is_new=True)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("[{{Channel}}]", "[telegram]"),
        ("{{MessageId}} {{message_id}} {{ MESSAGEID }}", "42 42 42"),
        ("{{Sender}} in {{Chat}}", "Ann in Ops"),
        ("{{SessionId}}/{{IsNewSession}}", "main/true"),
        ("a{{Nobody}}b", "ab"),
        ("{{Text}}|{{BodyStripped}}", " Hello {{SessionId}} |Hello {{SessionId}}"),
        ("{model} {{", "{model} {{"),
    ],
)
def test_names_are_filled_in_once(template, filled):
    """DE-5: not recursive; unknown is empty; fields of the message and three more."""
    assert fill(template, VALUES) == filled
