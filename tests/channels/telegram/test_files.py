"""ME-10, CH-11: files of agents on Telegram, each as what it is, against a Telegram that looks at their bytes."""

import pytest
from msgspec.structs import replace

from rejoinder.blobs import whole
from rejoinder.channels.base import Delivered, OutgoingFile, Rejected, RetryAfter, Unknown
from rejoinder.channels.multipart import Form
from rejoinder.channels.telegram.files import FILES, request
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Attachment, Entity, Part, Route
from rejoinder.filetypes import kind_of, mime_of
from rejoinder.testing import FakePlatform
from tests.channels.telegram.served import bot

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
MP4 = b"\0\0\0\x18ftypisom" + bytes(100)
MP3 = b"ID3\x04" + bytes(100)
OGG = b"OggS" + bytes(100)
WAV = b"RIFF\0\0\0\0WAVE" + bytes(100)


def file(name: str, content: bytes, asked: str | None = None) -> OutgoingFile:
    mime = mime_of(name, content[:64])
    kind = FILES.kind_for(kind_of(mime, asked), len(content))
    return OutgoingFile(f"b-{name}", name, mime, len(content), kind, lambda: whole(content))


def part_of(chat: str, *files: OutgoingFile, **more) -> Part:
    named = tuple(Attachment(each.id, each.name, each.mime, each.size, kind=each.kind) for each in files)
    return Part(Route("telegram", chat), more.pop("text", ""), files=named, **more)


@pytest.fixture
async def platform():
    async with FakePlatform("telegram") as platform:
        await platform.says("ann", "ann", "hello")
        yield platform


async def send(platform, *files, **more):
    channel = bot(platform)
    try:
        return await channel.send_files(part_of(platform.id_of("ann"), *files, **more), files)
    finally:
        await channel.close()


def calls(platform):
    return [call for call in platform.truth.calls if call.name.startswith("send")]


def sent(platform):
    return [(each.kind, each.file.name, each.caption) for each in platform.people.methods.sent.values()]


@pytest.mark.parametrize(
    ("name", "content", "asked", "method"),
    [
        ("chart.png", PNG, None, "sendPhoto"),
        ("chart.png", PNG, "file", "sendDocument"),
        ("huge.png", PNG + bytes(10_000_001), None, "sendDocument"),
        ("fake.png", b"<html>", None, "sendDocument"),
        ("film.mp4", MP4, None, "sendVideo"),
        ("song.mp3", MP3, None, "sendAudio"),
        ("note.ogg", OGG, "voice", "sendVoice"),
        ("note.ogg", OGG, None, "sendDocument"),
        ("note.wav", WAV, "voice", "sendDocument"),
        ("plan.txt", b"1 2 3", "image", "sendDocument"),
        ("Übersicht 中.txt", b"1 2 3", None, "sendDocument"),
    ],
)
async def test_each_goes_as_what_it_is(platform, name, content, asked, method):
    """By its bytes; what Telegram cannot play or show goes as a document."""
    outcome = await send(platform, file(name, content, asked), text="Look")
    assert isinstance(outcome, Delivered), outcome
    (call,) = calls(platform)
    assert call.name == method
    (shown,) = platform.people.methods.sent.values()
    assert (shown.file.name, shown.file.content, shown.caption) == (name, content, "Look")


async def test_a_caption_keeps_its_format_and_pings_nobody(platform):
    (entity,) = entities = (Entity("bold", 0, 4),)
    asked = await platform.says("ann", "ann", "chart?")
    more = {"text": "Look @bob", "entities": entities, "silent": True, "reply_to": asked}
    assert isinstance(await send(platform, file("a.png", PNG), **more), Delivered)
    (call,) = calls(platform)
    assert call.payload["caption_entities"][0] == {"type": entity.type, "offset": 0, "length": 4}
    assert call.payload["disable_notification"] is True
    seen = platform.truth.messages("ann")[-1]
    assert (seen.reply_to, seen.files) == (asked, ("a.png",))
    assert [frame.pinged for frame in platform.truth.frames if frame.files] == [()]


@pytest.mark.parametrize(
    ("seconds", "asked", "told"), [(2.4, "voice", 2), (0.2, "voice", 1), (None, "voice", None), (2.4, "file", None)]
)
async def test_how_long_a_voice_note_is(platform, seconds, asked, told):
    """ME-3: Telegram is told, where it is known; a document has no length."""
    note = file("note.ogg", OGG, asked)
    part = part_of(platform.id_of("ann"), note)
    method, payload, _ = request(replace(part, files=(replace(part.files[0], seconds=seconds),)), (note,))
    assert method == ("sendVoice" if asked == "voice" else "sendDocument")
    assert payload.get("duration") == told


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        ([file("1.png", PNG), file("2.mp4", MP4)], ["photo", "video"]),
        ([file("1.mp3", MP3), file("2.mp3", MP3)], ["audio", "audio"]),
        ([file("1.mp3", MP3), file("2.wav", WAV, "audio")], ["document", "document"]),
        ([file(f"{number}.png", PNG) for number in range(10)], ["photo"] * 10),
    ],
)
async def test_several_are_an_album(platform, files, kinds):
    outcome = await send(platform, *files, text="All of them")
    assert isinstance(outcome, Delivered), outcome
    (call,) = calls(platform)
    assert call.name == "sendMediaGroup"
    assert [kind for kind, _, _ in sent(platform)] == kinds
    assert [caption for _, _, caption in sent(platform)] == ["All of them"] + [""] * (len(files) - 1)
    assert outcome.message == platform.truth.messages("ann")[-len(files)].id


@pytest.mark.parametrize(
    ("fault", "outcome"), [("drop", Unknown), ("accept-drop", Unknown), ("5xx", RetryAfter), ("429", RetryAfter)]
)
async def test_what_went_wrong_is_known(platform, fault, outcome):
    platform.fault(fault)
    assert isinstance(await send(platform, file("a.png", PNG)), outcome)


async def test_a_form_that_was_never_whole_was_never_taken(platform):
    """DU-3: while its last byte is missing it may be sent again, whatever happened to the connection."""

    async def broken():
        yield PNG
        raise StoreUnavailable("full", "of this test")

    unreadable = OutgoingFile("b", "a.png", "image/png", 5_000_000, "photo", broken)
    outcome = await send(platform, unreadable)
    assert isinstance(outcome, RetryAfter), outcome
    assert sent(platform) == []


async def test_what_telegram_cannot_show_is_refused_by_its_kind(platform):
    odd = OutgoingFile("b", "a.png", "image/png", 3, "photo", lambda: whole(b"odd"))
    outcome = await send(platform, odd)
    assert isinstance(outcome, Rejected)
    assert outcome.why == "kind"


async def test_a_form_has_the_length_it_says():
    form = Form({"chat_id": "1", "media": b"[]"}, [("a", file("ü.png", PNG)), ("b", file("2.png", PNG))])
    content = b"".join([piece async for piece in form.pieces()])
    assert len(content) == form.size
    assert content.count(PNG) == 2
