"""An app that serves a fake Slack, in a hurry."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from rejoinder.channels.slack.api import Api
from rejoinder.channels.slack.bot import SlackApp
from rejoinder.channels.slack.http_events import HttpEventSource, WebhookAddress
from rejoinder.channels.slack.retrying import Timings
from rejoinder.channels.slack.socket_mode import SocketEventSource
from rejoinder.errors import NotStored
from rejoinder.secret import Secret
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import until
from rejoinder.testing.platform.slack.world import APP_TOKEN, BOT_TOKEN, SIGNING_SECRET
from rejoinder.testing.ports import free_port

AGO = datetime.now(UTC) - timedelta(minutes=1)
QUICK = Timings(
    first_pause=0.02,
    longest_pause=0.05,
    acknowledge=2.5,
    ping=1.0,
    looks=(0.0, 0.05, 0.1),
    watch=0.05,
    ghosts=0.2,
    shares=(0.0, 0.05, 0.1),
)


def app(
    platform: FakePlatform,
    *,
    token: str = BOT_TOKEN,
    app_token: str = APP_TOKEN,
    seconds: float = 5.0,
    pace: Timings = QUICK,
    threads="auto",
    prompts=(),
) -> SlackApp:
    root = f"{platform.url}/api/"
    listening = SocketEventSource(Api(root, Secret(app_token), seconds), pace)
    return SlackApp("slack", Api(root, Secret(token), seconds), listening, pace=pace, threads=threads, prompts=prompts)


def called_app(platform: FakePlatform, *, seconds: float = 5.0) -> SlackApp:
    """Slack calls it, with signed events."""
    port = free_port()
    platform.people.events.events_url = f"http://127.0.0.1:{port}/slack/events"
    hook = WebhookAddress(Secret(SIGNING_SECRET), "/slack/events", "127.0.0.1", port)
    return SlackApp(
        "slack", Api(f"{platform.url}/api/", Secret(BOT_TOKEN), seconds), HttpEventSource(hook, QUICK), pace=QUICK
    )


@asynccontextmanager
async def listening(channel: SlackApp, inlet: RecordingInlet) -> AsyncIterator[SlackApp]:
    """Returns when its socket is open."""
    task = asyncio.create_task(channel.listen(inlet))
    try:
        await until(lambda: not by_socket(channel) or channel.last_sign or task.done(), "the socket")
        yield channel
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await channel.close()


class SlowInlet(RecordingInlet):
    """Stores messages when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.may_store = asyncio.Event()
        self.asked = asyncio.Event()

    async def __call__(self, *messages, within=None, **how) -> None:
        if not messages:
            return await super().__call__(**how)
        self.asked.set()
        try:
            async with asyncio.timeout(within):
                await self.may_store.wait()
        except TimeoutError:
            raise NotStored("slow") from None
        return await super().__call__(*messages, **how)


def by_socket(channel: SlackApp) -> bool:
    return isinstance(channel._listening, SocketEventSource)


def quick(**how):
    return replace(QUICK, **how)


def calls(platform, method) -> int:
    return [call.name for call in platform.truth.calls].count(method)


class spoken:
    """A channel in which ann has said something: the app, the place, and what she said."""

    def __init__(self, platform, **how) -> None:
        self._platform = platform
        self._how = how

    async def __aenter__(self):
        inlet = RecordingInlet()
        self._listening = listening(app(self._platform, **self._how), inlet)
        channel = await self._listening.__aenter__()
        question = await self._platform.says("#team", "ann", "hello")
        message = await inlet.message("hello")
        return channel, message.route, question

    async def __aexit__(self, *problem) -> None:
        await self._listening.__aexit__(*problem)
