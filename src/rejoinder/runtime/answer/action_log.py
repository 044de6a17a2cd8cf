"""The actions of one answer: equal ones happen once, there are at most twenty, and the result of each is noted.

Equal actions have equal keys, also after a restart, because a key is made of the turn and the action itself.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Literal

from rejoinder.events import Step
from rejoinder.outbound.directive_results import DirectiveResults
from rejoinder.outbound.plan import PlannedOperation
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.delivery_results import DeliveryResult, HandedOver, Sent, StillSending, Unsent
from rejoinder.runtime.outbox.sender import ConversationSender
from rejoinder.store.base import RunClaim

log = logging.getLogger(__name__)

MOST_ACTIONS = 20
TOO_MANY = f"at most {MOST_ACTIONS} actions per answer"
MOST_WARNINGS = 20
HANDED_OVER = "it is on its way; if it fails, you are told"


class ActionLog:
    """`stem`: the prefix of the keys of this answer."""

    def __init__(self, conversation: Conversation, trigger: str, stem: str, run: RunClaim | None) -> None:
        self.outcomes = DirectiveResults()
        self.stem = stem
        self.run = run
        self._conversation = conversation
        self._trigger = trigger
        self.behind: list[PlannedOperation] = []
        """Actions put off until the text of the answer is planned."""
        self._keys: set[str] = set()
        self._put_off: dict[str, str] = {}  # the name of each action, by key
        self._warnings = 0
        self._under_way: list[tuple[str, asyncio.Future[DeliveryResult]]] = []

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def add(self, key: str) -> None:
        self._keys.add(key)

    def is_full(self, waiting: int = 0) -> bool:
        """`waiting`: actions that are only counted at the end of the turn."""
        return len(self._keys) + waiting >= MOST_ACTIONS

    def follow(self, what: str, results: "Iterable[asyncio.Future[DeliveryResult]]") -> None:
        """Notes the results of an action when they are known, at the end of the answer."""
        self._under_way += ((what, result) for result in results)

    async def post(self, what: str, name: str, planned: Sequence[PlannedOperation], sender: ConversationSender) -> None:
        if all(each.key in self for each in planned):
            return
        if self.is_full():
            return await self.deny(what, TOO_MANY, name)
        self._keys.update(each.key for each in planned)
        self.follow(what, sender.post(planned, self.run))

    def put_off(self, what: str, planned: Sequence[PlannedOperation]) -> None:
        """Puts off actions that follow the text of the answer; they are planned in the same commit as the text."""
        self.behind += [each for each in planned if each.key not in self]
        self._put_off |= {each.key: what for each in planned if each.key not in self}
        self._keys.update(each.key for each in planned)

    def posted(self, planned: Sequence[PlannedOperation], results: "Sequence[asyncio.Future[DeliveryResult]]") -> None:
        """Follows the results of those planned actions that were put off."""
        for each, result in zip(planned, results, strict=True) if self._put_off else ():
            if (what := self._put_off.pop(each.key, None)) is not None:
                self.follow(what, (result,))

    @property
    def mark(self) -> tuple[int, int]:
        """The present length of the log, for `since`."""
        return len(self.outcomes.steps()), len(self._under_way)

    async def since(self, mark: tuple[int, int], name: str, seconds: float) -> Step:
        """The result of the actions requested after this mark."""
        noted, begun = mark
        if new := self.outcomes.steps()[noted:]:
            return new[-1]
        under_way = [result for _, result in self._under_way[begun:]]
        if under_way:
            await asyncio.wait(under_way, timeout=seconds)
        for result in under_way:
            match _result_of(result):
                case Unsent(error=error):
                    return Step(name, "failed", error)
                case StillSending():
                    return Step(name, "failed", "it is still on its way")
                case Sent() | HandedOver():
                    continue
        return Step(name, "done")

    async def finish(self, seconds: float) -> None:
        """Waits for the actions under way, and notes their results."""
        if not self._under_way:
            return
        if waiting := [result for _, result in self._under_way if not result.done()]:
            await asyncio.wait(waiting, timeout=seconds)
        for what, result in self._under_way:
            match _result_of(result):
                case Sent():
                    self.outcomes.note(what, "done")
                case HandedOver():
                    self.outcomes.note(what, "done", HANDED_OVER)
                case Unsent(error=error):
                    self.outcomes.note(what, "failed", error)
                    await self.warn(f"{what.partition(' ')[0]} failed: {error}")
                case StillSending():
                    self.outcomes.note(what, "failed", "it is still on its way")

    def call_off(self) -> None:
        """Cancels the actions that have not been planned yet."""
        for _, result in self._under_way:
            result.cancel()

    def no_effect(self, name: str, why: str = "") -> None:
        self.outcomes.note(name, "unsupported", why or "it has no effect here")
        where, because = self._conversation.channel.name, f": {why}" if why else ""
        log.warning("%s %s: %s has no effect here%s", where, self._trigger, name, because)

    async def fail(self, what: str, result: Literal["failed", "denied", "unsupported"], why: str) -> None:
        self.outcomes.note(what, result, why)
        await self.warn(f"{what}: {result}: {why}")

    async def deny(self, what: str, why: str, name: str | None = None) -> None:
        self.outcomes.note(what, "denied", why)
        await self.warn(f"{name or what} was denied: {why}")

    async def warn(self, why: str) -> None:
        """Logs the problems for the operator; of an answer with thousands, only the first ones."""
        self._warnings += 1
        if self._warnings > MOST_WARNINGS:
            return
        if self._warnings == MOST_WARNINGS:
            why = f"{why} (further problems of this answer are not logged)"
        log.warning("%s %s: %s", self._conversation.channel.name, self._trigger, why)
        await self._conversation.notify_operator(why)


def _result_of(result: "asyncio.Future[DeliveryResult]") -> DeliveryResult:
    return result.result() if result.done() and not result.cancelled() else StillSending()
