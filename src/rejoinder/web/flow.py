"""Shows the operator each message on its way, and the figures of each second."""

import asyncio
import statistics
import time
from collections import deque
from contextlib import suppress

from rejoinder.bounded import Bounded
from rejoinder.channels.web.sockets import BrowserConnection
from rejoinder.errors import StoreUnavailable
from rejoinder.events import (
    Inbound,
    JobTicked,
    MessageDecided,
    MessageReceived,
    ReplySent,
    ReplyStarted,
    Route,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from rejoinder.store.base import IN_FLIGHT
from rejoinder.web.console_frames import (
    FlowDecided,
    FlowReceived,
    FlowSent,
    FlowSession,
    FlowTick,
    FlowTurn,
    Gauges,
    ToConsole,
    encode,
)
from rejoinder.web.metrics import Metrics
from rejoinder.web.services import PageServices

LONGEST_EXCERPT = 200
REMEMBERED = 10_000
POINTS = 900
RECENT = 200
MINUTE = 60.0

Place = tuple[str, str, str | None]


class Flow:
    def __init__(self, services: PageServices, metrics: Metrics) -> None:
        self.recent: deque[str] = deque(maxlen=RECENT)
        """The latest frames, for a console that has just been opened."""
        self.points: deque[Gauges] = deque(maxlen=POINTS)
        self.watching: set[BrowserConnection] = set()
        self._services = services
        self._metrics = metrics
        self._came: Bounded[tuple[str, str], float] = Bounded(REMEMBERED)
        self._introduced: Bounded[tuple[str, str], None] = Bounded(REMEMBERED)
        self._waiting_since: Bounded[Place, float] = Bounded(
            REMEMBERED
        )  # places whose last message has had no reply yet
        self._first_words: deque[tuple[float, float]] = deque()
        self._answers: deque[tuple[float, float]] = deque()
        self._received = self._sent = 0

    # --- called by hooks ----------------------------------------------------------------------------

    async def received(self, happening: MessageReceived) -> None:
        message, now = happening.message, time.monotonic()
        self._received += 1
        self._metrics.received.labels(message.channel).inc()
        self._came[message.channel, message.message_id] = now
        if not message.sender.is_bot:
            self._waiting_since.renew((message.channel, message.chat.id, message.thread), now)
        self._introduce(message, _now())

    def _introduce(self, message: Inbound, at: int) -> None:
        self._introduced[message.channel, message.message_id] = None
        sender = message.sender.shown_name or message.sender.id
        text = _excerpt(message.summary)
        place = (message.channel, message.chat.id, message.message_id)
        self._show(FlowReceived(at, *place, sender, text, message.entry, message.thread))

    async def _look_up(self, route: Route, message: str) -> None:
        """Shows a message that came before this process began, with the words and the sender from the store."""
        if not message or (route.channel, message) in self._introduced:
            return
        with suppress(StoreUnavailable):
            for event in await self._services.store.events_of(message):
                if event.inbound.route == route:
                    return self._introduce(event.inbound, int(event.accepted.timestamp() * 1000))

    async def decided(self, happening: MessageDecided) -> None:
        message = happening.message
        if (message.channel, message.message_id) not in self._introduced:
            self._introduce(message, _now())
        self._metrics.decided.labels(message.channel, happening.outcome).inc()
        place = (message.channel, message.chat.id, message.message_id)
        self._show(FlowDecided(_now(), *place, happening.outcome, happening.stages, message.thread))

    async def started(self, happening: ReplyStarted) -> None:
        self._saw_words(happening.route)

    def _saw_words(self, route: Route) -> None:
        """Notes the first words after a message: those of a draft, or of an answer that came as a whole."""
        now = time.monotonic()
        if (since := self._waiting_since.pop((route.channel, route.chat, route.thread), None)) is not None:
            self._first_words.append((now, now - since))
            self._metrics.first_word.observe(now - since)

    async def sent(self, happening: ReplySent) -> None:
        route = happening.route
        self._sent += 1
        self._metrics.sent.labels(route.channel).inc()
        self._saw_words(route)
        text = _excerpt(happening.text)
        self._show(FlowSent(_now(), route.channel, route.chat, happening.message, text, happening.turn))

    async def turn_ended(self, happening: TurnEnded) -> None:
        route, now = happening.route, time.monotonic()
        came = self._came.get((route.channel, happening.message))
        took = None if came is None else now - came
        if took is not None and happening.outcome == "answered":
            self._answers.append((now, took))
            self._metrics.answered.observe(took)
        self._metrics.turns.labels(happening.agent, happening.outcome).inc()
        if happening.outcome == "cancelled" and route.channel == self._services.channel.name:
            await self._services.channel.was_stopped(happening.message, happening.agent)
        for message in (*happening.also, happening.message):
            await self._look_up(route, message)
        who = (happening.session, happening.agent, happening.outcome, happening.why)
        for message in happening.also:
            self._show(FlowTurn(_now(), route.channel, route.chat, message, *who, turn=happening.turn))
        self._show(FlowTurn(_now(), route.channel, route.chat, happening.message, *who, took, happening.turn))

    async def ticked(self, happening: JobTicked) -> None:
        self._show(FlowTick(_now(), happening.job, happening.agent, happening.session, happening.why))

    async def session_started(self, happening: SessionStarted) -> None:
        self._session(happening.session, happening.agent, happening.route, began=True)

    async def session_ended(self, happening: SessionEnded) -> None:
        self._session(happening.session, happening.agent, happening.route, began=False, why=happening.why)

    def _session(self, session: str, agent: str, route: Route, *, began: bool, why: str | None = None) -> None:
        self._show(FlowSession(_now(), session, agent, route.channel, route.chat, began, why))

    def _show(self, frame: ToConsole) -> None:
        text = encode(frame).decode()
        if not isinstance(frame, Gauges):
            self.recent.append(text)
        for connection in self.watching:
            connection.put(text)

    # --- each second --------------------------------------------------------------------------------

    async def measure(self) -> None:
        """Runs until it is cancelled, and makes one point of every chart a second."""
        while True:
            await asyncio.sleep(1)
            try:
                load = await self._services.store.workload()
            except StoreUnavailable:
                continue  # `/ready` reports this; the charts get a gap
            received, self._received = self._received, 0
            sent, self._sent = self._sent, 0
            first, answers = _lately(self._first_words), _lately(self._answers)
            point = Gauges(
                at=_now(),
                received=received,
                sent=sent,
                running=load.runs,
                waiting=load.waiting,
                outbox=sum(load.parts.get(state, 0) for state in IN_FLIGHT),
                dead=load.parts.get("dead", 0),
                unconfirmed=load.parts.get("unknown", 0) + load.parts.get("held", 0),
                sockets=len(self._services.channel.hub.connections),
                first_word_ms=_milliseconds(first, 0.5),
                answered_ms=_milliseconds(answers, 0.5),
                answered_p95_ms=_milliseconds(answers, 0.95),
            )
            self.points.append(point)
            self._show(point)


def _lately(samples: deque[tuple[float, float]]) -> list[float]:
    while samples and samples[0][0] < time.monotonic() - MINUTE:
        samples.popleft()
    return [took for _, took in samples]


def _milliseconds(samples: list[float], share: float) -> float | None:
    if not samples:
        return None
    if share == 0.5:
        return round(statistics.median(samples) * 1000, 1)
    return round(sorted(samples)[min(len(samples) - 1, int(len(samples) * share))] * 1000, 1)


def _excerpt(text: str) -> str:
    return text if len(text) <= LONGEST_EXCERPT else f"{text[: LONGEST_EXCERPT - 1]}…"


def _now() -> int:
    return time.time_ns() // 1_000_000
