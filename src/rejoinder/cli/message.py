"""`rejoinder message`: a dry run of the inbound floor, for operators: what each stage decides, and why."""

import os
import secrets
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

import rejoinder
from rejoinder.errors import BadUse

if TYPE_CHECKING:
    from rejoinder.inbound.outcome import StageResult
    from rejoinder.inbound.rules import Rules


class TriedMessage(msgspec.Struct, rename={"actor": "as"}):
    """One line of `--jsonl`; other keys are ignored."""

    text: str
    actor: str = "owner"
    chat: str = "direct"
    mention: bool = False


def try_message(
    text: Annotated[str | None, typer.Argument(help="The text; without it, standard input is read.")] = None,
    actor: Annotated[str, typer.Option("--as", help="Who writes it: owner, sender, guest, stranger or bot.")] = "owner",
    chat: Annotated[str, typer.Option(help="Where: direct or group.")] = "direct",
    mention: Annotated[bool, typer.Option("--mention", help="As if the message mentioned the bot.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    as_jsonl: Annotated[
        bool, typer.Option("--jsonl", help='Read {"text", "as", "chat"} line by line, answer line by line.')
    ] = False,
) -> None:
    """Try a message: show what each stage would decide, and why."""
    from rejoinder import plugins
    from rejoinder.cli import json_lines
    from rejoinder.inbound.dry_run import as_document, rehearsal_rules

    rules = rehearsal_rules(plugins.commands_of_others())
    if as_jsonl:
        if text is not None:
            raise BadUse("--jsonl reads its texts from standard input; leave TEXT out")
        for number, document in json_lines.read():
            json_lines.write(as_document(_decide(_read(document, number), rules, f"line {number}: ")))
        return
    said = sys.stdin.buffer.read() if text is None else os.fsencode(text)
    result = _decide(TriedMessage(said.decode(errors="replace"), actor, chat, mention), rules)
    if as_json:
        json_lines.write(as_document(result))
    else:
        from rejoinder.cli.message_view import show

        show(result)


def _read(document: Any, number: int) -> TriedMessage:
    try:
        return msgspec.convert(document, TriedMessage)
    except msgspec.ValidationError as problem:
        raise BadUse(f'line {number} is not {{"text": ..., "as": ..., "chat": ...}}: {problem}') from None


def _decide(tried: TriedMessage, rules: "Rules", where: str = "") -> "StageResult":
    from rejoinder.inbound.dry_run import ACTORS, CHATS, rehearse

    if tried.actor not in ACTORS:
        raise BadUse(f"{where}there is no sender {tried.actor!r}; there are: {', '.join(ACTORS)}")
    if tried.chat not in CHATS:
        raise BadUse(f"{where}there is no chat {tried.chat!r}; there are: {', '.join(CHATS)}")
    return rehearse(
        tried.text,
        tried.actor,
        tried.chat,
        rules,
        datetime.now(UTC),
        time.perf_counter,
        mention=tried.mention,
        random=secrets.token_bytes(16),
        version=rejoinder.__version__,
    )
