"""The records of `[media]`: each field has its sentence under it."""

from typing import Literal

from msgspec import Struct

from rejoinder.keys import Count, Seconds, Text, Url
from rejoinder.secret import Secret


class SpeechToText(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How voice notes and recordings become text: by a command or by an endpoint."""

    command: tuple[Text, ...] = ()
    """A program that prints the words in a recording: `["whisper-cli", "--no-prints", "-nt", "-f", "{file}"]`. If
    ffmpeg is installed, `{file}` is a WAV of 16 kHz, otherwise the recording as it came."""
    base_url: Url | None = None
    """An OpenAI-compatible endpoint with `/audio/transcriptions`: `https://api.openai.com/v1`."""
    model: Text = "whisper-1"
    """The endpoint's model."""
    api_key: Secret | None = None
    """The endpoint's key: `${OPENAI_API_KEY}`."""
    language: str = ""
    """The language that is spoken, such as `en`; unset: the endpoint detects it."""
    max_seconds: Count = 600
    """A longer recording is not transcribed."""
    max_bytes: Count = 25_000_000
    """A larger recording is not fetched."""
    timeout_s: Seconds = 120
    """Seconds that a transcription may take."""

    @property
    def is_on(self) -> bool:
        return bool(self.command) or self.base_url is not None


class TextToSpeech(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How answers become speech: by a command or by an endpoint. `tts` of a channel or agent says which answers do."""

    command: tuple[Text, ...] = ()
    """A program that speaks: `["flite", "-f", "{text}", "-o", "{file}"]`. `{text}` is a file with the words;
    without it they come on standard input. `{file}` is where it writes the sound; without it, standard output is read.
    `{voice}` is the voice."""
    base_url: Url | None = None
    """An OpenAI-compatible endpoint with `/audio/speech`: `https://api.openai.com/v1`."""
    model: Text = "tts-1"
    """The endpoint's model."""
    api_key: Secret | None = None
    """The endpoint's key: `${OPENAI_API_KEY}`."""
    voice: str = ""
    """The voice, unless a session has chosen one; unset: `alloy` for an endpoint, the default of a program."""
    format: Literal["opus", "mp3", "aac", "flac", "wav"] = "opus"
    """The format to ask the endpoint for. If ffmpeg is installed, it is converted to the format of each platform."""
    max_chars: Count = 1500
    """How many characters of an answer are spoken; a longer one ends after a sentence. `/tts limit N` changes it for a
    session."""
    summarize: bool = False
    """Whether the agent shortens a longer answer itself; otherwise it is cut."""
    timeout_s: Seconds = 60
    """Seconds after which an answer is sent only as text."""

    @property
    def is_on(self) -> bool:
        return bool(self.command) or self.base_url is not None


class DocumentSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How documents and pictures that people send are read: each in its own process."""

    max_bytes: Count = 20_000_000
    """A larger document or picture is not fetched."""
    max_chars: Count = 200_000
    """How much text is taken from a document; the agent may get less of it, depending on the rest of its prompt."""
    max_picture_side: Count = 2000
    """Pixels: a picture with a longer side is scaled down for the agent."""
    timeout_s: Seconds = 20
    """Seconds after which a document counts as unreadable."""
    memory_mb: Count = 512
    """Memory that its reader may take."""


class PictureSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How pictures are put into words for agents that cannot see, if `agents.defaults.describer` is not set."""

    command: tuple[Text, ...] = ()
    """A program that prints what a picture shows: `["tesseract", "{file}", "stdout"]`."""
    timeout_s: Seconds = 60
    """Seconds that a description may take; the message waits for it."""


class LinkSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether pages that people link to are read for the agent."""

    enabled: bool = False
    """Off: links stay links. On: this machine fetches the pages, so their servers learn its address."""
    most: Count = 3
    """The most pages to read for one message."""
    command: tuple[Text, ...] = ()
    """A program that prints a page as Markdown, instead of our own reader: `["trafilatura", "-u", "{url}"]`. It does
    its own fetching, so it can reach addresses of your network."""
    max_bytes: Count = 2_000_000
    """How much of a page is fetched, after unpacking."""
    max_chars: Count = 20_000
    """How much of its text the agent gets."""
    timeout_s: Seconds = 15
    """Seconds that a page may take, with all its redirects."""


class MediaSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Voice, documents, pictures and links."""

    tts_text: Literal["with", "without"] = "with"
    """Whether the text of a spoken answer is sent as well."""
    documents: DocumentSettings = DocumentSettings()
    """How documents and pictures that people send are read."""
    speech_to_text: SpeechToText = SpeechToText()
    """How voice notes and recordings become text: by a command or by an endpoint."""
    text_to_speech: TextToSpeech = TextToSpeech()
    """How answers become speech: by a command or by an endpoint."""
    pictures: PictureSettings = PictureSettings()
    """The program that describes pictures for agents that cannot see."""
    links: LinkSettings = LinkSettings()
    """Whether pages that people link to are read for the agent."""
