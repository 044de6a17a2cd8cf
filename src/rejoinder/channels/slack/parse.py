"""Turns what Slack sends into the gateway's messages: pure, tested on recorded payloads.

Rule 1: an event is identified by its message (channel and timestamp), never by its envelope: `message` and
        `app_mention` are one event, and so is anything that Slack sends again (CH-31, DU-1).
Rule 2: our own messages are dropped here, because every frame of a draft would come back.
Rule 3: only a change that a person made is an edit: Slack reports unfurled links and new replies as changes, too.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from rejoinder.channels.slack import text as texts
from rejoinder.channels.slack.emoji import shown
from rejoinder.channels.slack.wire import Command, File, Message, Pressed, Reaction, read
from rejoinder.channels.threads import Threads, new_thread
from rejoinder.events import Attachment, Chat, ChatKind, Inbound, Quote, ReplyContext, Sender

SPOKEN = frozenset({"", "file_share", "thread_broadcast", "me_message", "bot_message", "document_mention"})
"""The message subtypes in which somebody says something."""
RESPONSES = timedelta(minutes=29)
"""How long the response address of an interaction works: Slack says thirty minutes."""
SLACKBOT = "USLACKBOT"
TOMBSTONE = "tombstone"
"""What a deleted message becomes if it has replies."""
GONE = (TOMBSTONE, "hidden_by_limit")
RECORDED = "slack_audio"
LONGEST_BLOCKS = 4000
COMMAND = "/rejoinder"
HELP = "/help"


class BotIdentity(Struct, frozen=True):
    """The channel an app serves, and who the app is."""

    channel: str
    id: str
    bot_id: str
    name: str = ""
    threads: Threads = "auto"
    assistant: bool = False
    """Each thread of a direct chat is a conversation of its own."""


def event(given: dict[str, Any], me: BotIdentity) -> Inbound | None:
    """What the inner event says; None if nobody says anything, for example when a person joins."""
    kind = given.get("type")
    if kind in ("message", "app_mention"):
        return message(read(given, Message), me)
    if kind == "reaction_added":
        return _reacted(read(given, Reaction), me)
    return None


def message(heard: Message, me: BotIdentity) -> Inbound | None:
    if heard.subtype == "message_changed":
        return _edited(heard, me)
    if heard.subtype == "message_deleted":
        return _deleted(heard, me)
    if heard.subtype not in SPOKEN or heard.hidden or is_ours(heard, me) or not heard.ts:
        return None
    return _said(heard, me)


def is_ours(heard: Message, me: BotIdentity) -> bool:
    return (bool(heard.user) and heard.user == me.id) or (bool(heard.bot_id) and heard.bot_id == me.bot_id)


def chat_of(channel: str, channel_type: str = "") -> Chat:
    """The kind of chat, by the type in the event, or by the first letter of the id."""
    kind: ChatKind = "direct" if channel_type == "im" or channel.startswith("D") else "group"
    return Chat(channel, kind)


def moment(ts: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(ts), UTC)
    except (ValueError, OverflowError, OSError):
        return None


# --- what is said -------------------------------------------------------------------------------


def _said(heard: Message, me: BotIdentity) -> Inbound | None:
    files, context = tuple(_files(heard.files)), tuple(_context(heard))
    if not heard.text.strip() and not files and not context:
        return None
    chat = chat_of(heard.channel, heard.channel_type)
    thread = heard.thread_ts or None
    named = tuple(texts.mentions(heard.text))
    words = texts.plain(heard.text)
    opens = None
    if thread is None and chat.kind == "group":
        title = words
        for each in named:
            title = title.replace(f"{each.token} ", "").replace(each.token, "") if each.kind == "user" else title
        opens = new_thread(me.threads, heard.ts, title, mentioned=any(each.id == me.id for each in named))
    return Inbound(
        channel=me.channel,
        event_id=f"{heard.channel}:{heard.ts}",
        message_id=heard.ts,
        chat=chat,
        sender=_sender(heard, me),
        text=words,
        thread=thread,
        thread_is_session=me.assistant and chat.kind == "direct" and thread is not None,
        opens=opens,
        reply_to=_parent(heard, me),
        mentions=named,
        attachments=files,
        untrusted_context=context,
        sent_at=moment(heard.ts),
        own_id=me.id,
        own_name=me.name,
    )


def _sender(heard: Message, me: BotIdentity) -> Sender:
    id = heard.user or heard.bot_id
    bot = bool(heard.bot_id) or heard.subtype == "bot_message" or id == SLACKBOT
    profile = heard.user_profile
    shown_name = profile.display_name or profile.real_name if profile is not None else ""
    if not shown_name:
        shown_name = heard.username or (heard.bot_profile.name if heard.bot_profile is not None else "")
    name = profile.name if profile is not None else ""
    return Sender(id, name=name, display_name=shown_name, is_bot=bot, is_self=is_ours(heard, me))


def _parent(heard: Message, me: BotIdentity) -> Quote | None:
    """A message in a thread under one of our own messages is a reply to it; in other threads it is a reply to
    nobody."""
    if not heard.thread_ts or heard.thread_ts == heard.ts or heard.parent_user_id != me.id:
        return None
    return Quote(heard.thread_ts, me.id, me.name)


def _files(files: Iterable[File]) -> Iterable[Attachment]:
    return (attachment(file) for file in files if file.mode not in GONE)


def attachment(file: File) -> Attachment:
    """A file from another workspace has nothing but its id (Slack Connect)."""
    return Attachment(
        file.id,
        file.name or file.title,
        file.mimetype,
        file.size,
        file.url_private_download or file.url_private or None,
        kind="voice" if file.subtype == RECORDED else None,
        seconds=None if file.duration_ms is None else file.duration_ms / 1000,
    )


def _context(heard: Message) -> Iterable[str]:
    """What was shared or attached with the text; the sender did not type it."""
    if not heard.text.strip() and (words := texts.plain(texts.of_blocks(heard.blocks))):
        yield f"blocks: {words[:LONGEST_BLOCKS]}"
    for each in heard.attachments:
        words = texts.plain(each.text or each.fallback or each.title)
        if not words or (each.from_url and not each.is_share and not each.is_msg_unfurl):
            continue  # the preview of a link
        what = "a shared message" if each.is_share or each.is_msg_unfurl else "an attachment"
        by = f" of {each.author_name}" if each.author_name else ""
        yield f"{what}{by}: {words}"


def _edited(change: Message, me: BotIdentity) -> Inbound | None:
    new, old = change.message, change.previous_message
    if new is not None and new.subtype == TOMBSTONE:
        return _deleted(msgspec.structs.replace(change, deleted_ts=new.ts), me)
    if new is None or new.edited is None or is_ours(new, me) or new.subtype not in SPOKEN:
        return None
    if old is not None and old.edited is not None and old.edited.ts == new.edited.ts:
        return None  # a link was unfurled, or somebody replied
    if old is not None and (old.text, _ids(old)) == (new.text, _ids(new)):
        return None  # for example, a preview was removed
    heard = _said(msgspec.structs.replace(new, channel=change.channel, channel_type=change.channel_type), me)
    if heard is None:
        return None
    return msgspec.structs.replace(
        heard,
        event_id=f"{heard.event_id}:{new.edited.ts}",
        entry="edit",
        opens=None,
        former_text=texts.plain(old.text) if old is not None else None,
        sent_at=moment(new.edited.ts) or heard.sent_at,
    )


def _ids(heard: Message) -> list[str]:
    return [file.id for file in heard.files]


def _deleted(change: Message, me: BotIdentity) -> Inbound | None:
    old = change.previous_message
    if old is None or not change.deleted_ts or is_ours(old, me):
        return None
    return Inbound(
        channel=me.channel,
        event_id=f"{change.channel}:{change.deleted_ts}:deleted",
        message_id=change.deleted_ts,
        chat=chat_of(change.channel, change.channel_type),
        sender=_sender(old, me),
        entry="delete",
        thread=old.thread_ts or None,
        sent_at=moment(change.event_ts),
    )


# --- what is no message -------------------------------------------------------------------------


def _reacted(change: Reaction, me: BotIdentity) -> Inbound | None:
    if change.item.type != "message" or not change.user or change.user == me.id:
        return None
    return Inbound(
        channel=me.channel,
        event_id=f"{change.item.channel}:{change.item.ts}:{change.user}:{change.event_ts}:{change.reaction}",
        message_id=change.item.ts,
        chat=chat_of(change.item.channel),
        sender=Sender(change.user),
        text=shown(change.reaction),
        entry="reaction",
        sent_at=moment(change.event_ts),
    )


def command(given: Command, me: BotIdentity, now: datetime) -> Inbound:
    """`/rejoinder status` means /status; `/rejoinder` alone means /help."""
    words = texts.plain(given.text).strip()
    text = f"/{words.removeprefix('/')}" if words else HELP
    id = f"command:{given.trigger_id or f'{given.user_id}:{now.timestamp():.6f}'}"
    return Inbound(
        channel=me.channel,
        event_id=id,
        message_id=id,
        chat=chat_of(given.channel_id),
        sender=Sender(given.user_id, name=given.user_name, display_name=given.user_name),
        text=text,
        entry="native",
        sent_at=now,
        reply_context=_context_of(given.response_url, now),
    )


def pressed(given: Pressed, me: BotIdentity, now: datetime) -> Inbound | None:
    """A pressed button speaks for the person, as a reply to the message it belongs to."""
    if given.type != "block_actions" or not given.actions:
        return None
    action = given.actions[0]
    says = action.selected_option.value if action.selected_option is not None else action.value
    channel = given.container.channel_id or given.channel.id
    if not says or not channel:
        return None
    under = given.container.message_ts
    thread = given.container.thread_ts or (given.message.thread_ts if given.message is not None else "")
    words = texts.plain(given.message.text) if given.message is not None else ""
    id = f"button:{channel}:{under}:{given.user.id}:{action.action_ts or given.trigger_id}"
    return Inbound(
        channel=me.channel,
        event_id=id,
        message_id=id,
        chat=chat_of(channel),
        sender=Sender(given.user.id, name=given.user.username, display_name=given.user.name or given.user.username),
        text=says,
        entry="button",
        thread=thread or None,
        reply_to=Quote(under, me.id, me.name, words),
        sent_at=now,
        reply_context=_context_of(given.response_url, now),
    )


def _context_of(address: str, now: datetime) -> ReplyContext | None:
    return ReplyContext(address, now + RESPONSES, private=True) if address else None
