"""Carries out what the agent asks for besides its text: checks that the agent may do it here, does it, and reports the
outcome.

Rule 1: a directive reaches only messages of this conversation, and does only what is granted (OD-52).
Rule 2: an action starts when its tag closes, and goes through the outbox like any message (OD-50).
Rule 3: no failure here fails a delivery or becomes a message in the chat (OD-51).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from typing import assert_never

from msgspec.structs import replace

from rejoinder.channels.base import CanReact
from rejoinder.errors import NotUnderstood
from rejoinder.events import Directive, Route, Step
from rejoinder.outbound import plan
from rejoinder.outbound.directives import send_file
from rejoinder.outbound.directives.declaration import Declaration, Given
from rejoinder.outbound.directives.effects import (
    AddReaction,
    Effect,
    HandOff,
    ReplyTo,
    SendFile,
    SendText,
    ShapeReply,
    Spawn,
    Speak,
)
from rejoinder.outbound.echo import is_echo
from rejoinder.outbound.operations import React, keyed
from rejoinder.outbound.plan import AnswerWording, PlannedOperation
from rejoinder.outbound.redact import redact
from rejoinder.rendering.emoji import project
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.action_log import TOO_MANY, ActionLog
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.answer.directive_effects import effect_of
from rejoinder.runtime.answer.file_requests import FileRequests
from rejoinder.runtime.answer.handoffs import Handoffs, HandOver
from rejoinder.runtime.answer.shaped_reply import ShapedReply
from rejoinder.runtime.answer.speaking import voice_note
from rejoinder.runtime.answer.unposted import Start
from rejoinder.runtime.foreign_calls import ForeignError, guarded
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.outbox.part_keys import action_stem
from rejoinder.store.base import RunClaim

log = logging.getLogger(__name__)

FILES = send_file.DIRECTIVE.name
NOT_GRANTED = "it is not granted here"
ACTING = 10.0
"""Seconds that another package's directive may take; the rest of the answer is not shown until then."""

Act = Callable[[Given], Awaitable[None]]
CatchUp = Callable[[], Awaitable[None]]


class DirectiveRunner:
    """`reply`, `files` and `handoffs` carry out the directives of their kind, and this class all others."""

    def __init__(
        self,
        conversation: Conversation,
        context: AnswerContext,
        stem: str,
        run: RunClaim | None,
        hand_over: HandOver | None,
        start: Start | None = None,
    ) -> None:
        self.asked = False
        """Whether the agent asked for anything besides the shape of the reply."""
        self.log = ActionLog(conversation, context.trigger, stem, run)
        self.reply = ShapedReply(conversation, context, self.log)
        self.files = FileRequests(conversation, context, self.log, self.reply)
        self.handoffs = Handoffs(conversation, context, self.log, self.reply, hand_over)
        self._conversation = conversation
        self._context = context
        self._start = start
        self._spawned: dict[str, int] = {}

    async def obey(self, directive: Directive, *, catch_up: CatchUp | None = None, words_wait: bool = False) -> str:
        """Returns text that should have been spoken and has to be written instead; usually there is none.

        `catch_up`: shows the text before the directive, so that a voice note appears below it (ME-3); None if there is
        no such text. `words_wait`: that text is sent only at the end, so a voice note has to wait for it."""
        name, known = directive.name, self._context.directives
        declared = known.named[name]
        self.asked = self.asked or not declared.shapes_reply
        if declared.granted and name not in self._context.granted:
            await self.files.flush()
            await self.log.deny(name, NOT_GRANTED)
            return _speech_of(directive, declared)
        if declared.granted and is_echo(directive, self._context.texts, known):
            await self.files.flush()
            await self.log.deny(name, "a message of this turn contains it, so it is an echo")
            return ""
        try:
            effect = None if declared.effect is None else effect_of(directive, declared.effect)
        except ForeignError as error:
            await self.files.flush()
            await self.log.fail(name, "failed", str(error))
            return ""
        if isinstance(effect, Speak) and catch_up is not None:
            await catch_up()
        if not isinstance(effect, SendFile):  # files that follow each other share a message
            await self.files.flush()
        if declared.act is not None:
            await self._act(directive, declared, declared.act)
        elif effect is None:
            self.log.no_effect(name)
        elif isinstance(effect, Speak):
            return await self._speak(effect.text, name, words_wait=words_wait)
        else:
            await self._carry_out(effect, name, declared)
        return ""

    async def use(self, directive: Directive) -> Step:
        """Like `obey`, for a tool that waits for the result."""
        mark = self.log.mark
        await self.obey(directive)
        return await self.log.since(mark, directive.name, ACTING)

    async def take_file(self, request: SendFile, content: bytes | None) -> None:
        """Sends a file that the agent gave besides its text, with the same authority as the directive."""
        self.asked = True
        if FILES not in self._context.granted:
            return await self.log.deny(FILES, NOT_GRANTED)
        await self.files.send(request, FILES, content)

    async def _carry_out(self, effect: Effect, name: str, declared: Declaration) -> None:
        match effect:
            case ReplyTo():
                await self.reply.aim(effect.message)
            case AddReaction():
                await self._react(effect)
            case SendText():
                await self._send_text(effect, name)
            case SendFile():
                await self.files.send(effect, name)
            case HandOff():
                await self.handoffs.request(effect.to, redact(effect.words))
            case Spawn():
                await self._spawn(effect, name)
            case Speak():
                await self._speak(effect.text, name)
            case ShapeReply():
                self.reply.apply(effect, name, declared)
            case _:  # other packages choose among these; a directive they add is an `act`
                assert_never(effect)

    async def _act(self, directive: Directive, declared: Declaration, act: Act) -> None:
        """Runs another package's directive. Its failure does not fail the answer (OD-51)."""
        name, context = directive.name, self._context
        said = blake2b(repr((directive.args, directive.body)).encode("utf-8", "replace"), digest_size=8).hexdigest()
        key = f"{action_stem(self.log.stem)}/{name}/{said}"
        if key in self.log:
            return
        if self.log.is_full():
            return await self.log.deny(name, TOO_MANY)
        self.log.add(key)
        if declared.ability is not None and declared.ability not in self._conversation.settings.can:
            return await self.log.fail(name, "unsupported", f"{self._conversation.channel.name} cannot do it")
        given = Given(directive.args, directive.body, self._conversation.route, context.trigger, context.agent, key)
        limit = asyncio.timeout(ACTING)
        try:
            async with limit:
                await guarded(act(given))
        except Exception as error:  # third-party code may raise anything
            log.debug("%s failed", name, exc_info=error)
            late = f"it took longer than {ACTING:.0f} s" if limit.expired() else ""
            await self.log.fail(name, "failed", late or str(error) or type(error).__name__)
        else:
            self.log.outcomes.note(name, "done")

    async def _speak(self, text: str, name: str, *, words_wait: bool = False) -> str:
        """Puts a voice note in its place among the messages of the answer, or its text if the note cannot be made
        (ME-3)."""
        speech, here = self._context.speech, self._conversation
        if speech is None or "voice" not in here.settings.can:
            await self.log.fail(name, "unsupported", "no text-to-speech is set up")
            return text
        if self.log.is_full():
            await self.log.deny(name, TOO_MANY)
            return text
        wording = replace(self.reply.wording(), reply_to=None)
        try:
            planned = await voice_note(text, speech, here, wording, action_stem(self.log.stem))
        except NotUnderstood as why:
            log.warning("%s: an answer was not spoken: %s", here.channel.name, why.detail or why)
            await self.log.fail(name, "failed", str(why))
            return text
        if not planned:
            return text
        if words_wait:
            self.log.put_off(name, planned)
        else:
            await self.log.post(name, name, planned, here.sender)
        return ""

    async def _react(self, effect: AddReaction) -> None:
        conversation, emoji, reference = self._conversation, effect.emoji, effect.message
        target = await self.reply.find(reference)
        sign = project(emoji, conversation.settings.delivery.reactions)
        what = f"react {emoji}" + (f" on {reference}" if reference != "current" else "")
        if not can(conversation.channel, CanReact):
            self.log.outcomes.note(what, "unsupported", "this channel cannot show reactions")
            await self.log.warn(f"react was left out: {conversation.channel.name} cannot show reactions")
        elif target is None:
            await self.log.deny(what, f"there is no message {reference!r} in this chat", "react")
        elif sign.value is None:
            why = sign.note or f"there is no emoji {emoji!r}"
            self.log.outcomes.note(what, "failed", why)
            await self.log.warn(f"react failed: {why}")
        else:
            key, operation = keyed(
                React(target, sign.value, effect.remove, self._context.agent), action_stem(self.log.stem)
            )
            await self.log.post(what, "react", (PlannedOperation(key, operation),), conversation.sender)

    async def _send_text(self, effect: SendText, name: str) -> None:
        here = self._conversation.route
        route = Route(effect.channel or here.channel, effect.chat, effect.thread, here.account)
        what = f"{name} to {route.channel} {route.chat}"
        elsewhere = self._conversation.outbox.delivery(route.channel)
        if elsewhere is None:
            self.log.outcomes.note(what, "failed", f"there is no channel {route.channel!r}")
            return await self.log.warn(f"{name} failed: there is no channel {route.channel!r}")
        if (why := await self._context.out_of_reach(route, self._conversation)) is not None:
            return await self.log.deny(what, why, name)
        wording = AnswerWording(author=self._context.agent)
        said = plan.say(redact(effect.text), route, elsewhere.options, wording, action_stem(self.log.stem))
        await self.log.post(what, name, said, self._conversation.outbox.at(route))

    async def _spawn(self, effect: Spawn, name: str) -> None:
        """Starts the sub-agent at once, without waiting for the end of the answer. As with a hand-off, the key omits
        the words."""
        what = f"{name} {effect.agent}"
        if self.log.is_full():
            return await self.log.deny(what, TOO_MANY, name)
        number = self._spawned[effect.agent] = self._spawned.get(effect.agent, -1) + 1
        key = f"{self.log.stem}/spawn/{effect.agent}/{number}"
        self.log.add(key)
        why = "no session can start it" if self._start is None else await self._start(effect, key)
        if why is not None:
            return await self.log.deny(what, why, name)
        self.log.outcomes.note(what, "done")

    async def finish(self, seconds: float) -> None:
        """Waits for the actions under way, and notes their results."""
        await self.log.finish(seconds)
        self.handoffs.note()

    def call_off(self) -> None:
        """Cancels the actions that have not been planned yet."""
        self.files.call_off()
        self.log.call_off()


def _speech_of(directive: Directive, declared: Declaration) -> str:
    """The body of a `<voice>` that is not granted: it is delivered as text (OD-52)."""
    return directive.body or "" if declared.tag is not None and declared.tag.body_is_speech else ""
