"""Albums: Telegram sends each picture as a separate message, but people mean one.

Rule 1: an album that may still grow waits, and so do later messages of its chat, so that the order is kept.
Rule 2: updates that wait are not confirmed: Telegram or our store keeps them, and returns them after a crash.
Rule 3: time is an argument; nothing here reads a clock.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from rejoinder.channels.telegram.wire import Update

MOST_MEMBERS = 10
"""Telegram's limit for one album."""


class SortedUpdates(Struct, frozen=True):
    """Both `ready` and `waiting` are in the order in which the updates came."""

    ready: tuple[Update, ...]
    waiting: tuple[Update, ...] = ()


class AlbumSorter:
    """How long an album waits: until it has not grown for `quiet` seconds, and never longer than `longest`."""

    def __init__(self, quiet: float = 0.5, longest: float = 3.0) -> None:
        self.quiet = quiet
        self.longest = longest
        self._seen: dict[str, _Growth] = {}

    def sort(self, updates: Sequence[Update], now: float) -> SortedUpdates:
        """Returns what can be delivered and what has to wait. The caller passes waiting updates again in the next
        call."""
        growing = self._growing(updates, now)
        if not growing:
            return SortedUpdates(tuple(updates))
        ready: list[Update] = []
        waiting: list[Update] = []
        behind: set[int] = set()
        for update in updates:
            chat = _chat_of(update)
            if album_of(update) in growing or (chat is not None and chat in behind):
                waiting.append(update)
                if chat is not None:
                    behind.add(chat)
            else:
                ready.append(update)
        return SortedUpdates(tuple(ready), tuple(waiting))

    def _growing(self, updates: Sequence[Update], now: float) -> set[str]:
        members: dict[str, int] = {}
        for update in updates:
            if album := album_of(update):
                members[album] = members.get(album, 0) + 1
        if not members:
            self._seen = {}
            return set()
        seen: dict[str, _Growth] = {}
        for album, count in members.items():
            known = self._seen.get(album, _Growth(0, now, now))
            seen[album] = _Growth(count, known.first, now if count > known.members else known.last)
        self._seen = seen
        return {
            album
            for album, growth in seen.items()
            if growth.members < MOST_MEMBERS and now - growth.last < self.quiet and now - growth.first < self.longest
        }


class _Growth(Struct, frozen=True):
    members: int
    first: float
    last: float


def album_of(update: Update) -> str:
    """The update's album; empty if it is in none. An edit is in none: it changes one picture and does not send the
    album again."""
    message = update.message or update.channel_post
    return message.media_group_id if message is not None else ""


def gather(updates: Iterable[Update]) -> list[list[Update]]:
    """Groups the members of each album, at the place of its first member."""
    found: list[list[Update]] = []
    albums: dict[str, list[Update]] = {}
    for update in updates:
        album = album_of(update)
        if album and album in albums:
            albums[album].append(update)
            continue
        found.append([update])
        if album:
            albums[album] = found[-1]
    return found


def _chat_of(update: Update) -> int | None:
    message = update.message or update.channel_post or update.edited_message or update.edited_channel_post
    return message.chat.id if message is not None else None
