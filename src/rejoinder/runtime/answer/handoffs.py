"""What an answer hands over to the other agents of the room: by a hand-off, or by naming them (OD-50, IN-21)."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from rejoinder.channels.base import RelaysAgentMessages
from rejoinder.events import EarlierMessage
from rejoinder.inbound.rooms import named_in
from rejoinder.outbound import plan
from rejoinder.outbound.plan import AnswerWording, PlannedOperation
from rejoinder.outbound.prefix import AUTO, Speaker, prefixed
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.action_log import TOO_MANY, ActionLog
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.handoff_row import HandoffRow
from rejoinder.runtime.answer.shaped_reply import ShapedReply
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, message_of
from rejoinder.runtime.write_batch import WriteBatch

HandOver = Callable[[str, str, str], HandoffRow]
"""Takes a name, words and an id, and makes a row. The row gives the agent of this name (if it is empty: the agents
named in the words) a turn with these words, once for each id."""


class HandoffRequest(Struct, frozen=True):
    to: str
    words: str
    id: str


class Handoffs:
    def __init__(
        self,
        conversation: Conversation,
        context: AnswerContext,
        log: ActionLog,
        reply: ShapedReply,
        hand_over: HandOver | None,
    ) -> None:
        self.kept: WriteBatch | None = None
        """A row for each hand-off, written with the answer; None for most answers, which hand nothing over."""
        self._conversation = conversation
        self._context = context
        self._log = log
        self._reply = reply
        self._hand_over = hand_over
        self._handed: list[HandoffRequest] = []
        self._rows: list[HandoffRow] = []
        self._named: HandoffRow | None = None

    async def request(self, to: str, words: str) -> None:
        """Notes a hand-off for the end of the turn (OD-50); equal ones count as one."""
        peers = {peer.casefold(): peer for peer in self._context.peers}
        whom = peers.get(to.removeprefix("@").casefold())
        if whom is None:
            there = f"there are: {', '.join(peers.values())}" if peers else "there is nobody else"
            self._log.outcomes.note(f"handoff to {to}", "failed", f"no agent called {to!r} here; {there}")
            return await self._log.warn(f"handoff failed: no agent called {to!r} here; {there}")
        if any((handed.to, handed.words) == (whom, words) for handed in self._handed):
            return
        if self._log.is_full(len(self._handed)):
            return await self._log.deny(f"handoff to {whom}", TOO_MANY, "handoff")
        # The id omits the words: an agent asked again after a restart may word it differently, yet hands over once.
        number = sum(handed.to == whom for handed in self._handed)
        self._handed.append(HandoffRequest(whom, words, f"{self._log.stem}/handoff/{whom}/{number}"))

    def plan(self, answer: str = "") -> list[PlannedOperation]:
        """Plans the hand-offs as messages that follow the answer (DE-21), and adds their rows to `kept`.

        Words that are already in the answer are not repeated (OD-58).

        Where the channel tells agents of each other's messages, the message itself wakes the other agent. Where the
        channel does not know the agents, the message mentions no one, because the name may belong to a stranger there
        (OD-64).
        """
        planned: list[PlannedOperation] = []
        if not self._handed:
            return planned
        knows_agents = can(self._conversation.channel, RelaysAgentMessages)
        delivery, route, name = self._conversation.settings.delivery, self._conversation.route, self._context.agent
        for handed in self._handed:
            wording = AnswerWording(
                author=name, addressed=(handed.to,) if knows_agents else (), opens=self._reply.opens
            )
            is_said = bool(handed.words) and answer.strip().startswith(handed.words)
            words = f"@{handed.to}" if is_said else f"@{handed.to} {handed.words}".rstrip()
            if delivery.prefix == AUTO:
                words = prefixed(words, AUTO, Speaker(name))
            planned += plan.say(words, route, delivery.options, wording, handed.id)
            if self._hand_over is not None and not knows_agents:
                row = self._hand_over(handed.to, handed.words, handed.id)
                self._keep(row)
                self._rows.append(row)
        return planned

    def _keep(self, row: HandoffRow) -> None:
        if self.kept is None:
            self.kept = WriteBatch()
        self.kept.include(row.accept)

    @property
    def _tells_peers(self) -> bool:
        """Whether the gateway has to tell the other agents in the room about an answer because the platform does
        not."""
        return bool(self._context.peers) and not can(self._conversation.channel, RelaysAgentMessages)

    def keep_named(self, text: str) -> None:
        """Gives the agents named in the answer a turn (IN-21), as if it had been handed over to them."""
        if self._hand_over is not None and self._tells_peers and named_in(text, self._context.peers):
            self._named = self._hand_over("", text, f"{self._log.stem}/named")
            self._keep(self._named)

    def answered(self, last: "asyncio.Future[DeliveryResult]", first: "asyncio.Future[DeliveryResult]") -> None:
        """Called when the last part of the answer was delivered or given up: the next agents begin. If it was
        cancelled, their turns are called off."""
        for row in self._rows:
            if last.cancelled():
                row.call_off()
            else:
                row.begin()
        if self._named is not None and last.cancelled():
            self._named.call_off()
        elif self._named is not None:
            self._named.begin(message_of(first))

    async def stands(self, message: str) -> None:
        """The draft already shows the whole answer: there is nothing to plan, only `kept` to write."""
        if self._named is not None and self.kept is not None:
            await self.kept.insist(self._conversation.store)
            self._named.begin(message)

    def was_said(self, text: str, message: str) -> None:
        """Shows the answer to agents that it does not wake, with their next turn."""
        if self._tells_peers and self._named is None:
            agent = self._context.agent
            self._conversation.overheard.hear_ours(
                EarlierMessage(message, agent, agent, text, is_bot=True), self._context.peers
            )

    def note(self) -> None:
        """Notes the hand-offs as done, at the end of the turn."""
        for handed in self._handed:
            self._log.outcomes.note(f"handoff to {handed.to}", "done")
