"""Gathers the facts by which the inbound floor decides a message."""

from datetime import datetime

from msgspec.structs import replace

from rejoinder.agents.base import (
    AnnouncesCommands,
    CanTellLevels,
    CanTellModels,
    CanTellModes,
    CanTellMore,
    TellsSteering,
)
from rejoinder.channels.base import KnowsItself
from rejoinder.events import EarlierMessage, Inbound, Quote, Route, Step
from rejoinder.inbound.activation import group_settings
from rejoinder.inbound.bots import BotTurns
from rejoinder.inbound.facts import Facts, OwnIdentity, RunFacts, ThreadFacts
from rejoinder.inbound.needs import needs_of
from rejoinder.inbound.rooms import is_member, members
from rejoinder.inbound.rules import channel_rules
from rejoinder.inbound.spoken import spoken
from rejoinder.runtime.abilities import can
from rejoinder.runtime.entropy import random_bytes
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.turn_counts import TurnCounts
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.subagents import Subagents
from rejoinder.runtime.session.work import AgentTurnRunner

LAST_WORDS = 1000
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
        self._workers = turn_runner
        self._access = access
        self._turn_counts = turn_counts
        self._subagents = subagents
        self._store = services.store

    async def facts(
        self,
        inbound: Inbound,
        conversation: Conversation,
        turns: BotTurns,
        session: str,
        agent: str,
        now: datetime,
        *,
        ours: bool,
    ) -> Facts:
        """`session` and `agent` are those the message would go to; `turns` are the bot turns including this message.

        `ours`: one of our own agents said it."""
        messages, quote, here = conversation.messages, inbound.reply_to, conversation.messages.facts
        needs = needs_of(inbound.text or spoken(inbound.transcript or ""))
        own = messages.get(inbound.message_id)
        quoted, of_group, of_sender = None, 0, 0
        if quote is not None:
            quoted = await conversation.look_up(quote.message_id)
        place = (inbound.channel, inbound.account)
        await self._access.read(place)
        if inbound.chat.kind != "direct":
            of_group, of_sender = await self._turns_today(inbound, now)
        runs = self._run_facts(conversation, session, agent)
        if "parts" in needs:
            runs = await self._with_parts(runs, conversation.route)
        return Facts(
            me=self.me(inbound, conversation, agent),
            edits_told=conversation.how.edits_told,
            sent_by_us=own is not None and own.kind == "own" and not ours,
            replies_to_us=quoted is not None and quoted.kind == "own",
            answers=await conversation.author_answered(inbound),
            thread=ThreadFacts(
                owned=here.owned or self._hangs_under_ours(inbound),
                posted=here.posted,
                other_bot=here.other_bot or (inbound.sender.is_bot and not inbound.sender.is_self),
                bot_turns=turns.in_a_row,
                bot_turns_before=turns.before,
                bot_turns_today=turns.today,
            ),
            paired=self._access.is_paired(place, inbound.sender.id),
            pairing=self._access.pairing(place),
            allow=self._access.allow(inbound.channel),
            group_turns_today=of_group,
            sender_turns_today=of_sender,
            runs=runs,
            last_trace=await self._trace(quote, conversation) if "trace" in needs else (),
            offered=await self._offered(agent) if "models" in needs else (),
            modes=await self._modes(agent) if "models" in needs else (),
            levels=await self._levels(agent) if "levels" in needs else None,
            question=self._workers.questions.waiting_for(inbound.sender.id, conversation.route),
            steers=self._steers(agent),
            announced=self._announced(agent),
            random=random_bytes(),
            version=self._settings.now.version,
        )

    def read_again(self) -> None:
        """Others have changed what is asked for with each message."""
        self._access.forget()

    async def _offered(self, agent: str) -> tuple[str, ...]:
        """The models the agent says it has."""
        speaker = self._agents.get(agent)
        return await speaker.offered() if can(speaker, CanTellModels) else ()

    async def _modes(self, agent: str) -> tuple[str, ...]:
        """In which modes the agent says it can work."""
        speaker = self._agents.get(agent)
        return await speaker.modes() if can(speaker, CanTellModes) else ()

    async def _levels(self, agent: str) -> tuple[str, ...] | None:
        """At which levels the agent says it can think."""
        speaker = self._agents.get(agent)
        return await speaker.levels() if can(speaker, CanTellLevels) else None

    def _steers(self, agent: str) -> bool | None:
        speaker = self._agents.get(agent)
        return speaker.steers if can(speaker, TellsSteering) else None

    def _announced(self, agent: str) -> frozenset[str]:
        speaker = self._agents.get(agent)
        return speaker.announced() if can(speaker, AnnouncesCommands) else NONE

    async def run_ended(self, session: str) -> None:
        """Returns when a run of this session that has said its last word has ended, so that its person finds it so."""
        await self._lanes.ended(session)

    def is_member(self, inbound: Inbound) -> bool:
        """Whether one of our own agents in a room said it: to the others it is a message (IN-25)."""
        return is_member(inbound, channel_rules(self._settings.now.rules, inbound.channel))

    def _hangs_under_ours(self, inbound: Inbound) -> bool:
        """Whether the thread hangs under a message of one of our agents there: then it is ours (IN-22)."""
        starter, channel = inbound.thread_starter, channel_rules(self._settings.now.rules, inbound.channel)
        return isinstance(starter, EarlierMessage) and starter.is_bot and starter.author_id in members(inbound, channel)

    async def _turns_today(self, inbound: Inbound, now: datetime) -> tuple[int, int]:
        """Those of the group and of the sender in it, counted only where there is a limit (IN-33)."""
        group = group_settings(channel_rules(self._settings.now.rules, inbound.channel), inbound.chat)
        of_group = await self._turn_counts.of_group(inbound, now) if group.daily_limit is not None else 0
        of_sender = await self._turn_counts.of_sender(inbound, now) if group.daily_limit_per_user is not None else 0
        return of_group, of_sender

    async def _trace(self, quote: Quote | None, conversation: Conversation) -> tuple[Step, ...]:
        """The trace of the message this one answers, even if that is from before a restart; or of the latest."""
        if quote is None:
            return conversation.trace_of(None)
        quoted = quote.message_id
        if not conversation.has_trace(quoted):
            events = await self._store.events_of(quoted)
            traced = [each for event in events for each in await self._store.trace(event.id)]
            conversation.trace(quoted, (step for each in traced for step in each.steps))
        return conversation.trace_of(quoted)

    def me(self, inbound: Inbound, conversation: Conversation, agent: str = "") -> OwnIdentity:
        channel = conversation.channel
        if not can(channel, KnowsItself):
            return OwnIdentity(agent, agent, is_sure=False)
        return OwnIdentity(channel.own_id or inbound.own_id, channel.own_name or inbound.own_name)

    async def _with_parts(self, facts: RunFacts, here: Route) -> RunFacts:
        """Only `/status` reports these counts, so they are made only for it (DE-33)."""
        dead, held = await self._store.count_parts("dead"), await self._store.count_parts("held")
        stuck = await self._store.parts_in("dead", "held") if dead or held else ()
        stuck_here = sum(part.route == here for part in stuck)
        return replace(facts, dead_parts=dead, held_parts=held, stuck_here=stuck_here)

    def _run_facts(self, conversation: Conversation, session: str, agent: str) -> RunFacts:
        lane = self._lanes.get(session)
        speaker = self._agents.get(agent)
        beside = len(self._subagents.at(conversation.route))
        return RunFacts(
            running=lane is not None and lane.is_running,
            nothing_to_stop=not self._lanes.at(conversation.route) and not beside,
            subagents=beside,
            waiting=lane.waiting if lane is not None else 0,
            held_back=lane.held_back if lane is not None else "",
            context_tokens=self._workers.compaction.context.get(session, 0),
            context_budget=self._settings.now.compaction.budget,
            last_failure=self._workers.failures.get(session, ""),
            last_words=speaker.last_words()[-LAST_WORDS:] if can(speaker, CanTellMore) else "",
            not_in_effect=self._settings.now.not_in_effect,
        )
