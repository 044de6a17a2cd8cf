"""Files of agents: brought to Slack before the message that names them is planned, shared with it (CH-11, CH-33)."""

import logging

from msgspec.structs import replace

from rejoinder.bounded import Bounded
from rejoinder.channels.base import Delivered, Outcome, Unknown
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.blocks import addressed
from rejoinder.channels.slack.outcomes import Ok, Refused, failure, sentence
from rejoinder.errors import FileRefused
from rejoinder.events import Attachment, Part

log = logging.getLogger(__name__)

LIMIT = 100_000_000
"""Slack takes up to 1 GB; what we hold in memory is less."""
MOST = 500


class Files:
    def __init__(self, called: str, api: Api) -> None:
        self._called = called
        self._api = api
        self._kept: Bounded[str, Attachment] = Bounded(MOST)

    def kept(self, key: str) -> Attachment | None:
        return self._kept.get(key)

    async def keep(self, key: str, file: Attachment) -> Attachment:
        """Raises FileRefused where Slack does not take it."""
        content = file.content or b""
        if not content:
            raise FileRefused(f"{file.name} is empty, and Slack takes no empty file")
        asked = {"filename": file.name or "file", "length": len(content)}
        answer = await self._api.ask("files.getUploadURLExternal", asked)
        if not isinstance(answer, Ok):
            why = sentence(answer) if isinstance(answer, Refused) else answer.reason
            raise FileRefused(f"{file.name} was not sent: {why}")
        if problem := await self._api.upload(str(answer.result["upload_url"]), content):
            raise FileRefused(f"{file.name} was not sent: Slack did not take it ({problem})")
        kept = replace(file, id=str(answer.result["file_id"]), content=None, size=len(content))
        self._kept[key] = kept
        return kept

    async def share(self, part: Part, thread: str | None) -> Outcome:
        """One message with the files and the words beside them."""
        payload = {
            "files": [{"id": file.id, "title": file.name or "file"} for file in part.files],
            "channel_id": part.route.chat,
            **({"thread_ts": thread} if thread is not None else {}),
            **({"initial_comment": addressed(part, part.text)} if part.text.strip() else {}),
        }
        answer = await self._api.call("files.completeUploadExternal", payload)
        if not isinstance(answer, Ok):
            return failure(answer)
        ts = _shared(answer.result.get("files", []), part.route.chat)
        return Delivered(ts) if ts else Unknown("Slack has the file, and does not say yet where it stands")


def _shared(files: list[dict[str, object]], channel: str) -> str:
    """The message that shares them."""
    for file in files:
        shares = file.get("shares")
        if isinstance(shares, dict):
            for places in shares.values():  # type: ignore[reportUnknownVariableType]
                if isinstance(places, dict) and channel in places:
                    return str(places[channel][0]["ts"])  # type: ignore[reportUnknownArgumentType]
    return ""
