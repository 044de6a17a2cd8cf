"""What `rejoinder doctor` and `rejoinder init` find of a Discord bot."""

import asyncio

import pytest

from rejoinder.channels.discord.permissions import NEEDED, ChannelOf, Overwrite, in_channel, invite_link, missing
from rejoinder.errors import ChannelStopped
from rejoinder.testing import FakePlatform
from rejoinder.testing.patience import PATIENCE
from tests.channels.discord.served import bot

ALL = sum(NEEDED)
SEND, SEE = 1 << 11, 1 << 10
OVERWRITES = [
    ("nothing said", [], ALL),
    ("denied to everybody", [Overwrite("g", deny=str(SEND))], ALL & ~SEND),
    ("and allowed to its role", [Overwrite("g", deny=str(SEND)), Overwrite("r", allow=str(SEND))], ALL),
    ("and denied to itself", [Overwrite("r", allow=str(SEND)), Overwrite("me", deny=str(SEND))], ALL & ~SEND),
    ("said of others", [Overwrite("x", deny=str(SEND))], ALL),
]


@pytest.mark.parametrize(("said", "may"), [each[1:] for each in OVERWRITES], ids=[each[0] for each in OVERWRITES])
def test_what_it_may_do_in_a_channel(said, may):
    """CH-12: as Discord works it out."""
    assert in_channel(ALL, "g", "me", ["r"], ChannelOf("c", permission_overwrites=said)) == may


def test_an_administrator_lacks_nothing():
    assert missing(in_channel(1 << 3, "g", "me", [], ChannelOf("c", permission_overwrites=OVERWRITES[1][1]))) == []


def test_the_invite_link():
    """CH-12: with both scopes, and the permissions that are needed."""
    assert invite_link("42").endswith(f"client_id=42&scope=bot+applications.commands&permissions={ALL}")


async def checked(prepare=lambda people: None, **how):
    async with asyncio.timeout(PATIENCE), FakePlatform("discord") as platform:
        for chat in ("#team", "#quiet"):
            platform.people.world.room(chat)
        prepare(platform.people)
        channel = bot(platform, **how)
        try:
            return await channel.check()
        finally:
            await channel.close()


async def test_what_is_found():
    """CH-12: who it is, where, and the link."""
    found = await checked()
    assert "it is testbot (application " in found
    assert "in Workshop" in found
    assert "scope=bot+applications.commands" in found
    assert "may not" not in found


async def test_missing_permissions_by_channel():
    """CH-12: in words, a line for each; and which channels it does not see."""

    def prepare(people):
        people.closes("#quiet", 50013)
        people.closes("#team", 50001)

    found = await checked(prepare)
    assert "\nin #quiet it may not send messages: allow that in the channel's settings\n" in found
    assert "\nit does not see #team: where it is to take part, allow it View Channel\n" in found


async def test_the_intent_that_is_off():
    """CH-12, CH-13: with where to switch it on."""

    def prepare(people):
        people.gateway.content_granted = False

    with pytest.raises(ChannelStopped, match="switch on the Message Content Intent"):
        await checked(prepare)


async def test_a_wrong_token():
    with pytest.raises(ChannelStopped, match="Reset Token"):
        await checked(token="wrong")
