"""ME-10, CH-11: files that agents give, whichever way they name them, and what programs get of them."""

import pytest

from rejoinder import Inbound, get_reply
from rejoinder.agents.acp.translation import Translation
from rejoinder.agents.base import Done, FileMade, TextDelta
from rejoinder.agents.http.agent import _event
from rejoinder.config.load import read
from rejoinder.events import Chat, Sender
from rejoinder.testing import FakeFiles, conversation

PNG = b"\x89PNG\r\n\x1a\nrest"
GRANTED = "[agents.giver]\nkind = 'tour'\n[directives]\nallow = ['send_file']\n"


class Giver:
    name = "giver"

    def __init__(self, *events):
        self.events = events

    async def run(self, turn):
        for event in self.events:
            yield event
        yield Done()


async def test_content_that_an_agent_gives_is_sent_in_its_place():
    """Two pictures without a name share a message; words after them come after them."""
    agent = Giver(FileMade(content=PNG), FileMade(content=PNG, caption=""), TextDelta("Two pictures."))
    channel = FakeFiles()
    async with conversation(agent, channel, read(GRANTED, "t", {})) as chat:
        await chat.says("show me")
        await chat.hears("")
        await chat.hears("Two pictures.")
    assert [(file.name, file.kind, file.content) for file in channel.files] == [("file.png", "photo", PNG)] * 2
    assert len({file.message for file in channel.files}) == 1


async def test_without_the_grant_nothing_is_sent():
    """OD-52: beside the text as in it."""
    channel = FakeFiles()
    async with conversation(Giver(FileMade(content=PNG), TextDelta("Hi.")), channel) as chat:
        await chat.says("show me")
        await chat.hears("Hi.")
    assert channel.files == []


async def test_too_large_is_said_to_the_agent():
    channel = FakeFiles()
    agent = Giver(FileMade(name="big.bin", content=bytes(1_000_001)), TextDelta("Hi."))
    async with conversation(agent, channel, read(GRANTED, "t", {})) as chat:
        await chat.says("show me")
        await chat.hears("Hi.")
        assert any("'big.bin' is larger than the 1 MB that can be sent" in note for note in channel.notes)
    assert channel.files == []


@pytest.mark.parametrize(
    ("content", "made"),
    [
        ({"type": "image", "mimeType": "image/png", "data": "aGk="}, FileMade(content=b"hi")),
        ({"type": "audio", "mimeType": "audio/ogg", "data": "aGk="}, FileMade(content=b"hi")),
        (
            {"type": "resource", "resource": {"uri": "file:///x/a%20b.bin", "blob": "aGk="}},
            FileMade(name="a b.bin", content=b"hi"),
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///x/a.md", "text": "hi"}},
            FileMade(name="a.md", content=b"hi"),
        ),
        ({"type": "resource_link", "name": "a", "uri": "file:///out/a.txt"}, FileMade(path="/out/a.txt")),
        ({"type": "resource_link", "name": "a", "uri": "https://example.org/a"}, TextDelta("https://example.org/a")),
        ({"type": "text", "text": "hi"}, TextDelta("hi")),
    ],
)
def test_what_acp_agents_put_beside_their_text_is_a_file(content, made):
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    assert Translation().events({"sessionId": "s", "update": update}, 0.0) == [made]


def test_a_service_gives_a_file_as_an_event():
    assert _event('{"type": "file", "name": "a.txt", "content": "aGk="}') == FileMade(name="a.txt", content=b"hi")


async def test_a_program_gets_the_files_with_the_reply(tmp_path):
    """`Reply.media`, with their content."""
    (tmp_path / "giving.py").write_text(
        "from rejoinder.agents.base import FileMade\n"
        "def answer(text: str):\n"
        "    yield FileMade(name='../a.txt', content=b'hi', caption='Look')\n"
    )
    config = f"[agents.giver]\nkind = 'python'\ncall = 'giving:answer'\npath = '{tmp_path}'\n"
    settings = read(f"{config}[directives]\nallow = ['send_file']\n", "t", {})
    (reply,) = await get_reply(Inbound("cli", "e1", "m1", Chat("me"), Sender("me"), "hello"), settings)
    (file,) = reply.media
    assert (reply.text, file.name, file.mime, file.content) == ("Look", "a.txt", "text/plain", b"hi")
