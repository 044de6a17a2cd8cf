"""Turns Discord's events into the gateway's messages: pure, tested on recorded payloads.

Rule 1: an event is identified by the message's own id, so a message that comes by the gateway and by its history is
        one message (DU-1).
Rule 2: a message in a thread belongs to the channel around it: the chat is the parent, the thread is the thread.
Rule 3: what Discord and other programs write is not a person's words: system notes are not messages, and a webhook is
        a bot (CH-25).
Rule 4: an update without an edit time is not an edit: Discord has only added the preview of a link (CH-29).
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.channels.discord.places import Place
from rejoinder.channels.discord.text import context_of, said_in
from rejoinder.channels.discord.wire import FORWARDED, SAID, File, Member, Message, Reaction, User
from rejoinder.channels.threads import Threads, new_thread
from rejoinder.events import Attachment, Chat, EarlierMessage, Forward, Inbound, Mention, NewThread, Quote, Sender

EVERYONE = ("@everyone", "@here")


class BotIdentity(Struct, frozen=True):
    """The channel a bot serves, and who the bot is."""

    channel: str
    id: str
    name: str
    roles: AbstractSet[str] = frozenset()
    """Roles that stand for the bot itself."""
    threads: Threads = "off"
    """When its answers open threads."""


class EventPlace(Struct, frozen=True):
    """The place of an event, as far as it is known."""

    id: str
    place: Place
    title: str = ""
    """The title of the chat, that is, of the channel and not of the thread."""

    @property
    def chat(self) -> Chat:
        if self.place.kind == "direct":
            return Chat(self.id, "direct", self.title)
        return Chat(self.place.parent or self.id, "group", self.title)

    @property
    def thread(self) -> str | None:
        return self.id if self.place.kind == "thread" else None


def parse_message(message: Message, where: EventPlace, me: BotIdentity) -> Inbound | None:
    """None if it is a system note, or the bot's own message."""
    author = message.author
    if author is None or author.id == me.id or message.type not in SAID:
        return None
    forwarded, files = _forwarded(message), _attachments(message)
    text, mentions = message.content or "", tuple(_mentions(message, me))
    context = tuple(context_of(message, me.id))
    if not text and not files and not context and forwarded is None:
        return None
    return Inbound(
        channel=me.channel,
        event_id=message.id,
        message_id=message.id,
        chat=where.chat,
        sender=sender_of(author, message.member, is_bot=message.webhook_id is not None),
        text=text,
        thread=where.thread,
        reply_to=_quote(message, where),
        forwarded=forwarded,
        mentions=mentions,
        attachments=files,
        untrusted_context=context,
        sent_at=_time(message.edited_timestamp or message.timestamp),
        opens=_opened(message, mentions, me) if where.place.kind == "text" else None,
        own_id=me.id,
        own_name=me.name,
    )


def parse_edit(message: Message, where: EventPlace, me: BotIdentity) -> Inbound | None:
    if message.edited_timestamp is None:
        return None
    heard = parse_message(message, where, me)
    return heard and replace(heard, event_id=f"{message.id}:{message.edited_timestamp}", entry="edit")


def parse_reaction(reaction: Reaction, where: EventPlace, me: BotIdentity, mark: str) -> Inbound | None:
    """`mark` distinguishes a reaction from an equal one that was taken back before."""
    if reaction.user_id == me.id:
        return None
    user = reaction.member.user if reaction.member is not None else None
    emoji = reaction.emoji
    shown = emoji.name or "" if emoji.id is None else f":{emoji.name}:"
    return Inbound(
        channel=me.channel,
        event_id=f"{reaction.message_id}:{reaction.user_id}:{shown}:{mark}",
        message_id=reaction.message_id,
        chat=where.chat,
        sender=sender_of(user or User(reaction.user_id), reaction.member),
        text=shown,
        thread=where.thread,
        entry="reaction",
    )


def parse_said(message: Message) -> EarlierMessage:
    """An earlier message, as everybody sees it."""
    author = message.author or User("")
    name = author.global_name or author.username
    is_bot = bool(author.bot) or message.webhook_id is not None
    return EarlierMessage(message.id, author.id, name, said_in(message), is_bot=is_bot)


def parse_deletion(message: str, where: EventPlace, me: BotIdentity) -> Inbound:
    """Discord does not say who deleted the message."""
    event = f"{message}:deleted"
    return Inbound(me.channel, event, message, where.chat, Sender(""), entry="delete", thread=where.thread)


def _opened(message: Message, mentions: tuple[Mention, ...], me: BotIdentity) -> NewThread | None:
    """Only a mention in the text opens a thread, not the one that a reply implies. The title shows names, not ids."""
    text = message.content or ""
    tokens = [mention.token for mention in mentions if mention.id == me.id and mention.token]
    for token in tokens:
        text = text.replace(token, "")
    for user in message.mentions or ():
        for token in (f"<@{user.id}>", f"<@!{user.id}>"):
            text = text.replace(token, f"@{user.global_name or user.username}")
    return new_thread(me.threads, message.id, text, mentioned=bool(tokens))


# --- who, when, what came along -----------------------------------------------------------------


def sender_of(user: User, member: Member | None, *, is_bot: bool = False) -> Sender:
    nick = member.nick if member is not None else None
    return Sender(
        user.id,
        name=user.username,
        display_name=nick or user.global_name or user.username,
        is_bot=is_bot or bool(user.bot),
    )


def _time(written: str | None) -> datetime | None:
    if not written:
        return None
    try:
        return datetime.fromisoformat(written).astimezone(UTC)
    except ValueError:
        return None


def _attachments(message: Message) -> tuple[Attachment, ...]:
    """Each with an id by which the file can be found again, because Discord's links expire within a day."""
    own = [_attachment(file, message) for file in message.attachments or ()]
    passed_on = [
        _attachment(file, message)
        for each in message.message_snapshots or ()
        for file in each.message.attachments or ()
    ]
    return (*own, *passed_on)


def _attachment(file: File, message: Message) -> Attachment:
    mime = (file.content_type or "").partition(";")[0]
    return Attachment(
        f"{message.channel_id}/{message.id}/{file.id}",
        file.filename,
        mime,
        file.size,
        file.url,
        kind=None if file.waveform is None else "voice",
        seconds=file.duration_secs,
    )


# --- what it refers to --------------------------------------------------------------------------


def _quote(message: Message, where: EventPlace) -> Quote | None:
    reference = message.message_reference
    if reference is None or reference.message_id is None or reference.type == FORWARDED:
        return None
    elsewhere = reference.channel_id not in (None, message.channel_id)
    target = message.referenced_message
    if target is None or target.author is None:
        return Quote(reference.message_id, elsewhere=elsewhere)
    author = target.author
    files = () if where.place.kind == "direct" else _attachments(target)
    name = author.global_name or author.username
    return Quote(reference.message_id, author.id, name, said_in(target), elsewhere, files)


def _forwarded(message: Message) -> Forward | None:
    """A forwarded text is another person's words; Discord does not say whose."""
    passed_on = [said_in(each.message) for each in message.message_snapshots or ()]
    return Forward("\n".join(passed_on)) if passed_on else None


# --- whom it names ------------------------------------------------------------------------------


def _mentions(message: Message, me: BotIdentity) -> Iterator[Mention]:
    """Mentions with their words in the text. A reply also mentions the author of the other message, without words."""
    text = message.content or ""
    for user in message.mentions or ():
        token = next((each for each in (f"<@{user.id}>", f"<@!{user.id}>") if each in text), "")
        yield Mention(user.id, token=token)
    for role in message.mention_roles or ():
        yield Mention(me.id, token=f"<@&{role}>") if role in me.roles else Mention(role, "role", f"<@&{role}>")
    if message.mention_everyone:
        yield Mention("everyone", "everyone", next((word for word in EVERYONE if word in text), ""))
