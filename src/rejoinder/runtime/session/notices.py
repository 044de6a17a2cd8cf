"""Notices the gateway itself owes a person: rows, written in the commit that makes them true.

Rule 1: the code that writes a fact adds its notice to the same batch. A crash leaves both or neither, so no person is
        told twice, or waits for an answer that will not come (DU-2, TU-5).
Rule 2: after the commit, the same code wakes the sender of the conversation.
Rule 3: there are no notices where the agent only listens (IN-33).
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec import DecodeError

from rejoinder.events import Inbound
from rejoinder.outbound.operations import Open, decode
from rejoinder.outbound.plan import Slot, withdraw
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, message_of
from rejoinder.runtime.session.prefixes import Prefix
from rejoinder.runtime.session.turn_inputs import TurnInput
from rejoinder.store.base import IN_FLIGHT, PlanParts, StoredPart
from rejoinder.turns.signals import Reason
from rejoinder.turns.suspicion import MOST_ALONE
from rejoinder.unicode_repair import one_line

QUARANTINED: Final = (
    f"The gateway stopped {MOST_ALONE} times while working on this, and has quarantined it: {{messages}} {{way_out}}"
)
RUN_AGAIN, BY_THE_OWNER = "`/resend` runs it again.", "The owner can have it run again."
LONGEST_NAMED, MOST_NAMED = 60, 5
"""How many characters of a message a notice quotes, and how many messages."""
UNREADABLE: Final = "Another version of this gateway has kept this message, and this one cannot read it; send it again."
TIMED_OUT: Final = "The agent did not answer in time; please try again."
CRASHED: Final = "Something went wrong while this was being answered; please try again."
INTERRUPTED: Final = "A restart interrupted the answer to this message; send it again if you still want one."
AWAY: Final = "I was away: your {count} messages from before are answered together."
DROPPED, SHORTENED = "🙈", "✍️"
TOO_MANY: Final = "Too many messages are waiting: this one was dropped."
TOO_MANY_SHORTENED: Final = "Too many messages are waiting: the agent gets only a one-line summary of this one."


def quarantined(
    conversation: Conversation,
    messages: Sequence[Inbound],
    now: datetime,
    prefix: Prefix,
    parts: tuple[StoredPart, ...] = (),
    *,
    may_resend: bool,
) -> PlanParts:
    """`may_resend`: the person may use `/resend` there."""
    sentence = QUARANTINED.format(messages=_named(messages), way_out=RUN_AGAIN if may_resend else BY_THE_OWNER)
    return _instead_of(parts, conversation, prefix(sentence), messages[-1].message_id, now)


def _named(messages: Sequence[Inbound]) -> str:
    """Quotes the messages, so that the person knows which are meant."""
    named = [f"“{_shortened(one_line(each.text)) or each.message_id}”" for each in messages[:MOST_NAMED]]
    more = len(messages) - len(named)
    return ", ".join(named) + (f" and {more} more." if more else ".")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_NAMED else f"{text[: LONGEST_NAMED - 1].rstrip()}…"


def unreadable(
    conversation: Conversation, message: str, now: datetime, prefix: Prefix, parts: tuple[StoredPart, ...] = ()
) -> PlanParts:
    return _instead_of(parts, conversation, prefix(UNREADABLE), message, now)


def why_it_ended(overdue: bool, crashed: bool) -> tuple[str, ...]:
    """What to tell the person who waits for a run that did not end normally. A person who stopped it knows already."""
    if overdue:
        return (TIMED_OUT,)
    return (CRASHED,) if crashed else ()


def interrupted(
    conversation: Conversation, message: str, now: datetime, parts: tuple[StoredPart, ...], prefix: Prefix
) -> PlanParts:
    return _instead_of(parts, conversation, prefix(INTERRUPTED), message, now)


def removed(conversation: Conversation, now: datetime, parts: tuple[StoredPart, ...]) -> PlanParts:
    """Removes what an abandoned turn had begun to say: nobody will finish it, and nobody waits for it."""
    return _instead_of(parts, conversation, "", "", now)


def clear(conversation: Conversation, parts: tuple[StoredPart, ...]) -> None:
    """Removes those drafts of an abandoned turn whose arrival is still unknown, as soon as it is known."""

    def remove(result: "asyncio.Future[DeliveryResult]") -> None:
        if message := message_of(result):
            conversation.sender.post(withdraw((Slot(message, ""),), conversation.outbox.new_stem()))

    for part in parts:
        if part.kind == "open" and part.state in IN_FLIGHT:
            conversation.sender.follow(part).add_done_callback(remove)


def _instead_of(
    parts: tuple[StoredPart, ...], conversation: Conversation, sentence: str, message: str, now: datetime
) -> PlanParts:
    """Replaces the unfinished messages of an abandoned turn, so that no half sentence stays for ever."""
    if slots := tuple(_slots(parts)):
        return conversation.parts_to_replace(slots, sentence, now, reply_to=message)
    return conversation.parts_to_say((sentence,) if sentence else (), now, reply_to=message)


def _slots(parts: tuple[StoredPart, ...]) -> Iterator[Slot]:
    for part in parts:
        if part.kind != "open" or part.state != "sent" or part.receipt is None:
            continue
        try:
            operation = decode(part.body)
        except DecodeError:  # its message stays as it is: we cannot tell whether the notice could replace it
            continue
        if isinstance(operation, Open):
            yield Slot(part.receipt, "", operation.part.reply_to)


def answered_together(
    conversation: Conversation, gathered: tuple[TurnInput, ...], now: datetime, prefix: Prefix
) -> PlanParts:
    """The notice said once for these messages, when their turn begins."""
    return conversation.parts_to_say(
        (prefix(AWAY.format(count=len(gathered))),), now, stem=f"away/{gathered[-1].event}"
    )


def left_out_notice(turn_input: TurnInput, reason: Reason | None, now: datetime, prefix: Prefix) -> PlanParts | None:
    """A reaction on the message, or words if there are no reactions (TU-5). A person who said stop knows already."""
    if reason == "stopped" or turn_input.message.listening or turn_input.message.inbound.unseen:
        return None
    message, sign = turn_input.message.inbound.message_id, SHORTENED if reason is None else DROPPED
    marked = turn_input.conversation.parts_to_react(message, sign, now)
    return marked or left_out_notice_in_words(turn_input, reason, now, prefix)


def left_out_notice_in_words(
    turn_input: TurnInput, reason: Reason | None, now: datetime, prefix: Prefix
) -> PlanParts | None:
    """The notice in words. An interruption needs none: the person sees that the newer message is answered."""
    if reason == "interrupted":
        return None
    said = TOO_MANY_SHORTENED if reason is None else TOO_MANY
    return turn_input.conversation.parts_to_say((prefix(said),), now, reply_to=turn_input.message.inbound.message_id)


def wake(conversations: Iterable[Conversation]) -> None:
    for conversation in conversations:
        conversation.sender.wake(rows=True)
