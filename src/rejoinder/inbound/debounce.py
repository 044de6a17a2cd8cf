"""Inbound debounce (IN-76): decides which messages of one sender are handled together, as a view of inbox rows.

The grouping depends on the rows alone: looking later, or again after a restart, gives the same groups. Each message
restarts the wait, up to five times its length in all. Media and commands do not wait, and end the wait of others.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Inbound
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.settings import InboundDebounce

LONGEST_WAIT = 5
AT_ONCE = timedelta()


class DebounceRow(Struct, frozen=True):
    """An inbox row. `key`: the session and sender it belongs to. `flushes`: whether it is media or a command."""

    id: str
    key: str
    at: datetime
    flushes: bool = False


class DebounceView(Struct, frozen=True):
    """The groups that are ready now, and when to look again."""

    ready: tuple[tuple[DebounceRow, ...], ...]
    look_again: datetime | None


class _Open(Struct):
    rows: list[DebounceRow]
    closes: datetime


def waits_for(settings: InboundDebounce, channel: str) -> timedelta:
    milliseconds = settings.by_channel.get(channel, settings.debounce_ms)
    return timedelta(milliseconds=milliseconds) if milliseconds else AT_ONCE


def flushes(message: InboundMessage) -> bool:
    """Whether this message skips the wait and ends the wait of those before it."""
    reading, inbound = message.reading, message.inbound
    typed = inbound.entry == "text" and inbound.forwarded is None and inbound.transcript is None
    return not typed or bool(inbound.attachments) or reading.is_command or reading.stop is not None


def joined(group: tuple[Inbound, ...]) -> Inbound:
    """Joins a group into one message: the typed texts line by line, most other fields as in the last message."""
    first, last = group[0], group[-1]
    if len(group) == 1:
        return last
    return replace(
        last,
        text=_lines(each.text for each in group),
        raw_text=_lines_if_any(group, "raw_text"),
        command_text=_lines_if_any(group, "command_text"),
        agent_text=_lines_if_any(group, "agent_text"),
        thread_starter=first.thread_starter,
        thread_history=first.thread_history,
        untrusted_context=tuple(text for each in group for text in each.untrusted_context),
        reply_to=next((each.reply_to for each in reversed(group) if each.reply_to is not None), None),
        mentions=tuple(mention for each in group for mention in each.mentions),
        sent_at=first.sent_at,
        opens=next((each.opens for each in group if each.opens is not None), None),
    )


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)


def _lines_if_any(group: tuple[Inbound, ...], field: str) -> str | None:
    """The lines of this text field, with `text` for messages that do not have it; None if no message has it."""
    said: list[str | None] = [getattr(each, field) for each in group]
    if all(text is None for text in said):
        return None
    return _lines(each.text if text is None else text for each, text in zip(group, said, strict=True))


def view(rows: Iterable[DebounceRow], wait: timedelta, now: datetime) -> DebounceView:
    """`rows` in order of arrival."""
    ready: list[tuple[DebounceRow, ...]] = []
    waiting: dict[str, _Open] = {}
    for row in rows:
        group = waiting.get(row.key)
        if group and (row.flushes or row.at >= group.closes):
            ready.append(tuple(waiting.pop(row.key).rows))
            group = None
        if row.flushes or not wait:
            ready.append((row,))
        elif group is None:
            waiting[row.key] = _Open([row], row.at + wait)
        else:
            group.rows.append(row)
            group.closes = min(row.at + wait, group.rows[0].at + LONGEST_WAIT * wait)
    for key, group in list(waiting.items()):
        if group.closes <= now:
            ready.append(tuple(waiting.pop(key).rows))
    return DebounceView(tuple(ready), min((group.closes for group in waiting.values()), default=None))
