"""A message that people see while it is being written: when to open it, when to change it, where the next one begins.

Rule 1: the draft decides only when its caller is free to make a call. So the latest text wins, equal frames are
        skipped, and a slow platform delays nothing but its own frames (DE-20).
Rule 2: every frame is made by the same cutter and renderer as the final, from a beginning of its text (DE-1).
Rule 3: each call has a number. The answer to an earlier call, or one that comes after the end, changes nothing, so no
        late edit overwrites a final. If the caller stopped waiting for an edit, the final does not reuse that message;
        its words are sent again.
Rule 4: it has no clock; time is a number that comes with each event.
"""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.outbound.plan import Slot
from rejoinder.rendering import chunk
from rejoinder.rendering.enclosures import enclosures
from rejoinder.rendering.white_space import is_seen

PLACEHOLDER = "…"
SOON = 0.1
"""Seconds before an editable message is opened: an answer that is complete by then is sent as one unedited message, and
a longer one begins with more than a word."""

FADES = 20.0
"""Seconds after which a preview that has not grown is shown again: the platform drops it after thirty."""

_LOOK_AHEAD = 8
"""How many blocks ahead to read: later text does not change where the first one ends, and would be slow to read."""


class Streaming(Struct, frozen=True):
    """How an answer is shown before it is complete.

    `live`: every piece is fed to one growing message. `edits`: one message is edited at a pace. `preview`: the same
    pace, in a preview that is not a message. `blocks`: whole pieces, each a message (DE-22). `off`: not at all.
    """

    mode: Literal["live", "edits", "preview", "blocks", "off"] = "off"
    pace: float = 1.0
    placeholder: bool = False
    """Whether to open with a placeholder: on a platform that cannot say whether an opening arrived, text could appear
    twice."""
    least: int = 800
    most: int = 1200
    idle: float = 1.0


class Draft(Struct, frozen=True):
    streaming: Streaming
    text: str = ""
    """Everything that may be shown so far."""
    slots: tuple[Slot, ...] = ()
    seen: int = 0
    """The length of the text from which the last frame was made; in `blocks` mode, the length that has been sent."""
    reopened: str = ""
    """What the next block begins with: the fence or the table head in which the last block was cut."""
    blocks: int = 0
    grown_at: float = 0.0
    not_before: float = 0.0
    call: int = 0
    closed: bool = False

    @property
    def rest(self) -> str:
        """The text that no block has sent yet."""
        return self.reopened + self.text[self.seen :]


# --- what to do next ----------------------------------------------------------------------------


class Idle(Struct, frozen=True):
    """Do nothing until the text grows."""


class Wait(Struct, frozen=True):
    """Do nothing before this time."""

    until: float


class OpenSlot(Struct, frozen=True):
    source: str
    call: int
    upto: int


class EditSlot(Struct, frozen=True):
    slot: int
    source: str
    call: int
    upto: int


class AppendToSlot(Struct, frozen=True):
    """Add this to the growing message."""

    text: str
    call: int
    upto: int


class Preview(Struct, frozen=True):
    """Show this instead of the previous preview."""

    source: str
    call: int
    upto: int


class SendBlock(Struct, frozen=True):
    source: str
    reopened: str
    call: int
    upto: int


Step = Idle | Wait | OpenSlot | EditSlot | AppendToSlot | Preview | SendBlock
Cut = Callable[[str], list[str]]
"""The sources of the messages a text becomes."""


def grow(draft: Draft, piece: str, now: float) -> Draft:
    is_edited = draft.streaming.mode == "edits" or draft.streaming.placeholder
    begins = is_edited and not draft.text and not draft.slots
    not_before = now + min(SOON, draft.streaming.pace) if begins else draft.not_before
    return replace(draft, text=draft.text + piece, grown_at=now, not_before=not_before)


def close(draft: Draft) -> Draft:
    """The final is being sent: from now on the draft makes no changes."""
    return replace(draft, closed=True, call=draft.call + 1)


def to_keep(draft: Draft) -> Draft:
    """Keeps what was shown above the next message of others: a preview becomes a message."""
    if draft.streaming.mode != "preview":
        return draft
    return replace(draft, streaming=replace(draft.streaming, mode="edits"), seen=0)


def at_once(draft: Draft) -> Draft:
    """The next step for a caller that cannot wait: it ignores the pace, and a block may be short."""
    return replace(draft, not_before=0.0, streaming=replace(draft.streaming, least=1, idle=0.0))


def next_step(draft: Draft, now: float, cut: Cut) -> tuple[Draft, Step]:
    if draft.closed or draft.streaming.mode == "off":
        return draft, Idle()
    if draft.streaming.mode == "preview":
        return _next_preview(draft, now, cut)
    if draft.seen == len(draft.text):
        return draft, Idle()
    if draft.streaming.mode == "blocks":
        return _next_block(draft, now)
    if not draft.slots and not is_seen(draft.text):
        return draft, Idle()
    if now < draft.not_before:
        return draft, Wait(draft.not_before)
    number = draft.call + 1
    calling, upto = replace(draft, call=number), len(draft.text)
    if draft.streaming.mode == "live":
        if not draft.slots:
            return calling, OpenSlot(draft.text, number, upto)
        return calling, AppendToSlot(draft.text[draft.seen :], number, upto)
    sources = cut(draft.text)
    for at, (slot, source) in enumerate(zip(draft.slots, sources, strict=False)):
        if slot.source != source:
            return calling, EditSlot(at, source, number, upto if at + 1 == len(sources) else draft.seen)
    if len(sources) > len(draft.slots):
        wordless = draft.streaming.placeholder
        source = PLACEHOLDER if wordless else sources[len(draft.slots)]
        done = not wordless and len(sources) == len(draft.slots) + 1
        return calling, OpenSlot(source, number, upto if done else draft.seen)
    return replace(draft, seen=upto), Idle()


def _next_preview(draft: Draft, now: float, cut: Cut) -> tuple[Draft, Step]:
    """If the answer needs several messages, shows the last one, which is still growing."""
    if not is_seen(draft.text):
        return draft, Idle()
    due = draft.not_before if draft.seen < len(draft.text) else draft.not_before + FADES
    if now < due:
        return draft, Wait(due)
    sources, number = cut(draft.text), draft.call + 1
    if not sources:
        return draft, Idle()
    return replace(draft, call=number), Preview(sources[-1], number, len(draft.text))


def _next_block(draft: Draft, now: float) -> tuple[Draft, Step]:
    streaming, text = draft.streaming, draft.rest
    if len(text) < streaming.least:
        return draft, Idle()
    idle_at = draft.grown_at + streaming.idle
    block = _whole_block(text, streaming, idle=now >= idle_at)
    if block is None:
        return draft, Idle() if now >= idle_at else Wait(idle_at)
    if now < draft.not_before:
        return draft, Wait(draft.not_before)
    source, taken, reopened = block
    number = draft.call + 1
    upto = draft.seen + taken - len(draft.reopened)
    return replace(draft, call=number), SendBlock(source.lstrip("\n"), reopened, number, upto)


def _whole_block(text: str, streaming: Streaming, *, idle: bool) -> tuple[str, int, str] | None:
    """The next block, how much of the text it takes, and what the following block begins with."""
    fits = len(text) <= streaming.most
    end = len(text) if idle and fits else text.rfind("\n\n", streaming.least, streaming.most)
    if end >= 0 and not any(inside.start < end <= inside.stop for inside in enclosures(text[:end])):
        return text[:end], end, ""
    if fits:
        return None
    head, *following = chunk.cut(text[: _LOOK_AHEAD * streaming.most], streaming.most)
    if not following:
        return head.text, len(text), ""
    end = text.index(head.source) + len(head.source)
    taken, reopened = text.index(following[0].source, end), following[0].opening
    if taken <= len(reopened):  # the row does not fit under its head: repeating that would make no progress
        first = chunk.cut(text[taken:], streaming.most - taken)[0]
        taken = text.index(first.source, taken) + len(first.source)
        return text[:taken], taken, ""
    return head.text, taken, reopened


def last_blocks(draft: Draft) -> list[str]:
    """The text that is unsent when the answer is complete, in blocks like the earlier ones (DE-22)."""
    streaming, text = draft.streaming, draft.rest
    found: list[str] = []
    while text.strip():
        source, taken, reopened = _whole_block(text, streaming, idle=True) or (text, len(text), "")
        found.append(source.lstrip("\n"))
        text = reopened + text[taken:] if text[taken:].strip() else ""
    return found


# --- results of the steps -----------------------------------------------------------------------


def opened(draft: Draft, step: OpenSlot, message: str, reply_to: str | None, now: float) -> Draft:
    """The platform accepted the opening. This is noted even after the end, because the final must know what is on the
    screen."""
    slots = (*draft.slots, Slot(message, step.source, reply_to))
    if draft.closed or step.call != draft.call:
        return replace(draft, slots=slots)
    # After a placeholder the text follows at once.
    at_once = draft.streaming.mode == "live" or draft.streaming.placeholder
    return replace(draft, slots=slots, seen=step.upto, not_before=now + (0.0 if at_once else draft.streaming.pace))


def shown(draft: Draft, step: EditSlot | AppendToSlot | Preview, now: float) -> Draft:
    """The platform accepted the frame."""
    if draft.closed or step.call != draft.call:
        return draft
    if isinstance(step, Preview):
        return replace(draft, seen=step.upto, not_before=now + draft.streaming.pace)
    at = step.slot if isinstance(step, EditSlot) else len(draft.slots) - 1
    slot = draft.slots[at]
    source = step.source if isinstance(step, EditSlot) else slot.source + step.text
    slots = (*draft.slots[:at], replace(slot, source=source), *draft.slots[at + 1 :])
    pace = draft.streaming.pace if isinstance(step, EditSlot) else 0.0
    return replace(draft, slots=slots, seen=step.upto, not_before=now + pace)


def abandon_edit(draft: Draft, step: EditSlot | Preview) -> Draft:
    """The caller stopped waiting for this edit, which may still be carried out and overwrite later text."""
    if isinstance(step, Preview):
        return draft
    slots = (*draft.slots[: step.slot], replace(draft.slots[step.slot], unsure=True), *draft.slots[step.slot + 1 :])
    return replace(draft, slots=slots)


def sent(draft: Draft, step: SendBlock, not_before: float) -> Draft:
    """The block is being sent: the draft never sends it again, whatever the outcome."""
    return replace(draft, seen=step.upto, reopened=step.reopened, blocks=draft.blocks + 1, not_before=not_before)


def refused(draft: Draft, step: Step, until: float | None) -> Draft:
    """The platform refused the call: try again at `until` or, if None, not before the answer is complete.

    For a preview, None means that a message is edited instead.
    """
    if draft.closed:
        return draft
    if until is None:
        return replace(draft, streaming=replace(draft.streaming, mode="edits" if isinstance(step, Preview) else "off"))
    return replace(draft, not_before=until)
