"""Carries out commands to the gateway itself that go beyond words, sessions and turns."""

import asyncio
import logging
from collections.abc import Sequence

from rejoinder.agents.base import Agent, CanShowMemory, Exchange
from rejoinder.blobs import Upload, whole
from rejoinder.channels.base import CanSendFiles
from rejoinder.events import (
    AskSubagents,
    ChangeDebug,
    ChangeInvitations,
    ExportSession,
    RestartGateway,
    RunShell,
    ShowContext,
    SpeakText,
    WriteConfig,
)
from rejoinder.outbound import plan
from rejoinder.outbound.plan import AnswerWording
from rejoinder.outbound.redact import redact
from rejoinder.rendering.fence import fenced
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.files import attached, captioned
from rejoinder.runtime.outbox.performing import intent
from rejoinder.runtime.place.command_speech import CommandSpeech
from rejoinder.runtime.place.effects import EffectContext, EffectResult, GatewayCommand
from rejoinder.runtime.place.program_commands import ProgramCommands
from rejoinder.runtime.place.restarting import Restarting
from rejoinder.runtime.place.shell import Shell
from rejoinder.runtime.place.subagent_commands import SubagentCommands
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.briefing import agent_context, next_parts, system_part
from rejoinder.runtime.session.prefixes import prefix_of
from rejoinder.runtime.session.session_restorer import exchanges
from rejoinder.runtime.session.subagents import Subagents
from rejoinder.runtime.session.turn_inputs import TurnInput
from rejoinder.runtime.session.turn_runner import AgentTurnRunner
from rejoinder.session import Session
from rejoinder.store.base import PlanParts, said_about
from rejoinder.transcripts import Transcript, as_markdown, latest
from rejoinder.turns import context
from rejoinder.turns.context import ContextBudget, PastExchange
from rejoinder.unicode_repair import repair_text

log = logging.getLogger(__name__)

EVERYTHING = -1
MOST_SHOWN = 6000
"""The most characters of a transcript that are sent to a chat as text."""


class GatewayCommands:
    def __init__(
        self,
        services: Services,
        turn_runner: AgentTurnRunner,
        restarting: Restarting,
        shell: Shell,
        program: ProgramCommands,
        subagents: Subagents,
        spoken: CommandSpeech,
    ) -> None:
        self._agents = services.agents
        self._settings = services.settings
        self._store = services.store
        self._spoken = spoken
        self._turn_runner = turn_runner
        self._restarting = restarting
        self._shell = shell
        self._program = program
        self._subagents = SubagentCommands(subagents)

    async def run(self, command: GatewayCommand, asking: EffectContext) -> EffectResult:
        session = asking.session
        assert session is not None, "commands are read when their session is known"
        match command:
            case ShowContext():
                return EffectResult(says=await self._context(asking, session))
            case ExportSession():
                return await self._export(asking, session)
            case RestartGateway():
                return await self._restarting.perform(asking.event)
            case RunShell(command=line):
                prefix = prefix_of(asking.message, session, self._settings.now)
                return self._shell.perform(line, asking.conversation, prefix)
            case ChangeDebug() | WriteConfig() | ChangeInvitations():
                return EffectResult(says=await self._program.run(command))
            case SpeakText():
                return self._speak(asking)
            case AskSubagents():
                return await self._subagents.run(command, asking)

    def _speak(self, asking: EffectContext) -> EffectResult:
        """Plans the voice note, which was made before, in the commit of the decision."""
        made, here = self._spoken.take(asking.event.id), asking.conversation
        if isinstance(made, str):
            return EffectResult(says=made)
        rows = tuple(intent(each, here.route) for each in made)
        return EffectResult((PlanParts(rows, asking.now),), lambda: here.sender.wake(rows=True))

    async def _context(self, asking: EffectContext, session: Session) -> str:
        agent, conversation = self._agents[asking.agent], asking.conversation
        here = agent_context(asking.message, session, self._settings.now, agent, conversation)
        handle = conversation.messages.handle(asking.message.inbound.message_id)
        overheard = conversation.overheard.of(agent.name)
        specimen = TurnInput("", asking.event.id, asking.message, conversation, handle, overheard)
        sent, kept = await self._remembered(agent, session), None
        if sent is None:
            kept = context.together(_past(exchanges(await self._store.transcript(session.key, session.started))))
        budget = ContextBudget(
            self._settings.now.compaction.budget, self._turn_runner.compaction.context.get(session.key, 0)
        )
        sizes = context.measure(system_part(here), sent or (), next_parts(here, specimen))
        return context.context_report(agent.name, sizes, budget, kept)

    async def _remembered(self, agent: Agent, session: Session) -> list[PastExchange] | None:
        """What the agent's model receives again with every turn; None if the agent keeps the conversation itself."""
        await self._turn_runner.restorer.restore(session.key, agent, session.started)
        return _past(agent.remembered(session.key)) if can(agent, CanShowMemory) else None

    async def _export(self, asking: EffectContext, session: Session) -> EffectResult:
        """Exports the transcript. The file is stored first, under a key of the event, and sending it is planned in the
        commit of the decision."""
        entries = await self._store.transcript(session.key, session.started, EVERYTHING)
        if not entries:
            return EffectResult(says="Nothing has been said in this session yet.")
        settings = self._settings.now
        transcript = Transcript(session, entries, settings.directives, settings.silence)
        conversation, channel = asking.conversation, asking.conversation.channel
        page = await asyncio.to_thread(_file, transcript)  # a transcript may cover years
        is_sent = can(channel, CanSendFiles)
        limits = conversation.outbox.file_limits(channel, conversation.route) if is_sent else None
        if limits is None or len(page) > limits.size:
            return EffectResult(says=await asyncio.to_thread(_shown, transcript))
        key = f"{said_about(asking.event.id)}/transcript"
        name = f"session-{asking.now:%Y-%m-%d-%H%M}.md"
        blob = await conversation.outbox.blobs.keep(Upload(name=name, mime="text/markdown", key=key), whole(page))
        file, options = attached(blob, None, limits), captioned(conversation.settings.delivery.options, limits)
        caption = "The transcript of this session."
        planned = plan.show_files((file,), caption, conversation.route, options, AnswerWording(), key)
        rows = tuple(intent(each, conversation.route) for each in planned)
        return EffectResult((PlanParts(rows, asking.now),), lambda: conversation.sender.wake(rows=True))


def _file(transcript: Transcript) -> bytes:
    return repair_text(redact(as_markdown(transcript))).encode()


def _shown(transcript: Transcript) -> str:
    """The text for channels that cannot send files: as much as fits into a chat, and where to find the rest."""
    words, count = latest(transcript, MOST_SHOWN)
    code, total = fenced(words, "markdown"), len(transcript.entries)
    if count == total:
        return f"The transcript of this session:\n\n{code}"
    whole = f"`rejoinder export {transcript.session.key}` prints all of it, where the gateway runs."
    return f"The last {count} of {total} entries; {whole}\n\n{code}"


def _past(told: Sequence[Exchange]) -> list[PastExchange]:
    return [PastExchange(each.parts, each.answer) for each in told]
