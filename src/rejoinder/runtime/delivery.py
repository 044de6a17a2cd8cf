"""One agent's answer on its way to one conversation.

Rule 1: the reader decides what is text and what is a directive; nothing here looks into agent text.
Rule 2: a directive acts when it closes, in order with the text around it, and never fails the delivery.
Rule 3: only messages of this conversation can be replied to or reacted to (OD-52).
Rule 4: every answer ends in something: a message, an action, a stated silence, or one sentence of failure.
Rule 5: an answer that may not speak any more says nothing, whoever still feeds it (TU-20).
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

from rejoinder.channels.base import CanDelete, CanReact, CanStream, Delivered
from rejoinder.events import Directive, Problem, ReplyEvent, Silent, Text
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Declaration
from rejoinder.outbound.emoji import project
from rejoinder.outbound.reader import ReplyReader
from rejoinder.runtime.abilities import can
from rejoinder.runtime.conversations import Conversation
from rejoinder.runtime.outcomes import Outcomes

log = logging.getLogger(__name__)

NO_RESPONSE = "_(no response)_"
MOST_ACTIONS = 20


class Answer:
    """Takes the agent's raw text piece by piece and makes the conversation show it."""

    def __init__(
        self,
        conversation: Conversation,
        agent: str,
        trigger: str,
        *,
        may_speak: Callable[[], bool] = lambda: True,
        says_when_empty: bool = True,
        silence: Literal["edges", "alone"] = "edges",
    ) -> None:
        self.outcomes = Outcomes()
        self._conversation = conversation
        self._channel = conversation.channel
        self._agent = agent
        self._trigger = trigger
        self._may_speak = may_speak
        self._says_when_empty = says_when_empty
        self._reader = ReplyReader(silence=silence, has_trigger=bool(trigger))
        self._shown: list[str] = []  # all that people may see, in the pieces in which it came
        self._has_words = False
        self._between_segments = False
        self._target: str | None = None
        self._notify = True
        self._live = self._channel if can(self._channel, CanStream) else None
        self._slot: str | None = None  # the message that is growing
        self._slot_target: str | None = None
        self._acted: set[tuple[str, str, bool]] = set()
        self._asked_to_act = False

    @property
    def begun(self) -> bool:
        """Something of it has been seen or done: to begin again would be to say it twice."""
        return self._has_words or self._asked_to_act

    async def feed(self, piece: str) -> None:
        if self._may_speak():
            await self._obey(self._reader.feed(piece))

    async def next_segment(self) -> None:
        if self._may_speak():
            await self._obey(self._reader.next_segment())
            self._between_segments = True

    async def add_line(self, line: str) -> None:
        """A line of the gateway's own, a paragraph by itself; no directive is looked for in it."""
        await self.next_segment()
        if self._may_speak():
            await self._show(line)
            self._between_segments = True

    async def finish(self, footer: str = "") -> None:
        """The agent is done: what is left goes out, and an answer without any content says so (OD-44)."""
        if not self._may_speak():
            return await self.abandon()
        await self._obey(self._reader.finish())
        if self._reader.silent:
            await self._conversation.note(f"{self._agent} chose to stay silent")
        elif self._has_words:
            if footer:
                self._between_segments = True
                await self._show(footer)
            await self._settle()
        elif not self._asked_to_act and self._says_when_empty:
            await self._conversation.send(NO_RESPONSE, reply_to=self._target)

    async def fail(self, sentence: str, detail: str) -> None:
        """What was shown stays; the person gets the sentence as a message of its own, the operator the rest."""
        await self.abandon()
        if self._may_speak():
            await self._conversation.send(sentence)
            if detail:
                await self._conversation.note(detail)

    async def abandon(self) -> None:
        """Ends the answer here: what was shown stays as it is, what was held back is never said."""
        if self._slot is not None and self._live is not None:
            slot, self._slot = self._slot, None
            await self._live.complete(self._conversation.route, slot)
            await self._conversation.completed(slot, "".join(self._shown))

    async def _obey(self, events: list[ReplyEvent]) -> None:
        for event in events:
            match event:
                case Text(text=text):
                    await self._show(text)
                case Directive(name=name, args=args):
                    await self._act(name, args)
                case Problem(code=code, level="debug", detail=detail):
                    log.debug("%s %s: %s: %s", self._channel.name, self._trigger, code, detail)
                case Problem(detail=detail):
                    await self._warn(detail)
                case Silent():
                    await self._withdraw()
                    await self.abandon()

    # --- the text -----------------------------------------------------------------------------------

    async def _show(self, text: str) -> None:
        if self._between_segments and self._has_words:
            text = text.lstrip("\n")
            if not text:
                return
            text = "\n" * (2 - _trailing_newlines(self._shown)) + text  # segments are paragraphs
        self._between_segments = False
        self._shown.append(text)
        self._has_words = self._has_words or not text.isspace()
        if self._live is None:
            return
        if self._slot is not None:
            await self._live.append(self._conversation.route, self._slot, text)
        elif self._has_words:
            await self._begin(self._live)

    async def _begin(self, live: CanStream) -> None:
        self._slot_target = self._target
        self._slot = await self._conversation.begin(
            live, "".join(self._shown), reply_to=self._target, silent=not self._notify
        )
        if self._slot is None:
            self._live = None  # it was refused: one more try when the text is whole, not one for each piece

    async def _settle(self) -> None:
        """Leaves one message with the whole text, as a reply to what was asked for last (OD-61)."""
        moved = self._slot_target != self._target and can(self._channel, CanDelete)
        if self._slot is None or moved:
            text = "".join(self._shown)
            if await self._conversation.send(text, reply_to=self._target, silent=not self._notify) is not None:
                await self._withdraw()
        await self.abandon()

    async def _withdraw(self) -> None:
        """Takes back what is shown, where that can be done."""
        if self._slot is not None and can(self._channel, CanDelete):
            outcome = await self._channel.delete(self._conversation.route, self._slot)
            if isinstance(outcome, Delivered):
                await self._conversation.taken_back(self._slot)
                self._slot = None

    # --- the directives -----------------------------------------------------------------------------

    async def _act(self, name: str, args: dict[str, Any]) -> None:
        declared = _declared(name)
        self._asked_to_act = self._asked_to_act or not declared.shapes_reply
        match name:
            case "reply_to":
                await self._aim(args["id"])
            case "silent":
                self._notify = not args["on"]
                self.outcomes.note(name, "done")
            case "react":
                await self._react(args["emoji"], args.get("message", "current"), remove=args.get("remove", False))
            case _ if declared.granted:
                await self._warn(f"{name} was denied: nothing grants it here")
                self.outcomes.note(name, "denied", "nothing grants it here")
            case _:
                self.outcomes.note(name, "unsupported", "it has no effect here")
                log.debug("%s %s: %s has no effect here", self._channel.name, self._trigger, name)

    async def _aim(self, reference: str) -> None:
        what = f"reply_to {reference}"
        if reference == "none":
            self._target = None
        elif (target := self._find(reference)) is not None:
            self._target = target
            self.outcomes.note(what, "done")
        else:
            why = f"there is no message {reference!r} in this chat"
            self.outcomes.note(what, "denied", why)
            await self._warn(f"reply_to was denied: {why}")

    async def _react(self, emoji: str, reference: str, *, remove: bool) -> None:
        target = self._find(reference)
        sign = project(emoji, "unicode")
        what = f"react {emoji}" + (f" on {reference}" if reference != "current" else "")
        if not can(self._channel, CanReact):
            self.outcomes.note(what, "unsupported", "this channel cannot show reactions")
            await self._warn(f"react was left out: {self._channel.name} cannot show reactions")
        elif target is None:
            self.outcomes.note(what, "denied", f"there is no message {reference!r} in this chat")
            await self._warn(f"react was denied: there is no message {reference!r} in this chat")
        elif sign.value is None:
            why = sign.note or f"there is no emoji {emoji!r}"
            self.outcomes.note(what, "failed", why)
            await self._warn(f"react failed: {why}")
        elif (key := (target, sign.value, remove)) in self._acted:
            return
        elif len(self._acted) == MOST_ACTIONS:
            self.outcomes.note(what, "denied", f"at most {MOST_ACTIONS} actions per answer")
            await self._warn(f"react was denied: at most {MOST_ACTIONS} actions per answer")
        else:
            self._acted.add(key)
            outcome = await self._channel.react(self._conversation.route, target, sign.value, remove=remove)
            if isinstance(outcome, Delivered):
                self.outcomes.note(what, "done")
            else:
                self.outcomes.note(what, "failed", outcome.reason)
                await self._warn(f"react failed: {outcome.reason}")

    def _find(self, reference: str) -> str | None:
        return self._trigger if reference == "current" else self._conversation.messages.find(reference)

    async def _warn(self, why: str) -> None:
        log.warning("%s %s: %s", self._channel.name, self._trigger, why)
        await self._conversation.note(why)


@cache
def _declared(name: str) -> Declaration:
    return next(declared for declared in default_registry().declarations if declared.name == name)


def _trailing_newlines(pieces: list[str]) -> int:
    """How many newlines the text ends in, counted up to two."""
    end = "".join(pieces[-2:])
    return 2 if end.endswith("\n\n") else 1 if end.endswith("\n") else 0
