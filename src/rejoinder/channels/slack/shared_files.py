"""Files of other workspaces (Slack Connect): an event has only their ids, and the rest is looked up (CH-11)."""

import asyncio
import logging
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.outcomes import Ok, Refused, sentence
from rejoinder.channels.slack.parse import attachment
from rejoinder.channels.slack.wire import File, read
from rejoinder.events import Attachment, Inbound

log = logging.getLogger(__name__)

SECONDS = 1.0
"""A message waits for it at most this long: it has to be acknowledged in time (CH-5)."""


class SharedFiles:
    def __init__(self, api: Api) -> None:
        self._api = api

    async def describe(self, messages: Iterable[Inbound]) -> tuple[Inbound, ...]:
        """The same messages, with what Slack says about their files. What it does not say in time is looked up again
        when an agent reads the message."""
        return tuple(await asyncio.gather(*map(self._described, messages)))

    async def _described(self, message: Inbound) -> Inbound:
        if all(file.url for file in message.attachments):
            return message
        known = await asyncio.gather(*(self.ask(file, SECONDS) for file in message.attachments))
        return replace(message, attachments=tuple(known))

    async def ask(self, file: Attachment, seconds: float | None = None) -> Attachment:
        """The file with its name and address; unchanged if Slack does not say them."""
        if file.url:
            return file
        answer = await self._api.ask("files.info", {"file": file.id}, seconds)
        if not isinstance(answer, Ok):
            said = sentence(answer) if isinstance(answer, Refused) else answer.reason
            log.warning("Slack says nothing about the file %s yet: %s", file.id, said)
            return file
        try:
            return attachment(read(answer.result.get("file") or {}, File))
        except msgspec.ValidationError as problem:
            log.warning("what Slack says about the file %s cannot be read: %s", file.id, problem)
            return file
