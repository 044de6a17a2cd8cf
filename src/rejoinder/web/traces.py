"""Finds what was decided about a message that a person names by the platform's id or by its handle."""

from rejoinder.store.base import InboxEvent, LocatedMessage, StoreReader

MOST_CHATS = 10
"""The most chats whose messages of one handle are shown beside each other."""


class SeveralChats(Exception):
    """Too many chats have such a message; the text says how to name one."""


async def events_named(store: StoreReader, reference: str) -> tuple[InboxEvent, ...]:
    """Every chat counts its own messages, so a handle may name one in each: the latest comes first."""
    if events := await store.events_of(reference):
        return events
    found = await store.find_messages(reference, MOST_CHATS + 1)
    if len(found) > MOST_CHATS:
        raise SeveralChats(
            f"more than {MOST_CHATS} chats have a message {reference}; name it by the platform's id, "
            f"or run `rejoinder explain {reference} --chat ID`"
        )
    latest_first = sorted(found, key=lambda each: each.message.at, reverse=True)
    return tuple([event for each in latest_first for event in await _events_behind(store, each)])


async def _events_behind(store: StoreReader, found: LocatedMessage) -> list[InboxEvent]:
    """For a message of ours, those of the message it answers."""
    message, route = found.message.id, found.route
    if found.message.kind == "own":
        part = await store.part_sent_as(route, message)
        turn = await store.turn(part.turn) if part is not None and part.turn is not None else None
        if turn is None or not turn.inputs:
            return []
        asked = turn.inputs[0].event
        if not asked.inbound.message_id:  # a tick or a handoff; others have no id either
            return [asked]
        message, route = asked.inbound.message_id, asked.inbound.route
    return [event for event in await store.events_of(message) if event.inbound.route == route]
