"""Asks Telegram until it answers, however long an outage lasts (DE-32).

Rule 1: a problem that only a person can fix stops the account, with a sentence that says how: a token that was never
        accepted, or a second program that reads the same bot.
Rule 2: everything else may pass: we ask again after growing pauses, with jitter, so that not all bots come back at
        once. This includes a token that was accepted before and is refused now: the account pauses and says so.
"""

import asyncio
import logging
from time import monotonic
from typing import Any

from msgspec import Raw, Struct

from rejoinder.channels.growing_pauses import pause_after
from rejoinder.channels.http_faults import unanswered
from rejoinder.channels.no_response import NoResponse, NotSent
from rejoinder.channels.telegram.api import Api
from rejoinder.channels.telegram.outcomes import SERVER_FAULT, TOO_MANY, Answer, Ok, Refused
from rejoinder.errors import ChannelStopped

log = logging.getLogger(__name__)

UNAUTHORIZED, NOT_FOUND, CONFLICT = 401, 404, 409

REFUSED = (
    "Telegram refuses this bot for now ({said}); rejoinder keeps trying. If the token was changed, set the new "
    "one as `token` and start again."
)


class Timings(Struct, frozen=True):
    """All in seconds."""

    long_poll: int = 50
    first_pause: float = 1.0
    longest_pause: float = 60.0
    after_conflict: float = 5.0
    quiet_album: float = 0.5
    longest_album: float = 3.0


class RetryingCalls:
    """Repeats a call until there is an answer, or until only a person can help."""

    def __init__(self, name: str, api: Api, pace: Timings) -> None:
        self._name = name
        self._api = api
        self._pace = pace
        self._failures = 0
        self._conflicts = 0
        self._known = False  # Telegram has taken this token before
        self.trouble = ""
        """Why Telegram refuses this bot for now."""
        self.last_sign: float | None = None
        """When Telegram last answered, by the monotonic clock (CH-7)."""

    async def ask(self, method: str, payload: dict[str, Any], seconds: float | None = None) -> Raw:
        while not isinstance(answer := await self._api.call(method, payload, seconds), Ok):
            self._give_up(answer)
            await asyncio.sleep(self._pause(answer))
        if self._failures or self.trouble:
            log.info("%s: Telegram answers again", self._name)
        self._failures = self._conflicts = 0
        self._known, self.trouble, self.last_sign = True, "", monotonic()
        return answer.result

    async def ask_once(self, method: str, seconds: float) -> Raw:
        """Asks only once, and raises ChannelStopped even for a temporary problem."""
        answer = await self._api.call(method, {}, seconds)
        if isinstance(answer, Ok):
            return answer.result
        self._give_up(answer)
        raise ChannelStopped(_unanswered(f"Telegram at {self._api.server}", answer), self._name)

    def _pause(self, answer: Refused | NotSent | NoResponse) -> float:
        if isinstance(answer, Refused) and answer.code == CONFLICT:
            return self._pace.after_conflict
        if isinstance(answer, Refused) and answer.code == TOO_MANY:
            return answer.retry_after or self._pace.first_pause
        if not self._failures and not self.trouble:
            log.warning("%s: %s; trying until it works", self._name, _unanswered("Telegram", answer))
        self._failures += 1
        return pause_after(self._failures, self._pace.first_pause, self._pace.longest_pause)

    def _give_up(self, answer: Answer) -> None:
        if not isinstance(answer, Refused):
            return
        if answer.foreign and answer.code < SERVER_FAULT and not self._known:
            raise ChannelStopped(
                f"What answers under this api_root is not a Bot API server "
                f"({answer.description}). Set the address of one, or check for a proxy on the way to it.",
                self._name,
            )
        if answer.foreign:
            return
        if answer.code in (UNAUTHORIZED, NOT_FOUND) and self._known:
            if not self.trouble:
                log.error("%s: %s", self._name, REFUSED.format(said=answer.description))
            self.trouble = REFUSED.format(said=answer.description)
        elif answer.code in (UNAUTHORIZED, NOT_FOUND):
            raise ChannelStopped(
                f"Telegram does not know this bot ({answer.description}). "
                "Copy the token from @BotFather again and set it as `token`.",
                self._name,
            )
        elif answer.code == CONFLICT:
            self._conflicts += 1
            if "webhook" in answer.description:
                raise ChannelStopped(
                    "A webhook is set for this bot, so it cannot be polled. "
                    "Set webhook_url here, or have the webhook deleted (deleteWebhook) where it was set.",
                    self._name,
                )
            if self._conflicts > 1:  # a single conflict may come from a program that has just ended
                raise ChannelStopped(
                    "Another program reads the messages of this bot. "
                    "A bot can have only one reader: stop the other program, or give each a bot of its own.",
                    self._name,
                )
        elif answer.code < SERVER_FAULT and answer.code != TOO_MANY and not self._known:
            raise ChannelStopped(f"Telegram refuses to serve this bot: {answer.description}", self._name)


def _unanswered(platform: str, answer: Refused | NotSent | NoResponse) -> str:
    if isinstance(answer, Refused):
        return unanswered(platform, answer.description)
    return unanswered(platform, answer.reason, ours=answer.ours)
