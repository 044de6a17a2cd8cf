"""`rejoinder export`: what a session's agent was told and answered, as Markdown or JSON."""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from rejoinder.cli.options import ALL, AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read
from rejoinder.errors import BadUse, RejoinderError

if TYPE_CHECKING:
    from rejoinder.events import PromptPart
    from rejoinder.session import Session
    from rejoinder.store.base import Entry, StoreReader

MOST_NAMED = 10


class Transcript(Struct, frozen=True):
    session: "Session"
    entries: "tuple[Entry, ...]"


def export(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Its key, or a piece of it that no other session has.")
    ],
    everything: Annotated[bool, typer.Option("--all", help="Also what was said before the latest reset.")] = False,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """Print the transcript of a session as Markdown."""
    transcript = finish(_read(file, session, everything))
    if as_json:
        print_json({"session": transcript.session, "entries": transcript.entries})
    else:
        sys.stdout.buffer.write(as_markdown(transcript).encode("utf-8", "replace"))


async def _read(file: str | None, wanted: str, everything: bool) -> Transcript:
    async with store_to_read(file) as store:
        kept = await store.session(await _key(store, wanted))
        if kept is None:
            raise RejoinderError(f"the session {wanted} is no longer there")
        since = datetime.min.replace(tzinfo=UTC) if everything else kept.session.started
        return Transcript(kept.session, await store.transcript(kept.session.key, since, ALL))


async def _key(store: "StoreReader", wanted: str) -> str:
    keys = await store.session_keys(wanted, MOST_NAMED + 1)
    if len(keys) == 1:
        return keys[0]
    if not keys:
        raise RejoinderError(f"no session has {wanted!r} in its key; `rejoinder sessions` lists them")
    named = ", ".join(keys[:MOST_NAMED]) + (", ..." if len(keys) > MOST_NAMED else "")
    raise BadUse(f"several sessions have {wanted!r} in their key: {named}")


def as_markdown(transcript: Transcript) -> str:
    session = transcript.session
    facts = {
        "agent": session.agent,
        "started": _moment(session.started),
        "last touched": _moment(session.touched),
        "model": session.model or "",
        "tokens": f"{session.input_tokens:,} in, {session.output_tokens:,} out" if session.input_tokens else "",
    }
    head = [f"# {session.label or session.key}", "\n".join(f"- {name}: {said}" for name, said in facts.items() if said)]
    return "\n\n".join([*head, *(_entry(entry, session.agent) for entry in transcript.entries)]) + "\n"


def _entry(entry: "Entry", agent: str) -> str:
    """What people read in the chat; `--json` has all that the agent was told."""
    from rejoinder.cli.layout import one_line
    from rejoinder.told import own_words, tellers

    who, parts = agent, entry.parts
    if entry.role != "agent":
        names = dict.fromkeys(teller.display_name or teller.sender_id for teller in tellers(parts))
        who, parts = " and ".join(filter(None, names)) or "user", own_words(parts)
    return f"## {one_line(who)}, {_moment(entry.at)}\n\n" + "\n\n".join(map(_part, parts))


def _part(part: "PromptPart") -> str:
    from rejoinder.events import PromptText

    return part.text.strip("\n") if isinstance(part, PromptText) else f"*({part.mime}, {len(part.data):,} bytes)*"


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
