"""Makes the voice notes of an answer, and stores them before a part names them (ME-2, ME-3, DU-4)."""

import logging
from collections.abc import Awaitable, Callable
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.blobs import Blobs, Upload, read_whole, whole
from rejoinder.channels.base import CanSendFiles, FileLimits
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import NotUnderstood
from rejoinder.events import Attachment
from rejoinder.media_services import VoiceForm
from rejoinder.outbound import plan
from rejoinder.outbound.plan import AnswerWording, PlannedOperation
from rejoinder.outbound.redact import redact
from rejoinder.outbound.speech import LONGEST_READ, is_spoken, shortened, speakable
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.files import attached
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.settings import SpeechOptions
from rejoinder.session import TtsMode

log = logging.getLogger(__name__)

_NAMES = {"audio/ogg": "voice.ogg", "audio/mpeg": "voice.mp3", "audio/wav": "voice.wav"}


class Speech(Struct, frozen=True):
    """How the answer of a turn is spoken."""

    options: SpeechOptions
    mode: TtsMode = "off"
    by_voice: bool = False
    """Whether the turn was requested by voice."""
    voice: str = ""
    limit: int = 1500
    form: VoiceForm = "opus"
    shorten: Callable[[str, int], Awaitable[str | None]] | None = None
    """Asks the agent for a shorter text; returns None if it gives none."""

    def speaks_whole(self, *, marked: bool) -> bool:
        return is_spoken(self.mode, by_voice=self.by_voice, marked=marked)


class SpokenWords:
    """The words that may have to be spoken: the agent's own, and nothing that the gateway adds."""

    def __init__(self, *, is_kept: bool) -> None:
        self._is_kept = is_kept
        self._pieces: list[str] = []
        self._size = 0

    def note(self, text: str) -> None:
        if self._is_kept and self._size < LONGEST_READ:
            self._pieces.append(text)
            self._size += len(text)

    @property
    def text(self) -> str:
        return "".join(self._pieces)


async def words_of(text: str, speech: Speech) -> str:
    """The words of a text to be read aloud; empty if there are none."""
    words = speakable(redact(text))
    if len(words) <= speech.limit:
        return words
    if speech.shorten is not None and (fewer := await speech.shorten(words, speech.limit)):
        words = speakable(redact(fewer))
    return shortened(words, speech.limit)


async def recorded(words: str, speech: Speech, stem: str, blobs: Blobs, limits: FileLimits) -> Attachment:
    """The words as a voice note that a part can name. A note stored earlier is not made again. Raises
    `NotUnderstood`."""
    said = blake2b(f"{speech.voice}/{speech.form}/{words}".encode("utf-8", "replace"), digest_size=9).hexdigest()
    key = f"{stem}/voice/{said}"
    speaks = speech.options.speaks
    if (blob := await blobs.find_key(key)) is not None:  # left by a process that ended before it planned the message
        made = await speaks.measure(await read_whole(blobs, blob.id, limits.size) or b"", blob.mime)
    else:
        made = await speaks.speak(words, speech.voice, speech.form)
        if len(made.content) > limits.size:
            raise NotUnderstood("the recording is too large", f"{len(made.content)} bytes")
        upload = Upload(name=_NAMES.get(made.mime, "voice"), mime=made.mime, key=key)
        blob = await blobs.keep(upload, whole(made.content))
    crashpoint("K27")
    return replace(attached(blob, "voice", limits), seconds=made.seconds, waveform=made.waveform)


async def voice_note(
    text: str, speech: Speech, here: Conversation, wording: AnswerWording, stem: str
) -> list[PlannedOperation]:
    """The message with a text as a voice note; none if there is nothing to read aloud. Raises `NotUnderstood`."""
    channel = here.channel
    if not can(channel, CanSendFiles):
        raise NotUnderstood("there are no voice notes here", f"{channel.name} sends no files")
    words = await words_of(text, speech)
    if not words:
        return []
    file = await recorded(words, speech, stem, here.outbox.blobs, here.outbox.file_limits(channel, here.route))
    return plan.show_files((file,), "", here.route, here.settings.delivery.options, wording, f"{stem}/{file.id}")
