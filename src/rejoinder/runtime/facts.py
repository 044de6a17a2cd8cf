"""What the world has to tell before a message can be decided: gathered here, decided on the inbound floor."""

import secrets
from datetime import date

from rejoinder.agents.base import CanTellMore
from rejoinder.channels.base import KnowsItself
from rejoinder.events import Inbound
from rejoinder.inbound.facts import Facts, Me, RunFacts, ThreadFacts
from rejoinder.runtime.abilities import can
from rejoinder.runtime.access import Access
from rejoinder.runtime.conversations import Conversation
from rejoinder.runtime.lanes import Lanes
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.tally import Tally
from rejoinder.runtime.work import Workers

LAST_WORDS = 1000


class World:
    def __init__(self, settings: RuntimeSettings, lanes: Lanes, workers: Workers, access: Access, tally: Tally) -> None:
        self._settings = settings
        self._lanes = lanes
        self._workers = workers
        self._access = access
        self._tally = tally

    def facts(self, inbound: Inbound, conversation: Conversation, session: str, agent: str, today: date) -> Facts:
        """`session` and `agent` are those the message would go to."""
        messages, quote = conversation.messages, inbound.reply_to
        own = messages.get(inbound.message_id)
        quoted = messages.get(quote.message_id) if quote is not None else None
        place = (inbound.channel, inbound.account)
        return Facts(
            me=self.me(conversation, agent),
            sent_by_us=own is not None and own.ours,
            replies_to_us=quoted is not None and quoted.ours,
            thread=ThreadFacts(
                posted=messages.ours > 0,
                other_bot=conversation.other_bot,
                bot_turns=conversation.bot_turns.in_a_row,
                bot_turns_before=conversation.bot_turns.before,
                bot_turns_today=conversation.bot_turns.today,
            ),
            paired=self._access.is_paired(place, inbound.sender.id),
            pairing=self._access.pairing(place),
            allow=self._access.allow(inbound.channel),
            group_turns_today=self._tally.of_group(inbound, today),
            sender_turns_today=self._tally.of_sender(inbound, today),
            runs=self._run_facts(conversation, session, agent),
            last_trace=conversation.trace_of(quote.message_id if quote is not None else None),
            random=secrets.token_bytes(16),
            version=self._settings.version,
        )

    def me(self, conversation: Conversation, agent: str = "") -> Me:
        channel = conversation.channel
        return Me(channel.own_id, channel.own_name) if can(channel, KnowsItself) else Me(agent, agent)

    def _run_facts(self, conversation: Conversation, session: str, agent: str) -> RunFacts:
        lane = self._lanes.get(session)
        speaker = self._workers.agents.get(agent)
        return RunFacts(
            running=lane is not None and lane.is_running,
            nothing_to_stop=not self._lanes.at(conversation.route),
            waiting=lane.waiting if lane is not None else 0,
            context_tokens=self._workers.compaction.context.get(session, 0),
            context_budget=self._settings.compaction.budget,
            last_failure=self._workers.failures.get(session, ""),
            last_words=speaker.last_words()[-LAST_WORDS:] if can(speaker, CanTellMore) else "",
        )
