"""What the gateway hears, says and reads, as configured."""

from typing import Any

from rejoinder.inbound.understanding import UnderstandingSettings
from rejoinder.media.documents import DocumentReader
from rejoinder.media.settings import MediaSettings


def senses_of(media: MediaSettings) -> dict[str, Any]:
    """Fields of the runtime's settings. What is not configured is not imported."""
    listens = media.speech_to_text
    fields: dict[str, Any] = {
        "reads_documents": DocumentReader(media.documents),
        "understanding": UnderstandingSettings(
            hears=listens.is_on,
            max_seconds=listens.max_seconds,
            max_bytes=listens.max_bytes,
        ),
    }
    if listens.is_on:
        from rejoinder.media.hearing import Ear  # noqa: PLC0415 - only where it is configured

        fields["hears"] = Ear(listens)
    return fields
