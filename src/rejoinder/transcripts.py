"""A readable transcript of a session: the chat as people saw it, in Markdown.

Rule 1: of an agent's words it shows only what people saw: no directives, and nothing said elsewhere.
Rule 2: of an agent's prompts it shows only the words and files of people; the gateway's blocks are not part of the
        chat.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from rejoinder.events import PromptPart, PromptText
from rejoinder.inbound.freshness import GREETING
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.reading import read_reply
from rejoinder.outbound.silence import SilenceMode
from rejoinder.prompt_blocks import own_words, sender_blocks
from rejoinder.session import Session
from rejoinder.store.base import TranscriptEntry
from rejoinder.unicode_repair import one_line

SILENT = "*(nothing)*"
NEW_SESSION = "*(a new session)*"


class Transcript(Struct, frozen=True):
    session: Session
    entries: tuple[TranscriptEntry, ...]
    directives: Registry = default_registry()
    """The directives that its agent could write."""
    silence: SilenceMode = "edges"
    """How its agent could choose to be silent."""


def as_markdown(transcript: Transcript) -> str:
    return _page([_head(transcript.session), *entries_as_markdown(transcript)])


def latest(transcript: Transcript, most: int) -> tuple[str, int]:
    """The end of the transcript, at most `most` characters, and its number of entries; a longer last entry is cut."""
    said = entries_as_markdown(transcript)
    size, count = 0, 0
    for entry in reversed(said):
        size += len(entry) + 2
        if size > most:
            break
        count += 1
    shown = said[-count:] if count else ["…" + said[-1][1 - most :]] if said else []
    return _page(shown), max(count, len(shown))


def entries_as_markdown(transcript: Transcript) -> list[str]:
    return [_entry(entry, transcript) for entry in transcript.entries]


def _page(pieces: Sequence[str]) -> str:
    return "\n\n".join(pieces) + "\n"


def _head(session: Session) -> str:
    facts = {
        "agent": session.agent,
        "started": _moment(session.started),
        "last touched": _moment(session.touched),
        "model": session.model or "",
        "tokens": f"{session.input_tokens:,} in, {session.output_tokens:,} out" if session.input_tokens else "",
    }
    listed = "\n".join(f"- {name}: {said}" for name, said in facts.items() if said)
    return f"# {one_line(session.label or session.key)}\n\n{listed}"


def _entry(entry: TranscriptEntry, transcript: Transcript) -> str:
    if entry.role == "agent":
        who = transcript.session.agent
        words = "\n\n".join(_seen(part.text, transcript) for part in entry.parts if isinstance(part, PromptText))
    else:
        names = dict.fromkeys(sender.display_name or sender.sender_id for sender in sender_blocks(entry.parts))
        who = " and ".join(filter(None, names)) or "user"
        words = "\n\n".join(map(_part, own_words(entry.parts)))
        if words == GREETING:  # the gateway's: the person wrote only the command
            words = NEW_SESSION
    return f"## {one_line(who)}, {_moment(entry.at)}\n\n{words}"


def _seen(written: str, transcript: Transcript) -> str:
    """The part of it that people saw."""
    return read_reply(written, registry=transcript.directives, silence=transcript.silence).text.strip() or SILENT


def _part(part: PromptPart) -> str:
    return part.text.strip("\n") if isinstance(part, PromptText) else f"*({part.mime}, {len(part.data):,} bytes)*"


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
