"""The messages that wait in a lane: which one is dropped when the lane is full, and which ones make up the next turn.

Rule 1: messages stay in the order of arrival. A turn takes messages from the front, and so does an overflow; no message
        overtakes another.
Rule 2: a summary is kept apart from the waiting messages; it never takes a place in the line (TU-5).
Rule 3: a message that is too large to share a turn still gets one, alone.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.events import Route
from rejoinder.turns.modes import MODES, DropPolicy, Grouping, QueueSettings, Traits

LINE_LENGTH: Final = 160


class QueuedMessage(Struct, frozen=True):
    """What the lane needs to know about an inbound message."""

    id: str
    route: Route
    sender: str
    text: str = ""
    tokens: int = 0
    settings: QueueSettings | None = None
    """The effective settings of a message with an inline directive; None: those of the lane."""
    chore: bool = False
    """Whether it is work on the session itself, which tells the agent nothing and is never dropped because the line is
    full."""


class WaitingMessage(Struct, frozen=True):
    """A message that waits. `quiet` is False exactly as long as a timer runs for it."""

    message: QueuedMessage
    quiet: bool = True
    offered: bool = False
    """Whether it has been offered to the running agent, which has not answered yet: such a message is in flight and
    must stay."""
    refused: bool = False
    """Whether it was offered to the running agent, which did not take it."""


Line = tuple[WaitingMessage, ...]


class Summary(Struct, frozen=True):
    """The messages that got no turn of their own: how many, and the last few of them in a line each."""

    count: int = 0
    lines: tuple[str, ...] = ()

    def telling(self, messages: Iterable[QueuedMessage], at_most: int) -> "Summary":
        told = list(messages)
        lines = self.lines + tuple(summary_line(message.text) for message in told)
        return Summary(self.count + len(told), lines[-at_most:])


def summary_line(text: str) -> str:
    """The text on one line of at most 160 characters."""
    line = " ".join(text.split())
    return line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 1].rstrip() + "…"


def estimate_tokens(texts: Iterable[str], images: int = 0) -> int:
    """A guess that is never zero: four bytes to a token, 512 tokens to an image."""
    tokens = 512 * images
    for text in texts:
        tokens += len(text.encode("utf-8", "surrogatepass")) // 4 + 1
    return tokens


def settings_of(message: QueuedMessage, lane: QueueSettings) -> QueueSettings:
    return message.settings or lane


def traits_of(message: QueuedMessage, lane: QueueSettings) -> Traits:
    return MODES[settings_of(message, lane).mode]


def buffer_of(message: QueuedMessage, lane: QueueSettings) -> str:
    """The owner of the buffer in which the message waits. Grouping belongs to the lane: one message cannot change
    it."""
    return message.sender if lane.grouping is Grouping.SENDER else ""


def buffers(line: Line, lane: QueueSettings) -> list[Line]:
    """The buffers, the one with the oldest head first."""
    split: dict[str, list[WaitingMessage]] = {}
    for waiting in line:
        split.setdefault(buffer_of(waiting.message, lane), []).append(waiting)
    return [tuple(buffer) for buffer in split.values()]


class Enqueued(Struct, frozen=True):
    """The result of an arrival: the new line, and the messages left out of it."""

    line: Line
    dropped: tuple[QueuedMessage, ...] = ()
    summarised: tuple[QueuedMessage, ...] = ()


def admit(line: Line, incoming: WaitingMessage, lane: QueueSettings) -> Enqueued:
    """Adds an arrival (TU-5). It displaces at most one message, so that lowering the cap loses no waiting messages."""
    message = incoming.message
    settings = settings_of(message, lane)
    home = buffer_of(message, lane)
    buffer = [
        each for each in line if buffer_of(each.message, lane) == home and not each.offered and not each.message.chore
    ]
    if not MODES[settings.mode].capped or len(buffer) < settings.cap:
        return Enqueued((*line, incoming))
    if settings.drop is DropPolicy.NEW:
        return Enqueued(line, dropped=(message,))
    oldest = buffer[0]
    rest = (*without(line, [oldest.message]), incoming)
    if settings.drop is DropPolicy.OLD:
        return Enqueued(rest, dropped=(oldest.message,))
    return Enqueued(rest, summarised=(oldest.message,))


class Batch(Struct, frozen=True):
    messages: tuple[QueuedMessage, ...]
    closed: bool
    """Whether no later message could join the batch, so that there is no reason to wait."""


def next_batch(buffer: Line, lane: QueueSettings) -> Batch:
    """As many messages from the front of a buffer as may share one turn (TU-6). The buffer is not empty."""
    first = buffer[0].message
    settings = settings_of(first, lane)
    if not MODES[settings.mode].gathers:
        return Batch((first,), closed=False)
    taken = [first]
    tokens = first.tokens
    for waiting in buffer[1:]:
        message = waiting.message
        tokens += message.tokens
        if (
            len(taken) == settings.max_batch
            or tokens > settings.max_batch_tokens
            or message.route != first.route
            or not traits_of(message, lane).gathers
        ):
            return Batch(tuple(taken), closed=True)
        taken.append(message)
    return Batch(tuple(taken), closed=len(taken) == settings.max_batch or tokens >= settings.max_batch_tokens)


def ready_batch(line: Line, lane: QueueSettings) -> tuple[QueuedMessage, ...]:
    """The next turn's messages, from the first buffer that need not wait any longer; empty if all have to wait.

    A full buffer does not wait for quiet either: otherwise the messages of a sender who never pauses would be dropped.
    """
    for buffer in buffers(line, lane):
        batch = next_batch(buffer, lane)
        settings = settings_of(buffer[0].message, lane)
        patient = MODES[settings.mode].debounced and settings.debounce_ms > 0
        if not patient or buffer[-1].quiet or batch.closed or len(buffer) >= settings.cap:
            return batch.messages
    return ()


def without(line: Line, messages: Iterable[QueuedMessage]) -> Line:
    gone = {message.id for message in messages}
    return tuple(waiting for waiting in line if waiting.message.id not in gone)


def after_quiet(line: Line, after: str) -> Line:
    """The line once its senders have been quiet since the message `after`."""
    return tuple(replace(each, quiet=True) if each.message.id == after else each for each in line)
