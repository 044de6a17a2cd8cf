"""What each agent of a conversation has overheard: messages since its last turn that were not for it (IN-32)."""

from collections.abc import Iterable

from msgspec.structs import replace

from rejoinder.channels.base import Channel, RelaysAgentMessages
from rejoinder.events import EarlierMessage, Inbound, Route
from rejoinder.inbound.groups import overhear
from rejoinder.inbound.rooms import named_in
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.messages import MessageIndex
from rejoinder.store.base import IndexedMessage, Store


class OverheardMessages:
    """The overheard messages of one conversation, by agent."""

    def __init__(self, route: Route, store: Store, channel: Channel, messages: MessageIndex) -> None:
        self._route = route
        self._store = store
        self._channel = channel
        self._messages = messages
        self._heard: dict[str, tuple[EarlierMessage, ...]] = {}

    def has_recalled(self, agent: str) -> bool:
        return agent in self._heard

    async def recall(self, agent: str, session: str, coming: Inbound) -> None:
        """Reads, once, what was said here since this agent's last turn in this session. `coming`: the message that is
        being decided."""
        heard: tuple[EarlierMessage, ...] = ()
        if self._messages.count:
            for message in await self._store.unheard_messages(session, self._route):
                if message.author != agent and await self._was_overheard(message, agent, session, coming):
                    heard = overhear(heard, earlier_message(message))
        self._heard[agent] = heard

    async def _was_overheard(self, message: IndexedMessage, agent: str, session: str, coming: Inbound) -> bool:
        """Whether the message was settled as history for all agents, or routed only to other sessions.

        If the channel does not report what our agents say, their messages have no event. A message that was handed to
        this agent, by name (IN-21) or as a hand-off (OD-50), belongs to a turn that is still to come. All others are
        history, such as one that hit the limit of bot turns.
        """
        for event in await self._store.events_of(message.id):
            if event.inbound.route != self._route:
                continue
            if event.state == "settled":
                return event.overheard
            inputs = await self._store.inputs_of(event.id)
            return bool(inputs) and all(put.session != session for put in inputs)
        if message.kind != "own" or not message.author or can(self._channel, RelaysAgentMessages):
            return False
        if not named_in(message.text, (agent,)):
            return True
        waiting = [put.event.inbound for put in await self._store.waiting_inputs(session)]
        return all(handed.sender.id != message.author for handed in (coming, *waiting))

    def hear(self, said: EarlierMessage, agents: Iterable[str]) -> None:
        """These agents, except the author, are told of the message with their next turn."""
        handle = self._messages.handle(said.message_id) or ""
        for agent in agents:
            if agent != said.author_id:
                self._heard[agent] = overhear(self.of(agent), replace(said, handle=handle))

    def reword(self, message: str, text: str | None) -> None:
        """The message has a new text; None: it was deleted."""
        for agent, heard in self._heard.items():
            kept = [said for said in heard if said.message_id != message or text is not None]
            self._heard[agent] = tuple(
                [replace(said, text=text or "") if said.message_id == message else said for said in kept]
            )

    def hear_ours(self, said: EarlierMessage, agents: Iterable[str]) -> None:
        """Like `hear`, for a message of one of our agents. Agents that have not been recalled yet will read it from the
        store."""
        self.hear(said, [agent for agent in agents if agent in self._heard])

    def of(self, agent: str) -> tuple[EarlierMessage, ...]:
        """What was said here since this agent's last turn."""
        heard = self._heard.get(agent, ())
        if heard and not all(said.handle for said in heard):  # our own messages may have entered the index since
            heard = tuple(replace(said, handle=self._messages.handle(said.message_id) or "") for said in heard)
        return heard

    def was_told(self, agent: str) -> None:
        self._heard[agent] = ()


def earlier_message(message: IndexedMessage) -> EarlierMessage:
    by_bot = message.kind in ("bot", "own")
    return EarlierMessage(message.id, message.author, message.author_name, message.text, message.handle, is_bot=by_bot)
