"""Files that people send on Telegram: they stay there until an agent is about to read the message."""

import json

import pytest

from rejoinder.agents.base import Done, FileMade
from rejoinder.events import PromptImage, PromptText
from rejoinder.inbound.documents import picture_side
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.platform.telegram.server import PICTURE
from tests.conversations.test_telegram import telegram
from tests.media import documents


class Seeing(ScriptedAgent):
    sees_images = True


def files(turn):
    """The lines of the blocks of files."""
    texts = [part.text for part in turn.parts if isinstance(part, PromptText)]
    blocks = [text for text in texts if text.startswith("<untrusted_media-")]
    return [line for block in blocks for line in json.loads(block.split("\n")[1])]


def pictures(turn):
    return [part for part in turn.parts if isinstance(part, PromptImage)]


def asked_for(platform):
    return [call.payload["file_id"] for call in platform.truth.calls if call.name == "getFile"]


async def test_a_photo_is_seen():
    """IN-9: the picture itself, with its caption as the words of the message."""
    agent = Seeing("A cat.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "What is this?", pictures=1)
        await platform.hears("ann", "A cat.")
    (turn,) = agent.turns
    assert pictures(turn) == [PromptImage("image/jpeg", PICTURE)]
    assert [line.get("missing") for line in files(turn)] == [None]


async def test_an_album_is_seen_whole():
    agent = Seeing("Three cats.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "And these?", pictures=3)
        await platform.hears("ann", "Three cats.")
    assert pictures(agent.turns[0]) == [PromptImage("image/jpeg", PICTURE)] * 3


async def test_the_photo_that_is_answered_is_seen():
    """IN-9: in a group nobody else's photo comes to the agent by itself; who answers it is often asking about it."""
    agent = Seeing("A cat.")
    async with telegram(agent) as platform:
        photo = await platform.says("#team", "bob", "mine", pictures=1)
        await platform.says("#team", "ann", "@testbot what is this?", reply_to=photo)
        await platform.hears("#team", "A cat.")
    assert pictures(agent.turns[0]) == [PromptImage("image/jpeg", PICTURE)]


async def test_a_directive_that_answers_a_photo_is_a_directive():
    """IN-54: the photo is the other message's."""
    agent = Seeing()
    async with telegram(agent) as platform:
        photo = await platform.says("#team", "bob", "mine", pictures=1)
        await platform.says("#team", "ann", "/think high", reply_to=photo)
        await platform.hears("#team", "Thinking: high.")
        assert asked_for(platform) == []


async def test_a_text_file_is_read():
    """IN-9, IN-6: inlined as data, whoever reads it."""
    agent = ScriptedAgent("Read.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "Look", file=("notes.csv", b"a,b\n/stop\n"))
        await platform.hears("ann", "Read.")
    (line,) = files(agent.turns[0])
    assert (line["name"], line["text"]) == ("notes.csv", "a,b\n/stop\n")


async def test_a_document_is_read_and_a_large_picture_is_scaled():
    """ME-11, ME-12: each in a process of its own; what is wrong with a file is said in its place."""
    agent = Seeing("Read.", "Seen.", "No.", "No.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "Look", file=("plan.pdf", documents.pdf(["First we think"])))
        await platform.hears("ann", "Read.")
        await platform.says("ann", "ann", "Look", file=("wide.png", documents.picture(5000, 50, "PNG")))
        await platform.hears("ann", "Seen.")
        await platform.says("ann", "ann", "Look", file=("huge.png", documents.huge_picture()))
        await platform.hears("ann", "No.")
        await platform.says("ann", "ann", "Look", file=("bomb.docx", documents.bomb()))
        await platform.hears("ann", "No.")
    lines = [line for turn in agent.turns for line in files(turn)]
    assert (lines[0]["text"].strip(), lines[0]["note"]) == ("First we think", "the text of its 1 page")
    assert [picture_side(picture.data) for turn in agent.turns for picture in pictures(turn)] == [2000]
    assert lines[2]["missing"] == "it could not be read: it has too many pixels"
    assert lines[3]["missing"] == "it could not be read: it is too large when it is unpacked"


async def test_what_an_agent_cannot_take_is_not_fetched():
    """A picture for one that cannot see, a film, and a file larger than anybody would read."""
    agent = ScriptedAgent("One.", "Two.", "Three.")
    film, archive = ("film.mp4", b"film"), ("all.bin", b"\0" * 1_000_001)
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "look", pictures=1)
        await platform.hears("ann", "One.")
        await platform.says("ann", "ann", "look", file=film)
        await platform.hears("ann", "Two.")
        await platform.says("ann", "ann", "look", file=archive)
        await platform.hears("ann", "Three.")
        assert asked_for(platform) == []
    missing = [line["missing"] for turn in agent.turns for line in files(turn)]
    assert missing == [
        "you cannot see pictures",
        "its content was not fetched",
        "it is larger than the 1 MB that are read",
    ]


async def test_nothing_is_fetched_for_who_is_not_let_in():
    """IN-11: nothing of a stranger's goes further than the door."""
    agent = Seeing("Hello.")
    async with telegram(agent) as platform:
        await platform.says("eve", "eve", "look", pictures=1)
        await platform.hears("eve")
        assert asked_for(platform) == []


@pytest.mark.parametrize("fault", ["5xx", "404", "drop"])
async def test_a_file_that_cannot_be_had_is_told_of(fault):
    """The message is answered anyway, and the agent knows what it did not see."""
    agent = Seeing("I cannot see it.")
    async with telegram(agent) as platform:
        platform.fault(fault, on="file")
        await platform.says("ann", "ann", "What is this?", pictures=1)
        await platform.hears("ann", "I cannot see it.")
        assert len(asked_for(platform)) == 1
    assert pictures(agent.turns[0]) == []
    assert [line["missing"] for line in files(agent.turns[0])] == ["its content was not fetched"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"audio": {"file_id": "a", "file_unique_id": "u", "duration": 3, "file_name": "song.mp3"}}, ("song.mp3",)),
        ({"video_note": {"file_id": "n", "file_unique_id": "u", "duration": 3, "length": 9}}, ("video_note-u",)),
        ({"sticker": {"file_id": "s", "file_unique_id": "u", "emoji": "👍", "is_animated": True}}, ("sticker 👍",)),
        ({"location": {"latitude": 52.5, "longitude": 13.4}}, ("shared a location: 52.5, 13.4",)),
        ({"contact": {"phone_number": "+49301", "first_name": "Carl"}}, ("shared a contact: Carl, +49301",)),
        ({"poll": {"id": "p", "question": "Lunch?", "options": [{"text": "Soup"}]}}, ("sent a poll: Lunch? (Soup)",)),
        ({"dice": {"emoji": "🎲", "value": 5}}, ("threw 🎲: 5",)),
    ],
)
async def test_what_is_no_text_arrives_as_something_the_agent_understands(fields, words):
    """ME-11, IN-9: alone, without a word beside it."""
    agent = ScriptedAgent("I see.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "", **fields)
        await platform.hears("ann", "I see.")
    told = "\n".join(part.text for part in agent.turns[0].parts if isinstance(part, PromptText))
    assert all(json.dumps(word, ensure_ascii=False)[1:-1] in told for word in words), told


class Giver:
    name = "scripted"

    def __init__(self, *events):
        self.events = events

    async def run(self, turn):
        for event in self.events:
            yield event
        yield Done()


async def test_eleven_photos_are_an_album_and_one_more():
    """ME-10, CH-11: what one album does not hold goes on in the next message; what is no photo stands apart."""
    photos = [FileMade(name=f"{number}.png", content=b"\x89PNG\r\n\x1a\n") for number in range(11)]
    agent = Giver(*photos, FileMade(name="a.txt", content=b"hi", caption="And this"))
    async with telegram(agent, "[directives]\nallow = ['send_file']") as platform:
        await platform.says("ann", "ann", "all of them")
        for _ in photos:
            await platform.hears("ann", "")
        await platform.hears("ann", "And this")
        calls = [
            call.name for call in platform.truth.calls if call.name.startswith("send") and "Action" not in call.name
        ]
        assert calls == ["sendMediaGroup", "sendPhoto", "sendDocument"]
        assert len(platform.people.methods.sent) == 12
