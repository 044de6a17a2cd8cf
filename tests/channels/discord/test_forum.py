"""CH-24: what is said to a forum is a post there."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from rejoinder.channels.base import Delivered, Rejected, RetryAfter, Unknown
from rejoinder.channels.discord.forum import choose_tag
from rejoinder.channels.discord.wire import Tag
from rejoinder.events import Part, Route
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE
from tests.channels.discord.served import bot, listening


@pytest.fixture
async def served():
    async with (
        asyncio.timeout(2 * PATIENCE),
        FakePlatform("discord") as platform,
        listening(bot(platform), inlet := RecordingInlet()) as channel,
    ):
        await platform.says("#team", "ann", "hi")
        await inlet.message("hi")
        yield platform, channel


def part(platform, text, **more):
    return Part(Route("discord", platform.id_of("#ideas")), text, key=text[:20], **more)


async def test_a_post_has_a_title_and_what_follows_goes_there(served):
    """CH-2, CH-24: titled by its first words; a forum that nobody has told of is found out."""
    platform, channel = served
    platform.people.add_forum("#ideas")
    sent = await channel.send(part(platform, "Better tea\n\nWith milk, for example."))
    assert isinstance(sent, Delivered)
    assert sent.place is not None
    thread = platform.people.world.rooms[sent.place.thread]
    assert (thread.name, thread.parent) == ("Better tea", platform.id_of("#ideas"))
    assert isinstance(await channel.send(Part(sent.place, "And sugar.", key="2")), Delivered)
    assert [each.content for each in thread.messages.values()] == [
        "Better tea\n\nWith milk, for example.",
        "And sugar.",
    ]


async def test_a_forum_that_requires_a_tag(served):
    """CH-24: gets one that everybody may set; if there is none, it is said who can do something about it."""
    platform, channel = served
    platform.people.add_forum("#ideas", "official!", "question", needs_tag=True)
    assert isinstance(await channel.send(part(platform, "A question of tea")), Delivered)
    platform.people.add_forum("#ideas", "official!", needs_tag=True)
    refused = await channel.send(part(platform, "Another"))
    assert isinstance(refused, Rejected)
    assert "a moderator has to add one" in refused.reason


async def test_a_post_that_may_have_arrived_is_looked_for(served):
    """DU-3, CH-28: Discord has no nonce for posts, so it is not simply sent again."""
    platform, channel = served
    platform.people.add_forum("#ideas")
    said = part(platform, "Better tea")
    before = datetime.now(UTC) - timedelta(seconds=1)
    assert isinstance(await channel.find(said, before), RetryAfter)
    platform.fault("accept-drop", chat="#ideas")
    assert isinstance(await channel.send(said), Unknown)
    found = await channel.find(said, before)
    assert isinstance(found, Delivered)
    assert found.place is not None
    assert found.place.thread == found.message


@pytest.mark.parametrize(
    ("text", "chosen"),
    [("a Bug in it", "bug"), ("anything", "idea"), ("debugging", "idea"), ("it is official", "idea")],
)
def test_which_tag(text, chosen):
    """The one that is named, else the first."""
    tags = [Tag("1", "official", True), Tag("2", "idea"), Tag("3", "bug")]
    found = choose_tag(tags, text)
    assert found is not None
    assert found.name == chosen
