"""The words of a sub-agent: read like any answer, posted nowhere (TU-36).

Its directives are taken out and not acted on, but for one that starts a further sub-agent.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from rejoinder.events import Directive, ReplyEvent, Step, Text
from rejoinder.outbound.directive_results import DirectiveResults
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.directives.effects import SendFile, Spawn
from rejoinder.outbound.reader import ReplyReader
from rejoinder.runtime.answer.directive_effects import effect_of
from rejoinder.runtime.foreign_calls import ForeignError

MOST_LINES = 200
NOT_ACTED_ON = "a sub-agent's directives are not acted on"

Start = Callable[[Spawn, str], Awaitable[str | None]]
"""Starts a sub-agent, once per key; returns why it did not."""


class UnpostedAnswer:
    """`stem`: the same in every attempt at the turn. `broke_off` is called when the run ends before its time."""

    def __init__(
        self,
        directives: Registry,
        start: Start | None,
        stem: str,
        broke_off: Callable[[], None],
        most: int,
    ) -> None:
        self.undelivered: str | None = None
        self.is_kept = False
        self.seen_at: float | None = None
        self.outcomes = DirectiveResults()
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        """What it does, beside its words."""
        self.failure = ""
        self._reader = ReplyReader(registry=directives, silence="alone", has_trigger=False)
        self._directives = directives
        self._start = start
        self._stem = stem
        self._broke_off = broke_off
        self._left = most
        self._said: list[str] = []
        self._started: dict[str, int] = {}

    @property
    def begun(self) -> bool:
        return bool(self._said) or bool(self._started)

    @property
    def is_silent(self) -> bool:
        return self._reader.silent or not self.begun

    @property
    def text(self) -> str:
        return "" if self._reader.silent else "".join(self._said).strip()

    async def use(self, directive: Directive) -> Step:
        return Step(directive.name, "denied", NOT_ACTED_ON)

    async def feed(self, piece: str) -> None:
        await self._obey(self._reader.feed(piece))

    async def next_segment(self) -> None:
        await self._obey(self._reader.next_segment())
        if self._said and not self._said[-1].endswith("\n\n"):
            self._said.append("\n\n")

    async def catch_up(self) -> None:
        """Nobody waits for its words."""

    async def add_line(self, line: str) -> None:
        await self.next_segment()
        self.lines.append(line)

    def add_to_line(self, more: str) -> None:
        if self.lines:
            self.lines[-1] += more

    async def send_file(self, request: SendFile, content: bytes | None) -> None:
        self.outcomes.note("send_file", "denied", NOT_ACTED_ON)

    def goes_with(self, messages: Iterable[str]) -> None:
        """Nothing was sent for it."""

    async def finish(self, footer: str = "") -> None:
        await self._obey(self._reader.finish())

    async def fail(self, sentence: str, detail: str) -> None:
        await self._obey(self._reader.finish())
        self.failure = sentence

    async def abandon(self) -> None:
        self._broke_off()

    async def _obey(self, events: list[ReplyEvent]) -> None:
        for event in events:
            if isinstance(event, Text) and self._left > 0:
                self._said.append(event.text[: self._left])
                self._left -= len(event.text)
            elif isinstance(event, Directive):
                await self._act(event)

    async def _act(self, directive: Directive) -> None:
        declared = self._directives.named[directive.name]
        try:
            effect = effect_of(directive, declared.effect) if declared.effect is not None else None
        except ForeignError as error:
            return self.outcomes.note(directive.name, "failed", str(error))
        if not isinstance(effect, Spawn):
            self.outcomes.note(directive.name, "denied", NOT_ACTED_ON)
        elif self._start is None:
            self.outcomes.note(f"spawn {effect.agent}", "denied", "it is not granted here")
        else:
            number = self._started[effect.agent] = self._started.get(effect.agent, -1) + 1
            why = await self._start(effect, f"{self._stem}/spawn/{effect.agent}/{number}")
            self.outcomes.note(f"spawn {effect.agent}", "done" if why is None else "denied", why or "")
