"""What belongs to an account holds in all processes (SC-16)."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

import pytest

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.runtime import account_pace
from rejoinder.runtime.place import access
from rejoinder.session import shard_of
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import UNLIMITED, Several, configuration, owns, serving, several
from tests.postgres import Server, a_database, database_of

OPEN = f"dm = 'open'\nstreaming = 'off'\n{UNLIMITED}"
WAIT = 10.0
CLOCKS = 0.2
"""Seconds by which two processes may differ about the time of the database: each measures it by a round trip."""
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
        gateway.cluster_member.tell(partial(count, which))
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


@pytest.mark.parametrize(
    ("refused", "spoke"), [(True, True), (False, True), (False, False)], ids=["401", "429", "429, and its first call"]
)
async def test_an_account_that_has_to_wait_waits_everywhere(
    postgres: Server, refused: bool, spoke: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SC-16, DE-32: the platform refuses one process, or tells it to wait; the other, whether it has used the account
    before or not, makes no call until the time is over, or until the platform takes messages of the account again."""
    monkeypatch.setattr(account_pace, "FIRST_REFUSAL", WAIT)
    agents = [ScriptedAgent("Hello.", "Again.") for _ in range(2)]
    async with several(postgres, "telegram", agents, OPEN) as here:
        (first, *_), (second, *_) = of_each(here)
        if spoke:
            await here.platform.says(second, second, "hello")
            await here.platform.hears(second, "Hello.")
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
        await until(lambda: here.gateways[1].cluster_member._accounts._accounts._heard)
        await here.platform.says(second, second, "hello")
        await here.platform.hears(second, "Again." if spoke else "Hello.")
        calls = here.platform.truth.calls[begun:]
        assert not [call for call in calls if call.status == 401]
        assert asyncio.get_running_loop().time() - began > WAIT - CLOCKS
        if refused:
            await here.platform.hears(first, "Hello.")
            await until(lambda: not postgres.execute(rows, database_of(here.url)))


async def test_who_is_let_in_by_one_is_let_in_by_all(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """SC-16, IN-61: an owner lets a person in, and out again, in a chat that one process owns; the other, which owns
    the person's chat, does so after its next look, however long it would trust what it has read."""
    monkeypatch.setattr(access, "FRESH", 600.0)
    agents = [ScriptedAgent("Hello.", name="echo") for _ in range(2)]
    async with several(postgres, "telegram", agents, f"dm = 'allowlist'\nstreaming = 'off'\n{UNLIMITED}") as here:
        home = f"telegram:default:{here.platform.id_of('ann')}"
        owner = next(each for each, gateway in enumerate(here.gateways) if gateway.engines.of(shard_of(home, 4)))
        person = of_each(here)[1 - owner][0]
        await here.platform.says("ann", "ann", f"/allowlist add {here.platform.id_of(person)}")
        await here.platform.hears("ann")
        await all_have_looked(here)
        await here.platform.says(person, person, "hello")
        await here.platform.hears(person, "Hello.")
        await here.platform.says("ann", "ann", f"/allowlist remove {here.platform.id_of(person)}")
        await here.platform.hears("ann")
        await all_have_looked(here)
        await here.platform.says(person, person, "and now?")
        rows = "SELECT count(*) FROM inbox WHERE state = 'new'", "SELECT count(*) FROM inbox"
        await until(lambda: [postgres.execute(sql, database_of(here.url)) for sql in rows] == [[(0,)], [(4,)]])
        assert postgres.execute("SELECT count(*) FROM turn_input", database_of(here.url)) == [(1,)]


async def test_a_daily_limit_is_counted_on_by_who_takes_over(postgres: Server) -> None:
    """SC-16, IN-33: a group is owned by one process at a time; the next one knows how many turns it has had today."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        url, agents = a_database(postgres, "four_shards"), [ScriptedAgent("Hello.", "More.") for _ in range(2)]
        text = configuration(platform, "telegram", agents[0].name, f"require_mention = false\n{UNLIMITED}")
        limit = f"[channels.telegram.group.'{platform.id_of('#team')}']\ndaily_limit = 2\ndaily_limit_per_user = 2\n"
        settings = read(text.replace("[messages.queue]", f"{limit}\n[messages.queue]"), "rejoinder.toml", {})
        async with serving(settings, {agents[0].name: agents[0]}, url) as first:
            await until(lambda: owns(first, 4))
            await platform.says("#team", "ann", "hello")
            await platform.hears("#team", "Hello.")
        async with serving(settings, {agents[1].name: agents[1]}, url) as second:
            await until(lambda: owns(second, 4))
            for text in ("again", "too much"):
                await platform.says("#team", "ann", text)
            await platform.hears("#team", "Hello.")
            undecided = "SELECT 1 FROM inbox WHERE state = 'new'", "SELECT 1 FROM inbox OFFSET 2"
            await until(lambda: [bool(postgres.execute(sql, database_of(url))) for sql in undecided] == [False, True])
        assert [len(agent.turns) for agent in agents] == [1, 1]


def pace_of(gateway: Gateway) -> account_pace.AccountPace:
    ((_, pace),) = gateway.cluster_member._accounts._accounts
    return pace
