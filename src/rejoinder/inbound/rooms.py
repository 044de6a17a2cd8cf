"""A room of our own agents (IN-25): who is in it, who takes a message, what each is told of the others."""

import re

from rejoinder.events import Inbound
from rejoinder.inbound.rules import ChannelRules
from rejoinder.inbound.settings import Wake

EVERYBODY = "@all"
_NAME = re.compile(r"(?<![\w@])@([\w.-]*\w)")


def members(inbound: Inbound, channel: ChannelRules) -> tuple[str, ...]:
    """Our agents in this chat, the lead first; a chat that does not say has all of the channel's."""
    all_of_them = tuple([agent.name for agent in channel.agents])
    if not inbound.chat.agents:
        return all_of_them
    return tuple(agent for agent in all_of_them if agent in inbound.chat.agents) or all_of_them


def is_member(inbound: Inbound, channel: ChannelRules) -> bool:
    """Whether one of our own agents said it: in a room that is news to the others."""
    return channel.is_room and inbound.sender.is_bot and inbound.sender.id in members(inbound, channel)


def named_in(text: str, agents: tuple[str, ...]) -> tuple[str, ...]:
    """Those whose `@name` stands in the words: platforms know their own members, and not our agents."""
    if "@" not in text:
        return ()
    names = {match[1].casefold() for match in _NAME.finditer(text)}
    return tuple(agent for agent in agents if agent.casefold() in names)


def who_wakes(inbound: Inbound, agents: tuple[str, ...], wake: Wake, answers: str = "") -> tuple[str, ...]:
    """Those named; else whose message a human answers; else as `wake` says. A bot wakes only by name.

    `answers`: who wrote the message it answers, where the platform does not know our agents apart.
    """
    others = tuple(agent for agent in agents if agent != inbound.sender.id)
    if any(mention.kind == "everyone" or mention.token == EVERYBODY for mention in inbound.mentions):
        return others
    typed = {
        mention.id
        for mention in inbound.mentions
        if not inbound.sender.is_bot or (mention.token and mention.token in inbound.text)
    }.union(named_in(inbound.text, others))
    if named := tuple(agent for agent in others if agent in typed):
        return named
    if inbound.sender.is_bot:
        return ()
    answered = answers or (inbound.reply_to.author_id if inbound.reply_to is not None else None)
    if answered in agents:
        return (answered,)
    match wake:
        case "lead":
            return agents[:1]
        case "all":
            return agents
        case "mentions":
            return ()


def room_notice(agent: str, agents: tuple[str, ...]) -> str:
    """What an agent has to know to take part: who it is, who else is here, what wakes them and what does not."""
    others = [f"@{other}" for other in agents if other != agent]
    return (
        f"You are @{agent}. Other agents in this room: {', '.join(others)}. All of you see what is said here. "
        f"Write {others[0]} to ask that agent something: only its name wakes it, a reply alone does not. "
        "Name nobody when nobody has to go on, and answer NO_REPLY when you have nothing to add. "
        "Say which message you mean with `[[reply_to:<handle>]]` on the first line."
    )
