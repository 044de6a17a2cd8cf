"""The people that a list names. An id stays with its owner; a name can be taken by another person, so names are
refused."""

from collections.abc import Mapping

from rejoinder.config.kinds import identity_on
from rejoinder.config.wording import did_you_mean, shown
from rejoinder.identity import Whom
from rejoinder.inbound.ids import split


def id_problem(entry: str, whom: Whom, kinds: Mapping[str, str], channel: str | None = None) -> str | None:
    """What is wrong with an entry of a list, or None. `kinds`: the kind of each channel that may be named.

    In a list that belongs to a `channel` the id alone is enough; elsewhere the entry must name its channel.
    """
    named, _, id = split(entry)
    if named is None and channel is None:
        return f'{shown(entry)} does not say on which channel; write channel:id, for example "telegram:123456789"'
    if named is not None and named not in kinds:
        guess = did_you_mean(named, kinds, f"there are: {', '.join(sorted(kinds))}")
        return f"{shown(entry)} begins with {shown(named)}, which is not a channel; {guess}"
    if named is not None and channel is not None and named not in (channel, kinds[channel]):
        return f"{shown(entry)} is of another channel; this list is about {shown(channel)}"
    kind = kinds[named or channel or ""]
    shape = identity_on(kind).shape(whom)
    if shape.pattern.fullmatch(id):
        return None
    learn = "; /whoami tells people theirs" if whom == "person" else ""
    return f"{shown(entry)} is not an id; names can change hands, so use the id: on {kind} it is {shape.advice}{learn}"
