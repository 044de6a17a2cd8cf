"""What agents ask people: requests for permission, shown in the chat and answered there (TU-34).

Rule 1: a question belongs to the chat and the people whose message the agent was working on. Answers from others do not
        count, and the reply to them does not reveal whether there is such a question.
Rule 2: every question is settled once: by its people, by the session's own policy, by a timeout, or with its run.
Rule 3: a question that is no longer open loses its buttons and says what became of it.
Rule 4: a question is stored with the message that asks it, and its answer with the message that answers it. A turn that
        runs again and asks the same finds both (CH-10); a question it does not ask again ends with it.
"""

import asyncio
import base64
from collections.abc import Callable, Collection
from hashlib import blake2b
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.agents.base import CanAnswer
from rejoinder.events import Question, Route
from rejoinder.inbound.facts import OpenQuestion
from rejoinder.runtime.abilities import can
from rejoinder.runtime.entropy import random_bytes
from rejoinder.runtime.foreign_calls import guarded
from rejoinder.runtime.outbox.conversations import Conversation, Conversations
from rejoinder.runtime.outbox.offers import Close
from rejoinder.runtime.services import Services
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import AnswerAgent, AskHome, PutQuestion, RunClaim, StoredQuestion, Verb
from rejoinder.turns.question import ALLOWED, DENIED, OUTCOMES, buttons, chosen_option, how_to_answer

UNKNOWN = "There is no request {which} for you here; it may have been answered or have expired."
WITHDRAWN, TOO_LATE = "No longer valid: the run has ended.", "Denied: nobody answered in time."
RESTARTED = "No longer valid: the gateway was restarted."


class Asker(Protocol):
    """An agent, or something that asks on its behalf."""

    @property
    def name(self) -> str: ...


class WaitingRun(Struct, frozen=True):
    """A run that waits for the answer. `question`: the agent's own id of the question."""

    agent: Asker
    question: str
    timer: asyncio.TimerHandle
    close: Close


def _nothing() -> None:
    """The default: nothing is left to do."""


class AnswerResult(Struct, frozen=True):
    """The result of an answer: a sentence to reply with, verbs to write, and what to do once they are written."""

    says: str | None = None
    verbs: tuple[Verb[Any], ...] = ()
    then: Callable[[], None] = _nothing


class Questions:
    def __init__(self, services: Services, conversations: Conversations) -> None:
        self._tasks = services.tasks
        self._store = services.store
        self._clock = services.clock
        self._lease = services.lease
        self._settings = services.settings
        self._conversations = conversations
        self._kept: dict[str, StoredQuestion] = {}
        """The questions of turns that are not over, by their ids, without those that have expired."""
        self._waiting: dict[str, WaitingRun] = {}
        """The questions for which a run waits; the others were answered, or asked by a run that was interrupted."""
        self._asked: set[str] = set()
        """The questions that a run of this process has asked."""
        self._elsewhere: tuple[StoredQuestion, ...] = ()
        """Questions of sessions in other homes, which people may answer in a chat of this home (SC-15)."""

    # --- asking -------------------------------------------------------------------------------------

    async def ask(
        self,
        run: RunClaim,
        question: Question,
        agent: Asker,
        conversation: Conversation,
        people: frozenset[str],
        decided: bool | None,
    ) -> None:
        """`decided`: the answer, if it was given beforehand."""
        if decided is not None:
            self._tell(agent, question.id, ALLOWED if decided else None)
            return
        if not people:
            self._tell(agent, question.id, None)  # no person asked for this run, so none may answer
            return
        mark = _mark(agent.name, question)
        before = self._asked_before(run.turn, mark)
        if before is not None:
            self._asked.add(before.id)
            if before.state == "answered":
                self._tell(agent, question.id, before.answer)
                return
            which, close = before.id, await conversation.offered_before(before.id)
            if (answered := self._kept.get(which)) is None or answered.state == "answered":
                self._tell(agent, question.id, answered.answer if answered is not None else None)
                return  # answered or over while the message was looked up
        else:
            which = _new_id()
            kept = StoredQuestion(
                which,
                run.turn,
                run.session,
                mark,
                replace(question, id="", about=""),
                conversation.route,
                tuple(sorted(people)),
                self._clock(),
            )
            self._kept[which] = kept
            self._asked.add(which)
            # The agent's words are shown unchanged: they are what the user allows.
            text = f"{question.text}\n\n{how_to_answer(question, which)}"
            close = conversation.offer(text, buttons(question, which), which, WriteBatch(PutQuestion(kept)))
        timer = asyncio.get_running_loop().call_later(self._settings.now.question_seconds, self._time_is_up, which)
        self._waiting[which] = WaitingRun(agent, question.id, timer, close)

    def _asked_before(self, turn: int, mark: str) -> StoredQuestion | None:
        """The same question from an earlier run of this turn. Each earlier question is found only once, so a question
        that is asked twice is answered twice."""
        same = (kept for kept in self._kept.values() if kept.turn == turn and kept.mark == mark)
        return next((kept for kept in same if kept.id not in self._asked), None)

    # --- answering ----------------------------------------------------------------------------------

    def answer(self, which: str, words: str, route: Route, sender: str, pressed: str = "") -> AnswerResult:
        """Takes a person's answer. `pressed`: the message whose button was pressed."""
        kept = self._kept.get(which)
        if kept is None and (theirs := self._theirs(which, route, sender)) is not None:
            return AnswerResult(verbs=(AskHome(theirs.session, AnswerAgent(which, words, route, sender, pressed)),))
        if kept is None or kept.state != "open" or kept.route != route or sender not in kept.people:
            return AnswerResult(UNKNOWN.format(which=which))
        said = words.strip().casefold()
        option = chosen_option(kept.question, said)
        if option is not None:
            return self._settled(replace(kept, state="answered", answer=option.id), pressed, option.shown_label)
        if said not in OUTCOMES:
            return AnswerResult(f"Request {which} has no option {words}.\n\n{how_to_answer(kept.question, which)}")
        return self._settled(replace(kept, state="answered", answer=None if said == DENIED else said), pressed)

    def _settled(self, answered: StoredQuestion, pressed: str, called: str = "") -> AnswerResult:

        def then() -> None:
            known = self._kept.get(answered.id)
            if known is None or known.state != "open":
                return  # it expired, or its run ended, while this was written
            self._kept[answered.id] = answered
            waiting = self._close(answered, _outcome(answered), pressed)
            if waiting is not None:
                self._tell(waiting.agent, waiting.question, answered.answer)

        said = f"Request {answered.id}: {called}." if called else None
        return AnswerResult(said, (PutQuestion(answered),), then)

    def waiting_for(self, sender: str, route: Route) -> OpenQuestion | None:
        """The question that this person may answer here, if there is exactly one."""
        if not self._kept and not self._elsewhere:
            return None
        all = (*self._kept.values(), *self._elsewhere)
        open = [kept for kept in all if kept.state == "open" and kept.route == route]
        theirs = [kept for kept in open if sender in kept.people]
        if len(theirs) != 1:
            return None
        options = theirs[0].question.offered
        return OpenQuestion(
            theirs[0].id,
            tuple([option.shown_label.casefold() for option in options]),
            permission=not options or any(option.grants for option in options),
        )

    async def look_elsewhere(self) -> None:
        """Reads the questions of sessions in other homes; the owners of those say whether a question is still open."""
        self._elsewhere = await self._store.questions_elsewhere()

    def are_elsewhere(self, route: Route) -> bool:
        """Whether sessions of other homes had open questions here at the last look. They may end a question without
        saying anything here."""
        return any(kept.route == route for kept in self._elsewhere)

    def _theirs(self, which: str, route: Route, sender: str) -> StoredQuestion | None:
        shown = (kept for kept in self._elsewhere if kept.id == which and kept.route == route)
        return next((kept for kept in shown if sender in kept.people), None)

    # --- ending -------------------------------------------------------------------------------------

    def withdraw(self, turn: int, *, runs_again: bool) -> None:
        """The run that asked is over, so its questions no longer need an answer, unless its turn runs again."""
        for kept in [kept for kept in self._kept.values() if kept.turn == turn] if self._kept else ():
            if runs_again or not self._lease.holds:
                self._forget(kept.id)
            else:
                if kept.state == "open":
                    self._close(kept, WITHDRAWN)
                self._forget(kept.id)

    def _time_is_up(self, which: str) -> None:
        kept = self._kept[which]
        waiting = self._close(kept, TOO_LATE)
        self._forget(which)
        self._tasks.start(f"question:{which}", self._expire(kept))
        if waiting is not None:
            self._tell(waiting.agent, waiting.question, None)

    async def _expire(self, *kept: StoredQuestion) -> None:
        await WriteBatch(*[PutQuestion(replace(each, state="over")) for each in kept]).insist(self._store)

    def _close(self, kept: StoredQuestion, outcome: str, pressed: str = "") -> WaitingRun | None:
        """Removes the buttons; returns the run that waits for the answer, if there is one."""
        words, waiting = f"{kept.question.text}\n\n{outcome}", self._waiting.pop(kept.id, None)
        conversation = self._conversations.at(kept.route)
        if waiting is not None:
            waiting.timer.cancel()
        if waiting is not None and (conversation is None or not conversation.is_elsewhere):
            waiting.close(words, pressed)
        elif conversation is not None:  # only the store knows the message
            self._tasks.start(f"question:{kept.id}", _close_earlier(conversation, kept.id, words, pressed))
        return waiting

    def _forget(self, which: str) -> None:
        self._kept.pop(which, None)
        self._asked.discard(which)
        if (waiting := self._waiting.pop(which, None)) is not None:
            waiting.timer.cancel()

    # --- after a restart ------------------------------------------------------------------------------

    async def recall(self) -> None:
        """Reads the questions of earlier processes and their answers, before anything runs."""
        self._kept = {kept.id: kept for kept in await self._store.open_questions()}

    async def keep_of(self, turns: Collection[int]) -> dict[str, str | None]:
        """Only these turns run again: questions of other turns expire. Returns the outcomes of the remaining ones; None
        for those still open."""
        over = [kept for kept in self._kept.values() if kept.turn not in turns and kept.id not in self._asked]
        for kept in over:
            self._forget(kept.id)
        if over:
            await self._expire(*over)
        return {kept.id: None if kept.state == "open" else _outcome(kept) for kept in self._kept.values()}

    def _tell(self, agent: Asker, question: str, option: str | None) -> None:
        if can(agent, CanAnswer) and self._lease.holds:
            self._tasks.start(f"answer:{question}", guarded(agent.answer(question, option)))


async def _close_earlier(conversation: Conversation, which: str, words: str, pressed: str) -> None:
    (await conversation.offered_before(which))(words, pressed)


def _outcome(answered: StoredQuestion) -> str:
    """The outcome in words that everybody may see."""
    if answered.answer is None:
        return OUTCOMES[DENIED]
    option = chosen_option(answered.question, answered.answer.casefold())
    return OUTCOMES[answered.answer] if option is None else f"Answered: {option.shown_label}."


def _mark(agent: str, question: Question) -> str:
    content = (agent, question.text, question.about, *[(each.id, each.label, each.grants) for each in question.offered])
    return blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _new_id() -> str:
    """Short enough to be typed, and never used twice."""
    return f"q{base64.b32encode(random_bytes()[:5]).decode().lower()}"
