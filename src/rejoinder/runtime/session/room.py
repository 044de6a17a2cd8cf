"""Builds the sessions of an engine, from top to bottom: running a turn, waiting for one, and turns that begin by
themselves."""

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct

from rejoinder.events import Inbound
from rejoinder.runtime.answer.handoff_row import HandoffRow
from rejoinder.runtime.outbox.conversations import Conversations
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.background import BackgroundStarter, DiscardChannel
from rejoinder.runtime.session.backlogs import Backlogs
from rejoinder.runtime.session.journal import LaneJournal
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.parts import SessionParts, TurnQueue
from rejoinder.runtime.session.prefixes import Prefixes
from rejoinder.runtime.session.quarantine import Quarantine
from rejoinder.runtime.session.questions import Questions
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.readmission import Readmission
from rejoinder.runtime.session.relay import Watcher
from rejoinder.runtime.session.sessions import Sessions
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.subagent_runs import SubagentRuns
from rejoinder.runtime.session.subagents import Subagents
from rejoinder.runtime.session.turn_parts import TurnParts
from rejoinder.runtime.session.turn_runner import AgentTurnRunner
from rejoinder.store.base import InboxEvent


class EngineLinks(Struct, frozen=True):
    """The parts of an engine that its sessions use."""

    readmit: Callable[[InboxEvent], Awaitable[None]]
    changed: Callable[[], None]
    hand_over: Callable[[Inbound, Callable[[], bool]], HandoffRow]
    recovered: asyncio.Event
    nowhere: DiscardChannel
    watcher: Watcher


class SessionRoom:
    def __init__(
        self,
        services: Services,
        conversations: Conversations,
        sessions: Sessions,
        prefixes: Prefixes,
        may_resend: Callable[[Inbound], Awaitable[bool]],
        links: EngineLinks,
    ) -> None:
        queueing, slots = Queueing(services), Slots(services)
        questions = Questions(services, conversations)
        subagent_runs = SubagentRuns(lambda: self.parts.subagents, questions)
        turn_parts = TurnParts(services, sessions, questions, subagent_runs, links.watcher, links.hand_over)
        self.turn_runner = AgentTurnRunner(services, sessions, turn_parts)
        self.journal = LaneJournal(services, sessions, prefixes, questions)
        lanes = Lanes(services, self.turn_runner, self.journal, slots)
        quarantine = Quarantine(services, conversations, prefixes, may_resend)
        backlogs = Backlogs(services, conversations, sessions, lanes, queueing, quarantine)
        readmission = Readmission(services, backlogs, links.readmit, links.changed)
        queue = TurnQueue(queueing, lanes, slots, backlogs, quarantine, readmission)
        self.background = BackgroundStarter(
            services, conversations, links.nowhere, sessions, queueing, lanes, links.recovered
        )
        subagents = Subagents(services, sessions, conversations, lanes, self.background)
        self.parts = SessionParts(services, conversations, sessions, prefixes, questions, subagents, queue)
