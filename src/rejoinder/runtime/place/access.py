"""Who has asked to be let in, who was let in and who was shut out again: read for each account, written through."""

from datetime import datetime
from time import monotonic

from msgspec import Struct

from rejoinder.bounded import Bounded
from rejoinder.events import AskPairing, EditAllowList
from rejoinder.inbound import pairing
from rejoinder.inbound.access import edited_allow, ids_of_entry
from rejoinder.inbound.ids import Ids
from rejoinder.runtime.live import Live
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.store.base import (
    AllowEdit,
    EditAllow,
    Paired,
    PairingRequest,
    PairSender,
    PutPairingRequest,
    Store,
    Unpair,
)

Place = tuple[str, str]
"""A channel and an account on it."""

NO_REQUESTS = pairing.PairingCodes()
MOST_PLACES = 1000
FRESH = 2.0
"""How long rows that were read are trusted, in seconds: an owner may also approve a sender from outside the engine."""


class AccessFacts(Struct, frozen=True):
    """What decides whether a sender is let in, besides the configuration."""

    paired: bool
    """An owner has approved the sender."""
    pairing: pairing.PairingCodes
    allow: Ids | None
    """The allow list as owners have edited it; None when they have not."""


class Access:
    """Returns verbs for the caller to write; the rows they change are read again before the next message is decided."""

    def __init__(self, settings: Live[RuntimeSettings], store: Store) -> None:
        self._settings = settings
        settings.on_change(self.forget)  # the edited lists are built on those of the configuration file
        self._store = store
        self._allow: Bounded[str, Ids | None] = Bounded(MOST_PLACES)
        self._paired: Bounded[str, frozenset[Paired]] = Bounded(MOST_PLACES)
        self._requests: Bounded[Place, tuple[PairingRequest, ...]] = Bounded(MOST_PLACES)
        self._read: Bounded[Place, float] = Bounded(MOST_PLACES)

    async def of(self, place: Place, sender: str) -> AccessFacts:
        """What holds for this sender, as it was read just now."""
        if monotonic() - self._read.get(place, float("-inf")) >= FRESH:
            await self._look(place)
        paired, requests, allow = self._paired[place[0]], self._requests[place], self._allow[place[0]]
        is_paired = bool(paired) and Paired(*place, sender) in paired
        return AccessFacts(is_paired, _codes(requests) if requests else NO_REQUESTS, allow)

    async def _look(self, place: Place) -> None:
        channel, account = place
        found = await self._store.admission(channel, account)
        self._requests[place] = found.requests
        self._paired[channel] = frozenset(found.paired)
        changes = [(edit.entry, edit.listed) for edit in found.edits]
        self._allow[channel] = edited_allow(channel, changes, self._settings.now.rules)
        self._read[place] = monotonic()

    def edit(self, wish: EditAllowList) -> tuple[EditAllow | Unpair, ...]:
        """Taking a sender off the list also removes an earlier pairing, which would still let them in."""
        edit = EditAllow(AllowEdit(wish.channel, wish.entry, wish.listed))
        if wish.listed:
            return (edit,)
        ids = ids_of_entry(wish.channel, wish.entry, self._settings.now.rules)
        paired = self._paired[wish.channel]
        return (edit, *(Unpair(each) for each in paired if ids.named(each.account, (each.sender,))))

    def request_pairing(self, effect: AskPairing, now: datetime) -> PutPairingRequest:
        place = (effect.channel, effect.account)
        request = PairingRequest(*place, effect.sender, effect.code, effect.asked, now, effect.expires)
        return PutPairingRequest(request, pairing.MOST_PENDING)

    def approve(self, code: str, now: datetime) -> PairSender:
        return PairSender(code, now)

    def changed(self, place: Place) -> None:
        """A change to this channel has been written: forgets what was read of it."""
        for known in [known for known in self._read if known[0] == place[0]]:
            del self._read[known]

    def forget(self) -> None:
        """Rows may have been changed from outside the engine: forgets everything that was read."""
        self._read.clear()


def _codes(requests: tuple[PairingRequest, ...]) -> pairing.PairingCodes:
    return pairing.PairingCodes(
        tuple(pairing.PendingCode(each.sender, each.code, each.asked, each.told) for each in requests)
    )
