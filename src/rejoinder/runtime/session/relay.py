"""Passes on the events of one run: text to the answer, signs of life to the run's timer, the rest to its observers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents.base import (
    FINAL_EVENTS,
    FREQUENT_EVENTS,
    MAX_ANSWER_CHARS,
    Agent,
    AgentEvent,
    Done,
    Failed,
    FileMade,
    ModelSelected,
    PlanChanged,
    Question,
    SegmentEnded,
    SessionOpened,
    TextDelta,
    Thought,
    ToolEnded,
    ToolRenamed,
    ToolStarted,
    Usage,
)
from rejoinder.events import Turn
from rejoinder.outbound.directives.effects import SendFile
from rejoinder.outbound.tools import AddLine, AddToLine, Display, ToolLines
from rejoinder.rendering.fence import fenced
from rejoinder.runtime.answer.answer_sink import AnswerSink
from rejoinder.runtime.session.attempts import Answers
from rejoinder.runtime.session.fairness import SLICE, Fairness, slices
from rejoinder.runtime.session.presence import TypingSign
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.thoughts import Thoughts
from rejoinder.turns.status import State, state_of_tool
from rejoinder.unicode_repair import StreamRepair, repair_text

log = logging.getLogger(__name__)

CRASHED = "{agent} failed and could not answer."
ENDLESS = "{agent} did not finish and was stopped."
LONGEST_OUTPUT = 500
LONGEST_TITLE = 1000
LONGEST_QUESTION = 3000
MOST_HEARD = 100_000_000
"""The most characters and events of one run; an agent that sends more would probably never end."""


class WorkVisibility(Struct, frozen=True):
    """How much of the agent's work people see (IN-59)."""

    tools: Display = "none"
    tool_output: bool = False
    thoughts: Thoughts | None = None
    """Shows its thoughts; None if they are not shown."""
    most: int = MAX_ANSWER_CHARS
    """How many characters of its text, and of its thoughts, are stored."""


Hears = Callable[[str], Awaitable[None] | None]


class Watcher(Struct, frozen=True):
    """An observer outside the gateway, which is told the title of each tool and the name of the model."""

    tool: Hears | None = None
    model: Hears | None = None


class RunCallbacks(Struct, frozen=True):
    """Called with events of a run that are not part of the answer."""

    asks: Callable[[Question], Awaitable[None]]
    opened: Callable[[SessionOpened], Awaitable[None]]
    watcher: Watcher = Watcher()


class Relay:
    def __init__(
        self,
        run: Run,
        agent: Agent,
        answer: AnswerSink,
        typing: TypingSign,
        callbacks: RunCallbacks,
        shows: WorkVisibility,
    ) -> None:
        self.usage = Usage()
        self.begun = False  # whether the agent has written something; the gateway's own notices do not count
        self._run = run
        self._agent = agent
        self._answer = answer
        self._typing = typing
        self._shows = shows
        self._callbacks = callbacks
        self._thoughts = shows.thoughts
        self._repair = StreamRepair()
        self._answers: Answers | None = None  # called before the first words are passed on
        self._tool_lines = ToolLines(shows.tools, group=run.inputs[-1].message.in_group)
        self._fairness = Fairness()
        self._heard = 0
        self._to_remember = self._to_think = shows.most  # how many more characters may be stored

    async def attempt(self, turn: Turn, answers: Answers) -> Failed | None:
        """One try at the turn; None if it was answered, or if the run may no longer speak."""
        self._answers = answers
        task = asyncio.current_task()
        try:
            events = self._agent.run(turn)
            try:
                return await self._pass_on(events)
            finally:
                if (close := getattr(events, "aclose", None)) is not None:
                    await close()  # ends the run on the agent's side now, not at garbage collection
        except BaseException as error:  # an agent may be foreign code, and must not end the gateway
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # this run itself was cancelled, not something the agent waited for
            if isinstance(error, GeneratorExit) and not _is_running(task):
                raise  # this run was closed before its end
            log.exception("%s failed in %s", self._agent.name, turn.session)
            return Failed("crashed", CRASHED.format(agent=self._agent.name), f"{type(error).__name__}: {error}")

    async def _pass_on(self, events: AsyncIterator[AgentEvent]) -> Failed | None:
        try:
            async for event in events:
                self._run.seen()
                if not self._run.may_speak():
                    return None
                if type(event) not in FREQUENT_EVENTS and isinstance(event, FINAL_EVENTS):
                    return event if isinstance(event, Failed) else None
                self._heard += 1
                if self._heard > MOST_HEARD:
                    return self._stop_endless()
                self._fairness.begin()
                await self._take(event)
                if self._fairness.end():
                    await asyncio.sleep(0)
        finally:
            if self._tool_lines.name is not None:
                self._end_tools()
            if self._thoughts is not None:
                await self._thoughts.end()
        return None

    async def _take(self, event: AgentEvent) -> None:
        match event:
            case TextDelta(text=piece):
                await self._take_text(piece)
            case ModelSelected(model=model):
                self._run.transcript.model = model
                await tell(self._callbacks.watcher.model, model)
            case Thought(text=text):
                self._typing.seen("thought")
                self._became(State.THINKING)
                self._heard += len(text)
                if self._thoughts is not None and self._to_think > 0:
                    await self._think(self._thoughts, text[: self._to_think])
            case ToolRenamed(id=id, title=title):
                await self._rename_tool(id, repair_text(title[:LONGEST_TITLE]))
            case ToolStarted(id=id, title=title, kind=kind):
                title = repair_text(title[:LONGEST_TITLE])
                self._typing.seen("tool")
                self._became(state_of_tool(f"{kind} {title}"))
                await tell(self._callbacks.watcher.tool, title)
                await self._show_tool(id, title, kind)
            case ToolEnded(output=output):
                self._became(State.THINKING)
                if self._shows.tool_output and (shown := output[: 2 * LONGEST_OUTPUT].strip()):
                    self._end_tools()
                    await self._answer.add_line(fenced(repair_text(shown[:LONGEST_OUTPUT])))
            case SegmentEnded():
                await self._answer.next_segment()
            case FileMade():
                await self._take_file(event)
            case Usage():
                self.usage = _added(self.usage, event)
            case SessionOpened():
                await self._callbacks.opened(event)
            case Question(text=text):
                self._run.waits_for_person()
                if len(text) > LONGEST_QUESTION:
                    event = replace(event, text=f"{text[:LONGEST_QUESTION]}…")
                await self._callbacks.asks(event)
            case PlanChanged() | Done() | Failed():
                pass  # plans are not shown; `_pass_on` handles the end

    async def _take_text(self, piece: str) -> None:
        if len(piece) <= SLICE:
            return await self._say(piece)
        for part in slices(piece):
            if not self._run.may_speak() or self._heard > MOST_HEARD:
                return
            self._fairness.begin()
            await self._say(part)
            if self._fairness.end():
                await asyncio.sleep(0)

    async def _take_file(self, event: FileMade) -> None:
        self._heard += len(event.content)
        if self._answers is not None:
            answers, self._answers = self._answers, None
            self.begun = True
            await answers()
        request = SendFile(event.path or event.name, event.caption, event.kind)
        await self._answer.send_file(request, event.content or None)

    async def _think(self, thoughts: Thoughts, text: str) -> None:
        self._to_think -= len(text)
        for part in slices(text):
            self._fairness.begin()
            thoughts.add(repair_text(part))
            if self._fairness.end():
                await asyncio.sleep(0)

    async def _say(self, piece: str) -> None:
        self._heard += len(piece)
        if not (text := self._repair.feed(piece)):
            return
        if self._thoughts is not None:
            await self._thoughts.end()
        if self._tool_lines.name is not None:
            self._end_tools()
        self._became(State.THINKING)
        if self._to_remember > 0:
            self._run.transcript.said.append(text[: self._to_remember])
            self._to_remember -= len(text)
        if self._answers is not None and not text.isspace():
            answers, self._answers = self._answers, None
            self.begun = True
            await answers()
        await self._answer.feed(text)
        if self._answer.begun:
            self._typing.seen("text")

    def _stop_endless(self) -> Failed:
        log.warning("%s was stopped: more than %s characters and events", self._agent.name, f"{MOST_HEARD:,}")
        return Failed("other", ENDLESS.format(agent=self._agent.name), "the run wrote more than the limit")

    async def _rename_tool(self, id: str, title: str) -> None:
        """Shown text only grows, so a better title is added after the first one if no other text has followed."""
        await tell(self._callbacks.watcher.tool, title)
        await self._show(self._tool_lines.rename(id, title))

    async def _show_tool(self, id: str, title: str, kind: str) -> None:
        """Shows one line for each tool; equal tools in a row share a line with a count (DE-23)."""
        if self._shows.tools == "none":
            return await self._answer.next_segment()
        await self._show(self._tool_lines.start(id, title, kind))

    async def _show(self, lines: Iterable[AddLine | AddToLine]) -> None:
        for line in lines:
            if isinstance(line, AddLine):
                await self._answer.add_line(line.text)
            else:
                self._answer.add_to_line(line.text)

    def _end_tools(self) -> None:
        for line in self._tool_lines.end():
            self._answer.add_to_line(line.text)

    def _became(self, state: State) -> None:
        for asked in self._run.inputs:
            if asked.signs is not None:
                asked.signs.became(state)


def _is_running(task: "asyncio.Task[object] | None") -> bool:
    try:
        return asyncio.current_task() is task
    except RuntimeError:  # no event loop is running
        return False


def _added(known: Usage, told: Usage) -> Usage:
    """Some agents report cost and context size in separate events, so a zero does not overwrite a known number."""
    return Usage(
        told.input_tokens or known.input_tokens,
        told.output_tokens or known.output_tokens,
        told.context_tokens or known.context_tokens,
    )


async def tell(who: Hears | None, what: str) -> None:
    """Calls an observer's function, which may be async or not."""
    if who is not None and (waiting := who(what)) is not None:
        await waiting
