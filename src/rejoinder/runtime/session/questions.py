"""What agents ask people: requests for permission, shown in the chat and answered there (TU-34).

Rule 1: a question belongs to the chat and the people whose message the agent was working on. Answers from others do not
        count, and the reply to them does not reveal whether there is such a question.
Rule 2: every question is settled once: by its people, by the session's own policy, by a timeout, or with its run.
Rule 3: a question that is no longer open loses its buttons and says what became of it.
"""

import asyncio
from collections.abc import Callable
from hashlib import blake2b

from msgspec import Struct

from rejoinder.agents.base import Agent, CanAnswer
from rejoinder.events import Question, Route
from rejoinder.inbound.facts import OpenQuestion
from rejoinder.runtime.abilities import can
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.services import Services
from rejoinder.turns.question import ALLOWED, DENIED, OUTCOMES, buttons, how_to_answer, meant

UNKNOWN = "There is no request {which} for you here; it may have been answered or have run out."
WITHDRAWN, TOO_LATE = "No longer asked: the run is over.", "Denied: nobody answered in time."
RESTARTED = "No longer asked: the gateway was started again."


class PendingQuestion(Struct, frozen=True):
    """An open question. `session`: that of the run; `people`: those who may answer; `close`: takes the text that says
    what became of it, and the message whose button was pressed, if one was."""

    session: str
    agent: Agent
    question: Question
    route: Route
    people: frozenset[str]
    timer: asyncio.TimerHandle
    close: Callable[[str, str], None]


class Questions:
    def __init__(self, services: Services) -> None:
        self._runs = services.runs
        self._tenure = services.tenure
        self._settings = services.settings
        self._open: dict[str, PendingQuestion] = {}
        self._count = 0
        # Specific to this claim, so that a button from before a restart cannot answer a new question.
        self._mark = blake2b(str(services.tenure.lease.generation).encode(), digest_size=2).hexdigest()

    def ask(
        self,
        session: str,
        question: Question,
        agent: Agent,
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
        self._count += 1
        which = f"q{self._count}-{self._mark}"
        timer = asyncio.get_running_loop().call_later(self._settings.now.question_seconds, self._time_is_up, which)
        # The agent's words are shown unchanged: they are what the user allows.
        close = conversation.offer(f"{question.text}\n\n{how_to_answer(question, which)}", buttons(question, which))
        self._open[which] = PendingQuestion(session, agent, question, conversation.route, people, timer, close)

    def answer(self, which: str, words: str, route: Route, sender: str, pressed: str = "") -> str | None:
        """Takes a person's answer; returns a sentence to reply with, if there is something to say.

        `pressed`: the message whose button was pressed.
        """
        asked = self._open.get(which)
        if asked is None or asked.route != route or sender not in asked.people:
            return UNKNOWN.format(which=which)
        said = words.strip().casefold()
        option = meant(asked.question, said)
        if option is None and said not in OUTCOMES:
            return f"Request {which} has no option {words}.\n\n{how_to_answer(asked.question, which)}"
        if option is None:
            self._close(which, OUTCOMES[said], pressed)
            self._tell(asked.agent, asked.question.id, None if said == DENIED else said)
            return None
        self._close(which, f"Answered: {option.called}.", pressed)
        self._tell(asked.agent, asked.question.id, option.id)
        return f"Request {which}: {option.called}."

    def waiting_for(self, sender: str, route: Route) -> OpenQuestion | None:
        """The question that this person may answer here, if there is exactly one."""
        if not self._open:
            return None
        theirs = [which for which, each in self._open.items() if each.route == route and sender in each.people]
        if len(theirs) != 1:
            return None
        options = self._open[theirs[0]].question.offered
        return OpenQuestion(
            theirs[0],
            tuple([option.called.casefold() for option in options]),
            permission=not options or any(option.grants for option in options),
        )

    def withdraw(self, session: str) -> None:
        """The run that asked is over, so its questions no longer need an answer."""
        if not self._open:
            return
        for which, asked in list(self._open.items()):
            if asked.session == session:
                self._close(which, WITHDRAWN)

    def _time_is_up(self, which: str) -> None:
        asked = self._close(which, TOO_LATE)
        self._tell(asked.agent, asked.question.id, None)

    def _close(self, which: str, outcome: str, pressed: str = "") -> PendingQuestion:
        asked = self._open.pop(which)
        asked.timer.cancel()
        asked.close(f"{asked.question.text}\n\n{outcome}", pressed)
        return asked

    def _tell(self, agent: Agent, question: str, option: str | None) -> None:
        if can(agent, CanAnswer) and self._tenure.holds:
            self._runs.start(f"answer:{question}", agent.answer(question, option))
