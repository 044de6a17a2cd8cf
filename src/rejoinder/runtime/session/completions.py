"""Asks one agent outside any chat: it takes a whole conversation and returns the words that people would see.

Nothing is stored: the caller keeps the conversation. Directives are parsed but not carried out.
"""

import asyncio
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
    CanRecall,
    Exchange,
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
from rejoinder.outbound.silence import SilenceMode
from rejoinder.runtime.abilities import can
from rejoinder.runtime.session.fairness import Fairness, slices

EARLIER = "The conversation so far:\n\n{said}\n\nAnswer what comes now:\n\n"


CONTINUED = "(Go on.)"
"""Takes the place of a missing question: models only accept alternating questions and answers."""
CUT = "\n\n(The answer was cut here: it is longer than {most:,} characters.)"
CRASHED = "The agent failed and could not answer."


class CompletionMessage(Struct, frozen=True):
    """One message of the conversation that the caller passes in."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[PromptImage, ...] = ()


async def complete(
    agent: Agent,
    lines: tuple[CompletionMessage, ...],
    silence: SilenceMode = "edges",
    directives: Registry | None = None,
    most: int = MAX_ANSWER_CHARS,
) -> AsyncGenerator[str | Usage | Failed]:
    """Yields the visible text in pieces, up to `most` characters; `Failed`, if it comes, comes last."""
    fairness, left = Fairness(), most
    session = f"completion:{secrets.token_hex(8)}"
    reader = ReplyReader(registry=directives, silence=silence)
    run = agent.run(_told(agent, session, lines))
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
                            if fairness.end():
                                await asyncio.sleep(0)
                            if left < 0:
                                yield CUT.format(most=most)
                                return
                    case SegmentEnded() | ToolStarted():
                        for piece in _visible(reader.next_segment()):
                            yield piece
                    case Usage() | Failed():
                        yield event
                    case Question(id=id) if can(agent, CanAnswer):
                        await agent.answer(id, None)  # there is nobody to ask
                    case _:
                        pass
            for piece in _visible(reader.finish()):
                yield piece
    finally:
        if can(agent, CanForget):
            agent.forget(session)


async def completed(agent: Agent, line: CompletionMessage) -> str | Failed:
    """The whole answer to one line."""
    words: list[str] = []
    async with aclosing(complete(agent, (line,))) as pieces:
        async for piece in pieces:
            if isinstance(piece, Failed):
                return piece
            if isinstance(piece, str):
                words.append(piece)
    return "".join(words).strip()


def _told(agent: Agent, session: str, lines: tuple[CompletionMessage, ...]) -> Turn:
    if not can(agent, CanRecall):
        return turn_of(session, lines)
    agent.recall(session, past_of(lines))
    return turn_of(session, lines, is_recalled=True)


def past_of(lines: tuple[CompletionMessage, ...]) -> tuple[Exchange, ...]:
    """The earlier conversation, in the form in which an agent that keeps conversations itself remembers it."""
    past: list[Exchange] = []
    for line in _split(lines)[0]:
        if line.role == "user":
            past.append(Exchange(_parts(line)))
        elif past and not past[-1].answer:
            past[-1] = Exchange(past[-1].parts, line.text)
        else:  # an answer without a question, or to one that is already answered
            past.append(Exchange((PromptText(CONTINUED),), line.text))
    return tuple(past)


def turn_of(session: str, lines: tuple[CompletionMessage, ...], *, is_recalled: bool = False) -> Turn:
    """The user's last words are the question. Unless the agent recalls the earlier conversation, the turn includes it
    in words."""
    before, question = _split(lines)
    system = "\n\n".join(line.text for line in lines if line.role == "system")
    said = "" if is_recalled else "\n\n".join(f"{line.role}: {line.text}" for line in before)
    parts = tuple(part for line in question for part in _parts(line))
    if said:
        text = parts[0].text if isinstance(parts[0], PromptText) else ""
        parts = (PromptText(EARLIER.format(said=said) + text), *parts[1 if text else 0 :])
    return Turn(session, parts, system=system)


def _split(lines: tuple[CompletionMessage, ...]) -> tuple[list[CompletionMessage], list[CompletionMessage]]:
    """Splits off the question: everything the user said since the last answer."""
    spoken = [line for line in lines if line.role != "system"]
    answered = max((number for number, line in enumerate(spoken) if line.role == "assistant"), default=-1)
    return spoken[: answered + 1], spoken[answered + 1 :]


def _parts(line: CompletionMessage) -> tuple[PromptPart, ...]:
    return (PromptText(line.text), *line.images) if line.text or not line.images else line.images


async def _generator(run: AsyncIterator[AgentEvent]) -> AsyncGenerator[AgentEvent]:
    """A generator that closes the agent's run when it is closed, whatever kind of iterator the agent returns."""
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
