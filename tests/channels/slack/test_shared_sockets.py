"""Sockets that are not ours: another program's, or that of a process which hangs and has been replaced. What Slack
gives them is read from history."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest

from rejoinder.channels.slack.socket_mode import GHOSTS
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform.slack.world import APP_TOKEN
from tests.channels.slack.served import SlowInlet, app, listening, quick


@pytest.fixture
async def platform():
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", ack_seconds=2.9) as platform:
        yield platform


@asynccontextmanager
async def a_frozen_socket(platform: FakePlatform) -> AsyncIterator[None]:
    """That of a process which hangs: it is open, and nothing that comes by it is ever read. Slack gives up soon."""
    events = platform.people.events
    patience, events._ack_seconds = events._ack_seconds, 0.02
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {APP_TOKEN}"}) as http:
        async with http.post(f"{platform.url}/api/apps.connections.open") as answer:
            url = (await answer.json())["url"]
        async with http.ws_connect(url):
            await until(lambda: len(events._open()) == 1)
            try:
                yield
            finally:
                events._ack_seconds = patience


@pytest.mark.parametrize("known", ["nobody", "bob", "ann"])
async def test_what_a_frozen_process_was_given_is_read(platform, known):
    """SC-10, SC-31, CH-30: Slack gave it events until it gave them up, and whoever takes over reads them; also in a
    chat that is new, and when nobody had ever been heard."""
    inlet, events = RecordingInlet(), platform.people.events
    async with listening(app(platform), inlet):
        if known != "nobody":
            await platform.says(known, known, "before")
            await inlet.message("before")
    async with a_frozen_socket(platform):
        await platform.says("ann", "ann", "one")
        await platform.says("ann", "ann", "two")
        await until(lambda: len(events.lost) == 2)
        events._ack_seconds = PATIENCE
        async with listening(app(platform, pace=quick(ghosts=PATIENCE)), inlet):
            await inlet.message("two")
    assert [text for text in inlet.texts if text != "before"] == ["one", "two"]


async def test_what_was_said_while_the_first_process_started_is_read_in_order(platform):
    """CH-30: it died before it had stored that, and Slack brings it again only after what was said later."""
    inlet, events = RecordingInlet(), platform.people.events
    await platform.says("bob", "bob", "one")
    events.forget_undelivered()
    async with listening(app(platform), inlet):
        await until(lambda: events.opened)
    await platform.says("bob", "bob", "two")
    async with listening(app(platform), inlet):
        await inlet.message("two")
    assert inlet.texts == ["one", "two"]


async def test_a_place_that_could_not_be_read_is_read_later(platform):
    """CH-30: what comes meanwhile does not hide what was missed there before."""
    inlet, events = RecordingInlet(), platform.people.events
    async with listening(app(platform), inlet):
        await platform.says("ann", "ann", "before")
        await inlet.message("before")
    events.subscribed = False  # only history has it
    await platform.says("ann", "ann", "missed")
    events.subscribed = True
    platform.fault("5xx", on="other", chat="ann")
    async with listening(app(platform), inlet):
        await platform.says("ann", "ann", "after")
        await inlet.message("after")
        await inlet.message("missed")


async def test_ghosts_are_noticed(platform):
    """CH-30: another socket takes its share of the events; the operator is told, and history brings what it took, also
    before what came to us."""
    inlet, events = RecordingInlet(), platform.people.events
    events.add_ghost()
    channel = app(platform)
    async with listening(channel, inlet):
        await until(lambda: events.opened)
        for said in ("one", "two", "three", "four"):
            await platform.says("ann", "ann", said)
        await inlet.until(lambda: {*inlet.texts} == {"one", "two", "three", "four"})
        assert channel.trouble == GHOSTS


@pytest.mark.parametrize("in_a_thread", [False, True])
async def test_what_a_ghost_took_is_read_once_more_when_it_is_gone(platform, in_a_thread):
    """CH-30: what it was given just before."""
    inlet, events = RecordingInlet(), platform.people.events
    root = await platform.says("#team", "ann", "root")
    async with listening(app(platform), inlet):
        await platform.says("#team", "ann", "before")
        await inlet.message("before")
    events.add_ghost()
    channel = app(platform, pace=quick(ghosts=PATIENCE, recount=0.5))
    async with listening(channel, inlet):
        await until(lambda: events.opened == 2)
        said = [f"number {number}" for number in range(4)]
        for each in said:
            await platform.says("#team", "ann", each, thread=root if in_a_thread else None)
        events.remove_ghosts()
        await inlet.until(lambda: {*said} <= {*inlet.texts})
        await until(lambda: not channel.trouble)


async def test_ghosts_that_are_gone_are_forgotten(platform):
    """CH-30, CH-13: Slack tells only a new socket how many there are, so another one is opened to look."""
    inlet, events = RecordingInlet(), platform.people.events
    events.add_ghost()
    channel = app(platform, pace=quick(recount=0.05))
    async with listening(channel, inlet):
        await until(lambda: channel.trouble == GHOSTS)
        events.remove_ghosts()
        await until(lambda: not channel.trouble and len(events._open()) == 1)
        opened = events.opened
        for said in ("one", "two", "three"):
            await platform.says("ann", "ann", said)
        await inlet.message("three")
        assert (events.opened, len(events._open())) == (opened, 1)
    assert inlet.texts == ["one", "two", "three"]


async def test_the_old_socket_goes_with_a_takeover():
    """CH-30, SC-10: a process that no longer listens closes its socket; what was sent to it and not stored comes to the
    one that does, and nobody is told of a stranger for long."""
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", ack_seconds=PATIENCE) as platform:
        slow, inlet, events = SlowInlet(), RecordingInlet(), platform.people.events
        old, new = app(platform), app(platform, pace=quick(recount=0.5))
        ended = asyncio.create_task(old.listen(slow))
        await until(lambda: events.opened)
        await platform.says("ann", "ann", "one")
        await slow.asked.wait()
        async with listening(new, inlet):
            await until(lambda: events.opened == 2)
            await platform.says("ann", "ann", "two")
            await platform.says("ann", "ann", "three")
            ended.cancel()
            with suppress(asyncio.CancelledError):
                await ended
            await old.close()
            await inlet.until(lambda: {*inlet.texts} == {"one", "two", "three"})
            await until(lambda: len(events._open()) == 1 and not new.trouble)
        assert sorted(inlet.texts) == ["one", "three", "two"]
        assert not slow.kept
        assert not events.lost
