"""SC-25: what keeps a process from working on a store beside others."""

import pytest

from rejoinder.session import SessionSettings
from rejoinder.turns.agreement import ACCOUNTS, accounts_named, difference, homes_by

HERE = {"session.scope": '"sender"', "session.main_key": '"main"', ACCOUNTS: '["telegram/bot"]'}
AS_HERE = {key: value.encode() for key, value in HERE.items()}
OTHER_ACCOUNTS, OTHER_SCOPE = {ACCOUNTS: b'["slack/bot"]'}, {"session.scope": b'"main"'}


@pytest.mark.parametrize(
    ("recorded", "others", "key"),
    [
        ({}, False, ""),
        ({}, True, ""),
        (AS_HERE, False, ""),
        (AS_HERE, True, ""),
        ({"session.forgotten": b"1"}, True, ""),
        ({**AS_HERE, **OTHER_ACCOUNTS}, False, ""),
        ({**AS_HERE, **OTHER_ACCOUNTS}, True, "channels: "),
        ({**AS_HERE, **OTHER_SCOPE}, False, "session.scope is "),
        ({**AS_HERE, **OTHER_SCOPE}, True, "session.scope is "),
        ({**OTHER_SCOPE, **OTHER_ACCOUNTS}, False, "session.scope is "),
    ],
)
def test_which_setting_differs(recorded, others, key):
    """SC-25: where chats live always has to be as recorded, accounts only while others run."""
    said = difference(recorded, HERE, others=others)
    assert said.startswith(key)
    assert bool(said) == bool(key)


def test_what_is_written_does_not_depend_on_an_order():
    """SC-25: two files that say the same agree."""
    one = SessionSettings(identity_links={"ann": ("slack:1", "telegram:2"), "bob": ("slack:3",)})
    two = SessionSettings(identity_links={"bob": ("slack:3",), "ann": ("telegram:2", "slack:1")})
    assert homes_by(one) == homes_by(two)
    assert accounts_named([("slack", "b"), ("slack", "a")]) == accounts_named([("slack", "a"), ("slack", "b")])
