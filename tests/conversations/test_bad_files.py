"""ME-11, ME-12: files that nobody should send: each ends in a sentence, and the others are answered meanwhile."""

import json
import resource

from rejoinder.config.load import read
from rejoinder.events import Attachment, PromptText
from rejoinder.testing import FakeMessenger, ScriptedAgent, conversation
from tests.media.documents import bad_files
from tests.media.sounds import bad_sounds

SETTINGS = "[agents.scripted]\nkind = 'tour'\n[media.documents]\ntimeout_s = 3\n[messages.queue]\ndebounce_ms = 0\n"
MIMES = {"pdf": "application/pdf", "png": "image/png", "heic": "image/heic", "txt": "text/plain"}


class Holding(FakeMessenger):
    """Leaves files on the platform; one without content has no end."""

    def __init__(self):
        super().__init__()
        self.contents = {}

    async def fetch(self, file, limit):
        content = self.contents[file.id]
        return None if not content or len(content) > limit else content

    def attached(self, name, size, content):
        self.contents[name] = content
        return Attachment(name, name, MIMES.get(name.rpartition(".")[2], "application/octet-stream"), size)


class Seeing(ScriptedAgent):
    sees_images = True


def told_names(told):
    """No path, no line break, nothing that turns the order of what is read."""
    return " ".join(name.rpartition("exe_")[2] for name in told)


async def test_each_ends_in_a_sentence_and_others_are_answered_meanwhile():
    """The agent is told of each file, with the reason where there is no text; ann does not wait for bob's files."""
    bad, channel = bad_files(), Holding()
    agent = Seeing(*["Seen."] * (len(bad) + 3))
    async with conversation(agent, channel, read(SETTINGS, "t", {})) as chat:
        for index, file in enumerate(bad.values()):
            attached = (channel.attached(*file),)
            await channel.says(f"look {index}", sender="bob", chat=f"bobs-{index}", attachments=attached)
        before = len(agent.turns)
        await chat.says("hello", sender="ann", chat="anns")
        await channel.until(lambda: any("hello" in str(turn.parts) for turn in agent.turns))
        assert before <= len(agent.turns) < len(bad) + 1, "ann was answered before all of bob's files were read"
        for _ in range(len(bad) + 1):
            await chat.hears("Seen.")
    told = {}
    for turn in agent.turns:
        texts = [part.text for part in turn.parts if isinstance(part, PromptText)]
        for text in texts:
            if text.startswith("<untrusted_media-"):
                (line,) = json.loads(text.split("\n")[1])
                told[line["name"]] = line.get("missing") or line.get("note")
    assert len(told) == len(bad)
    assert told["novel.pdf"] == "it is larger than the 20 MB that are read"
    assert told["novel.txt"] == "its content was not fetched"
    assert "too large when it is unpacked" in told["bomb.docx"]
    assert "not unpacked" in told["bomb.zip"]
    assert told["huge.png"] == "it could not be read: it has too many pixels"
    assert told["film.heic"] == "it could not be read: it is not a picture that can be read here"
    assert "not unpacked" in told["plan.pdf"]
    assert "_[31m.pdf" in told_names(told)
    assert all(why and "\n" not in why for why in told.values()), told


async def test_each_recording_ends_in_a_sentence_and_others_are_answered_meanwhile():
    """ME-1: to the person, once, and to the agent; nobody is asked what such a recording says, and memory is flat."""
    bad, channel = bad_sounds(), Holding()
    agent = ScriptedAgent(*["Heard."] * (len(bad) + 1))
    hearing = f'{SETTINGS}[media.speech_to_text]\ncommand = ["printf", "never asked", "{{file}}"]\n'
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with conversation(agent, channel, read(hearing, "t", {})) as chat:
        for index, (name, content, _) in enumerate(bad.values()):
            channel.contents[name] = content
            voice = Attachment(name, name, "audio/ogg", None, kind="voice")
            await channel.says("", sender="bob", chat=f"bobs-{index}", attachments=(voice,))
        await chat.says("hello", sender="ann", chat="anns")
        await channel.until(lambda: any("hello" in str(turn.parts) for turn in agent.turns))
        said = [(await chat.hears()).text for _ in range(2 * len(bad) + 1)]
        told = {part.route.chat: part.text for part in channel.parts if part.text != "Heard."}
    assert said.count("Heard.") == len(bad) + 1
    reasons = {f"bobs-{index}": why for index, (_, _, why) in enumerate(bad.values())}
    assert told == {chat: f"Your voice message could not be heard: {why}." for chat, why in reasons.items()}
    assert not any("never asked" in str(turn.parts) for turn in agent.turns)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150_000  # kB
