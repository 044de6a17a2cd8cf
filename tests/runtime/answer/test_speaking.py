"""Voice notes of an answer, kept before a message names them."""

from rejoinder.channels.base import FileLimits
from rejoinder.media_services import Recording
from rejoinder.runtime.answer.speaking import Speech, recorded
from rejoinder.runtime.settings import SpeechOptions
from rejoinder.testing import FakeFiles
from tests.runtime.places import place

NOTE = Recording(b"OggS and more", "audio/ogg", 2.5, bytes(range(100)))


class Mouth:
    def __init__(self):
        self.spoken = []

    async def speak(self, text, voice, form):
        self.spoken.append(text)
        return NOTE

    async def measure(self, content, mime):
        assert (content, mime) == (NOTE.content, NOTE.mime)
        return NOTE


async def test_a_note_of_a_process_that_was_killed_is_sent_as_it_would_have_been():
    """ME-3, DU-2: kept, and no message planned: it is not spoken again, and how long it is and how it looks is known,
    without which Discord shows a file in place of a voice message."""
    mouth, limits = Mouth(), FileLimits(1000)
    speech = Speech(SpeechOptions(mouth))
    async with place(FakeFiles()) as here:
        first = await recorded("Hello.", speech, "t1", here.blobs, limits)
        here.restart()
        second = await recorded("Hello.", speech, "t1", here.blobs, limits)
    assert (first.kind, first.seconds, first.waveform) == ("voice", NOTE.seconds, NOTE.waveform)
    assert second == first
    assert mouth.spoken == ["Hello."]
