"""What a group means for the agent: what it overheard, when it answers, how to behave there (IN-32, IN-34)."""

from collections.abc import Collection, Iterable

from rejoinder.events import EarlierMessage
from rejoinder.inbound.activation import group_settings, requires_mention
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.rules import ChannelRules
from rejoinder.session import Activation, Session

MOST_OVERHEARD = 50
LONGEST_NAME = 64


def overhear(history: tuple[EarlierMessage, ...], said: EarlierMessage) -> tuple[EarlierMessage, ...]:
    """The history of a chat with one more message: the latest 50, each once, edited ones with their new text."""
    if any(_is_same(earlier, said) for earlier in history):
        return tuple(
            said if earlier.message_id and earlier.message_id == said.message_id else earlier for earlier in history
        )
    return (*history, said)[-MOST_OVERHEARD:]


def _is_same(one: EarlierMessage, other: EarlierMessage) -> bool:
    """A message that one agent hands to another may not have a platform id yet; then author and text identify it."""
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
    """Who takes part, as the platform tells; where it does not, the authors (id and name) of what was heard lately.

    `us`: the ids and names under which the agent itself speaks. In alphabetical order: whoever spoke last, the agent is
    told the same, so that its provider can cache it.
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
