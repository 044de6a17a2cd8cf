"""What belongs to an account holds in all processes (SC-16)."""

import asyncio
from functools import partial

import pytest

from rejoinder.app import Gateway
from rejoinder.runtime import account_pace
from rejoinder.session import shard_of
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import UNLIMITED, Several, several
from tests.postgres import Server, database_of

OPEN = f"dm = 'open'\nstreaming = 'off'\n{UNLIMITED}"
WAIT = 10.0
PEOPLE = tuple(f"person-{number}" for number in range(40))


def of_each(here: Several) -> list[list[str]]:
    """The people whose chats each of the gateways owns."""
    home = {person: f"telegram:default:{here.platform.id_of(person)}" for person in PEOPLE}
    return [
        [person for person in PEOPLE if gateway.engines.of(shard_of(home[person], 4)) is not None]
        for gateway in here.gateways
    ]


async def all_have_looked(here: Several) -> None:
    """At what others have written, from the beginning of a look on."""
    looks = [0] * len(here.gateways)

    def count(which: int) -> None:
        looks[which] += 1

    for which, gateway in enumerate(here.gateways):
        gateway.sharing.looks.append(partial(count, which))
    await until(lambda: min(looks) > 1)


def said(platform: FakePlatform, person: str) -> list[str]:
    return [seen.text for seen in platform.truth.messages(person)]


async def test_three_strangers_wait_in_all_processes_together(postgres: Server) -> None:
    """SC-16, IN-11: many ask at once, at both; three are told a code, and each code is one an owner can approve."""
    agents = ScriptedAgent(), ScriptedAgent()
    async with several(postgres, "telegram", agents, f"dm = 'pairing'\n{UNLIMITED}") as here:
        one, other = of_each(here)
        asking = [*one[:4], *other[:4]]
        for person in asking:
            await here.platform.says(person, person, "let me in")
        rows = "SELECT count(*) FROM inbox WHERE state = 'new'", "SELECT count(*) FROM inbox"
        await until(lambda: [postgres.execute(sql, database_of(here.url)) for sql in rows] == [[(0,)], [(8,)]])
        await until(lambda: sum(bool(said(here.platform, person)) for person in asking) == 3)
        assert postgres.execute("SELECT count(*) FROM knock", database_of(here.url)) == [(3,)]
        (code, *_), *_ = postgres.execute("SELECT code, sender FROM knock", database_of(here.url))
        told = next(person for person in asking if str(code) in "".join(said(here.platform, person)))
        await here.platform.says("ann", "ann", f"/approve {code}")
        await until(lambda: postgres.execute("SELECT 1 FROM paired", database_of(here.url)))
        await all_have_looked(here)  # each second: whoever owns the chat of the one who was let in knows it now
        await here.platform.says(told, told, "hello")
        await until(lambda: any(agent.turns for agent in agents))


@pytest.mark.parametrize("refused", [True, False], ids=["401", "429"])
async def test_an_account_that_has_to_wait_waits_everywhere(
    postgres: Server, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-16, DE-32: the platform refuses one process, or tells it to wait; the other makes no call until the time is
    over, or until the platform takes messages of the account again."""
    monkeypatch.setattr(account_pace, "FIRST_REFUSAL", WAIT)
    agents = [ScriptedAgent("Hello.", "Again.") for _ in range(2)]
    async with several(postgres, "telegram", agents, OPEN) as here:
        (first, *_), (second, *_) = of_each(here)
        began = asyncio.get_running_loop().time()
        if refused:
            here.platform.fault("401")
            await here.platform.says(first, first, "hello")
        else:
            await here.platform.says(first, first, "hello")
            await here.platform.hears(first, "Hello.")
            began = asyncio.get_running_loop().time()
            pace_of(here.gateways[0]).wait_for(WAIT)
        rows = "SELECT 1 FROM fact WHERE scope = 'gateway/accounts'"
        await until(lambda: postgres.execute(rows, database_of(here.url)))
        begun = len(here.platform.truth.calls)
        await until(lambda: here.gateways[1].sharing._accounts._accounts._heard)
        await here.platform.says(second, second, "hello")
        await here.platform.hears(second, "Hello.")
        calls = here.platform.truth.calls[begun:]
        assert not [call for call in calls if call.status == 401]
        assert asyncio.get_running_loop().time() - began > WAIT
        if refused:
            await here.platform.hears(first, "Hello.")
            await until(lambda: not postgres.execute(rows, database_of(here.url)))


def pace_of(gateway: Gateway) -> account_pace.AccountPace:
    ((_, pace),) = gateway.sharing._accounts._accounts
    return pace
