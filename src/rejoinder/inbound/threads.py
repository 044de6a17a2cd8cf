"""To whom a thread belongs, and whether the answer to a message opens one (CH-2): the channel says which thread, and
this file decides whether."""

from msgspec.structs import replace

from rejoinder.events import EarlierMessage, Inbound, NewThread
from rejoinder.inbound.activation import group_settings
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rooms import members
from rejoinder.inbound.rules import ChannelRules, Rules, channel_rules


def opened_by(message: InboundMessage, rules: Rules) -> NewThread | None:
    """The thread that the answer to this message opens, and to whose session its turn belongs. Commands are answered
    where they were given, and an agent that only listens opens nothing."""
    inbound = message.inbound
    if inbound.opens is None or inbound.thread is not None or not message.in_group:
        return None
    if message.reading.is_command or message.reading.stop is not None:
        return None
    channel = channel_rules(rules, inbound.channel)
    return inbound.opens if group_settings(channel, inbound.chat).mode != "listen" else None


def in_thread(inbound: Inbound) -> Inbound:
    """The message in the thread that its answer opens; this is its route from the decision on (IN-44)."""
    return inbound if inbound.opens is None else replace(inbound, thread=inbound.opens.thread)


def hangs_under_ours(inbound: Inbound, channel: ChannelRules) -> bool:
    """Whether its thread hangs under a message of one of our agents there, so that it is ours (IN-22)."""
    starter = inbound.thread_starter
    return isinstance(starter, EarlierMessage) and starter.is_bot and starter.author_id in members(inbound, channel)
