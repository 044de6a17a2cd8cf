"""Shows people that a run is at work: the typing sign and the status reactions.

Both are state machines of the floors; their timers run here, and their calls are made here. A typing sign is dropped
while the previous one or a message is still being sent, because it would appear after that message. It is also dropped
just after something was shown, which may have been the last message. `typing_calls` handles signs that are already on
their way when a message is to be sent. Reactions have a queue of their own and delay nothing.
"""

import asyncio
import logging
from collections import deque
from typing import Final

from rejoinder.alarms import Alarm, call_later
from rejoinder.channels.base import CanReact, CanStopTyping, CanType
from rejoinder.errors import LeaseLost
from rejoinder.events import Route
from rejoinder.outbound import typing
from rejoinder.rendering.emoji import project
from rejoinder.runtime.abilities import can
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.tasks import Tasks
from rejoinder.session import TypingMode
from rejoinder.turns import status

log = logging.getLogger(__name__)

JUST_SHOWN: Final = 2.0
"""Seconds for which people need no further typing sign."""


class TypingSign:
    """Shown from the beginning of the run to its last delivery (TU-24). Its scope is a `with` block, so it cannot get
    stuck."""

    def __init__(
        self,
        tasks: Tasks,
        conversation: Conversation,
        mode: TypingMode,
        settings: typing.TypingSettings,
        author: str = "",
    ) -> None:
        self._tasks = tasks
        self._author = author
        self._conversation = conversation
        self._channel = conversation.channel if can(conversation.channel, CanType) else None
        self._typing = typing.Typing("never" if self._channel is None else mode, settings)
        self._alarm: Alarm | None = None
        self._call: asyncio.Task[None] | None = None

    def __enter__(self) -> "TypingSign":
        self.seen("run")
        return self

    def __exit__(self, *_: object) -> None:
        if self._typing.mode == "never":
            return
        self._feed(typing.Closed())
        if self._alarm is not None:
            self._alarm.cancel()
        if self._call is not None and can(self._channel, CanStopTyping):
            self._tasks.start("typing", self._stop(self._channel, self._call))

    def seen(self, sign: typing.Sign) -> None:
        if self._typing.mode != "never":
            self._feed(typing.SignOfLife(sign))

    def _feed(self, event: typing.Event) -> None:
        self._typing, actions = typing.step(self._typing, event)
        for action in actions:
            match action:
                case typing.WakeAfter(ms=ms):
                    self._alarm = call_later(ms / 1000, self._wake)
                case typing.Show():
                    self._show()

    def _wake(self) -> None:
        self._feed(typing.Woke())

    def _show(self) -> None:
        sender = self._conversation.sender
        free = (self._call is None or self._call.done()) and not sender.is_speaking
        free = free and sender.typing_calls.is_quiet(JUST_SHOWN)
        if self._channel is not None and free and sender.pace.has_room("typing"):
            self._call = self._tasks.start("typing", self._tell(self._channel))
            sender.typing_calls.add(self._call)

    async def _tell(self, channel: CanType) -> None:
        self._conversation.sender.check()
        await guarded(channel.typing(self._conversation.route, author=self._author))

    async def _stop(self, channel: CanStopTyping, last: "asyncio.Task[None]") -> None:
        await asyncio.wait([last])  # a sign that is still on its way would stay
        self._conversation.sender.check()
        await guarded(channel.stop_typing(self._conversation.route))


class StatusSigns:
    """The reactions that show on a message what is happening to it (TU-25)."""

    def __init__(
        self,
        tasks: Tasks,
        conversation: Conversation,
        message: str,
        settings: status.StatusSettings,
        author: str = "",
        at: Route | None = None,
    ) -> None:
        """`at`: where the message is, if not in the conversation in which it is answered."""
        self._at = at or conversation.route
        self._tasks = tasks
        self._author = author
        self._conversation = conversation
        self._message = message
        self._channel = conversation.channel if can(conversation.channel, CanReact) else None
        self._status = status.Status(settings)
        self._calls: deque[status.Add | status.RemoveReaction] = deque()

    def became(self, state: status.State) -> None:
        self._feed(status.StateChanged(state))

    def ended(self, *, ok: bool) -> None:
        self._feed(status.Ended(ok))

    def _feed(self, event: status.Event) -> None:
        self._status, actions = status.step(self._status, event)
        for action in actions:
            match action:
                case status.WakeAfter(ms=ms, timer=timer, number=number):
                    asyncio.get_running_loop().call_later(ms / 1000, self._feed, status.Woke(timer, number))
                case status.Add() | status.RemoveReaction():
                    self._calls.append(action)
                    if len(self._calls) == 1 and self._channel is not None:
                        self._tasks.start("status", self._show(self._channel))

    async def _show(self, channel: CanReact) -> None:
        """Makes one call after the other, because a new reaction has to be there before the old one is removed."""
        while self._calls:
            call = self._calls[0]
            sign = project(call.emoji, self._conversation.settings.delivery.reactions).value
            try:
                if sign is not None:
                    self._conversation.sender.check()
                    removes = isinstance(call, status.RemoveReaction)
                    await guarded(channel.react(self._at, self._message, sign, remove=removes, author=self._author))
            except LeaseLost:
                raise
            except Exception:  # a channel may be third-party code; the signs after it are shown anyway
                log.exception("%s failed while showing a reaction", self._conversation.channel.name)
            finally:
                self._calls.popleft()
