"""The whole way as a call, for bots of one's own."""

import asyncio

import pytest

from rejoinder import Gateway, Inbound, Reply, get_reply
from rejoinder.app import MEMORY, with_channel
from rejoinder.config.load import read
from rejoinder.config.schema import Settings
from rejoinder.errors import BadConfiguration, BadUse, RejoinderError, StoreUnavailable
from rejoinder.events import Chat, Sender
from rejoinder.store.sqlite.store import open_store
from rejoinder.testing import FakeChannel, FakePlatform, ModelServer, ScriptedAgent
from rejoinder.testing.model_server import Refuse, Say
from rejoinder.testing.patience import PATIENCE

REFUSED = "The model's provider does not accept this agent's key; its operator has to check it."
HELLO = Inbound("mine", "1", "1", Chat("room"), Sender("ann"), "hello")


async def test_from_a_message_to_its_replies():
    blocks, tools, models = [], [], []

    async def hear_tool(title):
        tools.append(title)

    async with ModelServer() as server:
        server.will(Say("[[reply_to:1]]\nHi, Ann.", tool="search"))
        settings = read(f'[agents.a]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.openai_url}"', "x.toml", {})
        replies = await get_reply(HELLO, settings, on_block=blocks.append, on_tool=hear_tool, on_model=models.append)
    assert replies == [Reply("Hi, Ann.", reply_to="1")]
    assert (blocks, tools, models) == (["Hi, Ann."], ["search"], ["m"])


async def test_somebody_may_be_called_as_the_agent_is():
    """IN-20: a name we go by for want of an id is no proof that we wrote it."""
    settings = read('[agents.ann]\nkind = "tour"', "x.toml", {})
    assert await get_reply(HELLO, settings)


async def test_the_rules_of_a_configured_channel_hold():
    settings = read(
        '[agents.a]\nkind = "tour"\n[channels.mine]\nkind = "telegram"\ntoken = "t"\ndm = "off"', "x.toml", {}
    )
    assert await get_reply(HELLO, settings) == []


async def test_nobody_to_ask():
    with pytest.raises(BadConfiguration, match="there is no agent to ask"):
        await get_reply(HELLO, Settings())


@pytest.mark.parametrize(
    ("said", "more", "replies"),
    [
        (Say("Hi."), "", [Reply("Hi.")]),
        (Say(" \n "), "", [Reply("_(no response)_")]),
        (Say("NO_REPLY"), "", []),
        (Say("HEARTBEAT_OK All is well."), "", [Reply("All is well.")]),
        (Say("[[silent]]\nHi."), "", [Reply("Hi.", silent=True)]),
        (Say("Hi."), 'response_prefix = "[{model}]"', [Reply("[m] Hi.")]),
        (Say("[m] Hi."), 'response_prefix = "[{model}]"', [Reply("[m] Hi.")]),
        (Say("Hi."), 'response_prefix = "{nobody}"', [Reply("{nobody} Hi.")]),
        (Refuse(401), "", [Reply(REFUSED, is_error=True)]),
    ],
)
async def test_each_reply_is_as_people_get_it(said, more, replies):
    """DE-4, DE-5: nothing for nothing, silence is silence, a heartbeat's token goes, the prefix comes, a failure is
    told from an answer."""
    async with ModelServer() as server:
        server.will(said)
        agent = f'[agents.a]\nkind = "openai"\nmodel = "m"\nbase_url = "{server.openai_url}"\n'
        settings = read(f"{agent}[messages]\n{more}", "x.toml", {})
        assert await get_reply(HELLO, settings) == replies


# --- the gateway as an object ---------------------------------------------------------------------


async def test_who_forgets_to_enter_the_gateway_is_told():
    with pytest.raises(BadUse, match=r"the gateway is not open; write `async with Gateway\(\.\.\.\) as gateway:`"):
        await Gateway(Settings()).dispatch(HELLO)


async def test_a_message_of_no_channel_is_refused():
    settings = with_channel(with_channel(Settings(), "theirs", "a", ()), "ours", "a", ())
    channels = [FakeChannel("theirs"), FakeChannel("ours")]
    async with Gateway(settings, agents={"a": ScriptedAgent(name="a")}, channels=channels, store=MEMORY) as gateway:
        with pytest.raises(BadUse, match="the gateway has no channel 'mine'; there are: ours, theirs"):
            await gateway.dispatch(HELLO)


async def test_it_keeps_all_in_the_store_of_its_settings(tmp_path):
    """The settings name the store, as for `rejoinder run`: a message that is known is not answered again by the next
    process. `store` is for who wants another."""
    settings = with_channel(read(f'gateway.store = "sqlite:{tmp_path}/mine.db"', "x.toml", {}), "mine", "a", ())

    async def asked(**more: str) -> int:
        agent, channel = ScriptedAgent(["Hello."], name="a"), FakeChannel("mine")
        async with (
            asyncio.timeout(PATIENCE),
            Gateway(settings, agents={"a": agent}, channels=[channel], **more) as gateway,
        ):
            await gateway.dispatch(HELLO)
            await gateway.tasks.idle()
        return len(agent.turns)

    assert [await asked(), await asked(), await asked(store=MEMORY)] == [1, 0, 1]


def test_a_channel_of_which_the_configuration_says_nothing_is_refused():
    with pytest.raises(BadConfiguration, match=r"nothing is configured for the channel 'mine'; .*with_channel"):
        Gateway(Settings(), channels=[FakeChannel("mine")])


async def test_it_serves_what_is_configured():
    """Agents and channels are those of the configuration, unless others are given."""
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        here = f'[agents.a]\nkind = "tour"\n[channels.mine]\ndm = "open"\n{platform.config()}'
        async with Gateway(read(here, "x.toml", {}), store=MEMORY) as gateway:
            assert set(gateway.channels) == {"mine"}
            chat = Chat(platform.id_of("ann"))
            await gateway.dispatch(Inbound("mine", "e1", "1", chat, Sender(platform.id_of("ann")), "stay silent"))
            await gateway.tasks.idle()
        assert set(Gateway(Settings(), agents={}, channels=()).channels) == set()


async def test_a_gateway_that_cannot_open_leaves_nothing_open():
    """DU-13: somebody else holds the store; it is closed, and nothing of this gateway runs."""
    store, channel = open_store(MEMORY), FakeChannel()
    assert await store.claim(0, "somebody else") is not None
    settings, agents = with_channel(Settings(), channel.name, "scripted", ()), {"scripted": ScriptedAgent()}
    before = asyncio.all_tasks()
    with pytest.raises(StoreUnavailable, match="that was given is unavailable"):
        await Gateway(settings, agents=agents, channels=[channel], store=store).__aenter__()
    assert (await store.health()).fault == "closed"
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (asyncio.CancelledError, "something it waited for was cancelled"),
        (SystemExit, "SystemExit: by nought"),
        (ZeroDivisionError, "by nought"),
    ],
)
async def test_a_channel_that_ends_by_a_mishap_does_not_end_in_silence(problem, told):
    """CH-7: what an SDK cancels within, or a program's own way to end, is a failure of the channel like any other, and
    whoever has started the gateway reads it as a sentence."""

    class Clumsy(FakeChannel):
        async def listen(self, deliver):
            raise problem("by nought")

    channel, agents = Clumsy(), {"scripted": ScriptedAgent()}
    settings = with_channel(Settings(), channel.name, "scripted", ())
    async with Gateway(settings, agents=agents, channels=[channel], store=MEMORY) as gateway:
        with pytest.raises(RejoinderError, match=rf"^fake: it has ended \(.*{told}\); the log says where$"):
            await gateway.serve()
        assert gateway.listening.problem(channel.name) == told
