"""Processes share what an account may do (SC-13)."""

import asyncio
from contextlib import AsyncExitStack

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import configuration, owns, serving, several
from tests.postgres import Server, a_database

BURST, A_SECOND, SLACK = 4, 8.0, 0.5
PEOPLE = tuple(f"person-{number}" for number in range(24))


class Echo(ScriptedAgent):
    """Has something to say to everybody."""

    def __init__(self) -> None:
        super().__init__(*["Hello."] * len(PEOPLE))


async def test_two_processes_share_the_pace_of_an_account(postgres: Server) -> None:
    """SC-13, DE-32: one account, two processes with two shards each, and many chats at once: the platform never sees
    more calls than one process alone might make."""
    account = f"account = {{ burst = {BURST}, per_second = {A_SECOND} }}"
    pace = f"dm = 'open'\nstreaming = 'off'\npace = {{ chat = 'unlimited', {account} }}"
    agents = Echo(), Echo()
    async with several(postgres, "telegram", agents, pace) as here:
        for person in PEOPLE:
            await here.platform.says(person, person, "hello")
        for person in PEOPLE:
            await here.platform.hears(person, "Hello.")
        calls = [call.at for call in here.platform.truth.calls if call.verb == "send"]
    assert all(len(agent.turns) > BURST for agent in agents), "both have answered"
    for first, begin in enumerate(calls):
        for last, end in enumerate(calls[first:], first):
            assert last - first + 1 <= BURST + A_SECOND * (end - begin + SLACK)
    alone = (len(PEOPLE) - BURST) / A_SECOND
    assert calls[-1] - calls[0] >= alone - SLACK


async def test_the_share_of_a_process_follows_its_shards(postgres: Server) -> None:
    """SC-13: all of the budget while it is alone, half of it with half of the shards, and all of it when the other one
    is gone."""
    url = a_database(postgres, "four_shards")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        settings = read(configuration(platform, "telegram", "scripted"), "rejoinder.toml", {})
        one = await stack.enter_async_context(serving(settings, {"scripted": Echo()}, url))
        await until(lambda: owns(one, 4))
        assert _part(one) == 1.0
        async with serving(settings, {"scripted": Echo()}, url) as other:
            await until(lambda: owns(one, 2) and owns(other, 2))
            assert _part(one) == _part(other) == 0.5
        await until(lambda: owns(one, 4))
        assert _part(one) == 1.0


def _part(gateway: Gateway) -> float:
    return gateway.cluster_member._accounts._accounts._part
