"""Files that people send on Telegram: they stay there until an agent is about to read the message."""

import json

import pytest

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
        "it has more than the 1 MB that are read",
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
