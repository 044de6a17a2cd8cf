"""Reads Slack's history: after a gap, before an agent's first turn in a thread, and to find an unconfirmed part (CH-30,
CH-35, TU-31)."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from time import monotonic
from typing import Any

import msgspec

from rejoinder.channels.base import Delivered, Outcome, Rejected, RetryAfter, Unknown
from rejoinder.channels.slack import text as texts
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.outcomes import Answer, Ok, Refused, failure, failure_of_extra, refusal
from rejoinder.channels.slack.parse import BotIdentity, is_ours, message
from rejoinder.channels.slack.part_search import PartSearch
from rejoinder.channels.slack.places import later, number, split
from rejoinder.channels.slack.wire import Message, history
from rejoinder.events import EarlierMessage, Inbound

log = logging.getLogger(__name__)

PAGE = 200
MOST_PAGES = 10
KINDS = "im,mpim,public_channel,private_channel"
CLOCKS = 120.0
"""Seconds by which Slack's clock and ours may differ."""
LOOKS = (0.0, 10.0, 20.0)
"""Pauses before the three reads, which span thirty seconds (CH-35)."""
AT_ONCE = 5
NO_PLACE = ("thread_not_found", "channel_not_found", "message_not_found")
GONE = (*NO_PLACE, "not_in_channel")
NO_MESSAGE = ("thread_not_found", "message_not_found", "invalid_ts")


class HistoryReader:
    def __init__(self, api: Api, me: Callable[[], BotIdentity], looks: tuple[float, ...] = LOOKS) -> None:
        self._api = api
        self._me = me
        self._looks = looks
        self._room = asyncio.Semaphore(AT_ONCE)
        self._not_before: dict[str, float] = {}  # when each method may be called again; Slack limits each by itself

    async def since(self, place: str, ts: str) -> list[Inbound] | None:
        """The messages in a place after this one; None if they could not be read."""
        channel, thread = split(place)
        async with self._room:
            found = await self._pages(channel, thread, oldest=ts)
            if found is None:
                return None
            heard = [each for each in found if each.ts and later(each.ts, ts)]
            if thread is None:
                under = [each for each in heard if each.reply_count]
                for parent in under:
                    replies = await self._pages(channel, parent.ts, oldest=ts)
                    if replies is None:
                        return None
                    heard += replies
        unique = {each.ts: each for each in heard if later(each.ts, ts)}
        told = (message(msgspec.structs.replace(each, channel=channel), self._me()) for each in unique.values())
        return sorted((each for each in told if each is not None), key=lambda each: number(each.message_id))

    async def conversations(self) -> tuple[str, ...] | None:
        """The conversations that the app is in; empty if Slack refuses to list them, None if it may do so later."""
        asked: dict[str, Any] = {"types": KINDS, "exclude_archived": True, "limit": PAGE}
        ids: list[str] = []
        for _ in range(MOST_PAGES):
            answer = await self._in_time("users.conversations", asked)
            if not isinstance(answer, Ok):
                log.debug("the list of conversations could not be read: %s", answer)
                return () if _is_for_good(answer) else None
            found: list[dict[str, Any]] = answer.result.get("channels") or []
            ids += [str(each["id"]) for each in found if each.get("id")]
            if not (cursor := history(answer.result).next):
                break
            asked["cursor"] = cursor
        return tuple(ids)

    async def before(self, channel: str, thread: str, ts: str, limit: int) -> tuple[EarlierMessage, ...]:
        """The latest messages of a thread before this one."""
        found = await self._pages(channel, thread, oldest=None) or ()
        earlier = [each for each in found if each.ts and later(ts, each.ts)][-limit:]
        return tuple(self._told(each) for each in earlier)

    async def thread_of(self, channel: str, ts: str) -> str | None:
        """The thread that this message is in or would open; None if there is no such message."""
        asked = {"channel": channel, "ts": ts, "limit": 1, "inclusive": True}
        answer = await self._api.ask("conversations.replies", asked)
        if isinstance(answer, Refused) and answer.error in NO_MESSAGE:
            return None
        if not isinstance(answer, Ok):
            return ts  # it cannot be found out now; Slack itself refuses the reply if there is no such thread
        messages = history(answer.result).messages
        return messages[0].thread_ts or messages[0].ts if messages else None

    # --- sends without an answer ----------------------------------------------------------------------------

    async def find(self, search: PartSearch, thread: str | None, since: datetime) -> Outcome:
        """Reads three times over half a minute, because Slack may show a message late."""
        outcome: Outcome = Unknown("it could not be looked up")
        oldest = f"{since.timestamp() - CLOCKS:.6f}"
        for pause in self._looks:
            await asyncio.sleep(pause)
            outcome = await self._look(search, thread, oldest)
            if not isinstance(outcome, RetryAfter) or outcome.limited:
                return outcome
        return outcome

    async def _look(self, search: PartSearch, thread: str | None, oldest: str) -> Outcome:
        cursor = ""
        for _ in range(MOST_PAGES):
            answer = await self._api.ask(_method(thread), _asked(search.part.route.chat, thread, oldest, cursor))
            if isinstance(answer, Refused) and answer.error in NO_PLACE:
                return RetryAfter(None, "it is not there")
            if not isinstance(answer, Ok):
                found = failure(answer)
                return found if isinstance(found, RetryAfter) and found.limited else Unknown(found.reason)
            page = history(answer.result)
            for each in page.messages:
                if search.is_it(each) and is_ours(each, self._me()):
                    return Delivered(each.ts)
            if not (cursor := page.next):
                return RetryAfter(None, "it is not there")
        return Unknown("there is too much to look through")

    # --- pages --------------------------------------------------------------------------------------

    async def _pages(self, channel: str, thread: str | None, *, oldest: str | None) -> list[Message] | None:
        """All messages after `oldest`, oldest first; empty if Slack refuses to give them, None if it may do so
        later."""
        found: list[Message] = []
        cursor = ""
        for _ in range(MOST_PAGES):
            answer = await self._in_time(_method(thread), _asked(channel, thread, oldest, cursor))
            if isinstance(answer, Refused) and answer.error in GONE:
                log.debug("the history of %s cannot be read any more: %s", channel, answer.error)
                return []
            if not isinstance(answer, Ok):
                log.warning("the history of %s could not be read: %s", channel, failure(answer).reason)
                return [] if _is_for_good(answer) else None
            page = history(answer.result)
            found += page.messages
            if not (cursor := page.next):
                break
        return sorted((each for each in found if each.ts), key=lambda each: number(each.ts))

    async def _in_time(self, method: str, asked: dict[str, Any]) -> Answer:
        """Asks again for as long as Slack says to wait; meanwhile no other call of the method is made (CH-35)."""
        while True:
            if (left := self._not_before.get(method, 0.0) - monotonic()) > 0:
                await asyncio.sleep(left)
                continue
            answer = await self._api.ask(method, asked)
            if (seconds := _told_to_wait(answer)) is None:
                return answer
            self._not_before[method] = max(self._not_before.get(method, 0.0), monotonic() + seconds)

    def _told(self, each: Message) -> EarlierMessage:
        me = self._me()
        ours = is_ours(each, me)
        name = me.name if ours else each.username or (each.bot_profile.name if each.bot_profile is not None else "")
        by = each.user or each.bot_id
        return EarlierMessage(each.ts, by, name, texts.plain(each.text), is_bot=ours or bool(each.bot_id))


def _method(thread: str | None) -> str:
    return "conversations.history" if thread is None else "conversations.replies"


def _asked(channel: str, thread: str | None, oldest: str | None, cursor: str) -> dict[str, Any]:
    asked: dict[str, Any] = {"channel": channel, "limit": PAGE, "include_all_metadata": True}
    if oldest:
        asked |= {"oldest": oldest, "inclusive": False}
    if cursor:
        asked["cursor"] = cursor
    return asked if thread is None else {**asked, "ts": thread}


def _is_for_good(answer: Answer) -> bool:
    """Whether it is useless to ask again: Slack refuses this call (a missing scope, for example), not the whole app."""
    if isinstance(answer, Ok):
        return False
    found = failure_of_extra(answer)
    return isinstance(found, Rejected) and found.why != "account"


def _told_to_wait(answer: Answer) -> float | None:
    if not isinstance(answer, Refused):
        return None
    outcome = refusal(answer)
    return (outcome.seconds or 1.0) if isinstance(outcome, RetryAfter) and outcome.limited else None
