"""A room of our own agents (IN-25): who takes a message."""

from typing import Literal

from rejoinder.events import Inbound

EVERYBODY = "@all"


def who_wakes(inbound: Inbound, agents: tuple[str, ...], wake: Literal["lead", "all", "mentions"]) -> tuple[str, ...]:
    """Those named; else whose message a human answers; else as `wake` says. A bot wakes only by name."""
    others = tuple(agent for agent in agents if agent != inbound.sender.id)
    if any(mention.kind == "everyone" or mention.token == EVERYBODY for mention in inbound.mentions):
        return others
    typed = {
        mention.id
        for mention in inbound.mentions
        if not inbound.sender.is_bot or (mention.token and mention.token in inbound.text)
    }
    if named := tuple(agent for agent in others if agent in typed):
        return named
    if inbound.sender.is_bot:
        return ()
    if inbound.reply_to is not None and inbound.reply_to.author_id in agents:
        return (inbound.reply_to.author_id,)
    match wake:
        case "lead":
            return agents[:1]
        case "all":
            return agents
        case "mentions":
            return ()
