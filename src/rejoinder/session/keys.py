"""To which session a message belongs, and what is owned together with that session.

Rule 1: a session is found by its key alone, and the key is made in this file, nowhere else. It is injective: everything
        that distinguishes two conversations is in it, escaped, so no choice of ids can merge two of them.
Rule 2: the home of a session follows from its key, so everything that shares a session shares a home, and thus a shard.
"""

from collections.abc import Iterator
from zlib import crc32

from msgspec.structs import replace

from rejoinder.events import Inbound, Route
from rejoinder.session.session import Session, is_untouched
from rejoinder.session.settings import SessionSettings


def session_key(inbound: Inbound, settings: SessionSettings, agent: str) -> str:
    """The session this message belongs to (IN-40)."""
    return _joined(agent, *_place(inbound, settings))


def home(inbound: Inbound, settings: SessionSettings) -> str:
    """The home of a message, which is owned as a whole (SC-1): a group chat with all its threads, or the direct chats
    that share a session."""
    return _home(_place(inbound, settings))


def deciding_home(inbound: Inbound, settings: SessionSettings) -> str:
    """The home whose owner decides this message; empty if the message does not say whose direct chat it is, such as a
    message of our own or a deletion that names nobody."""
    sender = inbound.sender
    is_told = inbound.chat.kind != "direct" or bool(inbound.peer) or (bool(sender.id) and not sender.is_self)
    return home(inbound, settings) if is_told else ""


SUBAGENT = "subagent"


def session_home(key: str) -> str:
    """The home of a session: its key without the agent and without the parts that divide a group, so everything that
    shares a session shares a home. The kind of chat is left out as well, because the first to send to a chat may not
    know it (`route_home`)."""
    _, *parts = key.split(":")
    if len(parts) == 3 and parts[0] == SUBAGENT:  # a sub-agent is owned with its conversation
        return session_home(_unescaped(parts[1]))
    return _home(tuple(map(_unescaped, parts)))


def _home(place: tuple[str, ...]) -> str:
    if len(place) >= len(("channel", "account", "kind", "chat")):
        return _joined(place[0], place[1], place[3])
    return _joined(*place)


def route_home(route: Route) -> str:
    """The home of a chat to which something is sent before anything came from it."""
    return _joined(route.channel, route.account, route.chat)


def shard_of(home: str, shards: int) -> int:
    """The shard of a home if there are so many shards; it is the same in every process and every version (SC-2)."""
    return crc32(home.encode("utf-8", "surrogatepass")) % shards


def agent_of(key: str) -> str:
    """The agent of a session: the first part of its key."""
    return _unescaped(key.partition(":")[0])


def job_key(agent: str, job: str) -> str:
    """The session that belongs to a scheduled job alone."""
    return _joined(agent, "cron", job)


def subagent_key(agent: str, root: str, name: str) -> str:
    """The session of a sub-agent of a conversation (TU-36)."""
    return _joined(agent, SUBAGENT, root, name.lower())


def inherits_from(session: Session, inbound: Inbound, settings: SessionSettings) -> str | None:
    """The session whose transcript is put before this message in the session of its thread (IN-45): before the first
    turn there, and only once in the thread's life."""
    if not settings.thread_inherits or not _has_own_thread(inbound, settings):
        return None
    if session.inherited or not is_untouched(session):
        return None
    return _joined(session.agent, *_place(replace(inbound, thread=None), settings))


def _place(inbound: Inbound, settings: SessionSettings) -> tuple[str, ...]:
    chat, sender = inbound.chat, inbound.sender
    if chat.kind == "direct":
        if settings.scope == "shared":
            return (settings.main_key,)
        if settings.identity_links and (person := _linked_name(inbound, settings)):
            return ("person", person)
        person = (inbound.channel, inbound.account, "direct", inbound.peer or sender.id)
        return (*person, "thread", inbound.thread) if inbound.thread_is_session and inbound.thread else person
    room = _room(inbound)
    if settings.group_scope == "per-sender":
        person = _linked_name(inbound, settings) if settings.identity_links else None
        return (*room, "person", person) if person else (*room, "from", sender.id)
    if _has_own_thread(inbound, settings):
        return (*room, "thread", inbound.thread or "")
    return room


def _room(inbound: Inbound) -> tuple[str, ...]:
    chat = inbound.chat
    return (inbound.channel, inbound.account, chat.kind, chat.former or chat.id)


def _has_own_thread(inbound: Inbound, settings: SessionSettings) -> bool:
    in_room = inbound.chat.kind != "direct"
    return in_room and inbound.thread is not None and settings.group_scope == "per-thread"


def _linked_name(inbound: Inbound, settings: SessionSettings) -> str | None:
    written = tuple(entries_for(inbound.channel, inbound.account, inbound.peer or inbound.sender.id))
    for name, entries in settings.identity_links.items():
        if any(entry in entries for entry in written):
            return name
    return None


def entries_for(channel: str, account: str, id: str) -> Iterator[str]:
    """The forms in which a list may name this person and nobody else.

    Ids may contain colons, so `channel:a:b` could be read in two ways. Only one of them counts: the part after the
    channel is an account and an id, unless it has no colon or begins like a Matrix id (`@anna:example.org`). An id that
    the short form cannot express is named only by the long one.
    """
    if ":" in channel:
        return
    if ":" not in id or id.startswith("@"):
        yield f"{channel}:{id}"
    if ":" not in account and not account.startswith("@"):
        yield f"{channel}:{account}:{id}"


def _unescaped(part: str) -> str:
    """One part of a key, without the escapes of `_joined`."""
    return part.replace("%3A", ":").replace("%25", "%")


def _joined(*parts: str) -> str:
    plain = ":".join(parts)
    if "%" not in plain and plain.count(":") == len(parts) - 1:
        return plain  # nothing to escape
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)
