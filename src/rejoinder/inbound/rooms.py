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


def words_for(text: str, *agents: str) -> set[str]:
    """The words of a text that only say the name of one of these, as they stand there; `all` is everybody's."""
    if "@" not in text:
        return set()
    names = {agent.casefold() for agent in agents}
    return {match[0] for match in _NAME.finditer(text) if match[1].casefold() in names}


def who_is_named(inbound: Inbound, agents: tuple[str, ...]) -> tuple[str, ...]:
    """By the platform's means or in the words; a bot's reply only implies a name and names nobody (IN-21)."""
    if not inbound.mentions and "@" not in inbound.text:
        return ()
    typed = {
        mention.id
        for mention in inbound.mentions
        if not inbound.sender.is_bot or (mention.token and mention.token in inbound.text)
    }.union(named_in(inbound.text, agents))
    return tuple(agent for agent in agents if agent in typed)


def names_everybody(inbound: Inbound) -> bool:
    """`@all`: where the platform knows no such name, a person's words do."""
    if any(mention.kind == "everyone" or mention.token == EVERYBODY for mention in inbound.mentions):
        return True
    return not inbound.sender.is_bot and bool(words_for(inbound.text, EVERYBODY[1:]))


def whose_message(inbound: Inbound, channel: ChannelRules, answers: str = "") -> str:
    """The agent whose session it is about: the first that is named, else the one that is answered, else the first
    that is here. `answers`: as for `who_wakes`."""
    if not channel.is_room:
        return channel.agent.name
    agents = members(inbound, channel)
    others = tuple(agent for agent in agents if agent != inbound.sender.id)
    return (who_is_named(inbound, others) or _who_is_answered(inbound, agents, answers) or agents)[0]


def _who_is_answered(inbound: Inbound, agents: tuple[str, ...], answers: str) -> tuple[str, ...]:
    """A bot's answer only implies whom it is for (IN-21)."""
    if inbound.sender.is_bot:
        return ()
    answered = answers or (inbound.reply_to.author_id if inbound.reply_to is not None else None)
    return (answered,) if answered in agents else ()


def who_wakes(inbound: Inbound, agents: tuple[str, ...], wake: Wake, answers: str = "") -> tuple[str, ...]:
    """Those named; else whose message a human answers; else as `wake` says. A bot wakes only by name.

    `answers`: who wrote the message it answers, where the platform does not know our agents apart.
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
    """What an agent has to know to take part: who it is, who else is here, what wakes them and what does not."""
    others = [f"@{other}" for other in agents if other != agent]
    return (
        f"You are @{agent}. Other agents in this room: {', '.join(others)}. All of you see what is said here. "
        f"Write {others[0]} to ask that agent something: only its name wakes it, a reply alone does not. "
        "Name nobody when nobody has to go on, and answer NO_REPLY when you have nothing to add. "
        "Say which message you mean with `[[reply_to:<handle>]]` on the first line."
    )
