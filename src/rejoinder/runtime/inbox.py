"""Each platform event once (DU-1). In memory, so a restart forgets; the store makes it durable."""

from rejoinder.events import Inbound

REMEMBERED = 10_000


class Inbox:
    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._seen: dict[tuple[str, str, str], None] = {}
        self._remembered = remembered

    def take(self, message: Inbound) -> bool:
        """False when this very event has been taken before."""
        key = (message.channel, message.account, message.event_id)
        if key in self._seen:
            return False
        self._seen[key] = None
        if len(self._seen) > self._remembered:
            del self._seen[next(iter(self._seen))]
        return True
