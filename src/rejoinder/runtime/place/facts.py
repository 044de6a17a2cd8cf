"""Gathers the facts that the inbound floor needs to decide a message."""

from datetime import datetime

from msgspec.structs import replace

from rejoinder.agents.base import (
    Agent,
    AnnouncesCommands,
    CanListModels,
    CanListModes,
    CanListThinkLevels,
    HasLastOutput,
    ReportsSteering,
)
from rejoinder.channels.base import KnowsItself
from rejoinder.events import Inbound, Quote, Route, Step
from rejoinder.inbound.activation import group_settings
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.facts import Facts, OwnIdentity, RunFacts, ThreadFacts
from rejoinder.inbound.needs import Need, needs_of
from rejoinder.inbound.rules import ChannelRules
from rejoinder.inbound.spoken import spoken
from rejoinder.inbound.threads import hangs_under_ours
from rejoinder.runtime.abilities import can
from rejoinder.runtime.entropy import random_bytes
from rejoinder.runtime.outbox.conversations import Conversation, author_of_ours, was_command
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.turn_counts import TurnCounts
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.subagents import Subagents
from rejoinder.runtime.session.turn_runner import AgentTurnRunner
from rejoinder.store.base import IndexedMessage

LAST_OUTPUT = 1000
MOST_RECALLED = 10
NONE: frozenset[str] = frozenset()


class FactGatherer:
    def __init__(
        self,
        services: Services,
        lanes: Lanes,
        turn_runner: AgentTurnRunner,
        access: Access,
        turn_counts: TurnCounts,
        subagents: Subagents,
    ) -> None:
        self._settings = services.settings
        self._agents = services.agents
        self._lanes = lanes
        self._turn_runner = turn_runner
        self._access = access
        self._turn_counts = turn_counts
        self._subagents = subagents
        self._store = services.store

    async def facts(
        self,
        inbound: Inbound,
        conversation: Conversation,
        channel: ChannelRules,
        turns: BotTurns,
        session: str,
        agent: str,
        now: datetime,
        quoted: IndexedMessage | None,
        *,
        ours: bool,
    ) -> Facts:
        """`session` and `agent`: where the message would go. `turns`: the bot turns, including this message. `quoted`:
        the message it replies to. `ours`: whether one of our own agents wrote it."""
        here, sender = conversation.messages.facts, inbound.sender
        of_group = of_sender = 0
        access = await self._access.of((inbound.channel, inbound.account), sender.id)
        questions_here = self._turn_runner.questions.are_elsewhere(conversation.route)
        if questions_here or here.elsewhere:  # only the engine that owns the chat is notified
            await self._turn_runner.questions.look_elsewhere()
        if inbound.chat.kind != "direct":
            of_group, of_sender = await self._turns_today(inbound, channel, now)
        own = conversation.messages.get(inbound.message_id)
        facts = Facts(
            me=self.me(inbound, conversation, agent),
            edits_told=self._settings.now.channel(inbound.channel).edits_told,
            sent_by_us=own is not None and own.kind == "own" and not ours,
            replies_to_us=quoted is not None and quoted.kind == "own",
            answers=author_of_ours(quoted) if quoted is not None else "",
            thread=ThreadFacts(
                owned=here.owned or (inbound.thread_starter is not None and hangs_under_ours(inbound, channel)),
                posted=here.posted,
                other_bot=here.other_bot or (sender.is_bot and not sender.is_self),
                bot_turns=turns.in_a_row,
                bot_turns_before=turns.before,
                bot_turns_today=turns.today,
            ),
            paired=access.paired,
            pairing=access.pairing,
            allow=access.allow,
            group_turns_today=of_group,
            sender_turns_today=of_sender,
            run_facts=self._run_facts(conversation.route, session),
            question=self._turn_runner.questions.waiting_for(sender.id, conversation.route),
            random=random_bytes() if channel.settings.dm == "pairing" else b"",
        )
        said = inbound.command_text or inbound.raw_text or inbound.text or spoken(inbound.transcript or "")
        needs = needs_of(said)
        return await self._for_commands(facts, needs, inbound, conversation, session, agent) if needs else facts

    async def _for_commands(
        self,
        facts: Facts,
        needs: frozenset[Need],
        inbound: Inbound,
        conversation: Conversation,
        session: str,
        agent: str,
    ) -> Facts:
        """Adds the facts that only commands and directives need."""
        speaker = self._agents.get(agent)
        runs = self._with_status(facts.run_facts, session, speaker)
        if "parts" in needs:
            runs = await self._with_parts(runs, conversation.route)
        return replace(
            facts,
            run_facts=runs,
            last_trace=await self._trace(inbound.reply_to, conversation),
            offered=await self._offered(agent) if "models" in needs else (),
            modes=await self._modes(agent) if "models" in needs else (),
            levels=await self._levels(agent) if "levels" in needs else None,
            steers=speaker.steers if can(speaker, ReportsSteering) else None,
            announced=speaker.announced_commands() if can(speaker, AnnouncesCommands) else NONE,
            version=self._settings.now.version,
        )

    def read_again(self) -> None:
        """Another process has changed facts that are cached for every message."""
        self._access.forget()

    async def _offered(self, agent: str) -> tuple[str, ...]:
        """The models that the agent lists."""
        speaker = self._agents.get(agent)
        return await speaker.list_models() if can(speaker, CanListModels) else ()

    async def _modes(self, agent: str) -> tuple[str, ...]:
        """The agent's own modes, as it lists them."""
        speaker = self._agents.get(agent)
        return await speaker.list_modes() if can(speaker, CanListModes) else ()

    async def _levels(self, agent: str) -> tuple[str, ...] | None:
        """The thinking levels that the agent lists."""
        speaker = self._agents.get(agent)
        return await speaker.list_think_levels() if can(speaker, CanListThinkLevels) else None

    async def _turns_today(self, inbound: Inbound, channel: ChannelRules, now: datetime) -> tuple[int, int]:
        """The turns of the group and of the sender in it, counted only if there is a limit (IN-33)."""
        group = group_settings(channel, inbound.chat)
        of_group = await self._turn_counts.of_group(inbound, now) if group.daily_limit is not None else 0
        of_sender = await self._turn_counts.of_sender(inbound, now) if group.daily_limit_per_user is not None else 0
        return of_group, of_sender

    async def _trace(self, quote: Quote | None, conversation: Conversation) -> tuple[Step, ...]:
        """The trace of the message that this one replies to, or else of the latest message, even if it is no longer in
        memory."""
        if quote is None:
            if not conversation.has_traces:
                await self._recall_traces(conversation)
            return conversation.trace_of(None)
        quoted = quote.message_id
        if not conversation.has_trace(quoted):
            conversation.trace(quoted, await self._stored_trace(quoted))
        return conversation.trace_of(quoted)

    async def _recall_traces(self, conversation: Conversation) -> None:
        """Reads the traces of the latest messages, back to one that was not a command."""
        found: list[tuple[str, tuple[Step, ...]]] = []
        for known in tuple(conversation.messages.latest(MOST_RECALLED)):
            if known.kind != "own" and (steps := await self._stored_trace(known.id)):
                found.append((known.id, steps))
                if not was_command(steps):
                    break
        for message, steps in reversed(found):
            conversation.trace(message, steps)

    async def _stored_trace(self, message: str) -> tuple[Step, ...]:
        events = await self._store.events_of(message)
        return tuple([step for event in events for each in await self._store.trace(event.id) for step in each.steps])

    def me(self, inbound: Inbound, conversation: Conversation, agent: str = "") -> OwnIdentity:
        channel = conversation.channel
        if not can(channel, KnowsItself):
            return OwnIdentity(agent, agent, is_sure=False)
        return OwnIdentity(channel.own_id or inbound.own_id, channel.own_name or inbound.own_name)

    async def _with_parts(self, facts: RunFacts, here: Route) -> RunFacts:
        """Adds the counts that only `/status` reports (DE-33)."""
        dead, held = await self._store.count_parts("dead"), await self._store.count_parts("held")
        stuck = await self._store.parts_in("dead", "held") if dead or held else ()
        stuck_here = sum(part.route == here for part in stuck)
        return replace(facts, dead_parts=dead, held_parts=held, stuck_here=stuck_here)

    def _run_facts(self, here: Route, session: str) -> RunFacts:
        lane = self._lanes.get(session)
        beside = len(self._subagents.at(here))
        nothing_to_stop = not self._lanes.at(here) and not beside
        return RunFacts(running=lane is not None and lane.is_running, nothing_to_stop=nothing_to_stop, subagents=beside)

    def _with_status(self, facts: RunFacts, session: str, speaker: Agent | None) -> RunFacts:
        lane = self._lanes.get(session)
        return replace(
            facts,
            waiting=lane.waiting if lane is not None else 0,
            held_back=lane.held_back if lane is not None else "",
            context_tokens=self._turn_runner.compaction.context.get(session, 0),
            context_budget=self._settings.now.compaction.budget,
            last_failure=self._turn_runner.failures.get(session, ""),
            last_output=speaker.last_output()[-LAST_OUTPUT:] if can(speaker, HasLastOutput) else "",
            not_in_effect=self._settings.now.not_in_effect,
        )
