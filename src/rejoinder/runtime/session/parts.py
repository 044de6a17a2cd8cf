"""The parts of an engine's sessions, for code that needs most of them."""

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
    """The parts that make messages wait for their turns: settings, lanes, slots, quarantine and backlogs."""

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
