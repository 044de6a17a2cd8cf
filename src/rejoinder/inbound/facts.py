"""What the world has to tell before a message can be decided: values, filled in by whoever keeps them.

The message index, the pairing state and the runs live elsewhere; here is only the shape of their answers
(IN-24: that another bot is present is a fact of the index, not of a call to a platform).
"""

from msgspec import Struct

from rejoinder.events import Step
from rejoinder.inbound.ids import Ids
from rejoinder.inbound.pairing import Pairing


class Me(Struct, frozen=True):
    """Ourselves on this account. A channel that does not know its id has not started (IN-20)."""

    id: str
    name: str = ""
    is_sure: bool = True  # the channel told it; without, we go by the agent's name, and a sender may be called the same


class ThreadFacts(Struct, frozen=True):
    """What the message index knows of the thread (or chat) a message stands in."""

    owned: bool = False  # we began it
    posted: bool = False  # we have written in it
    other_bot: bool = False  # another bot has written in it
    bot_turns: int = 0  # consecutive messages that no human wrote, this one included
    bot_turns_before: int = 0  # how many they were with the bot's message before this one
    bot_turns_today: int = 0  # of one day, since an owner's reset


class RunFacts(Struct, frozen=True):
    """What runs and waits for this session."""

    running: bool = False
    nothing_to_stop: bool = False  # known for certain: neither does anything run here nor wait
    subagents: int = 0
    waiting: int = 0
    context_tokens: int = 0
    context_budget: int = 0
    dead_parts: int = 0  # given up, in all chats
    held_parts: int = 0  # of which nobody knows whether they arrived
    stuck_here: int = 0  # how many of both are of this chat
    last_failure: str = ""  # why the last run failed, for the owner
    last_words: str = ""  # what the agent's process wrote last, for the owner
    unheeded: str = ""  # what of the configuration does not hold, and why, for the owner


class Facts(Struct, frozen=True):
    me: Me
    sent_by_us: bool = False  # the platform's receipt of one of our own sends has this message id
    replies_to_us: bool = False  # it answers a message of ours
    answers: str = ""  # and the agent of ours that wrote that message
    resolves_mentions: bool = True  # the platform tells mentions from text that looks like one
    thread: ThreadFacts = ThreadFacts()
    paired: bool = False  # an owner has approved this sender's pairing
    pairing: Pairing = Pairing()
    allow: Ids | None = None  # who is let in by name, once an owner has changed it; None: as configured
    group_turns_today: int = 0
    sender_turns_today: int = 0
    runs: RunFacts = RunFacts()
    last_trace: tuple[Step, ...] = ()  # of the message before this one, or of the one it answers
    random: bytes = b""  # fresh for each message, for a pairing code
    version: str = ""
