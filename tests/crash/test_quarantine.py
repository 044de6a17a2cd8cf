"""A turn that ends the process whenever it runs: killed by itself, with nobody outside to blame."""

import asyncio
from pathlib import Path

from rejoinder.runtime.session.notices import BY_THE_OWNER, QUARANTINED
from rejoinder.testing.platform import FakePlatform
from rejoinder.turns.suspicion import MOST_ALONE
from tests.crash.agent import POISON
from tests.crash.gateway import Machine
from tests.crash.trial import PATIENCE, until_done


async def test_what_ends_the_process_is_found_and_costs_nobody_else_anything(tmp_path: Path):
    """DU-2: quarantined after three deaths alone, with a notice that names it; those who ask meanwhile are answered,
    once each; and when somebody wants it, it runs again."""
    async with asyncio.timeout(PATIENCE), FakePlatform("telegram") as platform:
        machine = Machine(tmp_path, "telegram", platform.config(), on_unknown="resend", mode="followup", debounce_ms=0)
        truth, asked = platform.truth, f"q3. {POISON}"

        def stands(chat: str, text: str) -> int:
            return sum(text in seen.text for seen in truth.messages(chat))

        await platform.says("ann", "ann", asked)
        deaths, told = 0, QUARANTINED.format(messages=f"“{asked}”.", way_out=BY_THE_OWNER)
        try:
            while not stands("ann", told):
                await machine.start()
                await platform.says("bob", "bob", f"q{7 + 4 * deaths}. What is it?")
                ended = asyncio.create_task(machine.ended())
                notice = asyncio.create_task(truth.until(lambda: stands("ann", told) > 0, PATIENCE))
                await asyncio.wait({ended, notice}, return_when=asyncio.FIRST_COMPLETED)
                deaths += ended.done()
                for task in (ended, notice):
                    task.cancel()
            await until_done(machine, deaths + 2)
            assert deaths >= MOST_ALONE
            assert [stands("bob", f"a{7 + 4 * number}.") for number in range(deaths + 1)] == [1] * (deaths + 1)
            (tmp_path / "cured").touch()
            await machine.operator("dead", "--retry", "all")
            await truth.until(lambda: stands("ann", "a3.") == 1, PATIENCE)
        finally:
            await machine.kill()
