"""Lists of people and places: which ids an entry names, and nobody else.

An entry is a stable id, `channel:id` or `channel:account:id`. A name is refused when it is read, because
tomorrow somebody else may carry it. A prefix that is no channel is part of the id: it never makes an entry
wider than it looks (IN-13).
"""

import re
from collections.abc import Collection, Iterable

from msgspec import Struct

from rejoinder.errors import BadConfiguration
from rejoinder.events import Sender

BUILT_IN_CHANNELS = (
    "web",
    "terminal",
    "telegram",
    "discord",
    "slack",
    "matrix",
    "whatsapp",
    "signal",
    "bridge",
)

# How ids look where the platform fixes it; elsewhere an id is any word that is no @name.
_SHAPES = {
    "telegram": (re.compile(r"-?\d+"), "123456"),
    "discord": (re.compile(r"\d+"), "80351110224678912"),
    "slack": (re.compile(r"[A-Z][A-Z0-9]+"), "U012AB3CD"),
    "matrix": (re.compile(r"[@!#][^\s:]+:\S+|![^\s:]+"), "@anna:example.org"),
    "whatsapp": (re.compile(r"\+?\d+(?:-\d+)?(?:@\S+)?"), "+49301234567"),
    "signal": (re.compile(r"\+\d+|[0-9a-fA-F-]{36}|[A-Za-z0-9+/=]{40,}"), "+49301234567"),
}
_ANY_SHAPE = (re.compile(r"[^@\s]\S*"), "the id that /whoami shows")

# Which of a sender's ids is asked first (IN-13): the platform's own, unless the number is the identity.
_ORDER = {"whatsapp": ("phone", "id", "address"), "signal": ("phone", "id", "address")}
_USUAL_ORDER = ("id", "phone", "address")


class Ids(Struct, frozen=True):
    """A list made ready for one channel: asking costs the same for ten entries and for thousands."""

    anywhere: frozenset[str] = frozenset()
    by_account: frozenset[tuple[str, str]] = frozenset()
    everyone: bool = False

    def named(self, account: str, candidates: Iterable[str]) -> bool:
        return any(id in self.anywhere or (account, id) in self.by_account for id in candidates)

    def has(self, account: str, candidates: Iterable[str]) -> bool:
        return self.everyone or self.named(account, candidates)


NOBODY = Ids()


def candidates(channel: str, sender: Sender) -> tuple[str, ...]:
    """The ids under which a list may name this sender, in the channel's own order."""
    if sender.phone is None and sender.address is None:
        return (sender.id,) if sender.id else ()
    order = _ORDER.get(channel, _USUAL_ORDER)
    return tuple(id for name in order if (id := getattr(sender, name)))


def read_ids(
    entries: Iterable[str],
    channel: str,
    *,
    channels: Collection[str],
    where: str,
    shared: bool = False,
    everyone: bool = False,
) -> Ids:
    """The entries of one list that speak of this channel.

    A `shared` list stands outside any channel: its entries say which one they mean. `everyone` allows `*`.
    """
    anywhere: set[str] = set()
    by_account: set[tuple[str, str]] = set()
    for position, entry in enumerate(entries):
        place = f"{where}[{position}]"
        if entry == "*":
            if not everyone:
                raise BadConfiguration(f"{place} = '*' would let everybody in; name the ids that are meant")
            return Ids(everyone=True)
        prefix, colon, rest = entry.partition(":")
        known = bool(colon) and prefix in channels
        if shared and not known:
            raise BadConfiguration(
                f"{place} = {entry!r} does not say on which channel; write it as 'channel:id', "
                f"for example 'telegram:123456' (channels: {', '.join(sorted(channels))})"
            )
        if known and prefix != channel:
            if shared:
                continue
            raise BadConfiguration(f"{place} = {entry!r} speaks of {prefix}; move it to channels.{prefix}")
        account, id = _account_and_id(rest) if known else (None, entry)
        _check_is_id(id, channel, entry, place)
        if account is None:
            anywhere.add(id)
        else:
            by_account.add((account, id))
    return Ids(frozenset(anywhere), frozenset(by_account))


def _account_and_id(rest: str) -> tuple[str | None, str]:
    # A Matrix id has a colon of its own and begins with a sigil; an account name does not.
    if ":" not in rest or rest[:1] in "@!#":
        return None, rest
    account, _, id = rest.partition(":")
    return account, id


def _check_is_id(id: str, channel: str, entry: str, place: str) -> None:
    shape, example = _SHAPES.get(channel, _ANY_SHAPE)
    if not shape.fullmatch(id):
        raise BadConfiguration(
            f"{place} = {entry!r} is not a stable id of {channel}; a name can be taken by somebody else. "
            f"Use the id (like {example}); whoever it is can send /whoami to see theirs"
        )
