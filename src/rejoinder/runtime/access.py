"""Who knocked, who was let in and who no longer is, until the store keeps it."""

from msgspec.structs import replace

from rejoinder.events import AskPairing, EditAllowList
from rejoinder.inbound.ids import Ids, read_ids
from rejoinder.inbound.pairing import Knock, Pairing
from rejoinder.inbound.rules import Rules, channel_rules

Place = tuple[str, str]
"""A channel and an account on it."""


class Access:
    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._allow: dict[str, Ids] = {}  # of the channels whose list was changed
        self._pairings: dict[Place, Pairing] = {}
        self._paired: set[tuple[Place, str]] = set()

    def is_paired(self, place: Place, sender: str) -> bool:
        return (place, sender) in self._paired

    def pairing(self, place: Place) -> Pairing:
        return self._pairings.get(place, Pairing())

    def allow(self, channel: str) -> Ids | None:
        return self._allow.get(channel)

    def edit(self, wish: EditAllowList) -> None:
        """Holds from the next message on. Who is taken off is not let in by an earlier pairing either."""
        rules = channel_rules(self._rules, wish.channel)
        meant = read_ids((wish.entry,), rules.place, channels=self._rules.channels, where="allow")
        now = self._allow.get(wish.channel, rules.allow)
        self._allow[wish.channel] = now | meant if wish.listed else now - meant
        if not wish.listed:
            self._paired = {
                (place, sender)
                for place, sender in self._paired
                if place[0] != wish.channel or not meant.named(place[1], (sender,))
            }

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
