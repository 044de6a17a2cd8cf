"""Posts a turn as JSON and reads the events that stream back.

The turn is the Turn of events/turn.py, the events are those of base.py, each with its `type`. They come as JSON
lines or as server-sent events; a `text/plain` response is all text, an `application/json` response is a single
event or a list of them. An event of an unknown type is skipped.
"""

from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import msgspec
from msgspec import Struct

from rejoinder.agents.base import AgentEvent, Done, Failed, Question, RunLimits, TextDelta
from rejoinder.agents.endpoint import (
    CHECK_SECONDS,
    ERROR_BODY_BYTES,
    Endpoint,
    chunks,
    content_type,
    server_events,
    stopped_in_the_middle,
    whole_body,
)
from rejoinder.agents.failures import RunFailed, failed
from rejoinder.agents.guard import GuardedEvents
from rejoinder.agents.http import Settings
from rejoinder.agents.lines import Lines, LineTooLong
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.documents import is_array, is_object
from rejoinder.events import Turn
from rejoinder.posting import HttpResponse
from rejoinder.unicode_repair import from_json

EVENT_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in AgentEvent.__args__ if issubclass(kind, Struct))
_ANYTHING = msgspec.json.Decoder()


class HttpAgent:
    think_levels = LEVELS  # the level is sent to the service with each turn
    shows_thoughts = True
    sees_images = True

    def __init__(self, name: str, settings: Settings) -> None:
        self._asked: dict[str, tuple[str, ...]] = {}  # the options of each open question
        self.name = name
        self.models = (settings.model,) if settings.model else ()
        self.fallbacks = settings.fallbacks
        self.limits = RunLimits()
        self.takes_exec = ("host", "node") if settings.takes_exec else ()
        self._settings = settings
        self._endpoint = Endpoint(settings.url, {name: value.reveal() for name, value in settings.headers.items()})

    def take_limits(self, limits: RunLimits) -> None:
        self.limits = limits

    def run(self, turn: Turn) -> AsyncIterator[AgentEvent]:
        return GuardedEvents(self._events(turn), idle=self.limits.idle, hard=self.limits.hard)

    async def answer(self, question: str, option: str | None) -> None:
        """Posts an answer while the turn runs. If the server does not accept it, it waits on until its turn times
        out."""
        options = self._asked.pop(question, ())
        if option is not None and options and option not in options:
            option = options[0]  # permission was given, but not by one of its options
        with suppress(RunFailed):
            async with await self._endpoint.post("/answer", {"question": question, "option": option}):
                pass

    async def steer(self, turn: Turn) -> bool:
        """Posts a message while the turn runs; it counts as taken only if the server says so."""
        with suppress(RunFailed, msgspec.DecodeError):
            async with await self._endpoint.post("/steer", turn) as response:
                said = from_json(await whole_body(response, ERROR_BODY_BYTES), _ANYTHING)
                return is_object(said) and said.get("taken") is True
        return False

    async def check(self) -> str:
        """Checks only that a server answers: a real turn would tell more, but might cost something."""
        status, _ = await self._endpoint.look("", CHECK_SECONDS)
        return f"a server answers there (HTTP {status})"

    async def close(self) -> None:
        await self._endpoint.close()

    async def _events(self, turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        settings = self._settings
        body = msgspec.structs.replace(
            turn,
            system=turn.system or settings.system_prompt,
            model=turn.model or settings.model,
        )
        asked: list[str] = []
        try:
            async with await self._endpoint.post("", body) as response, aclosing(_read(response)) as events:
                async for event in events:
                    if isinstance(event, Question):
                        asked.append(event.id)
                        self._asked[event.id] = tuple([option.id for option in event.offered])
                    yield event
                    if isinstance(event, Done | Failed):
                        return
        finally:
            for question in asked:
                self._asked.pop(question, None)


async def _read(response: HttpResponse) -> AsyncGenerator[AgentEvent, None]:
    match content_type(response):
        case "text/plain":
            async with aclosing(_texts(response)) as texts:
                async for text in texts:
                    yield TextDelta(text)
            yield Done()
        case "application/json":
            for event in _whole(await whole_body(response)):
                yield event
            yield Done()
        case "text/event-stream":
            async with aclosing(server_events(response)) as told:
                async for server_event in told:
                    if event := _event(server_event.data):
                        yield event
            raise stopped_in_the_middle()
        case _:
            async with aclosing(_json_lines(response)) as lines:
                async for line in lines:
                    if event := _event(line):
                        yield event
            raise stopped_in_the_middle()


async def _texts(response: HttpResponse) -> AsyncGenerator[str, None]:
    """Pieces of text with whole characters, however the bytes were cut."""
    decoder = getincrementaldecoder("utf-8")("replace")
    async with aclosing(chunks(response)) as body:
        async for chunk in body:
            if text := decoder.decode(chunk):
                yield text
    if text := decoder.decode(b"", final=True):
        yield text


async def _json_lines(response: HttpResponse) -> AsyncGenerator[bytes, None]:
    lines = Lines()
    try:
        async with aclosing(chunks(response)) as body:
            async for chunk in body:
                for line in lines.feed(chunk):
                    if line.strip():
                        yield line
        for line in lines.feed(b"\n"):
            if line.strip():
                yield line
    except LineTooLong as problem:
        raise RunFailed(failed("format", f"the agent sent {problem}")) from problem


def _whole(body: bytes) -> list[AgentEvent]:
    document = _document(body)
    documents = document if is_array(document) else [document]
    return [event for one in documents if (event := _told(one, body))]


def _event(data: str | bytes) -> AgentEvent | None:
    return _told(_document(data), data)


def _document(data: str | bytes) -> Any:
    try:
        return from_json(data, _ANYTHING)
    except msgspec.DecodeError as problem:
        raise _no_event(data, problem) from problem


def _told(document: Any, data: str | bytes) -> AgentEvent | None:
    kind = document.get("type") if is_object(document) else None
    if isinstance(kind, str) and kind not in EVENT_TYPES:
        return None
    try:
        return msgspec.convert(document, AgentEvent)
    except msgspec.ValidationError as problem:
        raise _no_event(data, problem) from problem


def _no_event(data: str | bytes, problem: Exception) -> RunFailed:
    return RunFailed(failed("format", f"not an event ({problem}): {data[:200]!r}"))
