"""A room of our own agents (IN-25): who is in it, who takes a message, what each agent is told about the others."""

import re

from rejoinder.events import Inbound
from rejoinder.inbound.rules import ChannelRules
from rejoinder.inbound.settings import Wake

EVERYBODY = "@all"
_NAME = re.compile(r"(?<![\w@])@([\w.-]*\w)")


def members(inbound: Inbound, channel: ChannelRules) -> tuple[str, ...]:
    """Our agents in this chat, the lead first; all of the channel's if the chat does not list them."""
    if not inbound.chat.agents:
        return channel.names
    return tuple(agent for agent in channel.names if agent in inbound.chat.agents) or channel.names


def is_member(inbound: Inbound, channel: ChannelRules) -> bool:
    """Whether one of our own agents in a room said it, so that it is news to the others."""
    return channel.is_room and inbound.sender.is_bot and inbound.sender.id in members(inbound, channel)


def named_in(text: str, agents: tuple[str, ...]) -> tuple[str, ...]:
    """The agents whose `@name` is in the text: platforms know their own members, but not our agents."""
    if "@" not in text:
        return ()
    names = {match[1].casefold() for match in _NAME.finditer(text)}
    return tuple(agent for agent in agents if agent.casefold() in names)


def words_for(text: str, *agents: str) -> set[str]:
    """The words of a text that are only an `@name` of one of these, as written; `all` means everybody."""
    if "@" not in text:
        return set()
    names = {agent.casefold() for agent in agents}
    return {match[0] for match in _NAME.finditer(text) if match[1].casefold() in names}


def who_is_named(inbound: Inbound, agents: tuple[str, ...]) -> tuple[str, ...]:
    """The agents named by a platform mention or in the text; the name that a bot's reply implies does not count
    (IN-21)."""
    if inbound.addressee:
        return tuple(agent for agent in agents if agent == inbound.addressee)
    if not inbound.mentions and "@" not in inbound.text:
        return ()
    typed = {
        mention.id
        for mention in inbound.mentions
        if not inbound.sender.is_bot or (mention.token and mention.token in inbound.text)
    }.union(named_in(inbound.text, agents))
    return tuple(agent for agent in agents if agent in typed)


def names_everybody(inbound: Inbound) -> bool:
    """Whether a person says `@all`: as a platform mention, or in the text. A bot that says it wakes nobody."""
    if inbound.sender.is_bot:
        return False
    if any(mention.kind == "everyone" or mention.token == EVERYBODY for mention in inbound.mentions):
        return True
    return bool(words_for(inbound.text, EVERYBODY[1:]))


def whose_message(inbound: Inbound, channel: ChannelRules, answers: str = "") -> str:
    """The agent whose session the message belongs to: the first one named, else the one replied to, else the first in
    the chat. `answers`: as for `who_wakes`."""
    if not channel.is_room:
        return channel.names[0]
    agents = members(inbound, channel)
    others = tuple(agent for agent in agents if agent != inbound.sender.id)
    return (who_is_named(inbound, others) or _who_is_answered(inbound, agents, answers) or agents)[0]


def _who_is_answered(inbound: Inbound, agents: tuple[str, ...], answers: str) -> tuple[str, ...]:
    """The agent that is replied to; none for a bot's reply, which only implies its addressee (IN-21)."""
    if inbound.sender.is_bot:
        return ()
    answered = answers or (inbound.reply_to.author_id if inbound.reply_to is not None else None)
    return (answered,) if answered in agents else ()


def who_wakes(inbound: Inbound, agents: tuple[str, ...], wake: Wake, answers: str = "") -> tuple[str, ...]:
    """The agents that are named; otherwise the one whose message a human replies to; otherwise as `wake` says. A bot
    wakes agents only by name.

    `answers`: the author of the message replied to, for platforms that cannot tell our agents apart.
    """
    others = tuple(agent for agent in agents if agent != inbound.sender.id)
    if names_everybody(inbound):
        return others
    if named := who_is_named(inbound, others):
        return named
    if inbound.sender.is_bot:
        return ()
    if answered := _who_is_answered(inbound, agents, answers):
        return answered
    match wake:
        case "lead":
            return agents[:1]
        case "all":
            return agents
        case "mentions":
            return ()


def room_notice(agent: str, agents: tuple[str, ...]) -> str:
    """What an agent needs to know to take part: who it is, who else is here, and what wakes them."""
    others = [f"@{other}" for other in agents if other != agent]
    return (
        f"You are @{agent}. Other agents in this room: {', '.join(others)}. All of you see what is said here. "
        f"Write {others[0]} to ask that agent something: only its name wakes it, a reply alone does not. "
        "Name nobody when nobody has to go on, and answer NO_REPLY when you have nothing to add. "
        "Say which message you mean with `[[reply_to:<handle>]]` on the first line."
    )
