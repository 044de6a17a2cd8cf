"""What an agent says about its own reply: what it answers, how it looks, who sees it."""

from msgspec.structs import replace

from rejoinder.channels.base import RetitlesThreads
from rejoinder.events import NewThread
from rejoinder.outbound import plan
from rejoinder.outbound.directives.declaration import Declaration
from rejoinder.outbound.directives.effects import ShapeReply
from rejoinder.outbound.plan import AnswerWording
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.action_log import ActionLog
from rejoinder.runtime.answer.context import AnswerContext
from rejoinder.runtime.outbox.conversations import Conversation


class ReplyShape:
    def __init__(self, conversation: Conversation, context: AnswerContext, log: ActionLog) -> None:
        delivery = conversation.settings.delivery
        configured = delivery.reply_direct if context.direct else delivery.reply_group
        among_bots = context.other_bot or bool(context.peers)
        mode = plan.reply_mode(configured, direct=context.direct, other_bot=among_bots)
        stays_plain = mode == "off" or context.opens is not None or not context.is_message
        self.as_voice = False
        """The agent wants this answer to be spoken."""
        self.silent = False
        self.only_for: str | None = None
        self._conversation = conversation
        self._context = context
        self._log = log
        self._target = None if stays_plain else context.trigger or None
        self._reply_all = mode == "all" or delivery.replies_are_threads
        self._previews = False
        self._title = ""

    def wording(self) -> AnswerWording:
        context = self._context
        return AnswerWording(
            reply_to=self._target,
            reply_all=self._reply_all,
            silent=self.silent,
            previews=self._previews,
            author=context.agent,
            addressed=context.addressed,
            only_for=self.only_for,
            answers=context.trigger,
            opens=self.opens,
            title=self._title,
            reply_context=context.reply_context,
        )

    @property
    def opens(self) -> NewThread | None:
        opens = self._context.opens
        return replace(opens, title=self._title) if opens is not None and self._title else opens

    async def find(self, reference: str) -> str | None:
        """The message of this conversation that the agent means."""
        if reference == "current":
            return self._context.trigger if self._context.is_message else None
        return await self._conversation.find(reference)

    async def aim(self, reference: str) -> None:
        """The agent's choice overrides the mode, even if it names an unknown message: then nothing is replied to."""
        what = f"reply_to {reference}"
        self._target, self._reply_all = None, self._conversation.settings.delivery.replies_are_threads
        if reference == "none":
            return
        target = await self.find(reference)
        if target is not None and await self._is_out_of_thread(target):
            why = f"{reference!r} is in the chat around this thread, and cannot be replied to from here"
            await self._log.fail(what, "unsupported", why)
        elif target is not None:
            self._target = target
            self._log.outcomes.note(what, "done")
        else:
            await self._log.deny(what, f"there is no message {reference!r} in this chat", "reply_to")

    async def _is_out_of_thread(self, message: str) -> bool:
        """Whether a platform whose replies stay in one thread has it elsewhere (CH-21)."""
        here = self._conversation
        if here.route.thread is None or here.settings.replies_across_threads:
            return False
        return message == here.route.thread or await here.messages.look_up(message) is None

    def shape(self, effect: ShapeReply, name: str, declared: Declaration) -> None:
        """How the message looks, where the platform supports that."""
        if effect.silent is not None:
            self.silent = effect.silent
        if effect.previews is not None:
            self._previews = effect.previews
        if effect.as_voice:
            if self._context.speech is None or self._context.speech.mode == "off":
                return self._log.no_effect(name, "spoken answers are off here")
            self.as_voice = True
        if effect.title is not None:
            return self._call_thread(effect.title, name)
        if effect.only_for_asker:
            if "ephemeral" in self._conversation.settings.can and not self._may_be_private:
                return self._log.no_effect(name, "it works only on answers to the platform's commands and buttons")
            if self._context.person and self._may_be_private:
                self.only_for = self._context.person
        if declared.ability in self._conversation.settings.can:
            self._log.outcomes.note(name, "done")
        else:
            self._log.no_effect(name)

    @property
    def _may_be_private(self) -> bool:
        reply_context, how = self._context.reply_context, self._conversation.settings
        has_way = not how.private_needs_interaction or (reply_context is not None and reply_context.private)
        return "ephemeral" in how.can and has_way

    def _call_thread(self, title: str, name: str) -> None:
        longest = self._conversation.channel.limits.title
        if self._context.opens is None and not can(self._conversation.channel, RetitlesThreads):
            return self._log.no_effect(name, "this answer opens no thread")
        self._title = " ".join(title.split())[:longest]
        self._log.outcomes.note(name, "done")
