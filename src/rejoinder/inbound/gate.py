"""The one gate: who may do what (IN-12).

Rule 1: denied unless a table below says otherwise.
Rule 2: a person's role follows from ids and configuration, never from their display name or their words.
Rule 3: text that comes in indirectly (a forward, a quote, the agent's own words) carries no authority.
"""

from typing import Literal

from msgspec import Struct

Role = Literal["owner", "sender", "guest", "stranger", "bot"]
Auth = Literal["anyone", "sender", "owner"]
Source = Literal[
    "text",
    "native",
    "button",
    "http",
    "websocket",
    "reaction",
    "transcript",
    "cron",
    "edit",
    "delete",
    "forward",
    "quote",
    "history",
    "agent",
]

MAY: dict[Auth, frozenset[Role]] = {
    "anyone": frozenset({"owner", "sender", "guest"}),
    "sender": frozenset({"owner", "sender"}),
    "owner": frozenset({"owner"}),
}

# The highest authority each source can carry. A recorded voice can be played to a microphone, and a reaction is easily
# made by mistake. A timer acts for the operator, but unattended. A program speaks as a bot, and may pass on anybody's
# words. An edit is not a new request, and the sources below it are not the sender's own words. The sender's own caption
# is text; the caption of forwarded media is a forward (IN-6).
CARRIES: dict[Source, Auth | None] = {
    "text": "owner",
    "native": "owner",
    "button": "owner",
    "http": None,
    "websocket": "owner",
    "reaction": "sender",
    "transcript": "sender",
    "cron": "sender",
    "edit": None,
    "delete": None,
    "forward": None,
    "quote": None,
    "history": None,
    "agent": None,
}

_RANK: dict[Auth, int] = {"anyone": 0, "sender": 1, "owner": 2}


class Actor(Struct, frozen=True):
    """Who acts, and how the request came in."""

    role: Role
    source: Source = "text"
    id: str = ""


class GatedAction(Struct, frozen=True):
    """A requested action: the name by which a person knows it, and the authority it needs."""

    name: str
    auth: Auth


class ChannelGate(Struct, frozen=True):
    """What a channel adds to the gate."""

    owner_only_commands: bool = False


class Allowed(Struct, frozen=True):
    pass


class Denied(Struct, frozen=True):
    reason: str


def authorise(actor: Actor, action: GatedAction, channel: ChannelGate) -> Allowed | Denied:
    """Whether this actor may do this here."""
    carried = CARRIES[actor.source]
    if carried is None:
        return Denied(f"{action.name}: {actor.source} carries no authority")
    if _RANK[action.auth] > _RANK[carried]:
        return Denied(f"{action.name} is for the {action.auth}, and {actor.source} never grants that")
    needed = "owner" if channel.owner_only_commands and action.auth == "sender" else action.auth
    if actor.role not in MAY[needed]:
        return Denied(f"{action.name} is for {_PEOPLE[needed]}; this is a {actor.role}")
    return _ALLOWED


_ALLOWED = Allowed()
_PEOPLE: dict[Auth, str] = {
    "anyone": "people who are let in",
    "sender": "senders who may use commands",
    "owner": "the owner",
}
