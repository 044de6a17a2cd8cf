"""A gateway on PostgreSQL is the same gateway, and an operator's commands work on it (SC-20, SC-30)."""

import json
from pathlib import Path

import pytest

from rejoinder.testing.patience import until
from rejoinder.testing.platform import FakePlatform
from tests.crash.gateway import Machine
from tests.postgres import Server, a_database


@pytest.mark.parametrize("channel", ["telegram", "web"])
async def test_a_conversation_and_what_an_operator_sees_of_it(tmp_path: Path, postgres: Server, channel: str) -> None:
    url = a_database(postgres)
    secret = url.replace("owner@", "owner:hunter2secret@")
    async with FakePlatform(channel) as platform:
        how = {"on_unknown": "hold", "mode": "followup", "debounce_ms": 0}
        machine = Machine(tmp_path, channel, platform.config(), store=secret, **how)
        try:
            await machine.start()
            await platform.says("ann", "ann", "q3. What is it?")
            await platform.hears("ann", "a3. is short.")
            (session,) = json.loads(await machine.operator("sessions", "--json"))["sessions"]
            assert b"a3. is short." in await machine.operator("export", session["key"])
            assert b"answered" in await machine.operator("explain", "last")
            assert json.loads(await machine.operator("dead", "--json"))["parts"] == []

            async def has_all() -> bytes:
                """A few shards are claimed at a time."""
                said = await machine.operator("doctor")
                return said if b"64 shards, lease" in said else b""

            doctor = await until(has_all)
            assert b"is intact, with 1 session, and a gateway runs on it" in doctor
            assert b"1 on 64 shards" in doctor
            assert b"hunter2secret" not in doctor
            shown = await machine.operator("config")
            assert b"hunter2secret" not in shown
        finally:
            assert await machine.terminate() in (0, 143)
        assert "hunter2secret" not in machine.log
        assert await machine.census() is not None
