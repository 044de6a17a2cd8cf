"""Asks Slack until it answers, however long an outage lasts (DE-32), and says what only a person can fix (CH-13).

Rule 1: a token that was never accepted stops the account, with a sentence that says what to do; so does Socket Mode if
        it is switched off.
Rule 2: everything else may pass: we ask again after growing pauses with jitter. This includes a token that was accepted
        before and is refused now: the account pauses and says so.
"""

import asyncio
import logging

from msgspec import Struct

from rejoinder.channels.base import RetryAfter
from rejoinder.channels.growing_pauses import pause_after
from rejoinder.channels.http_faults import unanswered
from rejoinder.channels.no_response import NoResponse, NotSent
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.outcomes import MEANINGS, SERVER_FAULT, Answer, Ok, Refused, refusal, sentence
from rejoinder.errors import ChannelStopped

log = logging.getLogger(__name__)

WRONG_APP_TOKEN = (
    "Slack does not take this app-level token ({said}). Make one with the scope connections:write under Basic "
    "Information, App-Level Tokens, and set it as `app_token`: it begins with xapp-."
)
SOCKET_MODE_OFF = "socket_mode_not_enabled"


class Timings(Struct, frozen=True):
    """All in seconds."""

    first_pause: float = 1.0
    longest_pause: float = 60.0
    connect: float = 10.0
    acknowledge: float = 2.5
    """After three seconds without an acknowledgement Slack considers an event lost (CH-5)."""
    ping: float = 5.0
    looks: tuple[float, ...] = (0.0, 10.0, 20.0)
    shares: tuple[float, ...] = (0.3, 0.7, 2.0, 4.0)
    """Pauses before Slack is asked which message shows a file that it has accepted."""
    watch: float = 0.5
    ghosts: float = 30.0
    """Seconds between two reads of the history while another program takes a share of the events."""
    recount: float = 60.0
    """Seconds after which we check whether another program that was noticed is still there."""
    idle_stream: float = 300.0
    """Seconds that a stream may go without growing before it is stopped."""
    no_events: float = 60.0
    """Seconds after the start until we check whether events are missing."""


class RetryingCalls:
    """Repeats a call until there is an answer, or until only a person can help."""

    def __init__(self, name: str, api: Api, pace: Timings, *, is_app_token: bool = False) -> None:
        self._name = name
        self._api = api
        self._pace = pace
        self._is_app_token = is_app_token
        self._failures = 0
        self._known = False  # Slack has taken this token before
        self.trouble = ""
        """Why Slack refuses this app for now."""

    async def ask(self, method: str) -> Ok:
        while not isinstance(answer := await self._api.ask(method, {}), Ok):
            self._give_up(answer)
            await asyncio.sleep(self._pause(answer))
        if self._failures or self.trouble:
            log.info("%s: Slack answers again", self._name)
        self._failures = 0
        self._known, self.trouble = True, ""
        return answer

    async def ask_once(self, method: str, seconds: float) -> Ok:
        """Asks only once, and raises ChannelStopped even for a temporary problem."""
        answer = await self._api.ask(method, {}, seconds)
        if isinstance(answer, Ok):
            return answer
        self._give_up(answer)
        raise ChannelStopped(_unanswered(f"Slack at {self._api.server}", answer), self._name)

    def _pause(self, answer: Refused | NotSent | NoResponse) -> float:
        if isinstance(answer, Refused) and isinstance(found := refusal(answer), RetryAfter) and found.limited:
            return found.seconds or self._pace.first_pause
        if not self._failures and not self.trouble:
            log.warning("%s: %s; trying until it works", self._name, _unanswered("Slack", answer))
        self._failures += 1
        return pause_after(self._failures, self._pace.first_pause, self._pace.longest_pause)

    def _give_up(self, answer: Answer) -> None:
        if not isinstance(answer, Refused) or answer.status >= SERVER_FAULT:
            return
        if answer.foreign:
            if self._known:
                return
            raise ChannelStopped(
                f"What answers under this api_root is not Slack ({answer.error}). "
                "Set the address of its Web API, which ends in /api/.",
                self._name,
            )
        if isinstance(refusal(answer), RetryAfter):
            return
        known = MEANINGS.get(answer.error)
        said = sentence(answer)
        if self._is_app_token and answer.error != SOCKET_MODE_OFF:
            said = WRONG_APP_TOKEN.format(said=answer.error)
        if self._known and (known is None or known.why == "account"):
            self.trouble = f"Slack refuses this app for now: {said}; rejoinder keeps trying"
            log.error("%s: %s", self._name, self.trouble) if not self._failures else None
            return
        raise ChannelStopped(said, self._name)


def _unanswered(platform: str, answer: Refused | NotSent | NoResponse) -> str:
    if isinstance(answer, Refused):
        return unanswered(platform, sentence(answer))
    return unanswered(platform, answer.reason, ours=answer.ours)
