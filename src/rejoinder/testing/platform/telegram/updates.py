"""The updates of one bot: kept until they are confirmed, to one reader, or called out to a webhook."""

import asyncio
from contextlib import suppress
from typing import Any

import aiohttp
import msgspec

from rejoinder.testing.platform.faults import Faults
from rejoinder.testing.platform.telegram.strict import HAS_WEBHOOK, SECOND_READER, Refusal, bad

FIRST_UPDATE = 900_000_000
NOT_BY_THEMSELVES = ("message_reaction", "message_reaction_count", "chat_member")
"""Kinds that come only to bots that ask for them."""
AGAIN_SECONDS = 0.05


class Updates:
    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._waiting: list[dict[str, Any]] = []
        self._late: dict[str, Any] | None = None
        self._last = FIRST_UPDATE
        self._allowed: list[str] = []
        self._came = asyncio.Event()
        self._reader: asyncio.Event | None = None  # set when another reader has come
        self._webhook: asyncio.Task[None] | None = None

    @property
    def unconfirmed(self) -> int:
        return len(self._waiting)

    def push(self, kind: str, body: dict[str, Any], chat: str) -> None:
        wanted = kind in self._allowed if self._allowed else kind not in NOT_BY_THEMSELVES
        if not wanted:
            return
        fault = self._faults.draw("event", chat)
        if fault is not None and fault.kind == "reorder" and self._late is None:
            self._late = {kind: body}
            self._came.set()
            return
        self._number({kind: body})
        if fault is not None and fault.kind == "duplicate":
            self._number({kind: body})
        self._release_late()

    def _number(self, update: dict[str, Any]) -> None:
        self._last += 1
        self._waiting.append({"update_id": self._last, **update})
        self._came.set()

    def _release_late(self) -> None:
        if self._late is not None:
            late, self._late = self._late, None
            self._number(late)

    # --- polling ----------------------------------------------------------------------------------

    async def get(self, payload: dict[str, Any]) -> list[dict[str, Any]]:
        """The latest caller is the reader; an earlier one that is still waiting gets a conflict."""
        if self._webhook is not None:
            raise Refusal(409, HAS_WEBHOOK)
        if self._reader is not None:
            self._reader.set()
        self._allowed = payload.get("allowed_updates", self._allowed)
        offset, limit = payload.get("offset", 0), payload.get("limit", 100)
        if offset < 0:
            self._waiting = self._waiting[offset:]
        else:
            self._waiting = [update for update in self._waiting if update["update_id"] >= offset]
        if not self._waiting:
            self._release_late()
        if not self._waiting and payload.get("timeout"):
            await self._wait(payload["timeout"])
        return self._waiting[:limit]

    async def _wait(self, seconds: float) -> None:
        superseded = self._reader = asyncio.Event()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._waiting and not superseded.is_set():
                    self._came.clear()
                    came, other = asyncio.create_task(self._came.wait()), asyncio.create_task(superseded.wait())
                    try:
                        await asyncio.wait({came, other}, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        came.cancel()
                        other.cancel()
                    self._release_late()
        if superseded.is_set():
            raise Refusal(409, SECOND_READER)
        self._reader = None

    # --- webhook ----------------------------------------------------------------------------------

    async def set_webhook(self, payload: dict[str, Any]) -> bool:
        url = payload.get("url", "")
        if not url.startswith(("https://", "http://127.0.0.1")):
            bad("bad webhook: An HTTPS URL must be provided for webhook")
        await self.delete_webhook()
        self._allowed = payload.get("allowed_updates", self._allowed)
        if self._reader is not None:
            self._reader.set()
        self._webhook = asyncio.create_task(self._call_out(url, payload.get("secret_token", "")))
        return True

    async def delete_webhook(self) -> bool:
        if self._webhook is not None:
            task, self._webhook = self._webhook, None
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        return True

    async def _call_out(self, url: str, secret: str) -> None:
        """Sends updates one by one: the next when the webhook has accepted the one before."""
        headers = {"X-Telegram-Bot-Api-Secret-Token": secret, "Content-Type": "application/json"}
        async with aiohttp.ClientSession(headers=headers) as session:
            while True:
                while not self._waiting:
                    self._came.clear()
                    await self._came.wait()
                    self._release_late()
                update = self._waiting[0]
                with suppress(aiohttp.ClientError):
                    async with session.post(url, data=msgspec.json.encode(update)) as answer:
                        if answer.ok:
                            self._waiting.remove(update)
                            continue
                await asyncio.sleep(AGAIN_SECONDS)
