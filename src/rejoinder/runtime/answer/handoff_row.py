"""A message from one agent to another, by a hand-off (OD-50) or by name in an answer (IN-21), for platforms that do not
show agents each other's messages.

It is treated like any bot's message: it counts against the loop cap, is decided by the same stages, and is a row in the
inbox, written in the commit that plans the answer. So a crash can lose neither of them, and an answer that was never
given wakes no agent.
"""

from collections.abc import Callable

from msgspec.structs import replace

from rejoinder.events import Inbound, Mention, Sender
from rejoinder.runtime.services import Services
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.session import deciding_home
from rejoinder.store.base import Accept, InboxEvent, SettleEvent

STOPPED = "dropped: its answer was stopped"


class HandoffRow:
    """`accept` is written with the answer. The row is decided once the answer has been delivered, and settled if the
    answer is stopped before that; when the gateway shuts down, the row is left to the next process."""

    def __init__(
        self,
        inbound: Inbound,
        services: Services,
        reserve: Callable[[InboxEvent], bool],
        decide: Callable[[InboxEvent], object],
        is_left: Callable[[], bool],
    ) -> None:
        """`reserve` is called when the row is written, so that nobody else decides it; it returns False if somebody
        already has."""
        self.accept = WriteBatch(then=self._go_on)
        home = deciding_home(inbound, services.settings.now.rules.settings.session)
        self._accepted = self.accept.add(Accept((inbound,), services.clock(), homes=(home,)))
        self._shard = services.shard
        self._store = services.store
        self._tasks = services.tasks
        self._reserve = reserve
        self._is_ours = False
        self._decide = decide
        self._is_left = is_left
        self._then: Callable[[InboxEvent], object] | None = None

    def begin(self, message: str = "") -> None:
        """`message`: the platform's id of the message, if it shows one."""
        self._then = lambda event: self._decide(replace(event, inbound=replace(event.inbound, message_id=message)))
        self._go_on()

    def call_off(self) -> None:
        if not self._is_left():
            self._then = self._settle
            self._go_on()

    def _go_on(self) -> None:
        """Acts once the row is written and it is known what to do with it: an answer may be stopped before the commit
        that plans it."""
        for event in self._accepted() if self.accept.is_written else ():
            if event.shard != self._shard:
                continue  # the other shard's owner finds the row (SC-12)
            self._is_ours = self._is_ours or self._reserve(event)
            if self._is_ours and self._then is not None:
                self._then(event)

    def _settle(self, event: InboxEvent) -> None:
        self._tasks.start("call off", WriteBatch(SettleEvent(event.id, STOPPED)).insist(self._store))


def handoff_inbound(asked: Inbound, agent: str, to: str, words: str, id: str) -> Inbound:
    """`asked`: the message the agent was answering. `id`: the same in every attempt at that turn."""
    token = f"@{to}"
    return replace(said(asked, agent, f"{token} {words}".rstrip(), id), mentions=(Mention(to, token=token),))


def said(asked: Inbound, agent: str, text: str, id: str) -> Inbound:
    """An answer as the other agents in the room receive it; the agents it names are found in its text."""
    return Inbound(
        asked.channel,
        event_id=id,
        message_id="",
        chat=asked.chat,
        sender=Sender(agent, agent, is_bot=True),
        text=text,
        account=asked.account,
        thread=asked.thread,
        peer=(asked.peer or asked.sender.id) if asked.chat.kind == "direct" else "",
    )
