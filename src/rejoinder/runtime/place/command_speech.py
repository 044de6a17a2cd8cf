"""Speaks the words of a command before the command is decided (ME-2).

Speaking takes a while, and a decision locks its session. So the voice note is made in advance, and the decision plans
it in its own commit. If the process is killed meanwhile, the command is still undecided, and a finished note is found
under the key of its event.
"""

import asyncio
import logging

from rejoinder.errors import NotUnderstood
from rejoinder.events import Route
from rejoinder.outbound.plan import AnswerWording, PlannedOperation
from rejoinder.runtime.answer.speaking import Speech, voice_note
from rejoinder.runtime.outbox.conversations import Conversation
from rejoinder.runtime.services import Services
from rejoinder.store.base import said_about

log = logging.getLogger(__name__)

NO_WORDS = "There are no words to speak in that."
NO_VOICE = "There are no voice notes here."
STOPPED = "That is not spoken: you asked to stop."


class CommandSpeech:
    def __init__(self, services: Services) -> None:
        self._tasks = services.tasks
        self._under_way: dict[Route, asyncio.Task[None]] = {}
        self._made: dict[int, list[PlannedOperation] | str] = {}

    async def speak(self, event: int, text: str, speech: Speech | None, here: Conversation) -> None:
        if speech is None:
            self._made[event] = NO_VOICE
            return
        name = f"speak:{here.route.channel}:{here.route.chat}"
        task = self._under_way[here.route] = self._tasks.start(name, self._speak(event, text, speech, here))
        await self._tasks.wait(task)
        del self._under_way[here.route]

    def stop(self, route: Route) -> None:
        if (task := self._under_way.get(route)) is not None:
            task.cancel()

    def take(self, event: int) -> list[PlannedOperation] | str:
        """The message with the voice note, or the words to say instead."""
        return self._made.pop(event, STOPPED)

    async def _speak(self, event: int, text: str, speech: Speech, here: Conversation) -> None:
        try:
            made = await voice_note(text, speech, here, AnswerWording(), f"{said_about(event)}/speak")
        except NotUnderstood as why:
            log.warning("%s: a text was not spoken: %s", here.channel.name, why.detail or why)
            self._made[event] = f"That could not be spoken: {why}."
        else:
            self._made[event] = made or NO_WORDS
