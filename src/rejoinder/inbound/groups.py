"""The agent in a group: what it overheard, when it answers, how to behave there (IN-32, IN-34)."""

from collections.abc import Collection, Iterable

from rejoinder.events import EarlierMessage
from rejoinder.inbound.activation import group_settings, requires_mention
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rules import ChannelRules
from rejoinder.session import Activation, Session

MOST_OVERHEARD = 50
LONGEST_NAME = 64


def overhear(history: tuple[EarlierMessage, ...], said: EarlierMessage) -> tuple[EarlierMessage, ...]:
    """Adds a message to the history of a chat: the latest 50 messages, each once, edited ones with their new text."""
    if any(_is_same(earlier, said) for earlier in history):
        return tuple(
            said if earlier.message_id and earlier.message_id == said.message_id else earlier for earlier in history
        )
    return (*history, said)[-MOST_OVERHEARD:]


def _is_same(one: EarlierMessage, other: EarlierMessage) -> bool:
    """Whether both are the same message. One that an agent hands to another may not have a platform id yet; then author
    and text identify it."""
    if one.message_id and other.message_id:
        return one.message_id == other.message_id
    return (one.author_id, one.text) == (other.author_id, other.text)


def active_mode(message: InboundMessage, session: Session, channel: ChannelRules) -> Activation:
    """When the agent answers in this group."""
    if session.activation is not None:
        return session.activation
    group = group_settings(channel, message.inbound.chat)
    return "mention" if requires_mention(channel, group) else "always"


def participants(told: tuple[str, ...], heard: Iterable[tuple[str, str]], us: Collection[str]) -> tuple[str, ...]:
    """Who takes part, according to the platform; if it does not say, the authors (id and name) of recent messages.

    `us`: the ids and names under which the agent itself speaks. The order is alphabetical, so that the text does not
    depend on who spoke last and the provider can cache it.
    """
    if told:
        return told
    people = {author: name for author, name in reversed([*heard]) if author and author not in us}
    return tuple(sorted({" ".join((name or author).split())[:LONGEST_NAME] for author, name in people.items()}))


def group_intro(mode: Activation) -> str:
    """How to behave among several people; told to the agent once."""
    if mode == "mention":
        when = "You were called into a group chat: you are asked when somebody mentions you or answers you."
    else:
        when = (
            "You are in a group chat and see every message. Most need no answer: then reply with NO_REPLY "
            "and nothing else."
        )
    return f"{when} Speak to the person who wrote, be brief, and do not repeat what others said."
