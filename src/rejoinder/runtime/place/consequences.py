"""Carries out a decision: one commit stores it, with the start of its turn if that is immediate (DU-12).

Nothing takes effect before that commit. After it the message is settled or waits in a lane; then hooks are told and
replies are sent.
"""

from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from rejoinder.events import Overhear
from rejoinder.inbound.outcome import Continue, end_of
from rejoinder.runtime.place.decision import Decision
from rejoinder.runtime.place.decision_recorder import DecisionRecorder
from rejoinder.runtime.place.effects import Effects
from rejoinder.runtime.place.turn_routing import TurnRouting
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lanes import Lanes
from rejoinder.runtime.session.queueing import Queueing
from rejoinder.runtime.session.sessions import HeldSession
from rejoinder.store.base import SettleEvent


class Consequences:
    def __init__(
        self,
        services: Services,
        lanes: Lanes,
        queueing: Queueing,
        effects: Effects,
        recorder: DecisionRecorder,
        routing: TurnRouting,
    ) -> None:
        self._store = services.store
        self._lanes = lanes
        self._queueing = queueing
        self._effects = effects
        self._recorder = recorder
        self._routing = routing

    def of(self, decision: Decision, held: HeldSession) -> Coroutine[Any, Any, None]:
        """Carries out a decision for which the session was locked."""
        if isinstance(decision.result.outcome, Continue):
            return self._routing.route(decision, held)
        if (work := self._effects.as_turn(decision.result, decision.agent)) is not None:
            return self._routing.route(replace(decision, result=work), held)
        return self.settle(decision, held)

    async def settle(self, decision: Decision, held: HeldSession | None) -> None:
        """Stores the decision of an event that gets no turn."""
        result, conversation = decision.result, decision.conversation
        record = await self._recorder.begin(decision)
        batch = record.batch
        overheard = any(isinstance(effect, Overhear) for effect in result.effects)
        batch.add_all((SettleEvent(decision.event.id, end_of(result, overheard=overheard), overheard),))
        session = None if held is None or result.session == held.session else result.session
        if held is not None and session is not None:
            batch.add_all(held.put_verbs(session))
            batch.add_all(self._recorder.kept_start(held, session, conversation))
        await batch.write(self._store)
        self._recorder.settled(decision, record)
        if held is not None and session is not None:
            self._recorder.keep(held, session, conversation)
            self._lanes.apply_settings(held.key, self._queueing.of(conversation.route.channel, session))
