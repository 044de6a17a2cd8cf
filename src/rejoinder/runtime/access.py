"""Who knocked and who was let in, until the store keeps it."""

from msgspec.structs import replace

from rejoinder.events import AskPairing
from rejoinder.inbound.pairing import Knock, Pairing

Place = tuple[str, str]
"""A channel and an account on it."""


class Access:
    def __init__(self) -> None:
        self._pairings: dict[Place, Pairing] = {}
        self._paired: set[tuple[Place, str]] = set()

    def is_paired(self, place: Place, sender: str) -> bool:
        return (place, sender) in self._paired

    def pairing(self, place: Place) -> Pairing:
        return self._pairings.get(place, Pairing())

    def knock(self, asked: AskPairing) -> None:
        place = (asked.channel, asked.account)
        others = (knock for knock in self.pairing(place).pending if knock.sender != asked.sender)
        valid = (knock for knock in others if asked.expires - knock.asked <= 2 * (asked.expires - asked.asked))
        knock = Knock(asked.sender, asked.code, asked.asked, asked.asked)
        self._pairings[place] = Pairing((*valid, knock))

    def approve(self, place: Place, code: str) -> None:
        pairing = self.pairing(place)
        self._paired |= {(place, knock.sender) for knock in pairing.pending if knock.code == code}
        self._pairings[place] = replace(
            pairing, pending=tuple(knock for knock in pairing.pending if knock.code != code)
        )
