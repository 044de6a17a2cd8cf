"""Sends, edits and deletes a bot's messages. Each has a nonce that Discord recognises for a few minutes; after that, we
look for the message in the history (CH-28)."""

from collections.abc import Sequence
from datetime import datetime
from time import time
from typing import Any

from rejoinder.bounded import Bounded
from rejoinder.channels.base import Delivered, Outcome, OutgoingFile, Rejected, RetryAfter, Unknown
from rejoinder.channels.discord import LIMITS, payloads
from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.emoji import with_own_emoji
from rejoinder.channels.discord.forum import Forums
from rejoinder.channels.discord.history import History
from rejoinder.channels.discord.http import SingleAttemptClient
from rejoinder.channels.discord.interaction_replies import InteractionReplies
from rejoinder.channels.discord.outcomes import (
    ARCHIVED,
    NO_TEXT,
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    NoResponse,
    NotSent,
    Ok,
    Refused,
    failure,
)
from rejoinder.channels.discord.place_troubles import PlaceTroubles
from rejoinder.channels.discord.places import Places, place_of, snowflake
from rejoinder.channels.discord.wire import Channel, Message, convert
from rejoinder.events import NewThread, Part, Route

NONCE_SECONDS = 90.0
"""For how long Discord certainly knows a nonce; it says "a few minutes"."""
CLOCK_SECONDS = 5.0
MOST_ECHOES = 2000
LOOKED_BACK = 100
CHANNEL = "/channels/{channel_id}"
MESSAGES = "/channels/{channel_id}/messages"
MESSAGE = "/channels/{channel_id}/messages/{message_id}"


class Outgoing:
    def __init__(
        self,
        api: Api,
        http: SingleAttemptClient,
        troubles: PlaceTroubles,
        places: Places,
        reception: InteractionReplies,
        history: History,
    ) -> None:
        self._api = api
        self._http = http
        self._troubles = troubles
        self._places = places
        self._reception = reception
        self._history = history
        self._forums = Forums(api, places)
        self._echoes: Bounded[str, str] = Bounded(MOST_ECHOES)

    def echoed(self, nonce: str, message: str) -> None:
        """Called when Discord sends one of our own messages back to us."""
        self._echoes[nonce] = message

    async def send(self, part: Part, files: Sequence[OutgoingFile] = ()) -> Outcome:
        part = self._worded(part)
        if (context := part.reply_context) is not None:
            answered = await self._reception.say(part, context, files)
            if answered is not None:
                return answered
        if part.only_for is not None and not self._is_direct(part.route):
            return Rejected("Discord shows a message to one person only as the answer to a command or a button")
        if part.opens is not None and (failed := await self._open_thread(part.route, part.opens)) is not None:
            return failed
        if part.reply_to is not None and not part.reply_to.isdecimal():
            return Rejected(f"there is no message {part.reply_to!r} to reply to", "target")
        if self._forums.is_one(part.route):
            return await self._forums.post(part, files)
        where = place_of(part.route)
        answer = await self._api.call("POST", MESSAGES, payloads.message(part), files=files, channel_id=where)
        if isinstance(answer, Refused) and answer.code == NO_TEXT:
            await self._forums.asked(where)
            if self._forums.is_one(part.route):
                return await self._forums.post(part, files)
        answer = self._troubles.note(where, answer)
        if isinstance(answer, Ok):
            return Delivered(str(answer.result["id"]))
        return failure(answer)

    async def find(self, part: Part, since: datetime, me: str) -> Outcome:
        """Looks among the messages that Discord has sent back to us. If it is not there, sends it again while Discord
        knows the nonce, and later reads the history."""
        part = self._worded(part)
        if part.reply_context is not None:
            return await self._reception.find(part, part.reply_context)
        where = place_of(part.route)
        if self._places.get(where) is None and not isinstance(known := await self._forums.asked(where), Ok):
            found = failure(known)
            return found if isinstance(found, RetryAfter) and found.limited else Unknown(found.reason)
        if self._forums.is_one(part.route):
            return await self._forums.find(part, since, me)
        mark = payloads.nonce(part.key)
        if (message := self._echoes.get(mark)) is not None:
            return Delivered(message)
        if time() - since.timestamp() < NONCE_SECONDS:
            return RetryAfter(None, "Discord takes it once under its nonce")
        start = snowflake(since.timestamp() + self._http.clock_ahead - CLOCK_SECONDS)
        answer = await self._history.latest(place_of(part.route), LOOKED_BACK, after=start)
        if not isinstance(answer, Ok):
            found = failure(answer)
            return found if isinstance(found, RetryAfter) and found.limited else Unknown(found.reason)
        for message in answer.result:
            if message.author is not None and message.author.id == me and _is_same(message, part, mark):
                return Delivered(message.id)
        return RetryAfter(None, "it is not there")

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        part = self._worded(part)
        if (context := part.reply_context) is not None:
            edited = await self._reception.edit(message, part, context)
            if edited is not None:
                return edited
        return await self._change("PATCH", route, message, payloads.change(part))

    async def delete(self, route: Route, message: str) -> Outcome:
        outcome = await self._change("DELETE", route, message)
        is_gone = isinstance(outcome, Rejected) and outcome.why == "target"
        return Delivered(message) if is_gone else outcome

    def _is_direct(self, route: Route) -> bool:
        """Whether only one person sees what is said there."""
        place = self._places.get(route.chat)
        return place is not None and place.kind == "direct"

    def _worded(self, part: Part) -> Part:
        return with_own_emoji(part, self._places.emojis_at(place_of(part.route)))

    async def _open_thread(self, route: Route, new: NewThread) -> Outcome | None:
        """None: the thread exists. If another bot has opened it first, we use theirs; after an unclear attempt we look
        whether it is there (CH-24)."""
        if self._places.get(new.thread) is not None:
            return None
        named, root = {"name": new.title[: LIMITS.title]}, new.thread
        answer = await self._api.call("POST", MESSAGE + "/threads", named, channel_id=route.chat, message_id=root)
        if isinstance(answer, Refused) and answer.code == THREAD_EXISTS:
            answer = await self._api.call("GET", CHANNEL, channel_id=new.thread)
        elif isinstance(answer, NoResponse):
            looked = await self._api.call("GET", CHANNEL, channel_id=new.thread)
            is_missing = isinstance(looked, Refused) and looked.code == UNKNOWN_CHANNEL
            answer = NotSent(answer.reason, answer.ours) if is_missing else looked
        if not isinstance(answer, Ok):
            outcome = failure(answer)
            return Rejected(outcome.reason, "thread") if isinstance(outcome, Rejected) else outcome
        if (thread := convert(answer.result, Channel)) is not None:
            self._places.learn(thread)
        return None

    async def _opened_again(self, thread: str) -> bool:
        """Reopens a thread that was archived while an answer was written. Unless it is locked, everybody who may write
        there may do so."""
        return isinstance(await self._api.call("PATCH", CHANNEL, {"archived": False}, channel_id=thread), Ok)

    async def _change(self, method: str, route: Route, message: str, change: Any = None) -> Outcome:
        """An idempotent change to a message."""
        if not message.isdecimal():
            return Rejected(f"there is no message {message!r}", "target")
        where = place_of(route)
        answer = await self._api.call(method, MESSAGE, change, channel_id=where, message_id=message)
        if isinstance(answer, Refused) and answer.code == ARCHIVED and await self._opened_again(where):
            answer = await self._api.call(method, MESSAGE, change, channel_id=where, message_id=message)
        if isinstance(answer, Ok):  # this does not prove that new messages can be sent there
            return Delivered(message)
        refused = self._troubles.note(where, answer)
        return Delivered(message) if isinstance(refused, Ok) else failure(refused)


def _is_same(message: Message, part: Part, mark: str) -> bool:
    if message.nonce is not None:
        return str(message.nonce) == mark
    target = message.message_reference.message_id if message.message_reference is not None else None
    names = [file.filename for file in message.attachments or ()]
    same_words = (message.content or "").strip() == part.text.strip()
    return same_words and target == part.reply_to and len(names) == len(part.files)
