"""Files on Slack: people's and agents', those of other workspaces, and those whose fate is unknown."""

import asyncio

import pytest
from msgspec.structs import replace

from rejoinder.blobs import whole
from rejoinder.channels.base import Delivered, OutgoingFile, RetryAfter, Unknown
from rejoinder.events import Attachment, Part, Route
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform.slack.strict import SCOPES
from tests.channels.slack.served import AGO, app, calls, listening, spoken

CHART = Attachment("b1", "chart.txt", "text/plain", 5, kind="document")
FILE = OutgoingFile("b1", "chart.txt", "text/plain", 5, "document", lambda: whole(b"1 2 3"))


@pytest.fixture
async def platform():
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", ack_seconds=2.9) as platform:
        yield platform


async def test_a_file_is_fetched_with_the_token_from_slack_alone(platform):
    """CH-11, CH-33: within the limit; the token goes nowhere else, and a login page means a missing scope."""
    inlet = RecordingInlet()
    async with listening(app(platform), inlet) as channel:
        await platform.says("ann", "ann", "look", file=("a.txt", b"hello"))
        (file,) = (await inlet.message("look")).attachments
        assert await channel.fetch(file, 100) == b"hello"
        assert await channel.fetch(file, 3) is None
        assert await channel.fetch(Attachment("x", url="https://evil.example.org/a.txt"), 100) is None


async def test_a_login_page_is_no_file(caplog):
    """CH-33: the scope that is missing is named."""
    scopes = frozenset(SCOPES.values()) - {"files:read"}
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", scopes=scopes) as platform:
        inlet = RecordingInlet()
        async with listening(app(platform), inlet) as channel:
            await platform.says("ann", "ann", "look", file=("a.txt", b"hello"))
            (file,) = (await inlet.message("look")).attachments
            assert await channel.fetch(file, 100) is None
    assert "files:read" in caplog.text


async def test_an_agents_file_is_shared_with_its_words(platform):
    """CH-11, CH-33: by the second version of uploads; where its fate is unknown it is found, and sent once."""
    async with spoken(platform) as (channel, route, question):
        thread = Route("slack", route.chat, question)
        chart = Attachment("b1", "chart.txt", "text/plain", 5, kind="document")
        part = Part(thread, "March", files=(chart,), key="k1")
        file = OutgoingFile("b1", "chart.txt", "text/plain", 5, "document", lambda: whole(b"1 2 3"))
        platform.fault("accept-drop")
        await channel.send_files(part, (file,))
        assert isinstance(await channel.find(part, AGO), Delivered)
    (sent,) = platform.truth.messages("#team")
    assert (sent.text, sent.thread) == ("March [chart.txt]", question)


async def test_where_a_file_stands_is_asked_for_when_slack_does_not_say_at_once():
    """CH-33: Slack often shares a file only after it has answered; nothing is sent a second time for that."""
    async with (
        asyncio.timeout(PATIENCE),
        FakePlatform("slack", shares_late=0.02) as platform,
        spoken(platform) as (channel, route, _),
    ):
        outcome = await channel.send_files(Part(route, "March", files=(CHART,), key="k1"), (FILE,))
        (sent,) = platform.truth.messages("#team")
        assert outcome == Delivered(sent.id)
        assert calls(platform, "conversations.history") == 0


async def test_a_file_that_slack_does_not_say_anything_of_is_found_by_its_id():
    """CH-35: this process knows what Slack called it, whatever others are named."""
    async with (
        asyncio.timeout(PATIENCE),
        FakePlatform("slack", shares_late=60.0) as platform,
        spoken(platform) as (channel, route, _),
    ):
        first, second = (Part(route, "March", files=(CHART,), key=key) for key in ("k1", "k2"))
        assert isinstance(await channel.send_files(first, (FILE,)), Unknown)
        assert isinstance(await channel.send_files(second, (FILE,)), Unknown)
        one, two = platform.truth.messages("#team")
        assert await channel.find_files(second, AGO, ()) == Delivered(two.id)
        assert await channel.find_files(first, AGO, ()) == Delivered(one.id)


async def test_the_same_file_twice_is_two_messages_after_a_crash(platform):
    """CH-35, DU-3: the first one, whose receipt is known, is not taken for the second; nor one with words for one
    without. What is not there is sent again."""
    async with spoken(platform) as (channel, route, _):
        first = await channel.send_files(Part(route, "March", files=(CHART,), key="k1"), (FILE,))
    assert isinstance(first, Delivered)
    second = Part(route, "March", files=(CHART,), key="k2")
    async with listening(app(platform), RecordingInlet()) as another:
        assert isinstance(await another.find_files(second, AGO, {first.message}), RetryAfter)
        assert isinstance(await another.find_files(replace(second, text=""), AGO, ()), RetryAfter)
        assert await another.find_files(second, AGO, ()) == first


async def test_a_file_of_another_workspace(platform):
    """CH-11: an event of Slack Connect names its id alone; what it is and where is asked for."""
    inlet = RecordingInlet()
    async with listening(app(platform), inlet) as channel:
        await platform.says("#shared", "ann", "look", file=("plan.txt", b"hello"), abroad=True)
        (file,) = (await inlet.message("look")).attachments
        assert (file.name, file.mime, file.size) == ("plan.txt", "text/plain", 5)
        assert await channel.fetch(file, 100) == b"hello"


async def test_a_file_of_another_workspace_that_slack_tells_of_late(platform):
    """CH-11, CH-5: the message does not wait for it, and it is asked for again when an agent reads it."""
    inlet = RecordingInlet()
    async with listening(app(platform), inlet) as channel:
        for _ in range(2):  # a name, and a file
            platform.fault("5xx", on="other")
        await platform.says("#shared", "ann", "look", file=("plan.txt", b"hello"), abroad=True)
        (file,) = (await inlet.message("look")).attachments
        assert (file.name, file.url) == ("", None)
        assert await channel.fetch(file, 100) == b"hello"
        assert await channel.fetch(Attachment("F0NONE"), 100) is None
