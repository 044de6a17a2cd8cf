"""`rejoinder export`: what a session's agent was told and answered, as Markdown or JSON."""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from rejoinder.cli.options import ALL, AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read
from rejoinder.errors import BadUse, RejoinderError

if TYPE_CHECKING:
    from rejoinder.store.base import StoreReader
    from rejoinder.transcripts import Transcript

MOST_NAMED = 10


def export(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Its key, or a part of it that no other session has.")
    ],
    everything: Annotated[bool, typer.Option("--all", help="Include what was said before the latest reset.")] = False,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """Print the transcript of a session as Markdown."""
    from msgspec.structs import asdict

    from rejoinder.transcripts import as_markdown

    transcript = finish(_read(file, session, everything))
    if as_json:
        print_json({"session": asdict(transcript.session), "entries": transcript.entries})
    else:
        sys.stdout.buffer.write(as_markdown(transcript).encode("utf-8", "replace"))


async def _read(file: str | None, wanted: str, everything: bool) -> "Transcript":
    from rejoinder.transcripts import Transcript

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
    raise BadUse(f"several sessions have {wanted!r} in their key, so write more of it: {named}")
