"""Lists of people and places: which ids exactly an entry names.

An entry is a stable id, `channel:id` or `channel:account:id`. Names are refused when a list is read, because
another person may take the name tomorrow. A prefix that is not a channel is part of the id: it never makes an
entry match more than it says (IN-13).
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from msgspec import Struct

from rejoinder.errors import BadConfiguration
from rejoinder.events import Sender
from rejoinder.identity import ANYBODY, Identity, Whom


class ListEntry(NamedTuple):
    """The parts of an entry: the channel and the account it names, if any, and the id."""

    channel: str | None
    account: str | None
    id: str


def split(entry: str) -> ListEntry:
    """`id`, `channel:id` or `channel:account:id`.

    Reads what `session.entries_for` writes. The part after the channel is an account and an id, unless it has no
    colon or begins like a Matrix id, which contains a colon itself.
    """
    if entry.startswith(("@", "!", "#")) or ":" not in entry:
        return ListEntry(None, None, entry)
    channel, rest = entry.split(":", 1)
    if ":" not in rest or rest.startswith(("@", "!", "#")):
        return ListEntry(channel, None, rest)
    account, id = rest.split(":", 1)
    return ListEntry(channel, account, id)


# --- the ids of a sender ------------------------------------------------------------------------


def candidates(identity: Identity, sender: Sender) -> tuple[str, ...]:
    """The ids under which a list may name this sender, in the channel's own order."""
    if sender.phone is None and sender.address is None:
        return (sender.id,) if sender.id else ()
    return tuple(id for name in identity.order if (id := getattr(sender, name)))


# --- prepared lists -----------------------------------------------------------------------------


class Ids(Struct, frozen=True):
    """A list prepared for one channel: a look-up costs the same for ten entries as for thousands."""

    anywhere: frozenset[str] = frozenset()
    by_account: frozenset[tuple[str, str]] = frozenset()

    def named(self, account: str, candidates: Iterable[str]) -> bool:
        if not self.anywhere and not self.by_account:
            return False
        return any(id in self.anywhere or (account, id) in self.by_account for id in candidates)

    def __or__(self, other: "Ids") -> "Ids":
        return Ids(self.anywhere | other.anywhere, self.by_account | other.by_account)

    def __sub__(self, other: "Ids") -> "Ids":
        return Ids(self.anywhere - other.anywhere, self.by_account - other.by_account)


NOBODY = Ids()


class ListedChannel(Struct, frozen=True):
    """The ways in which lists refer to a channel: by its name or, if that differs, by its kind."""

    name: str
    kind: str
    identity: Identity = ANYBODY

    def is_called(self, said: str) -> bool:
        return said in (self.name, self.kind)


def read_ids(
    entries: Iterable[str],
    place: ListedChannel,
    *,
    channels: Collection[str],
    where: str,
    whom: Whom = "person",
    shared: bool = False,
) -> Ids:
    """The entries of one list that apply to this place. A `shared` list is for all channels, so its entries have to
    name their channel."""
    anywhere: set[str] = set()
    by_account: set[tuple[str, str]] = set()
    for position, entry in enumerate(entries):
        here = f"{where}[{position}]"
        said = split(entry)
        if said.channel not in channels:
            said = ListEntry(None, None, entry)
        if said.channel is None and shared:
            raise BadConfiguration(
                f"{here} = {entry!r} does not say on which channel; write channel:id, for example "
                f"'telegram:123456789' (channels: {', '.join(sorted(channels))})"
            )
        if said.channel is not None and not place.is_called(said.channel):
            if shared:
                continue
            raise BadConfiguration(f"{here} = {entry!r} is an id of {said.channel}; move it to channels.{said.channel}")
        shape = place.identity.shape(whom)
        if entry == "*" or not shape.pattern.fullmatch(said.id):
            raise BadConfiguration(
                f"{here} = {entry!r} is not an id, and names can change hands. On {place.kind} an id is {shape.advice}"
                "; /whoami tells people theirs"
            )
        if said.account is None:
            anywhere.add(said.id)
        else:
            by_account.add((said.account, said.id))
    return Ids(frozenset(anywhere), frozenset(by_account))
