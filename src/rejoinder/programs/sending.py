"""What the operator says in a chat, as the parts a gateway sends."""

from uuid import uuid4

import msgspec

from rejoinder.channels.web.answers import can_be_direct_chat, no_such_room
from rejoinder.channels.web.journal import LOBBY
from rejoinder.channels.web.records import PAGE
from rejoinder.config import schema
from rejoinder.config.kinds import channel_kind
from rejoinder.errors import BadConfiguration, BadUse
from rejoinder.events import Route
from rejoinder.outbound import plan
from rejoinder.outbound.operations import encode, kind
from rejoinder.outbound.redact import redact
from rejoinder.rendering import RenderOptions
from rejoinder.store.base import PartIntent, StoreReader
from rejoinder.store.rooms import scope_of

WEB = "web"
"""The kind of channel whose rooms are in the store; only platforms know the chats of the others."""


def spoken(settings: schema.Settings, route: Route, text: str, *, silent: bool = False) -> tuple[PartIntent, ...]:
    """A text of the operator's as the parts a gateway sends; none when there is nothing to see."""
    configured = settings.channels.get(route.channel)
    if configured is None:
        there = ", ".join(sorted(settings.channels)) or "none"
        raise BadConfiguration(f"no channel called {route.channel!r} is configured; there are: {there}")
    declared = channel_kind(configured.kind)
    options = RenderOptions(declared.renderer, declared.limits.length, declared.limits.unit, configured.common.tables)
    planned = plan.say(redact(text), route, options, plan.AnswerWording(silent=silent), f"operator:{uuid4()}")
    return tuple(PartIntent(each.key, route, encode(each.operation), kind(each.operation)) for each in planned)


async def check_room(store: StoreReader, settings: schema.Settings, route: Route) -> None:
    """Raises `BadUse` for a room of the page that the store does not know; sent there, the message would be lost.

    Before a page has been served nobody can tell. A room that the next gateway makes when it starts is there already.
    """
    if settings.channels[route.channel].kind != WEB:
        return
    served = await store.fact(scope_of(route.channel, PAGE), "agents")
    if served is None or await store.log_room(route.channel, route.chat) is not None:
        return
    agents = {*msgspec.json.decode(served, type=tuple[str, ...]), *settings.agents}
    is_lobby = route.chat == LOBBY and len(agents) > 1
    if not is_lobby and not can_be_direct_chat(route.chat, agents):
        raise BadUse(no_such_room(route.chat))
