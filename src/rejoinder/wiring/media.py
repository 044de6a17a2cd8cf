"""Opens the configured services for voice, pictures, documents and links. Nothing else is imported."""

from rejoinder.inbound.understanding import UnderstandingSettings
from rejoinder.media.documents import DocumentReader
from rejoinder.media.recordings import Recordings
from rejoinder.media.settings import LinkSettings, MediaSettings, PictureSettings, SpeechToText
from rejoinder.media_services import CanDescribePictures, CanLoadFiles, CanReadPages, CanTranscribe
from rejoinder.runtime.settings import MediaServices, SpeechOptions


def media_services(media: MediaSettings, describer: str | None) -> MediaServices:
    """`describer`: the agent that describes pictures."""
    listens = media.speech_to_text
    return MediaServices(
        understanding=UnderstandingSettings(
            hears=listens.is_on,
            max_seconds=listens.max_seconds,
            max_bytes=listens.max_bytes,
            pages=media.links.most if media.links.enabled else 0,
        ),
        hears=_transcriber(listens),
        speech=_speech(media),
        reads_documents=DocumentReader(media.documents),
        describer=describer,
        describes_pictures=_picture_describer(media.pictures),
        prepares_recordings=Recordings(),
        reads_pages=_page_reader(media.links),
        loads_files=_file_loader(media.links),
    )


def _transcriber(listens: SpeechToText) -> CanTranscribe | None:
    if not listens.is_on:
        return None
    from rejoinder.media.transcription import Transcriber  # noqa: PLC0415 - only where it is configured

    return Transcriber(listens)


def _speech(media: MediaSettings) -> SpeechOptions | None:
    speaks = media.text_to_speech
    if not speaks.is_on:
        return None
    from rejoinder.media.speech_synthesis import SpeechSynthesizer  # noqa: PLC0415 - only where it is configured

    return SpeechOptions(SpeechSynthesizer(speaks), keeps_text=media.tts_text == "with", asks_agent=speaks.summarize)


def _picture_describer(pictures: PictureSettings) -> CanDescribePictures | None:
    if not pictures.command:
        return None
    from rejoinder.media.pictures import PictureDescriber  # noqa: PLC0415 - only where it is configured

    return PictureDescriber(pictures)


def _page_reader(links: LinkSettings) -> CanReadPages | None:
    if not links.enabled:
        return None
    from rejoinder.media.links import page_reader  # noqa: PLC0415 - only where it is configured

    return page_reader(links)


def _file_loader(links: LinkSettings) -> CanLoadFiles | None:
    if not links.enabled:
        return None
    from rejoinder.media.remote_files import RemoteFiles  # noqa: PLC0415 - only where it is configured

    return RemoteFiles(links)
