"""People at browsers of the web channel: they see what a page shows, and come back to it."""

import asyncio

import pytest

from rejoinder.channels.web.protocol import Message
from rejoinder.testing import FakePlatform
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.faults import Faults
from rejoinder.testing.platform.personality import Stage
from rejoinder.testing.platform.truth import BOT, Truth
from rejoinder.testing.platform.web import Browsers, NotTaken
from tests.web.running import running, settings


def port_of(platform: FakePlatform) -> int:
    return int(platform.config().rpartition(" ")[2])


async def test_people_see_what_a_page_shows():
    """DU-21: a message that grows is seen in every state; a reaction and a reply are seen too."""
    replies = (("Once upon ", "a time."), '[[reply_to_current]]\n<actions><react emoji="eyes"/></actions>\nSeen.')
    async with FakePlatform("web") as platform, running(settings(replies, port=port_of(platform))):
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(
            lambda: [seen.text for seen in platform.truth.messages("ann")] == ["Once upon a time."]
        )
        shown = [
            frame.text for frame in platform.truth.frames if frame.by == "bot" and frame.kind in ("message", "edit")
        ]
        assert all("Once upon a time.".startswith(text) for text in shown)
        message = await platform.says("ann", "ann", "look at this")
        await platform.truth.until(lambda: [seen.text for seen in platform.truth.messages("ann")][1:] == ["Seen."])
        assert platform.truth.messages("ann")[1].reply_to == message
        await platform.truth.until(
            lambda: (
                [seen.reactions for seen in platform.truth.messages("ann", by="ann") if seen.id == message] == ["👀"]
            )
        )
        assert not oracles.leaked(platform.truth.frames)


async def test_a_group_is_seen_once_by_all():
    """A message of a room that several people are in is one message."""
    async with FakePlatform("web") as platform, running(settings(("One.", "Two."), port=port_of(platform))):
        await platform.says("#team", "ann", "first")
        await platform.hears("#team", "One.")
        await platform.says("#team", "bob", "second")
        await platform.hears("#team", "Two.")
        assert [seen.text for seen in platform.truth.messages("#team")] == ["One.", "Two."]
        assert [seen.by for seen in platform.truth.messages("#team", by=None) if seen.by != "bot"] == ["ann", "bob"]


async def test_a_browser_that_lost_its_line_misses_nothing():
    """Resumed by number: nothing is missed, nothing comes twice; what was said twice under one id is there once."""
    async with FakePlatform("web") as platform, running(settings(("One.", "Two.", "Three."), port=port_of(platform))):
        platform.fault("duplicate", on="send")
        platform.fault("drop", on="event", times=3, after=1)
        for text, answer in (("first", "One."), ("second", "Two."), ("third", "Three.")):
            await platform.says("ann", "ann", text)
            await platform.truth.until(lambda answer=answer: answer in platform.truth.messages("ann")[-1].text)
        assert [seen.text for seen in platform.truth.messages("ann", by="ann")] == ["first", "second", "third"]
        assert [seen.text for seen in platform.truth.messages("ann")] == ["One.", "Two.", "Three."]
        assert [call.name for call in platform.truth.calls] == ["drop"] * 3


def test_who_comes_in_the_middle_sees_messages_where_they_stand():
    """A page puts messages in the order of their numbers: who comes while one grows is told of it before the others."""
    truth = Truth()
    browsers = Browsers(Stage(truth, Faults(), {}))
    for seq, text in ((8, "This is the rest."), (7, "@take this is yours.")):
        browsers.show_message(Message(f"w{seq}", "lobby", "give", 0, seq, text), BOT)
    assert [seen.text for seen in truth.messages()] == ["@take this is yours.", "This is the rest."]


async def test_what_is_said_waits_for_a_gateway():
    """The message is confirmed by the first gateway that can."""
    async with FakePlatform("web") as platform:
        said = asyncio.create_task(platform.says("ann", "ann", "is anybody there?"))
        async with running(settings(("Yes.",), port=port_of(platform))):
            assert await said
            await platform.hears("ann")


async def test_what_is_refused_is_told():
    async with FakePlatform("web") as platform, running(settings(port=port_of(platform))):
        with pytest.raises(NotTaken, match="nothing in this message"):
            await platform.says("ann", "ann", " ")
