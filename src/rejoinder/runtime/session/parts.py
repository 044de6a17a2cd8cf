"""What the sessions of an engine are made of, for those who need most of it."""

from msgspec import Struct

from rejoinder.runtime.outbox.conversations import Conversations
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.backlogs import Backlogs
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.prefixes import Prefixes
from rejoinder.runtime.session.quarantine import Quarantine
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.readmission import Readmission
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.subagents import Subagents


class TurnQueue(Struct, frozen=True):
    """What waits for a turn: by which settings, in which lanes, for which slots; and what is kept out or comes back."""

    settings: Queueing
    lanes: Lanes
    slots: Slots
    backlogs: Backlogs
    quarantine: Quarantine
    readmission: Readmission


class SessionParts(Struct, frozen=True):
    services: Services
    conversations: Conversations
    sessions: Sessions
    prefixes: Prefixes
    questions: Questions
    subagents: Subagents
    queue: TurnQueue
