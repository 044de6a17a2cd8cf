"""Sub-agents: each row as it was last written, found by its conversation and by what is still to be done (TU-36)."""

from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from rejoinder.events import Route
from rejoinder.store.base import PutSubagent, StoredSubagent
from rejoinder.testing.store_contract.given import NOW
from rejoinder.testing.store_contract.opened import Opened

EVE = StoredSubagent("s:eve", "s", "s", "eve", "helper", "read", Route("web", "room"), NOW, people=("ann",))


class SubagentsKept(Opened):
    async def test_a_sub_agent_is_kept_as_it_was_last_written(self, tmp_path: Path):
        """TU-36: sub-agents are found by session and by conversation, the oldest first."""
        async with self.opened(tmp_path) as store:
            later = replace(EVE, session="s:bob", name="bob", started=NOW + timedelta(seconds=1))
            other = replace(EVE, session="t:eve", root="t", parent="t")
            await store.write(PutSubagent(later), PutSubagent(EVE), PutSubagent(other))
            assert await store.subagents("s") == (EVE, later)
            assert await store.subagents("s", 1) == (later,)
            assert await store.latest_subagents(1) == (later,)
            over = replace(EVE, state="ended", result="42", ended=NOW, told=False)
            await store.write(PutSubagent(over))
            assert await store.subagent("s:eve") == over
            assert await store.subagent("s:nobody") is None

    async def test_the_sub_agents_of_a_chat(self, tmp_path: Path):
        """TU-36: a chat's sub-agents include those of its threads, the latest first; other chats have their own."""
        async with self.opened(tmp_path) as store:
            below = replace(EVE, session="s:bob", route=Route("web", "room", "w1"), started=NOW + timedelta(seconds=1))
            other = replace(EVE, session="t:eve", route=Route("web", "cellar"))
            await store.write(PutSubagent(EVE), PutSubagent(below), PutSubagent(other))
            assert await store.subagents_at("web", "room") == (below, EVE)
            assert await store.subagents_at("web", "room", 1) == (below,)
            assert await store.subagents_at("telegram", "room") == ()

    async def test_what_is_still_to_be_done_with_sub_agents(self, tmp_path: Path):
        """TU-36: sub-agents that are working, and those whose end was not reported yet, are found."""
        async with self.opened(tmp_path) as store:
            over = replace(EVE, session="s:bob", state="failed", ended=NOW, told=False)
            gone = replace(EVE, session="s:cid", state="killed", ended=NOW)
            await store.write(PutSubagent(EVE), PutSubagent(over), PutSubagent(gone))
            assert set(await store.open_subagents()) == {EVE, over}
            await store.write(PutSubagent(replace(over, told=True)))
            assert await store.open_subagents() == (EVE,)
