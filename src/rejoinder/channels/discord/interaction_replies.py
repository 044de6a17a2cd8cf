"""Answers the platform's own commands and buttons: at once with a confirmation, later with the answer (CH-3)."""

import asyncio
import logging
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress

from rejoinder.channels.base import Delivered, Inlet, Outcome, OutgoingFile, RetryAfter, Unknown
from rejoinder.channels.discord import interactions, payloads
from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.outcomes import (
    ALREADY_ANSWERED,
    INVALID_WEBHOOK_TOKEN,
    UNKNOWN_INTERACTION,
    UNKNOWN_WEBHOOK,
    Answer,
    Ok,
    Refused,
    failure,
)
from rejoinder.channels.discord.wire import Interaction, Message, convert
from rejoinder.events import Inbound, MenuCommand, Part, ReplyContext

log = logging.getLogger(__name__)

CALLBACK = "/interactions/{id}/{token}/callback"
FOLLOW_UP = "/webhooks/{webhook_id}/{webhook_token}"
ORIGINAL = FOLLOW_UP + "/messages/@original"
FOLLOWED = FOLLOW_UP + "/messages/{message_id}"
CALLBACK_SECONDS = 2.5
LOADING = 1 << 7
"""The flag of a placeholder message that announces an answer."""
OVER = frozenset({UNKNOWN_INTERACTION, UNKNOWN_WEBHOOK, INVALID_WEBHOOK_TOKEN})
"""The interaction can no longer be answered; the answer is sent as an ordinary message."""


class InteractionReplies:
    def __init__(self, section: str, api: Api) -> None:
        self._section = section
        self._api = api
        self.private: frozenset[str] = frozenset()
        """Commands whose answer only the person may see."""
        self._unnoticed: dict[str, asyncio.Event] = {}
        """Interactions that we have not acknowledged to Discord yet, by token."""

    async def offer(self, application: str, menu: tuple[MenuCommand, ...]) -> None:
        """Fills the menu of commands that Discord shows."""
        self.private = frozenset(command.name for command in menu if command.private)
        if not menu:
            return
        path, offered = "/applications/{application_id}/commands", interactions.commands(menu)
        answer = await self._api.call("PUT", path, offered, application_id=application)
        if not isinstance(answer, Ok):
            log.warning("%s: Discord did not take the menu of commands: %s", self._section, failure(answer).reason)

    # --- at once --------------------------------------------------------------------------------------

    @contextmanager
    def unnoticed(self, chosen: Iterable[Interaction]) -> Generator[None]:
        """While it is open, nothing is sent in answer to these interactions: before the acknowledgement Discord would
        not know what the answer belongs to."""
        tokens = [each.token for each in chosen]
        self._unnoticed |= {token: asyncio.Event() for token in tokens}
        try:
            yield
        finally:
            for token in tokens:
                self._unnoticed.pop(token).set()

    async def notice(self, interaction: Interaction) -> None:
        await self._call_back(interaction, interactions.heard(interaction, self.private))

    async def refuse(self, interaction: Interaction) -> None:
        await self._call_back(interaction, interactions.busy())

    async def suggest(self, interaction: Interaction, typed: Inbound, deliver: Inlet) -> None:
        values = await deliver.suggest(typed, interactions.focused(interaction))
        await self._call_back(interaction, interactions.suggested(values))

    async def _call_back(self, interaction: Interaction, body: object) -> None:
        id, token = interaction.id, interaction.token
        answer = await self._api.call("POST", CALLBACK, body, seconds=CALLBACK_SECONDS, id=id, token=token)
        if isinstance(answer, Refused) and answer.code == ALREADY_ANSWERED:
            return
        if not isinstance(answer, Ok):
            log.info("%s: a command or button could not be acknowledged: %s", self._section, answer)

    # --- later ----------------------------------------------------------------------------------------

    async def say(self, part: Part, context: ReplyContext, files: Sequence[OutgoingFile] = ()) -> Outcome | None:
        """Sends an answer; the first one replaces the placeholder. None: the interaction's time is over."""
        body = payloads.private(part) if part.only_for is not None else payloads.content(part)
        answer = await self._call("POST", FOLLOW_UP, context, body, files=files)
        if isinstance(answer, Ok):
            return Delivered(str(answer.result["id"]))
        return None if _is_over(answer) else failure(answer)

    async def find(self, part: Part, context: ReplyContext) -> Outcome:
        answer = await self._call("GET", ORIGINAL, context)
        if not isinstance(answer, Ok):
            return Unknown(failure(answer).reason)
        message = convert(answer.result, Message)
        if message is not None and (message.content or "").strip() == part.text.strip():
            return Delivered(message.id)
        is_open = int(answer.result.get("flags", 0)) & LOADING
        return RetryAfter(None, "it is not there") if is_open else Unknown("something else was said")

    async def edit(self, message: str, part: Part, context: ReplyContext) -> Outcome | None:
        body = {**payloads.change(part), "flags": 0}
        answer = await self._call("PATCH", FOLLOWED, context, body, message)
        if isinstance(answer, Ok):
            return Delivered(message)
        return None if _is_over(answer) else failure(answer)

    async def withdraw(self, context: ReplyContext) -> None:
        """There is nothing to say, so the placeholder is removed."""
        if context.data.get(interactions.KIND) == "command":
            await self._call("DELETE", ORIGINAL, context)

    async def _call(
        self,
        method: str,
        path: str,
        context: ReplyContext,
        body: object = None,
        message: str = "",
        files: Sequence[OutgoingFile] = (),
    ) -> Answer:
        if (noticed := self._unnoticed.get(context.token)) is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CALLBACK_SECONDS):
                    await noticed.wait()
        application = context.data.get(interactions.APPLICATION, "")
        ids = {"webhook_id": application, "webhook_token": context.token, "message_id": message}
        return await self._api.call(method, path.format_map(ids), body, files=files)


def _is_over(answer: Answer) -> bool:
    return isinstance(answer, Refused) and answer.code in OVER
