"""Turns what people and agents do on the page into the gateway's inbounds. Pure: values in, values out."""

import re
from datetime import UTC, datetime

from rejoinder.channels.web.avatars import EVERYBODY
from rejoinder.channels.web.nouns import File, Message, Quoted, Room
from rejoinder.events import Attachment, Chat, EarlierMessage, Entry, Inbound, Mention, Quote, Sender

RECORDED = "voice-message"
"""The name, before the dot, that the page gives to its voice recordings."""
_MENTION = re.compile(r"(?<![\w@])@([\w.-]*\w)")


def mentions(text: str, room: Room) -> tuple[Mention, ...]:
    """The agents of the room that a text names by `@id`; `@all` is everybody in it."""
    ids = {agent.casefold(): agent for agent in room.agents}
    found: dict[str, Mention] = {}
    for match in _MENTION.finditer(text):
        name = match[1].casefold()
        if name == EVERYBODY:
            found[EVERYBODY] = Mention(EVERYBODY, "everyone", match[0])
        elif name in ids:
            found.setdefault(ids[name], Mention(ids[name], token=match[0]))
    return tuple(found.values())


def implied_mention(room: Room, agents: tuple[str, ...]) -> tuple[Mention, ...]:
    """The agent that a message without a name is for, in a direct chat. In a room the gateway decides (IN-25)."""
    return (Mention(room.agents[0]),) if len(agents) > 1 and room.agents and room.kind == "direct" else ()


def inbound(
    channel: str,
    event: str,
    message: Message,
    room: Room,
    name: str,
    agents: tuple[str, ...],
    *,
    entry: Entry = "text",
    sender: str | None = None,
    text: str | None = None,
    starter: EarlierMessage | None = None,
) -> Inbound:
    """`event`: the id of the event. `sender` and `text`: given if they are not the message's own, as when somebody
    reacts or presses a button. `starter`: the message that began the thread.

    A pressed button speaks for the person, as a reply to the message it belongs to.
    """
    author = sender or message.author
    said = message.text if text is None else text
    is_agent = author in agents
    named = mentions(said, room)
    pressed = entry == "button"
    quoted = Quoted(message.id, message.author, message.text) if pressed else message.reply_to
    answered = quoted is not None and quoted.author in room.agents
    return Inbound(
        channel=channel,
        event_id=event,
        message_id=event if pressed else message.id,
        chat=Chat(room.id, room.kind, room.title, room.agents),
        sender=Sender(author, name=author, display_name=name, is_bot=is_agent),
        text=said,
        thread=message.thread,
        thread_starter=starter,
        entry=entry,
        reply_to=Quote(quoted.id, quoted.author or None, quoted.author, quoted.text) if quoted else None,
        mentions=named if named or is_agent or answered else implied_mention(room, agents),
        attachments=tuple(map(_attachment, message.files)),
        sent_at=None if pressed else datetime.fromtimestamp(message.at / 1000, UTC),
    )


def _attachment(file: File) -> Attachment:
    """The page gives its recordings a fixed name, so a file with this name is a voice note of its sender."""
    recorded = file.mime.startswith("audio/") and file.name.rpartition(".")[0] == RECORDED
    return Attachment(file.id, file.name, file.mime, file.size, kind="voice" if recorded else None)
