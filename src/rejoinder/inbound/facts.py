"""Facts needed to decide a message: plain values, filled in by the parts that know them.

The message index, the pairing state and the runs are elsewhere; this module only defines the form of their answers
(IN-24: the index says whether another bot is present, not a call to the platform).
"""

from msgspec import Struct

from rejoinder.events import Step
from rejoinder.inbound.ids import Ids
from rejoinder.inbound.pairing import PairingCodes


class OwnIdentity(Struct, frozen=True):
    """Our identity on this account. A channel that does not know its id has not started (IN-20)."""

    id: str
    name: str = ""
    is_sure: bool = True  # the channel gave the id; otherwise it is the agent's name, which a sender may share


class ThreadFacts(Struct, frozen=True):
    """What the message index knows about the thread (or chat) of a message."""

    owned: bool = False  # we started it
    posted: bool = False  # we have written in it
    other_bot: bool = False  # another bot has written in it
    bot_turns: int = 0  # consecutive messages that no human wrote, this one included
    bot_turns_before: int = 0  # the same count as of the previous message of another bot
    bot_turns_today: int = 0  # so far today, or since an owner's reset


class RunFacts(Struct, frozen=True):
    """What is running and waiting in this session."""

    running: bool = False
    nothing_to_stop: bool = False  # it is certain that nothing is running or waiting here
    subagents: int = 0
    waiting: int = 0
    held_back: str = ""  # why the turn of this session does not run yet
    context_tokens: int = 0
    context_budget: int = 0
    dead_parts: int = 0  # given up, in all chats
    held_parts: int = 0  # may have arrived or not
    stuck_here: int = 0  # how many of both are of this chat
    last_failure: str = ""  # why the last run failed, for the owner
    last_output: str = ""  # what the agent's process wrote last, for the owner
    not_in_effect: str = ""  # which part of the configuration has no effect, and why, for the owner


class OpenQuestion(Struct, frozen=True):
    """The one request of an agent that this person may answer here (TU-34)."""

    which: str
    options: tuple[str, ...] = ()  # the names of the options
    permission: bool = True  # it asks for permission, so that yes and no answer it


class Facts(Struct, frozen=True):
    me: OwnIdentity
    edits_told: bool = False  # an edit is no message here; the agent is told of it with its next turn (CH-8)
    sent_by_us: bool = False  # the platform's receipt of one of our own sends has this message id
    replies_to_us: bool = False  # it replies to a message of ours
    answers: str = ""  # the agent of ours that wrote that message
    resolves_mentions: bool = True  # the platform distinguishes mentions from similar text
    thread: ThreadFacts = ThreadFacts()
    paired: bool = False  # an owner has approved this sender's pairing
    pairing: PairingCodes = PairingCodes()
    allow: Ids | None = None  # the allow-list, once an owner has changed it; None: as configured
    group_turns_today: int = 0
    sender_turns_today: int = 0
    run_facts: RunFacts = RunFacts()
    last_trace: tuple[Step, ...] = ()  # of the previous message, or of the one it replies to
    offered: tuple[str, ...] = ()  # the models that the agent lists; empty if it lists none
    modes: tuple[str, ...] = ()  # the modes that it lists
    levels: tuple[str, ...] | None = None  # the thinking levels that it lists; None if it lists none
    steers: bool | None = None  # whether it says it can take a message into a running turn; None if unknown
    announced: frozenset[str] = frozenset()  # the slash commands the agent itself understands
    question: OpenQuestion | None = None  # None if there is none, or more than one
    random: bytes = b""  # fresh for each message, for a pairing code
    version: str = ""
