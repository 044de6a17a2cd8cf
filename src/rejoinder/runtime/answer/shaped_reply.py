"""Applies what an agent says about the shape of its own reply (`outbound/reply_shape.py` decides), and notes each
result."""

from rejoinder.channels.base import RetitlesThreads
from rejoinder.events import NewThread
from rejoinder.outbound.directives.declaration import Declaration
from rejoinder.outbound.directives.effects import ShapeReply
from rejoinder.outbound.plan import AnswerWording
from rejoinder.outbound.reply_shape import (
    AnsweredMessage,
    ReplyAbilities,
    ReplyTarget,
    aimed,
    initial_shape,
    opened_thread,
    reply_target,
    shaped,
    wording_of,
)
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.action_log import ActionLog
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.outbox.conversations import Conversation


class ShapedReply:
    def __init__(self, conversation: Conversation, context: AnswerContext, log: ActionLog) -> None:
        self._conversation = conversation
        self._context = context
        self._log = log
        self._answered = AnsweredMessage(
            id=context.trigger,
            is_message=context.is_message,
            direct=context.direct,
            among_bots=context.other_bot or bool(context.peers),
            person=context.person,
            opens=context.opens,
            reply_context=context.reply_context,
        )
        self.shape = initial_shape(self._answered, self._abilities())

    def _abilities(self) -> ReplyAbilities:
        channel, settings, speech = self._conversation.channel, self._conversation.settings, self._context.speech
        delivery = settings.delivery
        return ReplyAbilities(
            can=settings.can,
            mode=delivery.reply_direct if self._context.direct else delivery.reply_group,
            replies_are_threads=delivery.replies_are_threads,
            private_needs_interaction=settings.private_needs_interaction,
            retitles_threads=can(channel, RetitlesThreads),
            title_length=channel.limits.title,
            speaks=speech is not None and speech.mode != "off",
        )

    def wording(self) -> AnswerWording:
        return wording_of(self.shape, self._answered, self._context.agent, self._context.addressed)

    @property
    def opens(self) -> NewThread | None:
        return opened_thread(self.shape, self._answered)

    async def find(self, reference: str) -> str | None:
        """The message of this conversation that the agent means."""
        if reference == "current":
            return self._context.trigger if self._context.is_message else None
        return await self._conversation.find(reference)

    async def aim(self, reference: str) -> None:
        # At once, because a draft may open meanwhile.
        self.shape = aimed(self.shape, ReplyTarget(), self._abilities())
        found = await self.find(reference) if reference != "none" else None
        out_of_thread = found is not None and await self._is_out_of_thread(found)
        target = reply_target(reference, found, out_of_thread=out_of_thread)
        self.shape = aimed(self.shape, target, self._abilities())
        what = f"reply_to {reference}"
        if target.result == "denied":
            await self._log.deny(what, target.why, "reply_to")
        elif target.result == "unsupported":
            await self._log.fail(what, "unsupported", target.why)
        elif target.result == "done":
            self._log.outcomes.note(what, "done")

    async def _is_out_of_thread(self, message: str) -> bool:
        """Whether the message is in another thread, on a platform whose replies stay in one (CH-21)."""
        here = self._conversation
        if here.route.thread is None or here.settings.replies_across_threads:
            return False
        return message == here.route.thread or await here.messages.look_up(message) is None

    def apply(self, effect: ShapeReply, name: str, declared: Declaration) -> None:
        """Sets how the message looks, if the platform supports it."""
        outcome = shaped(self.shape, effect, declared.ability, self._answered, self._abilities())
        self.shape = outcome.shape
        if outcome.has_effect:
            self._log.outcomes.note(name, "done")
        else:
            self._log.no_effect(name, outcome.why)
