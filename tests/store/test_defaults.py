"""What has its default is left out of stored rows, so defaults are part of the format: another one would change what
older rows say, and two versions on one database would read the same row differently."""

import pytest
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.session import Session
from rejoinder.store.base import IndexedMessage

TELLING = {
    Chat: {"kind": "direct"},
    Inbound: {"account": "default", "entry": "text"},
    IndexedMessage: {"kind": "human"},
}
"""The others say that there is nothing."""


@pytest.mark.parametrize("kind", [Chat, Sender, Inbound, Session, IndexedMessage])
def test_defaults_of_stored_rows_stay_as_they_are(kind: type[Struct]) -> None:
    defaults = {field.name: field.default for field in fields(kind) if field.default is not NODEFAULT}
    assert {name: default for name, default in defaults.items() if default} == TELLING.get(kind, {})
