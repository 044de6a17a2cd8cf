"""What must be understood of a message before it is decided."""

import pytest
from msgspec.structs import replace

from rejoinder.events import Attachment, Forward, LinkedPage, Quote
from rejoinder.inbound.understanding import (
    MediaToUnderstand,
    UnderstandingSettings,
    links_in,
    to_understand,
    understood,
    unheard_notice,
)
from tests.inbound.floor import GUEST, OWNER, house, says, send

HEARS = UnderstandingSettings(hears=True, max_seconds=60, max_bytes=1000)
READS = UnderstandingSettings(pages=2)
VOICE = Attachment("v", "voice", "audio/ogg", 100, kind="voice", seconds=3)
SONG = Attachment("s", "song.mp3", "audio/mpeg", 100)
PICTURE = Attachment("p", "cat.png", "image/png", 100)


def wanted(inbound, settings=HEARS, rules=None, **facts):
    return to_understand(send(inbound, rules or house(), **facts), settings)


@pytest.mark.parametrize(
    ("inbound", "files"),
    [
        (says("", attachments=(VOICE, PICTURE)), (VOICE,)),
        (says("listen", attachments=(SONG,)), (SONG,)),
        (says("", attachments=(VOICE,), forwarded=Forward()), (VOICE,)),
        (says("what does she say?", reply_to=Quote("m0", files=(VOICE,))), (VOICE,)),
        (says("", GUEST, attachments=(VOICE,)), (VOICE,)),
    ],
)
def test_recordings_are_listened_to(inbound, files):
    """ME-1: voice notes and audio files, those of the message it answers too."""
    assert wanted(inbound) == MediaToUnderstand(files)


@pytest.mark.parametrize(
    "inbound",
    [
        says("hello"),
        says("", "stranger", attachments=(VOICE,)),
        says("", OWNER, group=True, attachments=(VOICE,)),
        says("/status", OWNER, attachments=(VOICE,)),
        says("", attachments=(replace(VOICE, heard="x"),), understood=True),
        says("new words", entry="edit", attachments=(VOICE,)),
    ],
    ids=["no recording", "a stranger", "not addressed in a group", "a command", "understood before", "an edit"],
)
def test_nothing_else_is(inbound):
    """ME-1: nothing is fetched for people without access, and in groups only when the agent is addressed."""
    assert wanted(inbound) is None


def test_where_nobody_listens_nothing_is_wanted():
    assert wanted(says("", attachments=(VOICE,)), UnderstandingSettings()) is None


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (replace(VOICE, seconds=10_800), "it is longer than 60 seconds"),
        (replace(VOICE, size=2_000_000_000), "it has more than 0.001 MB"),
    ],
)
def test_limits_come_before_reading(file, why):
    """ME-1: three hours of audio, and two gigabytes, are refused by what the platform tells of them."""
    assert wanted(says("", attachments=(file,))) == MediaToUnderstand(refused={"v": why})


def test_own_voice_is_own_text_and_nothing_else_is():
    """IN-6, IN-9: the words of a song, of a voice that was passed on or is quoted are content of a file."""
    heard = {"v": "buy milk", "s": "la la", "q": "she said"}
    inbound = says("", attachments=(VOICE, SONG), reply_to=Quote("m0", files=(replace(VOICE, id="q"),)))
    told = understood(inbound, heard, {})
    assert (told.transcript, told.understood) == ("buy milk", True)
    assert [file.heard for file in (*told.attachments, *told.reply_to.files)] == ["buy milk", "la la", "she said"]
    passed_on = understood(says("", attachments=(VOICE,), forwarded=Forward()), heard, {})
    assert (passed_on.transcript, passed_on.attachments[0].heard) == (None, "buy milk")


def test_what_was_understood_is_decided_as_text():
    """IN-6: a spoken command works, an owner's does not, whoever says it."""
    stop = understood(says("", OWNER, attachments=(VOICE,)), {"v": "Stop."}, {})
    assert send(stop, house()).outcome.reason == "asked to stop"
    status = understood(says("", OWNER, attachments=(VOICE,)), {"v": "Slash status."}, {})
    assert send(status, house()).replies
    restart = send(understood(says("", OWNER, attachments=(VOICE,)), {"v": "slash restart"}, {}), house())
    assert restart.effects == ()


def test_a_failure_is_told_once_and_the_agent_has_its_turn():
    """ME-1."""
    inbound = understood(says("", attachments=(VOICE, SONG)), {}, {"v": "it took too long", "s": "it is silent"})
    done = send(inbound, house())
    assert done.replies == (
        "Your voice message could not be heard: it took too long.",
        "The recording 'song.mp3' could not be heard: it is silent.",
    )
    assert to_understand(done, HEARS) is None
    assert done.message.agent_text == ""
    assert unheard_notice(says("hello")) == ()


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see https://example.org/a, and (https://example.org/b).", ("https://example.org/a", "https://example.org/b")),
        ("https://en.wikipedia.org/wiki/A_(b)", ("https://en.wikipedia.org/wiki/A_(b)",)),
        ("<https://a.example/x> **https://b.example**", ("https://a.example/x", "https://b.example")),
        ("twice https://a.example https://a.example", ("https://a.example",)),
        ("HTTPS://A.example/?q=1&r=2#top!", ("HTTPS://A.example/?q=1&r=2#top",)),
        ("ftp://a.example example.org javascript:alert(1) https:// https://" + "a" * 3000, ()),
    ],
)
def test_links_are_found_without_the_sentence_around_them(text, links):
    assert links_in(text, 5) == links


def test_many_brackets_take_no_time():
    """Rule 3 of the house: linear in what people write."""
    assert len(links_in(f"https://a.example/{')' * 2000} " * 1000 + "https://" * 20_000, 3)) == 1


@pytest.mark.parametrize(
    ("inbound", "addresses"),
    [
        (says("https://a.example https://b.example https://c.example"), ("https://a.example", "https://b.example")),
        (says("https://a.example", forwarded=Forward("https://a.example")), ()),
        (says("look", forwarded=Forward("https://a.example")), ()),
        (says("", transcript="https://a.example"), ()),
        (says("look", reply_to=Quote("m0", text="https://a.example")), ()),
        (says("https://a.example", "stranger"), ()),
        (says("https://a.example", OWNER, group=True), ()),
    ],
)
def test_only_links_of_a_persons_own_fresh_text_are_read(inbound, addresses):
    """ME-20: at most so many, of a message that gets a turn."""
    found = wanted(inbound, READS)
    assert (found.addresses if found else ()) == addresses


def test_pages_are_kept_with_the_message():
    page = LinkedPage("https://a.example", "A", "text")
    assert understood(says("https://a.example"), {}, {}, (page,)).pages == (page,)
