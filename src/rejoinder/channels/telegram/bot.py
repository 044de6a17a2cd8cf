"""The channel: one bot account. It cannot look up what it sent, and Telegram has no key that would keep a message from
being sent twice (DU-3). Only the opening of a draft can be found again, by trying to edit it."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from rejoinder.channels.accounts import section_of
from rejoinder.channels.base import DEFAULT_ACCOUNT, Delivered, Inlet, Outcome, OutgoingFile, Rejected
from rejoinder.channels.telegram import LIMITS, payloads
from rejoinder.channels.telegram.api import Api
from rejoinder.channels.telegram.closed_chats import ClosedChats
from rejoinder.channels.telegram.files import ALBUM, FILES, request
from rejoinder.channels.telegram.intake import Intake
from rejoinder.channels.telegram.moved_chats import MovedChats
from rejoinder.channels.telegram.outcomes import (
    ALREADY_SO,
    BAD_REQUEST,
    TOO_LARGE,
    TOO_MANY,
    UPGRADED,
    Answer,
    Ok,
    Refused,
    failure,
)
from rejoinder.channels.telegram.parse import BotIdentity
from rejoinder.channels.telegram.poll import poll
from rejoinder.channels.telegram.presses import Presses
from rejoinder.channels.telegram.reactions import Reactions
from rejoinder.channels.telegram.retrying import RetryingCalls, Timings
from rejoinder.channels.telegram.wire import Sent, Stored, User
from rejoinder.events import Attachment, MenuCommand, Part, ReplyContext, Route

if TYPE_CHECKING:
    from rejoinder.channels.telegram.webhook import WebhookAddress

log = logging.getLogger(__name__)
_sent = msgspec.json.Decoder(Sent)
_album = msgspec.json.Decoder(tuple[Sent, ...])

CHECK_SECONDS = 15.0
NO_SUCH_METHOD = 404
FRAMES_IN_A_GROUP = (6, 0.2)
"""Telegram takes about twenty sends and edits a minute in a group, counted together. A bot that exceeds that is blocked
there for half a minute or more, so frames leave room for answers (DE-32)."""
IDS_TRIED = 12
"""How many ids to try when looking for an unconfirmed opening: in a busy chat others have written meanwhile, and the
ids of all direct chats of the bot are one series."""
TYPING_SECONDS = 5.0
"""How long Telegram shows the typing sign; a call that takes longer is useless."""


def _impossible(part: Part) -> Rejected | None:
    """Rejects what Telegram is known to be unable to do, without calling it."""
    if part.only_for is not None and part.only_for != part.route.chat:
        return Rejected("Telegram cannot show a message of a group to one person only")
    if part.reply_to is not None and not part.reply_to.isdecimal():
        return Rejected(f"there is no message {part.reply_to!r} to reply to", "target")
    if part.route.thread is not None and not part.route.thread.isdecimal():
        return Rejected(f"there is no topic {part.route.thread!r}", "gone")
    return None


class TelegramBot:
    limits = LIMITS
    file_limits = FILES

    def __init__(
        self,
        name: str,
        api: Api,
        hook: "WebhookAddress | None" = None,
        pace: Timings | None = None,
        account: str = DEFAULT_ACCOUNT,
    ) -> None:
        self.name = name
        self.account = account
        self._section = section_of(name, account)
        self.own_id = ""
        self.own_name = ""
        self.menu: tuple[MenuCommand, ...] = ()
        self._api = api
        self._hook = hook
        self._pace = pace or Timings()
        self._calls = RetryingCalls(self._section, api, self._pace)
        self._reactions = Reactions()
        self._windows = ClosedChats()
        self._moves = MovedChats(self._section)
        self._presses = Presses(self._section, api)
        self._has_previews = True

    stale_after = 150.0
    """Seconds: a poll is answered within a minute, even if nothing was said."""

    @property
    def last_sign(self) -> float | None:
        """With a webhook, Telegram calls only when there is something to deliver, so its silence means nothing."""
        return None if self._hook is not None else self._calls.last_sign

    @property
    def trouble(self) -> str:
        return self._calls.trouble

    @property
    def listens_everywhere(self) -> bool:
        return self._hook is not None

    def take_menu(self, menu: tuple[MenuCommand, ...]) -> None:
        self.menu = menu

    async def prepare_to_send(self) -> None:
        me = msgspec.json.decode(await self._calls.ask("getMe", {}), type=User)
        self.own_id, self.own_name = str(me.id), me.username

    async def listen(self, deliver: Inlet) -> None:
        calls = self._calls
        await self.prepare_to_send()
        await self._offer_menu()
        log.info("%s: serving @%s", self._section, self.own_name)
        intake = Intake(BotIdentity(self.name, self.own_id, self.own_name), self._presses, deliver, self._moves)
        if self._hook is not None:
            from rejoinder.channels.telegram.webhook import serve_webhook  # noqa: PLC0415 - polling needs no server

            await serve_webhook(self._hook, calls, intake, self._pace)
        else:
            await poll(calls, intake, self._pace)

    async def check(self) -> str:
        me = msgspec.json.decode(await self._calls.ask_once("getMe", CHECK_SECONDS), type=User)
        if me.can_read_all_group_messages:
            return f"it is @{me.username}, and sees everything in its groups"
        return f"it is @{me.username}; in groups it sees commands, mentions and replies to it (privacy mode)"

    async def close(self) -> None:
        await self._api.close()

    async def send(self, part: Part) -> Outcome:
        if part.only_for is not None and part.reply_context is not None:
            return await self._presses.say(part.reply_context.token, part.text)
        if (wrong := _impossible(part)) is not None:
            return wrong
        answer = await self._call("sendMessage", payloads.message(part))
        if not isinstance(answer, Ok):
            return failure(answer)
        return Delivered(str(_sent.decode(answer.result).message_id))

    async def acknowledge_press(self, context: ReplyContext) -> None:
        await self._presses.notice(context.token)

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        """An album is several messages; the first one stands for it."""
        if (wrong := _impossible(part)) is not None:
            return wrong
        method, payload, named = request(part, files)
        answer = await self._called_for(payload, lambda final: self._api.upload(method, final, named))
        if isinstance(answer, Refused) and answer.code == TOO_LARGE:  # also said by a proxy on the way
            return Rejected(f"the files are too large: {answer.description}")
        if not isinstance(answer, Ok):
            return failure(answer)
        first = _album.decode(answer.result)[0] if method == ALBUM else _sent.decode(answer.result)
        return Delivered(str(first.message_id))

    async def edit(self, route: Route, message: str, part: Part) -> Outcome:
        return await self._change("editMessageText", route, message, payloads.content(part))

    async def find_opening(self, part: Part, older: Sequence[str], newer: Sequence[str]) -> Outcome:
        """Tries to edit the messages with the next ids, giving them this part's text. A bot can edit only its own
        messages, and the opening is the only one of ours that may be among them."""
        known = [int(each) for each in older if each.isdecimal()]
        if not known:
            return Rejected("there is no known message from which to look for it")
        first = max(known) + 1
        for message in range(first, first + IDS_TRIED):
            if str(message) in newer:
                continue
            outcome = await self.edit(part.route, str(message), part)
            if not isinstance(outcome, Rejected):
                return outcome
            if outcome.why != "target":
                break
        return Rejected("it was not found")

    async def delete(self, route: Route, message: str) -> Outcome:
        return await self._change("deleteMessage", route, message, {})

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        if remove and not self._reactions.may_remove(route.chat, message, emoji):
            return Delivered(message)
        wanted = None if remove else emoji
        outcome = await self._change("setMessageReaction", route, message, payloads.reaction(wanted))
        if isinstance(outcome, Delivered):
            self._reactions.set(route.chat, message, wanted)
        return outcome

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        answer = await self._api.call("getFile", {"file_id": file.id})
        if isinstance(answer, Ok) and (path := msgspec.json.decode(answer.result, type=Stored).file_path):
            content = await self._api.load(path, limit)
            if isinstance(content, bytes):
                return content
            why = content
        else:
            why = "Telegram does not let bots download it" if isinstance(answer, Ok) else failure(answer).reason
        log.warning("%s: the file %r was not fetched: %s", self._section, file.name, why)
        return None

    async def typing(self, route: Route, *, author: str = "") -> None:
        answer = await self._call("sendChatAction", {**payloads.place(route), "action": "typing"}, TYPING_SECONDS)
        if not isinstance(answer, Ok):
            log.debug("%s: the typing sign was not shown: %s", self._section, answer)

    def previews(self, route: Route) -> bool:
        """Previews exist only in direct chats, whose ids are positive."""
        return self._has_previews and route.chat.isdecimal()

    def frame_rate(self, route: Route) -> tuple[int, float] | None:
        return None if route.chat.isdecimal() else FRAMES_IN_A_GROUP

    async def preview(self, part: Part, draft: int) -> Outcome:
        answer = await self._call("sendMessageDraft", payloads.preview(part, draft))
        if isinstance(answer, Ok):
            return Delivered("")
        if isinstance(answer, Refused) and answer.code == NO_SUCH_METHOD:
            self._has_previews = False
            log.warning("%s: this Bot API server has no previews; drafts are shown by edits", self._section)
            return Rejected("there are no previews here")
        return failure(answer)

    async def _change(self, method: str, route: Route, message: str, change: dict[str, Any]) -> Outcome:
        """An idempotent change to a message."""
        if not message.isdecimal():
            return Rejected(f"there is no message {message!r}", "target")
        answer = await self._call(method, {**payloads.chat(route), "message_id": int(message), **change})
        if isinstance(answer, Ok) or (isinstance(answer, Refused) and ALREADY_SO.search(answer.description)):
            return Delivered(message)
        return failure(answer)

    def _call(self, method: str, payload: dict[str, Any], seconds: float | None = None) -> Awaitable[Answer]:
        return self._called_for(payload, partial(self._api.call, method, seconds=seconds))

    async def _called_for(self, payload: dict[str, Any], call: Callable[[dict[str, Any]], Awaitable[Answer]]) -> Answer:
        """Calls Telegram for the chat under its current id, unless Telegram has said to wait.

        A call that names a message of a group that has moved is refused: that message is in no chat that still exists.
        """
        chat: int | str = payload["chat_id"]
        here = self._moves.where(chat)
        names_message = "message_id" in payload or "reply_parameters" in payload
        if names_message and here != chat:
            return Refused(BAD_REQUEST, UPGRADED)
        if (left := self._windows.left(here, monotonic())) > 0:
            return Refused(TOO_MANY, f"Telegram has said to wait for {left:.1f} s more", left)
        answer = await call(payload if here == chat else {**payload, "chat_id": here})
        if not isinstance(answer, Refused):
            return answer
        if answer.code == TOO_MANY and answer.retry_after is not None:
            self._windows.close(here, monotonic(), answer.retry_after)
        if answer.moved_to is None or not isinstance(here, int):
            return answer
        self._moves.note(here, answer.moved_to)
        if names_message:
            return answer
        return await call({**payload, "chat_id": answer.moved_to})

    async def _offer_menu(self) -> None:
        if not self.menu:
            return
        answer = await self._api.call("setMyCommands", {"commands": payloads.commands(self.menu)})
        if not isinstance(answer, Ok):
            log.warning("%s: Telegram did not take the menu of commands: %s", self._section, failure(answer).reason)
