"""SC-23: a copied store answers on, nothing is lost and nothing is said twice."""

import asyncio
from pathlib import Path

from rejoinder.programs.store_moves import copy_store
from rejoinder.testing.platform import FakePlatform
from rejoinder.testing.platform.truth import standing
from tests.crash.gateway import Machine
from tests.crash.trial import until_done
from tests.postgres import Server, a_database

HOW = {"on_unknown": "hold", "mode": "followup", "debounce_ms": 0, "drafts": False}


async def test_it_answers_on(tmp_path: Path, postgres: Server) -> None:
    """From a file to PostgreSQL and back, each time after kill -9."""
    async with FakePlatform("telegram") as platform:
        before = None
        for number, store in enumerate(("sqlite:rejoinder.db", a_database(postgres), "sqlite:rejoinder.db")):
            folder = tmp_path / str(number)
            folder.mkdir()
            machine = Machine(folder, "telegram", platform.config(), store=store, **HOW)
            if before is not None:
                await asyncio.to_thread(copy_store, before, machine.url, lambda _: None)
            try:
                await machine.start()
                await platform.says("ann", "ann", f"q{4 * number + 3}. What is it?")
                await platform.hears("ann", f"a{4 * number + 3}. is short.")
                await until_done(machine, number + 1)
            finally:
                await machine.kill()
            before = machine.url
        said = [seen.text for seen in standing(platform.truth.frames) if "is short" in seen.text]
        assert said == [f"a{each}. is short." for each in (3, 7, 11)]
