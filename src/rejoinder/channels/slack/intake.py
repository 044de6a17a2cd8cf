"""Brings what Slack sends into the gateway. Envelopes are read one by one, so that one that cannot be read stops no
other, and are stored together, in the order in which they came."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic, time
from typing import Any

import msgspec

from rejoinder.channels.base import Inlet
from rejoinder.channels.slack import parse
from rejoinder.channels.slack.places import ON_ITS_WAY, Places, in_order
from rejoinder.channels.slack.retrying import Timings
from rejoinder.channels.slack.wire import Assistant, Command, Envelope, Event, Pressed, read
from rejoinder.channels.store_waiting import when_available
from rejoinder.crashpoint import crashpoint
from rejoinder.errors import NotStored, StoreUnavailable
from rejoinder.events import Inbound

log = logging.getLogger(__name__)

BUSY = "I cannot store anything at the moment; please try again in a minute."
STARTED = "assistant_thread_started"
TROUBLE = "!trouble"
"""Its key among the stored places; no Slack channel has such an id."""
BEGAN = "!began"
"""The key for when a gateway listened for the first time: the next process needs it to know what may have been
missed."""
MOST_OWED = 500
SHORTEST = 0.1
"""Seconds that the store gets at least, however long everything else took."""
OTHERS = (
    "events of another workspace come over this app's connection: Slack gives an event to any connection of the app. "
    "Give each workspace an app of its own, with its own app_token or signing_secret"
)


Complete = Callable[[Iterable[Inbound]], Awaitable[tuple[Inbound, ...]]]


class Intake:
    """`complete`: adds what Slack's events leave out. `noted` is called for each message that was stored, `started` for
    each thread in which an assistant was opened."""

    def __init__(
        self,
        me: parse.BotIdentity,
        deliver: Inlet,
        complete: Complete,
        pace: Timings,
        noted: Callable[[Inbound], None],
        started: Callable[[Assistant], None],
    ) -> None:
        self.places = Places()
        self.is_first = False
        """Whether no gateway has listened before, so that nothing can have been missed."""
        self.came = 0
        """How many events have come since the start."""
        self._me = me
        self._deliver = deliver
        self._complete = complete
        self._pace = pace
        self._noted = noted
        self._started = started
        self.trouble = ""
        """The problem that is stored for `rejoinder doctor`."""
        self._told_of_others = False
        self._owed: list[Inbound] = []  # not stored in time: Slack may send them again after newer ones

    async def resume(self) -> None:
        """Returns when the store has answered, however long that takes (DU-15)."""
        await when_available(self._resume, self._pace.first_pause)

    async def _resume(self) -> None:
        stored = await self._deliver.places()
        self.trouble = stored.get(TROUBLE, "")
        read = {place: ts for place, ts in stored.items() if place not in (TROUBLE, BEGAN)}
        began = stored.get(BEGAN, "")
        self.is_first = not began and not read
        if self.is_first:
            # Slack may still bring what was said a little earlier, and its clock is not ours.
            began = f"{time() - ON_ITS_WAY:.6f}"
            await self._deliver(places={BEGAN: began})
        self.places.recall(read, began)

    async def keep_trouble(self, trouble: str) -> None:
        """Stores what `rejoinder doctor` says about this app while it runs."""
        if trouble != self.trouble:
            self.trouble = trouble
            with suppress(StoreUnavailable):  # the store logs it itself
                await self._deliver(places={TROUBLE: trouble})

    async def take(self, envelopes: list[Envelope]) -> list[dict[str, Any] | None]:
        """Returns how to acknowledge each; None: not at all, because it is not stored."""
        heard = [self.read(envelope.type, envelope.payload) for envelope in envelopes]
        crashpoint("K2")
        stored = await self.store(in_order([*self._owed, *(each for each in heard if each is not None)]))
        self._owed = [] if stored else self._to_store_first(heard)
        if stored:
            return [{} for _ in envelopes]
        return [
            {} if said is None else {"response_type": "ephemeral", "text": BUSY} if said.entry == "native" else None
            for said in heard
        ]

    def _to_store_first(self, heard: Iterable[Inbound | None]) -> list[Inbound]:
        """Messages that must be stored before newer ones, to keep the order. Commands and presses are not among them:
        their sender is told, and repeats them."""
        again = [each for each in heard if each is not None and each.entry not in ("native", "button")]
        return self.places.fresh([*self._owed, *again])[:MOST_OWED]

    def read(self, kind: str, payload: dict[str, Any]) -> Inbound | None:
        """Never raises: it skips anything that is not as Slack documents it."""
        try:
            match kind:
                case "events_api":
                    return self._event(read(payload, Event))
                case "slash_commands":
                    return parse.command(read(payload, Command), self._me, datetime.now(UTC))
                case "interactive":
                    return parse.pressed(read(payload, Pressed), self._me, datetime.now(UTC))
                case _:
                    return None
        except (msgspec.ValidationError, RecursionError) as problem:
            log.warning("%s: Slack sent something that it does not document (%s); it is skipped", kind, problem)
            return None

    def _event(self, given: Event) -> Inbound | None:
        self.came += 1
        bots = [each.user_id for each in given.authorizations if each.is_bot]
        if bots and self._me.id not in bots:
            self._tell_of_others()
            return None
        if given.event.get("type") == STARTED:
            self._started(read(given.event, Assistant))
            return None
        return parse.event(given.event, self._me)

    def _tell_of_others(self) -> None:
        if not self._told_of_others:
            self._told_of_others = True
            log.error("%s: %s", self._me.channel, OTHERS)

    async def store(self, messages: Iterable[Inbound], *, is_history: bool = False) -> bool:
        """Returns whether they are durable. `is_history`: they are all messages since their place was last read, and
        Slack is not waiting for an acknowledgement (CH-5)."""
        given = list(messages)
        fresh = self.places.fresh(given)
        if not fresh and not (is_history and self.places.moved_by(given, is_history=True)):
            return True
        began = monotonic()
        named = await self._complete(fresh)
        moved = self.places.moved_by(given if is_history else named, is_history=is_history)
        left = max(SHORTEST, self._pace.acknowledge - (monotonic() - began))
        try:
            await self._deliver(*named, places=moved, within=None if is_history else left)
        except (NotStored, StoreUnavailable) as problem:
            log.debug("%s", problem)  # the store logs it once itself
            self.places.missed(named)
            return False
        self.places.stored(named, moved)
        for message in named:
            self._noted(message)
        return True
