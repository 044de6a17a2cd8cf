"""What the person in a chat is told about an answer that may not have arrived (DU-3)."""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import MsgspecError

from rejoinder.errors import Unreadable
from rejoinder.events import Inbound
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.payloads import message_of, unpack
from rejoinder.runtime.session.prefixes import Prefixes

MAY_HAVE_BEEN_LOST: Final = "My last answer may not have arrived; /resend repeats it."
ASK_AGAIN: Final = "My last answer may not have arrived; ask again if it is missing."
"""For people who may not use `/resend` there, and where asking again is just as easy."""


class UnconfirmedAnswerNotice:
    def __init__(
        self, services: Services, prefixes: Prefixes, may_resend: Callable[[Inbound], Awaitable[bool]]
    ) -> None:
        self._store = services.store
        self._prefixes = prefixes
        self._may_resend = may_resend

    async def __call__(self, turn: int | None) -> str:
        """`turn`: the turn whose answer it is; None for an answer of the gateway itself."""
        try:
            known = None if turn is None else await self._store.turn(turn)
            if known is None or not known.inputs:
                return ASK_AGAIN
            put = known.inputs[-1]
            decided = unpack(put.payload)
        except (Unreadable, MsgspecError):
            return ASK_AGAIN
        inbound = put.event.inbound
        prefix = await self._prefixes.of(message_of(decided, inbound), put.session, decided.agent)
        return prefix(MAY_HAVE_BEEN_LOST if await self._may_resend(inbound) else ASK_AGAIN)
