"""Shows the agent's thoughts as a message of their own before the answer, whole or as they come (IN-59)."""

from msgspec.structs import replace

from rejoinder.channels.base import CanDelete, CanEdit
from rejoinder.outbound import plan
from rejoinder.outbound.draft import Streaming
from rejoinder.outbound.plan import AnswerWording
from rejoinder.outbound.secret_filter import SecretFilter
from rejoinder.runtime.abilities import can
from rejoinder.runtime.answer.delivery import StreamedAnswer
from rejoinder.runtime.answer.drafting import Drafting, streaming_at
from rejoinder.runtime.outbox.delivery_results import hear, message_of
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.tasks import Tasks

PATIENCE = 5.0
"""Seconds that showing a thought may hold up the answer."""
SENDING = 30.0
"""Seconds for which the result of a sent thought is followed."""
SIGN = "💭 "
UNHEARD = AnswerWording(silent=True)


class Thoughts:
    """The thoughts of one run. `live`: whether they are shown as they come, streamed like an answer."""

    def __init__(self, run: Run, answer: StreamedAnswer, tasks: Tasks, *, live: bool) -> None:
        self._run = run
        self._answer = answer
        self._tasks = tasks
        self._live = live
        self._thought: _Thought | None = None

    def add(self, text: str) -> None:
        if self._thought is None:
            if not (text := text.lstrip()):
                return
            self._thought = _Thought(self._run, self._answer, self._streaming())
        self._thought.grow(text)

    async def end(self) -> None:
        """Completes the thought before the answer begins. If the run is stopped here, the task continues, so that
        nothing is left half written."""
        thought, self._thought = self._thought, None
        if thought is not None:
            settling = self._tasks.start(f"thought:{self._run.session}", thought.settle())
            await self._tasks.wait(settling, PATIENCE)

    def _streaming(self) -> Streaming:
        conversation = self._run.conversation
        delivery, other_bot = conversation.settings.delivery, conversation.messages.facts.other_bot
        if not self._live:
            return Streaming("off")
        wanted = delivery.streaming
        if wanted.mode == "blocks":  # a thought is a single message
            wanted = replace(wanted, mode="edits")
        return streaming_at(conversation.sender, wanted, delivery.options, other_bot=other_bot)


class _Thought:
    """One thought, in as many messages as its length needs."""

    def __init__(self, run: Run, answer: StreamedAnswer, streaming: Streaming) -> None:
        conversation = run.conversation
        self._run = run
        self._answer = answer
        self._options = conversation.settings.delivery.options
        self._stem = conversation.outbox.new_stem()
        self._secret_filter = SecretFilter()
        # Without the claim of the run, because after a crash a message opened with it would count as the beginning of
        # the answer.
        self._drafting = Drafting(conversation.sender, streaming, self._options, lambda: UNHEARD, self._stem, None)
        self._was_live = streaming.mode == "live"
        self._drafting.grow(SIGN)

    def grow(self, text: str) -> None:
        if seen := self._secret_filter.feed(text):
            self._drafting.grow(seen)

    async def settle(self) -> None:
        self._drafting.grow(self._secret_filter.finish(""))
        await self._drafting.close()
        draft, conversation = self._drafting.draft, self._run.conversation
        if not draft.slots and not self._run.may_speak():
            return
        channel = conversation.channel
        may_move = can(channel, CanDelete) or can(channel, CanEdit)
        planned = plan.settle(
            draft.text.rstrip(),
            self._drafting.slots(),
            conversation.route,
            self._options,
            UNHEARD,
            self._stem,
            live=self._was_live,
            may_move=may_move,
        )
        posted = conversation.sender.post(planned) if planned else ()
        await hear(posted, SENDING)
        shown = (*[slot.message for slot in draft.slots], *map(message_of, posted))
        self._answer.goes_with(dict.fromkeys(filter(None, shown)))
