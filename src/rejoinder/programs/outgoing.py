"""Posts events to other programs: the queued rows of hooks over HTTP (IN-8).

Rule 1: each hook has its own task, so a dead address delays no other hook and no chat.
Rule 2: the events of a hook go out in order. While its address cannot be reached, fails, or accepts nothing at all (it
        is gone, moved or closed to us), all of them wait. An event that is refused is tried again later, while those
        behind it go on.
Rule 3: an attempt is counted before it is made, and every attempt has the same id and the same body. An event that was
        not accepted within 24 hours is given up.
Rule 4: addresses and secrets are never logged: both may hold a password.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from datetime import timedelta
from random import uniform
from typing import Any, Literal

import aiohttp

import rejoinder
from rejoinder.app import Gateway
from rejoinder.config.programs import HookSettings
from rejoinder.errors import StoreUnavailable
from rejoinder.programs import webhook_signatures
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import ClaimedHookEvent, ClaimHookEvent, EndHookEvent, FreeHookEvents, RetryHookEvent

log = logging.getLogger(__name__)

TIMEOUT = 10.0
"""Seconds for one attempt."""
CLAIMED = timedelta(seconds=TIMEOUT + 20)
"""Seconds for which an event belongs to the process that posts it."""
TRIED_FOR = timedelta(hours=24)
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 900.0
LOOK = 5.0
"""Seconds between two looks for events that other processes have written or that are due again."""
NOT_THIS_ONE = frozenset({400, 406, 409, 411, 412, 413, 414, 415, 417, 422, 428, 431, 451})
"""Refusals of this event. All others are about the address or the moment: the next event would be refused, too."""
GONE = "it answered 410: the receiver is gone; correct its url or remove it"

Result = Literal["taken", "refused", "down"]


def pause_after(attempts: int) -> float:
    """Seconds until the next attempt: twice as long each time, up to a quarter of an hour."""
    return min(FIRST_PAUSE * 2 ** (min(attempts, 20) - 1), LONGEST_PAUSE)


class WebhookSender:
    def __init__(self, gateway: Gateway, start: Callable[[str, Coroutine[Any, Any, None]], Any]) -> None:
        self._gateway = gateway
        self._start = start
        self._news: dict[str, asyncio.Event] = {}
        self._logged: dict[str, str] = {}

    async def run(self) -> None:
        """Runs until it is cancelled; it checks now and then which hooks there are."""
        self._gateway.hooks.on_rows(self._tell_all)
        if self._gateway.store.lease_seconds is None:
            await WriteBatch(FreeHookEvents(self._gateway.now())).insist(self._gateway.store)
        no_cookies, limit = aiohttp.DummyCookieJar(), aiohttp.ClientTimeout(total=TIMEOUT)
        async with aiohttp.ClientSession(cookie_jar=no_cookies, timeout=limit, auto_decompress=False) as http:
            while True:
                for name in self._gateway.configured.hooks:
                    if name not in self._news:
                        self._news[name] = asyncio.Event()
                        self._start(f"hook:{name}", self._serve(name, http))
                await asyncio.sleep(LOOK)

    def _tell_all(self) -> None:
        for news in self._news.values():
            news.set()

    async def _serve(self, name: str, http: aiohttp.ClientSession) -> None:
        try:
            while (hook := self._gateway.configured.hooks.get(name)) is not None:
                self._news[name].clear()
                try:
                    pause = await self._next(name, hook, http)
                except StoreUnavailable as fault:
                    log.debug("not now: %s", fault)  # the store logs it itself
                    pause = LOOK
                if pause is None:
                    await self._until_news(name)
                elif pause:
                    await asyncio.sleep(pause)
        finally:
            del self._news[name]

    async def _until_news(self, name: str) -> None:
        try:
            async with asyncio.timeout(LOOK):
                await self._news[name].wait()
        except TimeoutError:
            return

    async def _next(self, name: str, hook: HookSettings, http: aiohttp.ClientSession) -> float | None:
        """Posts the next event. Returns how long to wait before the following one; None: there is nothing to do."""
        store, now = self._gateway.store, self._gateway.now()
        claimed = await store.write(ClaimHookEvent(name, now, now + CLAIMED))
        if claimed is None:
            return None
        result, why = await self._post(hook, claimed, http)
        if result == "taken":
            self._logged.pop(name, None)
            await store.write(EndHookEvent(claimed, "taken"))
            return 0.0
        self._say(name, why)
        if self._gateway.now() - claimed.row.made > TRIED_FOR:
            log.warning("hooks.%s: %s was given up after 24 hours: %s", name, claimed.row.event, why)
            await store.write(EndHookEvent(claimed, "dead", why))
            return 0.0
        pause = pause_after(claimed.attempts) * uniform(0.8, 1.2)
        await store.write(RetryHookEvent(claimed, self._gateway.now() + timedelta(seconds=pause), why))
        return pause if result == "down" else 0.0

    async def _post(
        self, hook: HookSettings, claimed: ClaimedHookEvent, http: aiohttp.ClientSession
    ) -> tuple[Result, str]:
        row = claimed.row
        signed = webhook_signatures.headers(hook.secret.reveal(), row.event, int(time.time()), row.body)
        headers = {**signed, "content-type": "application/json", "user-agent": f"rejoinder/{rejoinder.__version__}"}
        try:
            async with http.post(hook.url, data=row.body, headers=headers, allow_redirects=False) as answer:
                status = answer.status
        except TimeoutError:
            return "down", f"no answer within {TIMEOUT:.0f} s"
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            return "down", f"it cannot be reached ({type(problem).__name__})"
        if 200 <= status < 300:
            return "taken", ""
        return "refused" if status in NOT_THIS_ONE else "down", GONE if status == 410 else f"it answered {status}"

    def _say(self, name: str, why: str) -> None:
        """Logs each reason once, until the hook works again."""
        if self._logged.get(name) != why:
            self._logged[name] = why
            log.warning("hooks.%s: an event was not accepted: %s. It is tried again, for up to 24 hours.", name, why)
