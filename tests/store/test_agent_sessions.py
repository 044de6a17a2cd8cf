"""What is stored of a session that its agent has saved."""

import pytest

from rejoinder.store.base import AgentSession
from rejoinder.store.sql.memory import pack_agent_session, unpack_agent_session
from rejoinder.store.sql.values import seal, unseal


@pytest.mark.parametrize(
    ("body", "found"),
    [(b"id-1", AgentSession("id-1")), (b"id-1\noak", AgentSession("id-1", "oak")), (b"", AgentSession(""))],
)
def test_what_an_earlier_version_wrote_is_read(body: bytes, found: AgentSession) -> None:
    """TU-33, SC-7: it left the line of the machine out where there was none."""
    assert unpack_agent_session(seal(body)) == found


@pytest.mark.parametrize("machine", ["", "oak"])
def test_an_earlier_version_reads_what_is_written(machine: str) -> None:
    """SC-23: it may still run beside this one, and takes the first line as the id and the rest as the machine."""
    id, _, where = unseal(pack_agent_session(AgentSession("id-1", machine))).decode().partition("\n")
    assert (id, where) == ("id-1", machine)
