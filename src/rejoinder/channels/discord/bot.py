"""The channel: one bot account. What it sends has a nonce that Discord honours for a few minutes; after that its
history is read (CH-28)."""

import asyncio
import logging
from contextlib import suppress
from datetime import datetime
from time import time
from typing import Any, Literal

from rejoinder.bounded import Bounded
from rejoinder.channels.base import Delivered, Inlet, Outcome, Rejected, RetryAfter, Unknown
from rejoinder.channels.discord import LIMITS, ONLY, payloads
from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.check import check_bot
from rejoinder.channels.discord.client import Client
from rejoinder.channels.discord.connection import Connection, Pace
from rejoinder.channels.discord.history import History
from rejoinder.channels.discord.http import OneAttempt
from rejoinder.channels.discord.intake import Intake
from rejoinder.channels.discord.outcomes import (
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    UNKNOWN_EMOJI,
    UNKNOWN_MESSAGE,
    Answer,
    Ok,
    Refused,
    Unheard,
    Unreached,
    failure,
)
from rejoinder.channels.discord.parse import Me, parse_said
from rejoinder.channels.discord.places import Place, Places, snowflake
from rejoinder.channels.discord.reception import Reception
from rejoinder.channels.discord.wire import THREADS, Channel, Message, convert
from rejoinder.channels.threads import Threads
from rejoinder.errors import StoreUnavailable
from rejoinder.events import Attachment, MenuCommand, NewThread, Part, ReplyContext, Route, Said
from rejoinder.secret import Secret

log = logging.getLogger(__name__)

TYPING_SECONDS = 8.0
NONCE_SECONDS = 90.0
"""For how long Discord certainly knows a nonce; it says "a few minutes"."""
CLOCK_SECONDS = 5.0
MOST_ECHOES = 2000
LOOKED_BACK = 100
LONGEST_TITLE = 100
CHANNEL = "/channels/{channel_id}"
MESSAGES = "/channels/{channel_id}/messages"
MESSAGE = "/channels/{channel_id}/messages/{message_id}"
REACTION = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"


class DiscordBot:
    limits = LIMITS
    native_commands: Literal[True] = True

    def __init__(
        self,
        name: str,
        token: Secret,
        http: OneAttempt,
        *,
        threads: Threads = "auto",
        pace: Pace | None = None,
        account: str = ONLY,
    ) -> None:
        self.name = name
        self.account = account
        self._called = name if account == ONLY else f"{name}.accounts.{account}"
        self.own_id = ""
        self.own_name = ""
        self.menu: tuple[MenuCommand, ...] = ()
        self._token = token
        self._threads: Threads = threads
        self._pace = pace or Pace()
        self._places = Places()
        self._echoes: Bounded[str, str] = Bounded(MOST_ECHOES)
        self.client = Client(http, lambda kind, data: self._intake.hear(self.client.ws, kind, data))
        self._api = Api(self.client)
        self._reception = Reception(self._called, self._api)
        self._intake = Intake(self._called, self._places, self._look_up, self._reception)
        self._intake.echoes = self._echoed
        self._connection = Connection(self._called, self.client, self._api, self._pace, self._intake.room)
        self._history = History(self._called, self._api, self._places, self._pace)
        self._http = http

    @property
    def trouble(self) -> str:
        return self._connection.trouble

    @property
    def last_sign(self) -> float | None:
        return self._connection.last_sign

    @property
    def deaf_after(self) -> float:
        return self._connection.deaf_after

    # --- in -----------------------------------------------------------------------------------------

    async def listen(self, deliver: Inlet) -> None:
        await self._connection.log_in(self._token.reveal())
        self._know_itself()
        cursor = await self._intake.recall(deliver, self._pace.first_pause)
        await self._reception.offer(self.own_id, self.menu)
        log.info("%s: serving %s", self._called, self.own_name)
        try:
            await asyncio.gather(self.take(deliver), self._connection.run(cursor))
        finally:
            self._intake.stop()
            await self._connection.hang_up()
            with suppress(StoreUnavailable):
                await self._intake.keep_position(deliver)

    async def take(self, deliver: Inlet) -> None:
        """Delivers what the client hears, until it is cancelled."""
        me = Me(self.name, self.own_id, self.own_name, self._places.own_roles, self._threads)
        await self._intake.run(me, deliver, self._history.catch_up, self._pace.first_pause)

    def _know_itself(self) -> None:
        user = self.client.user
        assert user is not None, "it has logged in"
        self.own_id, self.own_name = str(user.id), user.name

    async def check(self) -> str:
        await self._connection.log_in(self._token.reveal(), once=True)
        self._know_itself()
        return await check_bot(self._called, self._api, self.own_id, self.own_name)

    async def close(self) -> None:
        await self._connection.hang_up()
        await self._http.close()

    async def _look_up(self, channel: str) -> Place | None:
        answer = await self._api.call("GET", CHANNEL, channel_id=channel)
        found = convert(answer.result, Channel) if isinstance(answer, Ok) else None
        if found is None:
            log.warning("%s: what kind of place %s is, is not known", self._called, channel)
            return None
        if found.parent_id and self._places.get(found.parent_id) is None and found.type in THREADS:
            around = await self._api.call("GET", CHANNEL, channel_id=found.parent_id)
            if isinstance(around, Ok) and (parent := convert(around.result, Channel)) is not None:
                self._places.learn(parent)
        return self._places.learn(found)

    def _echoed(self, nonce: str, message: str) -> None:
        self._echoes[nonce] = message

    # --- out ----------------------------------------------------------------------------------------

    async def send(self, part: Part) -> Outcome:
        if (context := part.reply_context) is not None:
            answered = await self._reception.say(part, context)
            if answered is not None:
                return answered
        if part.only_for is not None:
            return Rejected("Discord shows a message to one person only as the answer to a command or a button")
        if part.opens is not None and (failed := await self._open_thread(part.route, part.opens)) is not None:
            return failed
        if part.reply_to is not None and not part.reply_to.isdecimal():
            return Rejected(f"there is no message {part.reply_to!r} to reply to", "target")
        answer = await self._api.call("POST", MESSAGES, payloads.message(part), channel_id=_place(part.route))
        if isinstance(answer, Ok):
            return Delivered(str(answer.result["id"]))
        return failure(answer)

    async def find(self, part: Part, since: datetime) -> Outcome:
        """By what Discord has repeated to us; while it knows the nonce, by sending again; else by the history."""
        if part.reply_context is not None:
            return await self._reception.find(part, part.reply_context)
        mark = payloads.nonce(part.key)
        if (message := self._echoes.get(mark)) is not None:
            return Delivered(message)
        if time() - since.timestamp() < NONCE_SECONDS:
            return RetryAfter(None, "Discord takes it once under its nonce")
        start = snowflake(since.timestamp() + self._http.clock_ahead - CLOCK_SECONDS)
        answer = await self._history.latest(_place(part.route), LOOKED_BACK, after=start)
        if not isinstance(answer, Ok):
            found = failure(answer)
            return found if isinstance(found, RetryAfter) and found.limited else Unknown(found.reason)
        for message in answer.result:
            if message.author is not None and message.author.id == self.own_id and _is_same(message, part, mark):
                return Delivered(message.id)
        return RetryAfter(None, "it is not there")

    async def press_noticed(self, context: ReplyContext) -> None:
        await self._reception.withdraw(context)

    async def _open_thread(self, route: Route, new: NewThread) -> Outcome | None:
        """None: it is there. Whoever comes second joins it, and an unclear attempt is settled by looking (CH-24)."""
        if self._places.get(new.thread) is not None:
            return None
        named, root = {"name": new.title[:LONGEST_TITLE]}, new.thread
        answer = await self._api.call("POST", MESSAGE + "/threads", named, channel_id=route.chat, message_id=root)
        if isinstance(answer, Refused) and answer.code == THREAD_EXISTS:
            answer = await self._api.call("GET", CHANNEL, channel_id=new.thread)
        elif isinstance(answer, Unheard):
            looked = await self._api.call("GET", CHANNEL, channel_id=new.thread)
            is_missing = isinstance(looked, Refused) and looked.code == UNKNOWN_CHANNEL
            answer = Unreached(answer.reason) if is_missing else looked
        if not isinstance(answer, Ok):
            outcome = failure(answer)
            return Rejected(outcome.reason, "thread") if isinstance(outcome, Rejected) else outcome
        if (thread := convert(answer.result, Channel)) is not None:
            self._places.learn(thread)
        return None

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        if (context := part.reply_context) is not None:
            edited = await self._reception.edit(message, part, context)
            if edited is not None:
                return edited
        return await self._change("PATCH", MESSAGE, route, message, payloads.change(part))

    async def delete(self, route: Route, message: str) -> Outcome:
        outcome = await self._change("DELETE", MESSAGE, route, message)
        is_gone = isinstance(outcome, Rejected) and outcome.why == "target"
        return Delivered(message) if is_gone else outcome

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        if not message.isdecimal():
            return Rejected(f"there is no message {message!r}", "target")
        shown = self._emoji(route, emoji)
        method = "DELETE" if remove else "PUT"
        answer: Answer = Refused(404, UNKNOWN_MESSAGE, "Unknown Message")
        for place in _around(route, message):
            answer = await self._api.call(method, REACTION, channel_id=place, message_id=message, emoji=shown)
            if not isinstance(answer, Refused) or answer.code != UNKNOWN_MESSAGE:
                break
        if isinstance(answer, Ok) or (remove and isinstance(answer, Refused) and answer.code == UNKNOWN_EMOJI):
            return Delivered(message)
        return failure(answer)

    async def typing(self, route: Route, *, author: str = "") -> None:
        path = "/channels/{channel_id}/typing"
        answer = await self._api.call("POST", path, seconds=TYPING_SECONDS, channel_id=_place(route))
        if not isinstance(answer, Ok):
            log.debug("%s: the typing sign was not shown: %s", self._called, answer)

    async def thread_before(self, route: Route, message: str, limit: int) -> tuple[Said, ...]:
        if not message.isdecimal():
            return ()
        answer = await self._history.latest(_place(route), limit, before=message)
        return tuple(parse_said(each) for each in reversed(answer.result)) if isinstance(answer, Ok) else ()

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        content = await self._api.load(file.url, limit) if file.url else "it has no address"
        if not isinstance(content, bytes) and (fresh := await self._fresh_address(file.id)):
            content = await self._api.load(fresh, limit)
        if isinstance(content, bytes):
            return content
        log.warning("%s: the file %r was not fetched: %s", self._called, file.name, content)
        return None

    async def _fresh_address(self, file: str) -> str:
        """Addresses of files expire; the message has a new one."""
        channel, message, id = (*file.split("/"), "", "")[:3]
        if not message.isdecimal():
            return ""
        answer = await self._api.call("GET", MESSAGE, channel_id=channel, message_id=message)
        found = convert(answer.result, Message) if isinstance(answer, Ok) else None
        files = [] if found is None else list(found.attachments or ())
        for snapshot in (found.message_snapshots or ()) if found is not None else ():
            files += snapshot.message.attachments or ()
        return next((each.url for each in files if each.id == id), "")

    def _emoji(self, route: Route, emoji: str) -> str:
        """As Discord names it: a server's own by name and id."""
        place = self._places.get(_place(route))
        own = self._places.emojis.get(place.guild, {}) if place is not None else {}
        name = emoji.strip(":")
        return f"{name}:{own[name]}" if name in own else emoji

    async def _change(self, method: str, path: str, route: Route, message: str, change: Any = None) -> Outcome:
        """An idempotent change to a message."""
        if not message.isdecimal():
            return Rejected(f"there is no message {message!r}", "target")
        answer = await self._api.call(method, path, change, channel_id=_place(route), message_id=message)
        return Delivered(message) if isinstance(answer, Ok) else failure(answer)


def _place(route: Route) -> str:
    return route.thread or route.chat


def _around(route: Route, message: str) -> tuple[str, ...]:
    """Where a message may stand that is reacted to: in the thread, or in the channel around it, as its root does."""
    if route.thread is None:
        return (route.chat,)
    return (route.chat, route.thread) if message == route.thread else (route.thread, route.chat)


def _is_same(message: Message, part: Part, mark: str) -> bool:
    if message.nonce is not None:
        return str(message.nonce) == mark
    target = message.message_reference.message_id if message.message_reference is not None else None
    return (message.content or "").strip() == part.text.strip() and target == part.reply_to
