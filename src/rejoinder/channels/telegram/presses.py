"""Answers to pressed buttons: a text for this person only is shown in a window over the chat (CH-10)."""

import logging
from datetime import datetime, timedelta

from msgspec.structs import replace

from rejoinder.channels.base import Delivered, Outcome
from rejoinder.channels.telegram.api import Api
from rejoinder.channels.telegram.outcomes import Ok, Refused, failure
from rejoinder.events import Inbound, ReplyContext

log = logging.getLogger(__name__)

METHOD = "answerCallbackQuery"
SECONDS = 5.0
VALID = timedelta(minutes=10)
"""For how long we try to answer a press; Telegram does not say for how long it accepts an answer."""
LONGEST = 200


def answerable(heard: Inbound, query: str, now: datetime) -> Inbound:
    """In a group, the answer to a press is shown only to the person. In a direct chat it is an ordinary message."""
    if heard.chat.kind == "direct":
        return heard
    return replace(heard, reply_context=ReplyContext(query, now + VALID, private=True))


class Presses:
    def __init__(self, section: str, api: Api) -> None:
        self._section = section
        self._api = api

    async def notice(self, query: str) -> None:
        """Acknowledges a press; until then Telegram shows the button as busy."""
        await self._api.call(METHOD, {"callback_query_id": query}, SECONDS)

    async def say(self, query: str, text: str) -> Outcome:
        shown = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
        asked = {"callback_query_id": query, "text": shown, "show_alert": True}
        answer = await self._api.call(METHOD, asked, SECONDS)
        if isinstance(answer, Ok):
            return Delivered("")
        if isinstance(answer, Refused) and "query" in answer.description.lower():
            log.debug("%s: a press was not answered: %s", self._section, answer.description)
            return Delivered("")  # it is too late, or the press was answered before the process was killed
        return failure(answer)
