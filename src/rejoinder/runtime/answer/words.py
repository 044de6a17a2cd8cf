"""What a run says its words to: an answer that is posted, or one that is only kept."""

from collections.abc import Iterable
from typing import Protocol

from rejoinder.events import Directive, Step
from rejoinder.outbound.directives.effects import SendFile
from rejoinder.runtime.answer.outcomes import Outcomes


class Words(Protocol):
    undelivered: str | None
    is_kept: bool

    @property
    def outcomes(self) -> Outcomes: ...

    @property
    def seen_at(self) -> float | None: ...

    @property
    def begun(self) -> bool: ...

    async def use(self, directive: Directive) -> Step:
        """Carries out what the agent asks for by a tool, and tells what came of it."""
        ...

    async def feed(self, piece: str) -> None: ...

    async def next_segment(self) -> None: ...

    async def catch_up(self) -> None: ...

    async def add_line(self, line: str) -> None: ...

    def add_to_line(self, more: str) -> None: ...

    async def send_file(self, request: SendFile, content: bytes | None) -> None:
        """A file that the agent gave beside its text: of its outbox folder, or with this content."""
        ...

    def goes_with(self, messages: Iterable[str]) -> None: ...

    async def finish(self, footer: str = "") -> None: ...

    async def fail(self, sentence: str, detail: str) -> None: ...

    async def abandon(self) -> None: ...
