"""Builds the places of an engine, from top to bottom: the facts for a decision, the decision, and what follows from
it."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from rejoinder.runtime.outbox.owners import OwnerChats
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.command_speech import CommandSpeech
from rejoinder.runtime.place.consequences import Consequences
from rejoinder.runtime.place.debounce import Debounce
from rejoinder.runtime.place.decider import Decider
from rejoinder.runtime.place.decision_recorder import DecisionRecorder
from rejoinder.runtime.place.effects import Effects
from rejoinder.runtime.place.facts import FactGatherer
from rejoinder.runtime.place.gateway_commands import GatewayCommands
from rejoinder.runtime.place.message_edits import MessageEdits
from rejoinder.runtime.place.program_commands import ProgramCommands
from rejoinder.runtime.place.restarting import Restarting
from rejoinder.runtime.place.shell import Shell
from rejoinder.runtime.place.turn_counts import TurnCounts
from rejoinder.runtime.place.turn_routing import TurnRouting
from rejoinder.runtime.session.parts import SessionParts
from rejoinder.runtime.session.turn_runner import AgentTurnRunner


class ProcessControl(Struct, frozen=True):
    """What chat commands may do with the process."""

    restarting: Restarting
    program: ProgramCommands


class PlaceRoom:
    def __init__(
        self,
        parts: SessionParts,
        turn_runner: AgentTurnRunner,
        access: Access,
        owners: OwnerChats,
        control: ProcessControl,
        decide: "Callable[..., asyncio.Task[None]]",
    ) -> None:
        services, sessions, lanes, subagents = parts.services, parts.sessions, parts.queue.lanes, parts.subagents
        turn_counts, self.shell, spoken = TurnCounts(services.store), Shell(services.tasks), CommandSpeech(services)
        commands = GatewayCommands(
            services, turn_runner, control.restarting, self.shell, control.program, subagents, spoken
        )
        revise = MessageEdits(services, lanes, sessions).revise
        effects = Effects(parts, access, commands.run, revise)
        recorder = DecisionRecorder(services, effects, owners)
        routing = TurnRouting(services, sessions, lanes, parts.queue.settings, recorder, turn_counts)
        consequences = Consequences(services, lanes, parts.queue.settings, effects, recorder, routing)
        self.gatherer = FactGatherer(services, lanes, turn_runner, access, turn_counts, subagents)
        self.decider = Decider(services, parts.conversations, sessions, lanes, self.gatherer, consequences, spoken)
        self.debounce = Debounce(services, decide)
