"""What the kinds that call a model API themselves have in common: everything but the format of the API.

A model remembers nothing, so the agent keeps the conversation of each session and sends along what fits. It
runs no tools; tool calls that an endpoint runs by itself are shown. What it is steered with is asked at the end of the
running answer, as one more request of the same turn (TU-11).
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator
from contextlib import aclosing, suppress
from time import monotonic
from typing import Any, ClassVar, Protocol

import aiohttp
import msgspec
from msgspec import Raw, Struct, structs

from rejoinder.agents.base import (
    REMEMBERED,
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
from rejoinder.agents.further import Further
from rejoinder.agents.guard import guarded
from rejoinder.agents.history import Histories, fitting, tokens_of
from rejoinder.agents.profiles import Headers, ModelEndpoint, ModelEndpoints
from rejoinder.agents.settings import EndpointSettings
from rejoinder.agents.sse import EventReader, ServerEvent
from rejoinder.agents.think import LEVELS, Provider, Setting, Thinking
from rejoinder.bounded import Bounded
from rejoinder.events import PromptPart, PromptText, Turn
from rejoinder.secret import Secret
from rejoinder.unicode_repair import from_json

LAST_BYTES = 0.05
"""Seconds to wait for the end of a response whose answer is complete."""
NO_LIST = (404, 405)
NO_TOOLS = "the model asked for a tool, and this agent runs none"

TO_COMPACT = (
    "Summarise our conversation so far for yourself: it will replace the conversation. Keep names, facts, "
    "decisions, what was promised and what is still open. Write only the summary."
)
TO_KEEP = " Above all, follow these wishes about what to keep: "
LIST_SECONDS = 3.0
"""How long a person who chooses a model waits for the list of models."""
LISTED_FOR = 600.0
"""Seconds for which a list is good; an endpoint that gave none is asked again after a minute."""
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
    """What both APIs answer when asked for their models."""

    data: list[_Listed]


_MODELS = msgspec.json.Decoder(_Models)


class ModelAgent:
    provider: ClassVar[Provider]
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
        self._thinking = Thinking(self.provider, {**settings.think})
        self._histories = Histories(settings.history_tokens)
        self._heard: Bounded[str, str | None] = Bounded(REMEMBERED)  # the model that last took a question, by session
        self._endpoints = ModelEndpoints(settings, key, headers)
        self.profiles = self._endpoints.profiles
        self._further: dict[str, Further] = {}  # what is said into the running turn of each session
        self._listed: tuple[str, ...] = ()
        self._listed_until = 0.0

    def _known_as(self, model: str | None) -> str:
        """The endpoint's name for the model a turn asks for."""
        wanted, _ = self._endpoints.parted(model or self._model)
        return self.aliases.get(wanted, wanted)

    def _endpoint_of(self, model: str | None) -> ModelEndpoint:
        return self._endpoints.parted(model or self._model)[1]

    @abstractmethod
    def _content(self, parts: tuple[PromptPart, ...]) -> Any:
        """A question in the format of the API."""

    @abstractmethod
    def _request(self, turn: Turn, messages: list[Raw], thinking: Setting, options: Setting) -> dict[str, Any]: ...

    @abstractmethod
    def _reading(self, secret: str) -> AnswerReading: ...

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        past = self._histories.before(turn.session, turn.parts)
        return self._events(turn, past, self._reading_of(turn), Further())

    async def steer(self, turn: Turn) -> bool:
        """Returns once the running turn has taken it in, or has ended without."""
        further = self._further.get(turn.session)
        return further is not None and await further.offer(turn)

    def _reading_of(self, turn: Turn) -> AnswerReading:
        return self._reading(self._endpoint_of(turn.model).key)

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
            return "the endpoint answers, and has no list of models"
        if not 200 <= status < 300:
            raise endpoint.refusal(status, said, {})
        model = self._known_as(None)
        with suppress(msgspec.MsgspecError):
            known = {each.id for each in from_json(said, _MODELS).data}
            if model not in known:
                return f"the endpoint takes the key; {model} is not among the {len(known)} models it lists"
        return f"the endpoint takes the key and serves {model}"

    async def offered(self) -> tuple[str, ...]:
        """The models the endpoint lists; none if it does not say so at once."""
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
        self, turn: Turn, past: tuple[Exchange, ...], reading: AnswerReading, further: Further | None = None
    ) -> AsyncIterator[AgentEvent]:
        answer = self._answer(turn, past, reading) if further is None else self._steered(turn, past, reading, further)
        return guarded(answer, idle=self.limits.idle, hard=self.limits.hard)

    async def _steered(
        self, turn: Turn, past: tuple[Exchange, ...], reading: AnswerReading, further: Further
    ) -> AsyncGenerator[AgentEvent, None]:
        """The turn's request, and further ones for as long as messages are said into it."""
        self._further[turn.session] = further
        try:
            while True:
                done: Done | None = None
                async with aclosing(self._answer(turn, past, reading)) as events:
                    async for event in events:
                        if isinstance(event, Done):
                            done = event
                        else:
                            yield event
                taken = further.take() if done is not None else []
                if not taken:
                    break
                yield SegmentEnded()
                turn = structs.replace(turn, parts=tuple([part for said in taken for part in said.parts]))
                past, reading = self._histories.before(turn.session, turn.parts), self._reading_of(turn)
        finally:
            further.close()
            if self._further.get(turn.session) is further:
                del self._further[turn.session]
        if done is not None:
            yield done

    async def _answer(
        self, turn: Turn, past: tuple[Exchange, ...], reading: AnswerReading
    ) -> AsyncGenerator[AgentEvent, None]:
        model = self._known_as(turn.model)
        messages = self._histories.messages(turn.session, past, turn.parts, self._content)
        is_known = True
        try:
            async with await self._asked(turn, model, messages) as response:
                self._heard.renew(turn.session, turn.model)
                yield ModelSelected(model)
                kind = content_type(response)
                if kind == "text/html":
                    raise no_answer("it is a web page", await response.content.read(200))
                if kind == "application/json":
                    for event in reading.whole(await whole_body(response)):
                        yield event
                events = EventReader()
                while not reading.complete and (chunk := await response.content.read(CHUNK_BYTES)):
                    for event in together(_read(events.feed(chunk), reading)):
                        yield event
                    if len(chunk) == CHUNK_BYTES:
                        await asyncio.sleep(0)  # more is there already: the others get their turn first
                await _drained(response)
            for event in reading.finish():
                yield event
        except RunFailed as problem:
            # A question that is too long must not be remembered: it would make every following request too long.
            is_known = problem.failure.kind != "context_overflow" or bool(reading.answer)
            if problem.failure.kind == "context_overflow":
                self._heard.renew(turn.session, turn.model)
            raise
        finally:
            # Also after a cancellation: people have seen the answer so far, so the model has to know it.
            if is_known:
                self._histories.remember(turn.session, turn.parts, reading.answer)

    async def _asked(self, turn: Turn, model: str, messages: list[Raw]) -> PostedRequest:
        chosen = self._endpoint_of(turn.model)
        while True:
            thinking = self._thinking.setting(model, turn.think)
            try:
                return await chosen.endpoint.post(self._path, self._request(turn, messages, thinking, chosen.options))
            except RunFailed as problem:
                if not self._thinking.refused(model, turn.think, thinking, problem.failure):
                    raise


def _read(told: Iterable[ServerEvent], reading: AnswerReading) -> Iterator[AgentEvent]:
    for event in told:
        yield from reading.feed(event.data)
        if reading.complete:
            return


def together(events: Iterator[AgentEvent]) -> Iterator[AgentEvent]:
    """Joins text that came in one chunk into one piece: each piece costs the consumers time."""
    texts: list[str] = []
    try:
        for event in events:
            if isinstance(event, TextDelta):
                texts.append(event.text)
                continue
            if texts:
                yield TextDelta("".join(texts))
                texts.clear()
            yield event
    except RunFailed:
        if texts:
            yield TextDelta("".join(texts))
        raise
    if texts:
        yield TextDelta("".join(texts))


async def _drained(response: aiohttp.ClientResponse) -> None:
    """Reads the rest of a response whose answer is complete: otherwise the connection cannot be reused."""
    if not response.content.is_eof():
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_BYTES):
                while await response.content.readany():
                    pass


def end_of_answer(answer: str, tools: list[str], *, wanted: bool, done: Done) -> list[AgentEvent]:
    """Ends the open tool calls; if the model wants one run and has said nothing else, the answer is a failure."""
    ended: list[AgentEvent] = [ToolEnded(id, not wanted, NO_TOOLS if wanted else "") for id in tools]
    if wanted and tools and not answer.strip():
        return [*ended, failed("format", NO_TOOLS)]
    return [*ended, done]
