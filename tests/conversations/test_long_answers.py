"""Answers longer than people read: cut, kept whole as a file, and never in anybody's way."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from rejoinder.agents.base import Done, TextDelta, Thought, ToolEnded, ToolStarted, Usage
from rejoinder.agents.python import Settings as PythonSettings
from rejoinder.agents.python.function import PythonAgent
from rejoinder.channels.base import FileLimits
from rejoinder.config.load import read
from rejoinder.outbound.reader import ReplyReader
from rejoinder.runtime.session import fairness, relay
from rejoinder.runtime.session.completions import CompletionMessage, complete
from rejoinder.testing import FakeFiles, ScriptedAgent, conversation
from rejoinder.testing.fake_channel import FakeChannel, FakeMessenger

SENTENCE = "_(The answer was cut here: it is longer than 1,000 characters."
WORDS = "some words of an answer "


def settings_of(tmp_path: Path, more: str = "") -> Any:
    text = f"""
    gateway.store = "sqlite:{tmp_path}/rejoinder.db"
    [agents.scripted]
    kind = "scripted"
    script = "unused.json"
    max_answer_chars = 1000
    {more}
    """
    return read(text, "rejoinder.toml", {})


@pytest.mark.parametrize("piece", [100_000, 1000, 7])
@pytest.mark.parametrize("channel", [FakeChannel, FakeMessenger])
async def test_an_answer_without_end_is_cut(tmp_path: Path, piece: int, channel: type[FakeMessenger]):
    """At the end of a word, with a sentence; however it came, and wherever it is shown."""
    text = WORDS * 500
    steps = [text[at : at + piece] for at in range(0, len(text), piece)]
    async with conversation(ScriptedAgent(steps), channel(), settings_of(tmp_path)) as chat:
        await chat.says("tell me all")
        message = await chat.hears()
        await chat.rests()
        shown = chat.channel.messages[message.id].text
    said, _, after = shown.partition("\n\n")
    assert after == f"{SENTENCE})_"
    assert 700 < len(said) <= 1000
    assert text.startswith(said.rstrip() + " ")


async def test_an_answer_that_fits_is_not_cut(tmp_path: Path):
    """Nor is anything added."""
    text = ("x" * 99 + "\n") * 10
    async with conversation(ScriptedAgent(text), settings=settings_of(tmp_path)) as chat:
        await chat.says("tell me all")
        await chat.hears(text.strip())


async def test_a_cut_in_code_closes_the_code(tmp_path: Path):
    """Otherwise the sentence would be code."""
    async with conversation(ScriptedAgent("```python\n" + "x = 1\n" * 500), settings=settings_of(tmp_path)) as chat:
        await chat.says("tell me all")
        shown = (await chat.hears()).text
    assert f"x = 1\n\n```\n\n{SENTENCE}" in shown or f"x = 1\n```\n\n{SENTENCE}" in shown


class WithFiles(FakeFiles, FakeChannel):
    """Can send files, and shows messages as they grow."""


async def test_the_whole_of_it_is_a_file_without_directives_or_secrets(tmp_path: Path):
    """DE-35: where the agent may send files, it follows the answer. What is asked for behind the cut is done."""
    secret = "ghp_" + "a1B2" * 9
    text = f'<react emoji="eyes"/>\n{WORDS * 100}{secret} {WORDS * 100_000}the end.\n<react emoji="thumbsup"/>'
    channel = WithFiles()
    channel.file_limits = FileLimits(20_000_000)
    granted = settings_of(tmp_path, "[directives]\nallow = ['send_file']")
    async with conversation(ScriptedAgent([text]), channel, granted) as chat:
        asked = await chat.says("tell me all")
        shown = (await chat.hears()).text
        await chat.sees_reaction("👍", on=asked)
        await chat.hears("")
    [file] = channel.files
    assert f"The full answer is in the file {file.name}.)_" in shown
    whole = file.content.decode()
    assert whole == f"{WORDS * 100}[redacted] {WORDS * 100_000}the end."
    assert (channel.parts[-1].files[0].name, channel.parts[-1].silent) == (file.name, True)


async def test_nobody_waits_while_much_is_said(monkeypatch: pytest.MonkeyPatch):
    """OD-5: an answer of megabytes is taken in slices, and the loop is given back in between."""
    monkeypatch.setattr(fairness, "LONGEST_WORK", 0.0)
    turns = 0
    slices: list[tuple[int, int]] = []  # the length of each, and when it was read
    feed = ReplyReader.feed

    def counted(reader: ReplyReader, piece: str) -> Any:
        slices.append((len(piece), turns))
        return feed(reader, piece)

    monkeypatch.setattr(ReplyReader, "feed", counted)

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    agent = PythonAgent("big", PythonSettings(call="-:-"), lambda turn: "word " * 400_000)
    beside = asyncio.create_task(others())
    async with conversation(agent) as chat:
        await chat.says("tell me all")
        assert "cut here" in (await chat.hears()).text
    beside.cancel()
    lengths, times = zip(*slices, strict=True)
    assert max(lengths) <= 10_000
    assert len(set(times)) == len(times), "two slices were read without a turn for the others in between"


async def test_thousands_of_mistakes_are_not_thousands_of_notes():
    """OD-51: the operator reads of the first ones."""
    async with conversation(ScriptedAgent('<react emoji="eyes" message="gone"/>\n' * 1000 + "Done.")) as chat:
        await chat.says("hello")
        await chat.hears("Done.")
        assert 0 < len(chat.channel.notes) <= 20


async def test_an_agent_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch):
    """TU-20: events have an upper bound too, whatever they are."""
    monkeypatch.setattr(relay, "MOST_HEARD", 1000)

    class Endless(ScriptedAgent):
        async def run(self, turn: Any):
            while True:
                yield Usage(1, 1)

    async with conversation(Endless()) as chat:
        await chat.says("hello")
        await chat.hears("scripted did not finish and was stopped.")


async def test_what_is_huge_beside_the_answer_is_cut_too(tmp_path: Path):
    """Thoughts, titles and the output of tools."""
    steps = [Thought("t" * 100_000), ToolStarted("1", "t" * 100_000), ToolEnded("1", True, "o" * 100_000)]
    async with conversation(
        ScriptedAgent([*steps, TextDelta("Done."), Done()]), settings=settings_of(tmp_path)
    ) as chat:
        await chat.says("/verbose full")
        await chat.hears()
        await chat.says("/reasoning on")
        await chat.hears()
        await chat.says("hello")
        await chat.rests()
        said = [shown.text for shown in chat.channel.messages.values()]
        for _ in chat._unheard():
            await chat.hears()
    assert max(map(len, said)) < 5000


async def test_a_program_that_asks_gets_a_cut_answer_too():
    """Through the API as well."""
    agent = ScriptedAgent(["word " * 100_000])
    pieces = [
        piece async for piece in complete(agent, (CompletionMessage("user", "Hi"),), most=100) if isinstance(piece, str)
    ]
    assert "".join(pieces) == "word " * 20 + "\n\n(The answer was cut here: it is longer than 100 characters.)"
