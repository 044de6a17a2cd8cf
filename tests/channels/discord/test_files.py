"""CH-11: files of agents on Discord, several in one message, and a server's own emoji in the words (CH-27)."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from rejoinder.blobs import whole
from rejoinder.channels.base import Delivered, OutgoingFile, Rejected, RetryAfter, Unknown
from rejoinder.channels.discord import payloads
from rejoinder.channels.discord.emoji import in_reaction, with_own_emoji
from rejoinder.channels.discord.outcomes import Refused, refusal
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Attachment, Part, Route
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE
from tests.channels.discord.served import bot, listening


def file(name: str, content: bytes) -> OutgoingFile:
    return OutgoingFile(f"b-{name}", name, "text/plain", len(content), "document", lambda: whole(content))


def part_of(route: Route, *files: OutgoingFile, **more) -> Part:
    named = tuple(Attachment(each.id, each.name, each.mime, each.size, kind=each.kind) for each in files)
    return Part(route, more.pop("text", ""), files=named, **more)


@pytest.fixture
async def discord():
    async with (
        asyncio.timeout(2 * PATIENCE),
        FakePlatform("discord") as platform,
        listening(bot(platform), inlet := RecordingInlet()) as channel,
    ):
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")
        yield platform, channel, Route("discord", platform.people.world.room("ann").id)


async def test_several_files_in_one_message(discord):
    """CH-11: with their names, their bytes and the words."""
    platform, channel, here = discord
    files = file("a.txt", b"one"), file("b c.txt", bytes(300_000))
    sent = await channel.send_files(part_of(here, *files, text="Two files.", key="1"), files)
    assert isinstance(sent, Delivered)
    (shown,) = platform.truth.messages("ann")
    assert (shown.text, shown.files) == ("Two files.", ("a.txt", "b c.txt"))
    assert list(platform.people.rest.files.values()) == [b"one", bytes(300_000)]


NOTE = Attachment("v", "voice.ogg", "audio/ogg", 4, kind="voice", seconds=2.345, waveform=bytes(range(100)))


async def test_a_voice_note_has_its_player(discord):
    """ME-3: the flag, how long it is and its waveform; without words, buttons and reply it is what Discord wants."""
    platform, channel, here = discord
    file = OutgoingFile("v", "voice.ogg", "audio/ogg", 4, "voice", lambda: whole(b"OggS"))
    assert isinstance(await channel.send_files(Part(here, "", files=(NOTE,), key="1"), (file,)), Delivered)
    (stored,) = [each for each in platform.people.world.room("ann").messages.values() if each.attachments]
    assert (stored.flags & payloads.VOICE, stored.content) == (payloads.VOICE, "")


@pytest.mark.parametrize(
    "part",
    [
        {"text": "words"},
        {"files": (NOTE, NOTE)},
        {"files": (replace(NOTE, seconds=None),)},
        {"files": (replace(NOTE, mime="audio/mpeg"),)},
        {"files": (replace(NOTE, kind="document"),)},
    ],
)
def test_other_recordings_are_files(part):
    """ME-3: with words, with others, of unknown length, as MP3, or where Discord refused it as a voice message."""
    payload = payloads.message(Part(Route("discord", "1"), **{"text": "", "files": (NOTE,), **part}))
    assert not payload.get("flags", 0) & payloads.VOICE
    assert all(each.keys() == {"id", "filename"} for each in payload["attachments"])


def test_where_voice_messages_are_not_allowed_it_goes_as_a_file():
    """ME-3."""
    refused = refusal(Refused(403, 50173, "You cannot send voice messages in this channel."))
    assert isinstance(refused, Rejected)
    assert refused.why == "kind"


async def test_a_file_that_may_have_arrived_is_taken_once(discord):
    """CH-11, CH-28: under its nonce by sending again, after the window by reading back."""
    platform, channel, here = discord
    files = (file("a.txt", b"one"),)
    part = part_of(here, *files, text="", key="1")
    platform.fault("accept-drop")
    assert isinstance(await channel.send_files(part, files), Unknown)
    assert isinstance(await channel.find(part, datetime.now(UTC)), RetryAfter | Delivered)
    assert isinstance(await channel.send_files(part, files), Delivered)
    channel._outgoing._echoes.clear()
    platform.people.world.room("ann").messages[platform.truth.messages("ann")[0].id].nonce = None
    found = await channel.find(part, datetime.now(UTC) - timedelta(minutes=10))
    assert found == Delivered(platform.truth.messages("ann")[0].id)
    assert len(platform.truth.messages("ann")) == 1


async def test_a_boosted_server_takes_larger_files():
    """CH-11: a direct chat does not, nor one of which nobody has told; and the next process knows it too."""
    async with asyncio.timeout(PATIENCE), FakePlatform("discord") as platform:
        platform.people.world.boosts = 3
        team, ann = (Route("discord", platform.people.world.room(chat).id) for chat in ("#team", "ann"))
        inlet = RecordingInlet()
        async with listening(bot(platform), inlet) as channel:
            await platform.says("#team", "ann", "hi")
            await inlet.message("hi")
            limits = [channel.file_limits_at(route).size >> 20 for route in (team, ann, Route("discord", "7"))]
            assert limits == [100, 10, 10]
            large = (file("large.bin", bytes(11 << 20)),)
            assert isinstance(await channel.send_files(part_of(team, *large, key="1"), large), Delivered)
            assert isinstance(await channel.send_files(part_of(ann, *large, key="2"), large), Rejected)
        async with listening(bot(platform), inlet) as channel:
            await platform.says("#team", "ann", "again")
            await inlet.message("again")
            assert channel.file_limits_at(team).size == 100 << 20
            platform.people.boosts(2)
            await platform.says("#team", "ann", "less")
            await inlet.message("less")
            assert channel.file_limits_at(team).size == 50 << 20


async def test_a_file_that_is_too_large_is_refused(discord):
    """CH-11: the refusal says so; nothing is tried again."""
    platform, channel, here = discord
    platform.people.rest.file_limits[0] = 1000
    files = (file("a.txt", bytes(1001)),)
    assert isinstance(refused := await channel.send_files(part_of(here, *files), files), Rejected)
    assert "too large" in refused.reason


async def test_a_store_that_fails_while_a_file_is_read_has_sent_nothing(discord):
    """DU-3: a form that is not whole is taken by nobody, so it may be sent again."""
    platform, channel, here = discord

    async def broken():
        yield b"half"
        raise StoreUnavailable("busy", "store")

    half = OutgoingFile("b", "a.txt", "text/plain", 8, "document", broken)
    assert isinstance(await channel.send_files(part_of(here, half), (half,)), RetryAfter)
    assert not platform.truth.messages("ann")


OWN = {"blobwave": "<:blobwave:123456789012345678>", "party": "<a:party:223456789012345678>"}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Hello :blobwave:", "Hello <:blobwave:123456789012345678>"),
        (":party::blobwave:", ":party::blobwave:"),
        (":party: :nobody:", "<a:party:223456789012345678> :nobody:"),
        ("`:party:` and :party:", "`:party:` and <a:party:223456789012345678>"),
        ("```\n:party:\n```", "```\n:party:\n```"),
        ("<:party:223456789012345678>", "<:party:223456789012345678>"),
        ("at 10:party:30 http://x/:party:", "at 10:party:30 http://x/:party:"),
        (":party: " + "x" * 1990, ":party: " + "x" * 1990),
    ],
)
def test_a_servers_own_emoji_in_words(said, shown):
    """CH-27: by name, outside code, and never longer than Discord takes."""
    assert with_own_emoji(Part(Route("discord", "1"), said), OWN).text == shown


def test_a_servers_own_emoji_as_a_reaction():
    """CH-27: by name and id, moving ones too."""
    assert in_reaction(":party:", OWN) == "party:223456789012345678"
    assert in_reaction("blobwave", OWN) == "blobwave:123456789012345678"
    assert in_reaction("👍", OWN) == "👍"
