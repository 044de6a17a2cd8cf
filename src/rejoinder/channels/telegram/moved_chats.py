"""Groups that have become supergroups: Telegram gives them another id, but people mean the same group.

Rule 1: messages are sent to the group's current id; settings and sessions keep its former id.
Rule 2: old messages stay in the old group: the same message number means a different message in the new group.
Rule 3: Telegram reports a move only once, so it is kept with the cursor.
"""

import logging
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from rejoinder.channels.telegram.wire import Update
from rejoinder.events import Inbound

log = logging.getLogger(__name__)


class MovedChats:
    def __init__(self, channel: str) -> None:
        self._channel = channel
        self.known: dict[int, int] = {}
        """Their present ids, by the former ones."""
        self._former: dict[int, int] = {}

    def recall(self, known: Mapping[int, int]) -> None:
        for old, new in known.items():
            self.known[old], self._former[new] = new, old

    def note(self, old: int, new: int) -> None:
        if self.known.get(old) == new:
            return
        self.recall({old: new})
        log.warning(
            "%s: the group %s has become a supergroup and is %s now; its configuration and its sessions continue "
            "under the old id",
            self._channel,
            old,
            new,
        )

    def heard(self, updates: Iterable[Update]) -> bool:
        """Notes the moves that these updates report; returns whether there were any."""
        told = False
        for update in updates:
            if (message := update.message) is None:
                continue
            if message.migrate_to_chat_id is not None:
                self.note(message.chat.id, message.migrate_to_chat_id)
                told = True
            elif message.migrate_from_chat_id is not None:
                self.note(message.migrate_from_chat_id, message.chat.id)
                told = True
        return told

    def where(self, chat: int | str) -> int | str:
        """The current id of this chat."""
        return self.known.get(chat, chat) if isinstance(chat, int) else chat

    def known_by_former(self, inbound: Inbound) -> Inbound:
        """The message with the former id of its chat, if the chat has moved."""
        former = self._former.get(int(inbound.chat.id)) if self._former else None
        return inbound if former is None else replace(inbound, chat=replace(inbound.chat, former=str(former)))
