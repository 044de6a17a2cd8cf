"""Files of agents: uploaded to Slack piece by piece, then shared in one message (CH-11, CH-33)."""

import asyncio
import logging

from rejoinder.bounded import Bounded
from rejoinder.channels.base import Delivered, Outcome, OutgoingFile, Rejected, RetryAfter, Unknown
from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.blocks import addressed
from rejoinder.channels.slack.outcomes import Ok, Refused, failure_of_extra, refusal
from rejoinder.events import Part

log = logging.getLogger(__name__)

MOST = 1000


class Files:
    """`looks`: seconds between the attempts to learn which message has the files, if Slack does not say at once."""

    def __init__(self, section: str, api: Api, looks: tuple[float, ...]) -> None:
        self._section = section
        self._api = api
        self._looks = looks
        self._brought: Bounded[str, tuple[str, ...]] = Bounded(MOST)

    def ids_of(self, part: Part) -> tuple[str, ...]:
        """Slack's ids for the part's files, if this process has asked Slack to share them."""
        return self._brought.get(part.key, ())

    async def send(self, part: Part, files: tuple[OutgoingFile, ...], thread: str | None) -> Outcome:
        """Sends one message with the files and the words. Nobody sees a file that was uploaded but never shared, so
        everything before the last call may be repeated."""
        ids: list[str] = []
        for file in files:
            brought = await self._bring(file)
            if not isinstance(brought, str):
                return brought
            ids.append(brought)
        payload = {
            "files": [{"id": id, "title": file.name} for id, file in zip(ids, files, strict=True)],
            "channel_id": part.route.chat,
            **({"thread_ts": thread} if thread is not None else {}),
            **({"initial_comment": addressed(part, part.text)} if part.text.strip() else {}),
        }
        if part.key:
            self._brought.renew(part.key, tuple(ids))
        answer = await self._api.call("files.completeUploadExternal", payload)
        if not isinstance(answer, Ok):
            return failure_of_extra(answer)
        ts = _shared(answer.result.get("files", []), part.route.chat) or await self._where(ids[0], part.route.chat)
        return Delivered(ts) if ts else Unknown("Slack has the file, but does not say yet which message shows it")

    async def _where(self, file: str, chat: str) -> str:
        """Waits, because Slack often shares a file only after it has answered."""
        for pause in self._looks:
            await asyncio.sleep(pause)
            answer = await self._api.ask("files.info", {"file": file})
            if isinstance(answer, Ok) and (ts := _shared([answer.result.get("file") or {}], chat)):
                return ts
            if isinstance(answer, Refused) and isinstance(refusal(answer), Rejected):
                break
        return ""

    async def _bring(self, file: OutgoingFile) -> str | Outcome:
        """The id that Slack gives it."""
        answer = await self._api.ask("files.getUploadURLExternal", {"filename": file.name, "length": file.size})
        if not isinstance(answer, Ok):
            return failure_of_extra(answer) if isinstance(answer, Refused) else RetryAfter(reason=answer.reason)
        if problem := await self._api.upload(str(answer.result["upload_url"]), file.chunks(), file.size):
            return RetryAfter(reason=f"Slack did not take {file.name} ({problem})")
        return str(answer.result["file_id"])


def _shared(files: list[dict[str, object]], channel: str) -> str:
    """The message that shares them."""
    for file in files:
        shares = file.get("shares")
        if isinstance(shares, dict):
            for places in shares.values():  # type: ignore[reportUnknownVariableType]
                if isinstance(places, dict) and channel in places:
                    return str(places[channel][0]["ts"])  # type: ignore[reportUnknownArgumentType]
    return ""
