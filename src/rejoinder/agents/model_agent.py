"""The common part of the kinds that call a model API themselves: everything except the format of the API.

A model remembers nothing, so the agent keeps the conversation of each session and sends along what fits. It
runs no tools; tool calls that an endpoint runs by itself are shown. Messages that steer it are sent at the end of the
running answer, as one more request of the same turn (TU-11).
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import suppress
from time import monotonic
from typing import Any, ClassVar, Protocol

import aiohttp
import msgspec
from msgspec import Raw, Struct, structs

from rejoinder.agents.base import (
    MOST_REMEMBERED_SESSIONS,
    AgentEvent,
    Done,
    Exchange,
    Failed,
    ModelSelected,
    RunLimits,
    SegmentEnded,
    TextDelta,
    ToolEnded,
)
from rejoinder.agents.endpoint import CHECK_SECONDS, CHUNK_BYTES, PostedRequest, content_type, no_answer, whole_body
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.guard import GuardedEvents
from rejoinder.agents.history import Histories, fitting, tokens_of
from rejoinder.agents.profiles import Headers, ModelEndpoint, ModelEndpoints
from rejoinder.agents.settings import EndpointSettings
from rejoinder.agents.sse import ServerEvent, ServerEventReader
from rejoinder.agents.steering_offers import SteeringOffers
from rejoinder.agents.thinking_levels import LEVELS, Setting, ThinkingSupport, Ways
from rejoinder.alarms import call_later
from rejoinder.bounded import Bounded
from rejoinder.events import PromptPart, PromptText, Turn
from rejoinder.posting import HttpResponse
from rejoinder.secret import Secret
from rejoinder.unicode_repair import from_json

LAST_BYTES = 0.05
"""Seconds to wait for the end of a response whose answer is complete."""
NO_LIST = (404, 405)
NO_TOOLS = "the model asked for a tool, but this agent runs none"

TO_COMPACT = (
    "Summarise our conversation so far for yourself: it will replace the conversation. Keep names, facts, "
    "decisions, what was promised and what is still open. Write only the summary."
)
TO_KEEP = " Above all, follow these wishes about what to keep: "
LIST_SECONDS = 3.0
"""How long a person who chooses a model has to wait for the list of models."""
LISTED_FOR = 600.0
"""Seconds for which a list is valid; an endpoint that gave none is asked again after a minute."""
UNLISTED_FOR = 60.0
COMPACTED = "Summary of our conversation so far:\n\n"


class AnswerReading(Protocol):
    """One answer as it streams in: `feed` the data of each event, `finish` when the stream has ended."""

    complete: bool

    @property
    def answer(self) -> str: ...

    def feed(self, data: str) -> list[AgentEvent]: ...

    def whole(self, data: bytes) -> list[AgentEvent]:
        """The answer of an endpoint that does not stream."""
        ...

    def finish(self) -> list[AgentEvent]: ...


class _Listed(Struct, frozen=True):
    id: str


class _Models(Struct, frozen=True):
    """The list of models in the form that both APIs use."""

    data: list[_Listed]


_MODELS = msgspec.json.Decoder(_Models)


class ModelAgent:
    thinking: ClassVar[Ways]
    think_levels = LEVELS
    shows_thoughts = True
    _models_path = "/models"

    def __init__(self, name: str, settings: EndpointSettings, key: Secret | None, path: str, headers: Headers) -> None:
        self.name = name
        self.models = (settings.model, *settings.models)
        self.fallbacks = settings.fallbacks
        self.sees_images = settings.sees_images
        self.limits = RunLimits()
        self._model = settings.model
        self.aliases = settings.models
        self._path = path
        self._thinking = ThinkingSupport(self.thinking, {**settings.think})
        self._histories = Histories(settings.history_tokens)
        self._heard: Bounded[str, str | None] = Bounded(
            MOST_REMEMBERED_SESSIONS
        )  # the model that last took a question, by session
        self._endpoints = ModelEndpoints(settings, key, headers)
        self.profiles = self._endpoints.profiles
        self._offers: dict[str, SteeringOffers] = {}  # messages for the running turn of each session
        self._listed: tuple[str, ...] = ()
        self._listed_until = 0.0

    def take_limits(self, limits: RunLimits) -> None:
        self.limits = limits

    def _chosen(self, model: str | None) -> tuple[str, ModelEndpoint]:
        """The endpoint's name for the model a turn asks for, and the endpoint that has it."""
        wanted, endpoint = self._endpoints.parted(model or self._model)
        return self.aliases.get(wanted, wanted), endpoint

    @abstractmethod
    def _content(self, parts: tuple[PromptPart, ...]) -> Any:
        """A question in the format of the API."""

    @abstractmethod
    def _request(
        self, turn: Turn, model: str, messages: list[Raw], thinking: Setting, options: Setting
    ) -> dict[str, Any]: ...

    @abstractmethod
    def _reading(self, secret: str) -> AnswerReading: ...

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        past = self._histories.before(turn.session, turn.parts)
        return self._events(turn, past, self._reading_of(turn), SteeringOffers())

    async def steer(self, turn: Turn) -> bool:
        """Returns once the running turn has taken in the message, or has ended without it."""
        offers = self._offers.get(turn.session)
        return offers is not None and await offers.offer(turn)

    def _reading_of(self, turn: Turn) -> AnswerReading:
        return self._reading(self._chosen(turn.model)[1].key)

    def recall(self, session: str, past: tuple[Exchange, ...]) -> None:
        self._histories.recall(session, past)

    def remembered(self, session: str) -> tuple[Exchange, ...]:
        return self._histories.before(session, ())

    def forget(self, session: str) -> None:
        self._histories.forget(session)
        self._heard.pop(session, None)

    async def compact(self, session: str, instructions: str = "") -> Exchange | bool:
        """TU-23: replaces the conversation with a summary by the model that last heard it: the agent's default model
        may be down, or not the one that was chosen.

        If the conversation is too long for the model, its newest half is tried, and so on: a summary of a part is
        better than none.
        """
        past = self._histories.before(session, ())
        while past:
            said = await self._summary(session, past, TO_COMPACT + (TO_KEEP + instructions if instructions else ""))
            if isinstance(said, str):
                summary = Exchange((PromptText(COMPACTED + said),), "Understood.")
                self._histories.recall(session, (summary,))
                return summary
            if said.kind != "context_overflow":
                return False
            past = fitting(past[1:], sum(map(tokens_of, past)) // 2)
        return False

    async def _summary(self, session: str, past: tuple[Exchange, ...], asked: str) -> str | Failed:
        summary = Turn(f"{session} (compacting)", (PromptText(asked),), model=self._heard.get(session))
        reading = self._reading_of(summary)
        last = [event async for event in self._events(summary, past, reading)][-1]
        self.forget(summary.session)
        if isinstance(last, Failed):
            return last
        return reading.answer.strip() or failed("other", "the summary was empty")

    async def check(self) -> str:
        """Asks for the list of models, which costs nothing; an endpoint without one has still answered."""
        endpoint = self._endpoints.own.endpoint
        status, said = await endpoint.look(self._models_path, CHECK_SECONDS)
        if status in NO_LIST:
            return "the endpoint answers, but has no list of models"
        if not 200 <= status < 300:
            raise endpoint.refusal(status, said, {})
        model, _ = self._chosen(None)
        with suppress(msgspec.MsgspecError):
            known = {each.id for each in from_json(said, _MODELS).data}
            if model not in known:
                return f"the endpoint accepts the key; {model} is not among the {len(known)} models it lists"
        return f"the endpoint accepts the key and serves {model}"

    async def list_models(self) -> tuple[str, ...]:
        """The models the endpoint lists; empty if it does not answer at once."""
        if monotonic() < self._listed_until:
            return self._listed
        self._listed = ()
        with suppress(RunFailed, msgspec.MsgspecError):
            status, said = await self._endpoints.own.endpoint.look(self._models_path, LIST_SECONDS)
            if 200 <= status < 300:
                self._listed = tuple([each.id for each in from_json(said, _MODELS).data])
        self._listed_until = monotonic() + (LISTED_FOR if self._listed else UNLISTED_FOR)
        return self._listed

    async def close(self) -> None:
        await self._endpoints.close()

    def _events(
        self, turn: Turn, past: tuple[Exchange, ...], reading: AnswerReading, offers: SteeringOffers | None = None
    ) -> AsyncIterator[AgentEvent]:
        answer = self._answer(turn, past, reading, offers)
        return GuardedEvents(answer, idle=self.limits.idle, hard=self.limits.hard, ends_itself=True)

    async def _answer(
        self, turn: Turn, past: tuple[Exchange, ...], reading: AnswerReading, offers: SteeringOffers | None
    ) -> AsyncGenerator[AgentEvent, None]:
        """The turn's request, and further ones as long as messages come for the running turn."""
        if offers is not None:
            self._offers[turn.session] = offers
        model, endpoint = self._chosen(turn.model)
        try:
            while True:
                is_known = True
                try:
                    async with await self._asked(turn, past, model, endpoint) as response:
                        self._heard.renew(turn.session, turn.model)
                        yield ModelSelected(model)
                        if (kind := content_type(response)) == "text/html":
                            raise no_answer("it is a web page", await response.content.read(200))
                        if kind == "application/json":  # in one piece, not as a stream
                            for event in reading.whole(await whole_body(response)):
                                yield event
                        events = ServerEventReader()
                        while not reading.complete and (chunk := await response.content.read(CHUNK_BYTES)):
                            said, failure = together(events.feed(chunk), reading)
                            for event in said:
                                yield event
                            if failure is not None:
                                raise failure
                            if len(chunk) == CHUNK_BYTES:
                                await asyncio.sleep(0)  # more data is there already: other tasks run first
                        if not response.content.is_eof():
                            await _drain(response)
                    *ended, last = reading.finish()
                except RunFailed as problem:
                    # A question that is too long is not remembered: it would make every following request too long.
                    is_known = problem.failure.kind != "context_overflow" or bool(reading.answer)
                    if problem.failure.kind == "context_overflow":
                        self._heard.renew(turn.session, turn.model)
                    raise
                finally:
                    # Also after a cancellation: people have seen the answer so far, so the model has to know it.
                    if is_known:
                        self._histories.remember(turn.session, turn.parts, reading.answer)
                for event in ended:
                    yield event
                taken = offers.take() if offers is not None and isinstance(last, Done) else ()
                if not taken:
                    break
                yield SegmentEnded()
                turn = structs.replace(turn, parts=tuple([part for said in taken for part in said.parts]))
                past, reading = self._histories.before(turn.session, turn.parts), self._reading_of(turn)
        finally:
            if offers is not None:
                offers.close()
                if self._offers.get(turn.session) is offers:
                    del self._offers[turn.session]
        yield last

    async def _asked(self, turn: Turn, past: tuple[Exchange, ...], model: str, chosen: ModelEndpoint) -> PostedRequest:
        messages = self._histories.messages(turn.session, past, turn.parts, self._content)
        while True:
            thinking = self._thinking.setting(model, turn.think)
            try:
                request = self._request(turn, model, messages, thinking, chosen.options)
                return await chosen.endpoint.post(self._path, request)
            except RunFailed as problem:
                if not self._thinking.refused(model, turn.think, thinking, problem.failure):
                    raise


def together(told: Iterable[ServerEvent], reading: AnswerReading) -> tuple[list[AgentEvent], RunFailed | None]:
    """The events of one chunk, and the failure after them, if any. Adjacent texts are joined, since each piece costs
    the consumers time."""
    events: list[AgentEvent] = []
    texts: list[str] = []
    failure: RunFailed | None = None
    try:
        for server_event in told:
            for event in reading.feed(server_event.data):
                if isinstance(event, TextDelta):
                    texts.append(event.text)
                    continue
                if texts:
                    events.append(TextDelta("".join(texts)))
                    texts.clear()
                events.append(event)
            if reading.complete:
                break
    except RunFailed as problem:
        failure = problem
    if texts:
        events.append(TextDelta("".join(texts)))
    return events, failure


async def _drain(response: HttpResponse) -> None:
    """Reads the rest of a response whose answer is complete: otherwise the connection cannot be reused."""
    late = call_later(LAST_BYTES, response.close)
    try:
        with suppress(aiohttp.ClientError):
            while await response.content.readany():
                pass
    finally:
        late.cancel()


def end_of_answer(reading: AnswerReading, tools: list[str], *, wanted: bool, done: Done) -> list[AgentEvent]:
    """Ends the open tool calls; if the model wants one run and has said nothing else, the answer is a failure."""
    if not tools:
        return [done]
    ended: list[AgentEvent] = [ToolEnded(id, not wanted, NO_TOOLS if wanted else "") for id in tools]
    if wanted and not reading.answer.strip():
        return [*ended, failed("format", NO_TOOLS)]
    return [*ended, done]
