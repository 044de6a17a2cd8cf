"""Turns Telegram's updates into the gateway's messages: pure, tested on recorded payloads.

Rule 1: an event's id is derived from the message's id, never from the update's: the same message under a new update id
        is the same event (DU-1).
Rule 2: only what the sender wrote is the sender's text. Forwards, and messages made by an inline bot, are somebody
        else's words (IN-6).
Rule 3: an anonymous admin of a group and a channel write as a chat: that chat is the sender, and not the bot that
        Telegram names instead.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.telegram.media import attachments, told
from rejoinder.channels.telegram.wire import (
    CallbackQuery,
    Entity,
    Message,
    Origin,
    ReactionUpdated,
    Update,
    User,
)
from rejoinder.channels.telegram.wire import Chat as WireChat
from rejoinder.events import Chat, ChatKind, EarlierMessage, Forward, Inbound, Mention, Quote, Sender

START = "/start"
"""Sent by the button that begins every chat with a bot: the person did not type it, and wants an overview."""
_KINDS: dict[str, ChatKind] = {"private": "direct", "channel": "channel"}


class BotIdentity(Struct, frozen=True):
    """The channel a bot serves, and who the bot is."""

    channel: str
    id: str
    name: str


def parse(update: Update, me: BotIdentity) -> Inbound | None:
    """None if the update is not a message, for example when a person joins or pins."""
    if update.callback_query is not None:
        return _pressed(update.callback_query, me)
    if update.message_reaction is not None:
        return _reacted(update.message_reaction, me)
    edited = update.edited_message or update.edited_channel_post
    if edited is not None:
        # A live location moves all the time, so only text counts. Without an edit date no person has edited: something
        # else about the message changed, and we would answer the same words twice.
        is_said = edited.edit_date is not None and (edited.text or edited.caption)
        heard = _said(edited, me) if is_said else None
        return heard and replace(heard, event_id=f"{heard.event_id}:{edited.edit_date}", entry="edit")
    message = update.message or update.channel_post
    return None if message is None else _said(message, me)


def join(members: Sequence[Inbound]) -> Inbound:
    """Joins an album into one message: its first member, with the words and files of all."""
    first = members[0]
    if len(members) == 1:
        return first
    text = "\n".join(member.text for member in members if member.text)
    forward = next((member.forwarded for member in members if member.forwarded is not None), None)
    forwarded = forward and replace(forward, text=text)
    files = tuple(file for member in members for file in member.attachments)
    mentions = tuple(mention for member in members for mention in member.mentions)
    return replace(first, text=text, forwarded=forwarded, attachments=files, mentions=mentions)


# --- messages -----------------------------------------------------------------------------------


def _said(message: Message, me: BotIdentity) -> Inbound | None:
    text = message.text or message.caption
    if text == START and message.chat.type == "private":
        text = "/help"
    files, context = attachments(message), told(message)
    if not text and not files and not context:
        return None
    entities = message.entities or message.caption_entities
    is_reply = message.reply_to_message is not None or message.external_reply is not None
    return Inbound(  # with more than 15 keywords Python would make a dictionary of them
        me.channel,
        f"{message.chat.id}:{message.message_id}",
        str(message.message_id),
        _chat(message.chat),
        _sender(message, me),
        text,
        thread=_thread(message),
        thread_starter=_starter(message) if is_reply else None,
        reply_to=_quote(message) if is_reply else None,
        forwarded=_forward(message, text),
        mentions=tuple(_mentions(text, entities, me)) if entities else (),
        attachments=files,
        untrusted_context=context,
        sent_at=datetime.fromtimestamp(message.edit_date or message.date, UTC),
        own_id=me.id,
        own_name=me.name,
    )


def _chat(chat: WireChat) -> Chat:
    return Chat(str(chat.id), _KINDS.get(chat.type, "group"), chat.title or _full_name(chat))


def _thread(message: Message) -> str | None:
    """Only a topic is a thread; outside forums the number only says which message began a chain of replies."""
    if not message.is_topic_message or message.message_thread_id is None:
        return None
    return str(message.message_thread_id)


def _starter(message: Message) -> EarlierMessage | None:
    """The service message that opened the topic, with its name. In a topic every message that is no reply refers to
    it."""
    opening = message.reply_to_message
    if opening is None or opening.forum_topic_created is None or _thread(message) is None:
        return None
    by = opening.from_
    return EarlierMessage(
        str(opening.message_id),
        str(by.id) if by is not None else "",
        _full_name(by) if by is not None else "",
        opening.forum_topic_created.name,
        is_bot=by is not None and by.is_bot,
    )


def _sender(message: Message, me: BotIdentity) -> Sender:
    if message.sender_chat is not None:
        chat = message.sender_chat
        return Sender(str(chat.id), name=chat.username, display_name=message.author_signature or chat.title)
    if message.from_ is not None:
        return _person(message.from_, me)
    return Sender(str(message.chat.id), name=message.chat.username, display_name=message.chat.title)


def _person(user: User, me: BotIdentity) -> Sender:
    id = str(user.id)
    name = _full_name(user)
    return Sender(id, name=user.username, display_name=name, is_bot=user.is_bot, is_self=id == me.id)


def _full_name(who: User | WireChat) -> str:
    return f"{who.first_name} {who.last_name}".strip()


# --- what it refers to --------------------------------------------------------------------------


def _quote(message: Message) -> Quote | None:
    quoted = message.quote.text if message.quote is not None else ""
    if (outside := message.external_reply) is not None:
        place = outside.chat.id if outside.chat is not None else "elsewhere"
        origin = outside.origin
        author = origin.sender_user or origin.sender_chat or origin.chat
        there = f"{place}/{outside.message_id or ''}"
        return Quote(there, str(author.id) if author else None, _author_name(origin), quoted, elsewhere=True)
    target = message.reply_to_message
    if target is None or target.forum_topic_created is not None:
        return None  # in a topic, every message replies to the one that opened the topic
    author = target.sender_chat or target.from_
    name = _title(target.sender_chat) if target.sender_chat else _full_name(target.from_) if target.from_ else ""
    said = quoted or target.text or target.caption
    files = () if message.chat.type == "private" else attachments(target)
    return Quote(str(target.message_id), str(author.id) if author else None, name, said, files=files)


def _forward(message: Message, text: str) -> Forward | None:
    if message.forward_origin is not None:
        return Forward(text, _author_name(message.forward_origin))
    if message.via_bot is not None:
        return Forward(text, f"@{message.via_bot.username}")
    return None


def _author_name(origin: Origin) -> str:
    if origin.sender_user is not None:
        return _full_name(origin.sender_user)
    chat = origin.sender_chat or origin.chat
    return origin.sender_user_name or origin.author_signature or (_title(chat) if chat else "")


def _title(chat: WireChat) -> str:
    return chat.title or _full_name(chat)


# --- whom it names ------------------------------------------------------------------------------


def _mentions(text: str, entities: Iterable[Entity], me: BotIdentity) -> Iterable[Mention]:
    units = text.encode("utf-16-le")
    for entity in entities:
        words = units[2 * entity.offset : 2 * (entity.offset + entity.length)].decode("utf-16-le", "replace")
        match entity.type:
            case "mention":
                yield Mention(_who(words, me), token=words)
            case "text_mention" if entity.user is not None:
                yield Mention(str(entity.user.id), token=words)
            case "bot_command" if "@" in words:
                yield Mention(_who("@" + words.partition("@")[2], me))
            case _:
                pass


def _who(name: str, me: BotIdentity) -> str:
    """Our own id for our own name; any other name as it is, since Telegram sends no id with an @name."""
    return me.id if me.name and name.lower() == f"@{me.name.lower()}" else name


# --- what is no message -------------------------------------------------------------------------


def _pressed(query: CallbackQuery, me: BotIdentity) -> Inbound | None:
    """A pressed button speaks for the person, as a reply to the message it belongs to."""
    message = query.message
    if message is None or not query.data:
        return None
    return Inbound(
        channel=me.channel,
        event_id=f"button:{query.id}",
        message_id=f"button:{query.id}",
        chat=_chat(message.chat),
        sender=_person(query.from_, me),
        text=query.data,
        entry="button",
        thread=_thread(message),
        reply_to=Quote(str(message.message_id), me.id, me.name, message.text or message.caption),
    )


def _reacted(change: ReactionUpdated, me: BotIdentity) -> Inbound | None:
    """The reaction that was added; removing one is not reported."""
    added = [kind.emoji for kind in change.new_reaction if kind.emoji and kind not in change.old_reaction]
    if not added:
        return None
    if change.user is not None:
        sender = _person(change.user, me)
    elif change.actor_chat is not None:
        sender = Sender(str(change.actor_chat.id), display_name=_title(change.actor_chat))
    else:
        return None
    text = "".join(added)
    return Inbound(
        channel=me.channel,
        event_id=f"{change.chat.id}:{change.message_id}:{sender.id}:{change.date}:{text}",
        message_id=str(change.message_id),
        chat=_chat(change.chat),
        sender=sender,
        text=text,
        entry="reaction",
        sent_at=datetime.fromtimestamp(change.date, UTC),
    )
