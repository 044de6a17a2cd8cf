"""How a decided message is queued in its session."""

from msgspec.structs import asdict, replace

from rejoinder.events import EarlierMessage, Inbound
from rejoinder.inbound.message import InboundMessage
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.presence import StatusSigns
from rejoinder.runtime.session.turn_inputs import TurnInput
from rejoinder.session import QueueChoice, Session
from rejoinder.turns import backlog
from rejoinder.turns.backlog import estimate_tokens
from rejoinder.turns.modes import DropPolicy, Mode, QueueOverride, QueueSettings, not_steered, resolve


class Queueing:
    def __init__(self, services: Services) -> None:
        self._settings = services.settings
        self._tasks = services.tasks
        self._usual: dict[str, QueueSettings] = {}  # by channel, for sessions without a choice of their own
        self._settings.on_change(self._forget)

    def _forget(self) -> None:
        self._usual.clear()

    def of(self, channel: str, session: Session, inline: QueueChoice | None = None) -> QueueSettings:
        """This session's queue settings; the most specific source wins (TU-4)."""
        if inline is None and session.queue is None:
            if (usual := self._usual.get(channel)) is None:
                usual = self._usual[channel] = self._resolved(channel, None, None)
            return usual
        return self._resolved(channel, session.queue, inline)

    def _resolved(self, channel: str, session: QueueChoice | None, inline: QueueChoice | None) -> QueueSettings:
        settings = self._settings.now
        here = settings.channel(channel)
        return resolve(
            inline=_override(inline),
            session=_override(session),
            channel=here.queue,
            gateway=settings.queue,
            plugin=here.plugin_queue,
        )

    def in_line(self, message: InboundMessage, session: Session) -> backlog.QueuedMessage:
        inbound, text, settings = message.inbound, message.agent_text, None
        if message.choices:
            choice = message.choices.get("queue")
            settings = None if choice is None else self.of(inbound.channel, session, choice)
            if message.choices.keys() - {"queue"}:
                settings = not_steered(settings or self.of(inbound.channel, session)) or settings
        if message.stands_alone:  # it neither interrupts a run nor is merged with messages of people
            settings = replace(self.of(inbound.channel, session), mode=Mode.QUEUE)
        return backlog.QueuedMessage(
            _id(inbound),
            inbound.route,
            inbound.sender.id,
            text,
            estimate_tokens((text,), len(inbound.attachments)),
            settings,
            chore=message.compacts,
        )

    def turn_input(
        self,
        event: int,
        message: InboundMessage,
        agent: str,
        conversation: Conversation,
        overheard: tuple[EarlierMessage, ...],
        handle: str | None,
    ) -> TurnInput:
        inbound, signs = message.inbound, None
        status, about = self._settings.now.channel(inbound.channel).status, inbound.message_id
        if inbound.opens is not None and (opens := inbound.opened_thread) is not None:
            conversation.will_open(opens)
        if status.enabled and about and not message.listening and not inbound.unseen:
            signs = StatusSigns(self._tasks, conversation, about, status, agent, inbound.own_route)
        return TurnInput(_id(inbound), event, message, conversation, handle, overheard, signs)


def _id(inbound: Inbound) -> str:
    return f"{inbound.channel}/{inbound.account}/{inbound.event_id}"


def _override(choice: QueueChoice | None) -> QueueOverride | None:
    if choice is None:
        return None
    said = QueueOverride(**{**asdict(choice), "mode": None, "drop": None})
    return replace(said, mode=choice.mode and Mode(choice.mode), drop=choice.drop and DropPolicy(choice.drop))
