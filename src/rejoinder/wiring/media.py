"""What the gateway hears, says and reads, as configured."""

from typing import Any

from rejoinder.inbound.understanding import UnderstandingSettings
from rejoinder.media.documents import DocumentReader
from rejoinder.media.recordings import Recordings
from rejoinder.media.settings import MediaSettings
from rejoinder.runtime.settings import SpeechOptions


def media_fields(media: MediaSettings) -> dict[str, Any]:
    """Fields of the runtime's settings. What is not configured is not imported."""
    listens, speaks = media.speech_to_text, media.text_to_speech
    fields: dict[str, Any] = {
        "reads_documents": DocumentReader(media.documents),
        "prepares_recordings": Recordings(),
        "understanding": UnderstandingSettings(
            hears=listens.is_on,
            max_seconds=listens.max_seconds,
            max_bytes=listens.max_bytes,
            pages=media.links.most if media.links.enabled else 0,
        ),
    }
    if listens.is_on:
        from rejoinder.media.transcription import Transcriber  # noqa: PLC0415 - only where it is configured

        fields["hears"] = Transcriber(listens)
    if media.pictures.command:
        from rejoinder.media.pictures import PictureDescriber  # noqa: PLC0415 - only where it is configured

        fields["describes_pictures"] = PictureDescriber(media.pictures)
    if media.links.enabled:
        from rejoinder.media.links import page_reader  # noqa: PLC0415 - only where it is configured
        from rejoinder.media.remote_files import RemoteFiles  # noqa: PLC0415

        fields["reads_pages"] = page_reader(media.links)
        fields["loads_files"] = RemoteFiles(media.links)
    if speaks.is_on:
        from rejoinder.media.speech_synthesis import SpeechSynthesizer  # noqa: PLC0415 - only where it is configured

        fields["speech"] = SpeechOptions(
            SpeechSynthesizer(speaks), keeps_text=media.tts_text == "with", asks_agent=speaks.summarize
        )
    return fields
