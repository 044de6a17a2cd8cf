"""Several bots of one channel side by side: what each has read, who it is, and what goes wrong with it are its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from rejoinder.app import Gateway
from rejoinder.config.load import read
from rejoinder.errors import BadConfiguration, ChannelStopped
from rejoinder.events import Route
from rejoinder.programs.doctor import edges
from rejoinder.testing import FakePlatform, ScriptedAgent
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform.telegram.world import TOKEN
from rejoinder.wiring.jobs import jobs_of
from rejoinder.wiring.opening import open_channels
from tests.conversations.agents import said

SETTINGS = """
[agents.scripted]
kind = "tour"

[channels.telegram]
owners = ["{owner}"]

[channels.telegram.accounts.home]
token = "{token}"
api_root = "{home}"

[channels.telegram.accounts.work]
token = "{other}"
api_root = "{work}"

[messages.queue]
debounce_ms = 0
"""


@asynccontextmanager
async def two_bots(
    agent: ScriptedAgent, store: str, home: FakePlatform, work: FakePlatform, other: str = TOKEN
) -> AsyncIterator[Gateway]:
    text = SETTINGS.format(owner=home.id_of("ann"), token=TOKEN, other=other, home=home.url, work=work.url)
    settings = read(text, "rejoinder.toml", {})
    async with Gateway(settings, agents={agent.name: agent}, channels=open_channels(settings), store=store) as gateway:
        serving = asyncio.create_task(gateway.serve())
        yield gateway
        serving.cancel()
        with suppress(asyncio.CancelledError, ChannelStopped):
            await serving


async def test_each_bot_answers_for_itself(tmp_path: Path):
    """CH-4: the same person, chat, message and update ids on two bots are two conversations, before and after a
    restart: each answer goes out where the question came from, and neither bot reads anything twice."""
    store = f"sqlite:{tmp_path}/kept.db"
    async with (
        asyncio.timeout(2 * PATIENCE),
        FakePlatform("telegram") as home,
        FakePlatform("telegram") as work,
    ):
        agent = ScriptedAgent("At home.", "At work.", name="scripted")
        async with two_bots(agent, store, home, work) as gateway:
            assert list(gateway.listeners) == ["telegram/home", "telegram/work"]
            await home.says("ann", "ann", "hello")
            await home.hears("ann", "At home.")
            await work.says("ann", "ann", "hello")
            await work.hears("ann", "At work.")
            await gateway.tasks.idle(besides=gateway.listening.tasks)
            assert len({turn.session for turn in agent.turns}) == 2
            cursors = [await gateway.store.cursor("telegram", "read", account) for account in ("home", "work")]
            assert None not in cursors
            assert await gateway.store.cursor("telegram", "read") is None
        again = ScriptedAgent("Still at work.", "Still at home.", name="scripted")
        async with two_bots(again, store, home, work):
            await work.says("ann", "ann", "and now?")
            await work.hears("ann", "Still at work.")
            await home.says("ann", "ann", "and here?")
            await home.hears("ann", "Still at home.")
        assert [said(turn) for turn in again.turns] == [["and now?"], ["and here?"]]
        for platform in (home, work):
            assert len(platform.truth.messages("ann")) == 2, "one answer to each question"


async def test_one_that_fails_leaves_the_other_alone(tmp_path: Path):
    """CH-4: a token that is refused stops its own bot, which is named; the other goes on."""
    async with (
        asyncio.timeout(2 * PATIENCE),
        FakePlatform("telegram") as home,
        FakePlatform("telegram") as work,
    ):
        wrong = "800000001:a-token-for-tests-only_0123456789ab"
        agent = ScriptedAgent("At home.", name="scripted")
        async with two_bots(agent, f"sqlite:{tmp_path}/kept.db", home, work, wrong) as gateway:
            await home.says("ann", "ann", "hello")
            await home.hears("ann", "At home.")
            await asyncio.wait([task for task in gateway.listening.tasks if task.get_name() == "channel:telegram/work"])
            assert gateway.listening.problem("telegram/work").startswith(
                "[channels.telegram.accounts.work] Telegram does not know this bot"
            )
            assert (gateway.listening.problem("telegram/home"), gateway.listening.listens("telegram/home")) == (
                "",
                True,
            )
            assert not gateway.listening.listens("telegram/work")


async def test_doctor_looks_at_each():
    """CH-4: each account is asked who it is."""
    async with FakePlatform("telegram") as home, FakePlatform("telegram") as work:
        text = SETTINGS.format(owner="1", token=TOKEN, other=TOKEN, home=home.url, work=work.url)
        settings = replace(read(text, "rejoinder.toml", {}), agents={})
        found = [each async for each in edges(settings)]
        assert [each.what for each in found] == ["channels.telegram.accounts.home", "channels.telegram.accounts.work"]
        assert all(each.ok and each.found.startswith("it is @testbot") for each in found)


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        ("", 'token: this key is missing; add for example token = "${TELEGRAM_TOKEN}"'),
        ("accounts = {}", "channels.telegram.token: this key is missing"),
        ('[channels.telegram.accounts."a b"]\ntoken = "x"', "a name is made of letters, digits, - and _"),
        ('[channels.telegram.accounts.default]\ntoken = "x"', "and is not 'default'"),
        ("[channels.telegram.accounts.work]", "accounts.work.token: this key is missing"),
        (
            '[channels.telegram.accounts.a]\ntoken = "x"\nwebhook_url = "https://a.example"\n'
            '[channels.telegram.accounts.b]\ntoken = "x"\nwebhook_url = "https://b.example"',
            "accounts.b.webhook_port: 8767 is the port of a; choose another",
        ),
    ],
)
def test_mistakes_are_told(section: str, sentence: str):
    with pytest.raises(BadConfiguration) as problem:
        read(f'[agents.a]\nkind = "tour"\n[channels.telegram]\n{section}', "x.toml", {})
    assert sentence in str(problem.value)


def test_a_job_names_the_account_that_speaks():
    """CH-4: a turn of the clock goes out by the account it names."""
    accounts = SETTINGS.format(
        owner="1", token=TOKEN, other=TOKEN, home="http://127.0.0.1:1", work="http://127.0.0.1:1"
    )
    job = '[cron.news]\nevery = "1h"\nprompt = "Sum up."\nchannel = "telegram"\nchat = "7"\n'
    named, first = (jobs_of(read(accounts + job + more, "x.toml", {}))[0] for more in ('account = "work"', ""))
    assert (named.target, first.target) == (Route("telegram", "7", None, "work"), Route("telegram", "7"))
    with pytest.raises(BadConfiguration, match="an account belongs to a channel; add channel and chat"):
        read(accounts + '[cron.news]\nevery = "1h"\nprompt = "Sum up."\naccount = "work"', "x.toml", {})
