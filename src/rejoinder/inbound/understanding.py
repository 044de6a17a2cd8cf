"""What has to be understood in a message before it can be decided: recordings to hear, pages to read (ME-1, ME-20).

Rule 1: this is done only for messages that get a turn. Nobody without access can make us load anything, and in a group
        only recordings for the agent are heard.
Rule 2: the words of the sender's own voice note are the sender's text (IN-9). The words of any other recording, such as
        a forwarded or quoted one, are the content of a file.
Rule 3: limits are applied to what the platform says about a file, before it is fetched.
"""

import re

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Attachment, Inbound, LinkedPage
from rejoinder.inbound.media import is_recording
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Continue, StageResult
from rejoinder.media_services import larger_than, longer_than

TYPED = frozenset(("text", "edit", "http", "native"))
"""Sources that are a person's own fresh text."""
LONGEST_ADDRESS = 2048
_LINK = re.compile(r"https?://[^\s<>\"'`\\^{}|\x00-\x1f\x7f]+", re.IGNORECASE)
_CLOSES = {")": "(", "]": "["}


class UnderstandingSettings(Struct, frozen=True):
    hears: bool = False
    max_seconds: int = 600
    max_bytes: int = 25_000_000
    pages: int = 0
    """The most pages of one message that are read."""


class MediaToUnderstand(Struct, frozen=True):
    """The message's recordings that can be listened to, and the addresses in its text."""

    recordings: tuple[Attachment, ...] = ()
    refused: dict[str, str] = {}
    """Why recordings are not heard, by their ids."""
    addresses: tuple[str, ...] = ()


def to_understand(result: StageResult, settings: UnderstandingSettings) -> MediaToUnderstand | None:
    """What to understand before the decision; None if the message can be decided as it is."""
    message, inbound = result.message, result.message.inbound
    if not (settings.hears or settings.pages) or not isinstance(result.outcome, Continue) or inbound.understood:
        return None
    if message.stands_alone or message.listening:
        return None
    wanted = MediaToUnderstand(addresses=_addresses(message, settings.pages))
    if settings.hears and inbound.entry != "edit":
        refused = {file.id: why for file in recordings(inbound) if (why := _refusal(file, settings)) is not None}
        heard = tuple([file for file in recordings(inbound) if file.id not in refused])
        wanted = replace(wanted, recordings=heard, refused=refused)
    return wanted if wanted != MediaToUnderstand() else None


def recordings(inbound: Inbound) -> tuple[Attachment, ...]:
    """The recordings of the message, and of the one it replies to."""
    quoted = () if inbound.reply_to is None else inbound.reply_to.files
    return tuple([file for file in (*inbound.attachments, *quoted) if is_recording(file)])


def _refusal(file: Attachment, settings: UnderstandingSettings) -> str | None:
    if file.seconds is not None and file.seconds > settings.max_seconds:
        return longer_than(settings.max_seconds)
    if file.size is not None and file.size > settings.max_bytes:
        return larger_than(settings.max_bytes)
    return None


def understood(
    inbound: Inbound, heard: dict[str, str], unheard: dict[str, str], pages: tuple[LinkedPage, ...] = ()
) -> Inbound:
    """The message with the results; both dictionaries are by the id of a recording."""

    def told(file: Attachment) -> Attachment:
        return replace(file, heard=heard.get(file.id), unheard=unheard.get(file.id))

    own = tuple(map(told, inbound.attachments))
    quote = inbound.reply_to and replace(inbound.reply_to, files=tuple(map(told, inbound.reply_to.files)))
    words = "\n".join([file.heard for file in own if is_own_voice(file, inbound) and file.heard is not None])
    transcript = words or inbound.transcript
    return replace(
        inbound, attachments=own, reply_to=quote, transcript=transcript, pages=(*inbound.pages, *pages), understood=True
    )


def is_own_voice(file: Attachment, inbound: Inbound) -> bool:
    return file.kind == "voice" and inbound.forwarded is None


def unheard_notice(inbound: Inbound) -> tuple[str, ...]:
    """What the person is told about their recordings that could not be heard."""
    return tuple(
        f"Your voice message could not be heard: {file.unheard}."
        if file.kind == "voice"
        else f"The recording {file.name!r} could not be heard: {file.unheard}."
        for file in inbound.attachments
        if file.unheard is not None
    )


def _addresses(message: InboundMessage, most: int) -> tuple[str, ...]:
    inbound = message.inbound
    if not most or message.actor.source not in TYPED or inbound.forwarded is not None or inbound.sender.is_bot:
        return ()
    return links_in(message.text, most)


def links_in(text: str, most: int) -> tuple[str, ...]:
    """The first addresses in a text, each once, without the punctuation of the sentence around them."""
    found: dict[str, None] = {}
    for match in _LINK.finditer(text):
        if len(found) == most:
            break
        if match.end() - match.start() <= LONGEST_ADDRESS:
            found[_bare(match.group())] = None
    return tuple(found)


def _bare(address: str) -> str:
    while address[-1] in ".,;:!?*_~" or (
        address[-1] in _CLOSES and address.count(_CLOSES[address[-1]]) < address.count(address[-1])
    ):
        address = address[:-1]
    return address
