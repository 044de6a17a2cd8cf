"""Asks one agent outside any chat: a whole conversation comes in, the words people would see go out.

Nothing is stored: the caller keeps the conversation. Directives are parsed but not obeyed.
"""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from typing import Literal

from msgspec import Struct

from rejoinder.agents.base import (
    MAX_ANSWER_CHARS,
    Agent,
    AgentEvent,
    CanAnswer,
    CanForget,
    Failed,
    Question,
    SegmentEnded,
    TextDelta,
    ToolStarted,
    Usage,
)
from rejoinder.events import PromptImage, PromptPart, PromptText, ReplyEvent, Text, Turn
from rejoinder.outbound.directives.declaration import Registry
from rejoinder.outbound.reader import ReplyReader
from rejoinder.outbound.silence import Mode
from rejoinder.runtime.abilities import can
from rejoinder.runtime.session.fairness import Fairness, slices

EARLIER = "The conversation so far:\n\n{said}\n\nAnswer what comes now:\n\n"


CUT = "\n\n(The answer was cut here: it is longer than {most:,} characters.)"
CRASHED = "The agent failed and could not answer."


class Line(Struct, frozen=True):
    """One message of the conversation that the caller passes in."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[PromptImage, ...] = ()


async def complete(
    agent: Agent,
    lines: tuple[Line, ...],
    silence: Mode = "edges",
    directives: Registry | None = None,
    most: int = MAX_ANSWER_CHARS,
) -> AsyncGenerator[str | Usage | Failed]:
    """Yields the visible text in pieces, up to `most` characters; `Failed`, if it comes, comes last."""
    fairness, left = Fairness(), most
    session = f"completion:{secrets.token_hex(8)}"
    reader = ReplyReader(registry=directives, silence=silence)
    run = agent.run(turn_of(session, lines))
    try:
        async with aclosing(_generator(run)) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text):
                        for part in slices(text):
                            fairness.begin()
                            for piece in _visible(reader.feed(part)):
                                yield piece[: max(left, 0)]
                                left -= len(piece)
                            await fairness.end()
                            if left < 0:
                                yield CUT.format(most=most)
                                return
                    case SegmentEnded() | ToolStarted():
                        for piece in _visible(reader.next_segment()):
                            yield piece
                    case Usage() | Failed():
                        yield event
                    case Question(id=id) if can(agent, CanAnswer):
                        await agent.answer(id, None)  # there is no person to ask
                    case _:
                        pass
            for piece in _visible(reader.finish()):
                yield piece
    finally:
        if can(agent, CanForget):
            agent.forget(session)


def turn_of(session: str, lines: tuple[Line, ...]) -> Turn:
    """The last line of the user is the question; the lines before it are told as the conversation so far."""
    last = max(number for number, line in enumerate(lines) if line.role == "user")
    system = "\n\n".join(line.text for line in lines if line.role == "system")
    said = "\n\n".join(f"{line.role}: {line.text}" for line in lines[:last] if line.role != "system")
    text = (EARLIER.format(said=said) if said else "") + lines[last].text
    parts: tuple[PromptPart, ...] = (PromptText(text), *lines[last].images)
    return Turn(session, parts, system=system)


async def _generator(run: AsyncIterator[AgentEvent]) -> AsyncGenerator[AgentEvent]:
    """Closing it closes the run, whatever kind of iterator an agent returns."""
    try:
        async for event in run:
            yield event
    except (KeyboardInterrupt, SystemExit) as problem:  # an agent may be foreign code, and must not end the gateway
        yield Failed("crashed", CRASHED, f"{type(problem).__name__}: {problem}")
    finally:
        if (close := getattr(run, "aclose", None)) is not None:
            await close()


def _visible(events: Iterable[ReplyEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Text)]
