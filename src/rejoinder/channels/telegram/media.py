"""What comes with the text of a message: files by their ids, fetched when they are needed, and things like places."""

from rejoinder.channels.telegram.wire import File, Message
from rejoinder.events import Attachment, FileKind

# Telegram names no type for these kinds; they always have this one.
_USUAL = {"photo": "image/jpeg", "voice": "audio/ogg", "video": "video/mp4", "video_note": "video/mp4"}
_NAMED = ("audio", "voice", "video", "video_note")
_KINDS: dict[str, FileKind] = {"voice": "voice", "video_note": "voice", "audio": "audio"}
"""A video note is meant to be heard, like a voice note."""


def attachments(message: Message) -> tuple[Attachment, ...]:
    """Telegram also sends an animation as a document, for clients that do not know animations: it counts once."""
    found = [_attachment("photo", max(message.photo, key=lambda size: size.file_size or 0))] if message.photo else []
    for kind in _NAMED:
        if (file := getattr(message, kind)) is not None:
            found.append(_attachment(kind, file))
    document = message.animation or message.document
    if document is not None:
        found.append(_attachment("document", document))
    if message.sticker is not None:
        found.append(_sticker(message.sticker))
    return tuple(found)


def _attachment(kind: str, file: File) -> Attachment:
    mime = file.mime_type or _USUAL.get(kind, "")
    name = file.file_name or f"{kind}-{file.file_unique_id}"
    return Attachment(file.file_id, name, mime, file.file_size, kind=_KINDS.get(kind), seconds=file.duration)


def _sticker(file: File) -> Attachment:
    mime = "application/x-tgsticker" if file.is_animated else "video/webm" if file.is_video else "image/webp"
    return Attachment(file.file_id, f"sticker {file.emoji}".strip(), mime, file.file_size)


def told(message: Message) -> tuple[str, ...]:
    """The parts of a message that are neither text nor files, in words for the agent."""
    facts: list[str] = []
    if (venue := message.venue) is not None:
        where = f"{venue.location.latitude}, {venue.location.longitude}"
        facts.append(f"shared a place: {venue.title}, {venue.address} ({where})")
    elif (place := message.location) is not None:
        facts.append(f"shared a location: {place.latitude}, {place.longitude}")
    if (contact := message.contact) is not None:
        name = f"{contact.first_name} {contact.last_name}".strip()
        facts.append(f"shared a contact: {name}, {contact.phone_number}")
    if (poll := message.poll) is not None:
        facts.append(f"sent a poll: {poll.question} ({' / '.join(option.text for option in poll.options)})")
    if (dice := message.dice) is not None:
        facts.append(f"threw {dice.emoji}: {dice.value}")
    return tuple(facts)
