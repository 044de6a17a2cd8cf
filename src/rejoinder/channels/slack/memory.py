"""Remembers recent messages: the thread of each, and who asked last in a place.

None of this has to survive a restart: what is not known is looked up, or we do without it.
"""

from rejoinder.bounded import Bounded
from rejoinder.events import Inbound, Route

MOST = 5000


class ThreadMemory:
    def __init__(self) -> None:
        self._threads: Bounded[tuple[str, str], str] = Bounded(MOST)
        self._askers: Bounded[tuple[str, str], str] = Bounded(MOST)

    def note(self, message: Inbound) -> None:
        if message.entry not in ("text", "button"):
            return
        thread = message.thread or message.message_id
        if message.entry == "text":
            self._threads[message.chat.id, message.message_id] = thread
        if not message.sender.is_bot:
            self._askers.renew((message.chat.id, thread), message.sender.id)

    def sent(self, route: Route, message: str, thread: str | None) -> None:
        self._threads[route.chat, message] = thread or message

    def thread_of(self, chat: str, message: str) -> str | None:
        """The thread that it is in or would open; None: not known."""
        return self._threads.get((chat, message))

    def asker(self, chat: str, thread: str) -> str | None:
        return self._askers.get((chat, thread))
