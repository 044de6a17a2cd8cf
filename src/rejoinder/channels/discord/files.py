"""Files that people send: loaded from the address in the message, or from a fresh one (CH-11)."""

import logging

from rejoinder.channels.discord.api import Api
from rejoinder.channels.discord.outcomes import Ok
from rejoinder.channels.discord.wire import Message, convert
from rejoinder.events import Attachment

log = logging.getLogger(__name__)

MESSAGE = "/channels/{channel_id}/messages/{message_id}"


class Files:
    def __init__(self, section: str, api: Api) -> None:
        self._section = section
        self._api = api

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        content = await self._api.load(file.url, limit) if file.url else "it has no address"
        if not isinstance(content, bytes) and (fresh := await self._fresh_address(file.id)):
            content = await self._api.load(fresh, limit)
        if isinstance(content, bytes):
            return content
        log.warning("%s: the file %r was not fetched: %s", self._section, file.name, content)
        return None

    async def _fresh_address(self, file: str) -> str:
        """A fresh address from the message itself, because addresses of files expire."""
        channel, message, id = (*file.split("/"), "", "")[:3]
        if not message.isdecimal():
            return ""
        answer = await self._api.call("GET", MESSAGE, channel_id=channel, message_id=message)
        found = convert(answer.result, Message) if isinstance(answer, Ok) else None
        files = [] if found is None else list(found.attachments or ())
        for snapshot in (found.message_snapshots or ()) if found is not None else ():
            files += snapshot.message.attachments or ()
        return next((each.url for each in files if each.id == id), "")
