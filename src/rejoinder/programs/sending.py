"""Turns the operator's messages into parts that a gateway sends."""

from uuid import uuid4

from rejoinder.config import schema
from rejoinder.config.kinds import channel_kind
from rejoinder.errors import BadConfiguration, BadUse
from rejoinder.events import Route
from rejoinder.outbound import plan
from rejoinder.outbound.operations import encode, kind
from rejoinder.outbound.redact import redact
from rejoinder.rendering import RenderOptions
from rejoinder.runtime.place.room_log import StoredLog
from rejoinder.store.base import PartIntent, StoreReader


def spoken(settings: schema.Settings, route: Route, text: str, *, silent: bool = False) -> tuple[PartIntent, ...]:
    """The parts for a text of the operator's; none if there is nothing to see."""
    configured = settings.channels.get(route.channel)
    if configured is None:
        there = ", ".join(sorted(settings.channels)) or "none"
        raise BadConfiguration(f"no channel called {route.channel!r} is configured; there are: {there}")
    declared = channel_kind(configured.kind)
    options = RenderOptions(declared.renderer, declared.limits.length, declared.limits.unit, configured.common.tables)
    planned = plan.say(redact(text), route, options, plan.AnswerWording(silent=silent), f"operator:{uuid4()}")
    return tuple(PartIntent(each.key, route, encode(each.operation), kind(each.operation)) for each in planned)


async def check_chat(store: StoreReader, settings: schema.Settings, route: Route) -> None:
    """Raises `BadUse` for a chat that its channel would not find in the store: the message would be lost. For most
    channels only the platform knows the chats, so this finds nothing."""
    problem = channel_kind(settings.channels[route.channel].kind).chat_problem
    if problem is not None and (why := await problem(StoredLog(route.channel, store), route.chat, settings.agents)):
        raise BadUse(why)
