"""How much of Discord's allowance a bot has used: sessions that it has begun, calls that were refused (CH-28).

Discord goes on counting while a gateway restarts, so both are stored with the bot's cursor. A gateway that is killed
and restarted again and again begins no session too early, and its address is not shut out.
"""

import time
from collections.abc import Callable

from rejoinder.channels.discord.budget import Refusals
from rejoinder.channels.discord.cursor import StoredAllowance

STORED_EACH = 50
"""At most this many refused calls are not stored yet."""


class UsedAllowance:
    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals
        self._stored = 0
        self._began = 0.0
        self._store_soon: Callable[[], None] = lambda: None

    # --- sessions ---------------------------------------------------------------------------------

    def session_begins(self) -> None:
        """Notes the time. It is stored a moment later, with the session itself: nothing may be written before that
        (CH-20)."""
        self._began = time.time()

    def wait_for_session(self, spacing: float) -> float:
        """Seconds until Discord lets this bot begin another."""
        return min(spacing, max(0.0, self._began + spacing - time.time()))

    # --- refused calls ----------------------------------------------------------------------------

    def call_was_refused(self) -> None:
        if self._refusals.total(time.monotonic()) >= self._stored + STORED_EACH:
            self._store_soon()

    # --- across a restart -------------------------------------------------------------------------

    def tell(self, store_soon: Callable[[], None]) -> None:
        """Sets the function to call when so much has changed that it should be stored."""
        self._store_soon = store_soon

    def kept(self) -> StoredAllowance:
        now = time.monotonic()
        self._stored = self._refusals.total(now)
        refused, shut_out_until = self._refusals.kept(now, time.time() - now)
        return StoredAllowance(self._began, refused, shut_out_until)

    def recall(self, stored: StoredAllowance) -> None:
        now = time.monotonic()
        self._began = max(self._began, stored.began)
        self._refusals.recall(stored.refused, stored.shut_out_until, now, time.time() - now)
