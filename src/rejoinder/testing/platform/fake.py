"""The fake platform: people write in it, a gateway serves it, and it keeps the ground truth.

    async with FakePlatform("telegram") as platform:
        ... a gateway with platform.config() ...
        await platform.says("ann", "ann", "hello")
        assert (await platform.hears("ann")).text == "Hello!"
        assert not oracles.leaked(platform.truth.frames)

A name is a person, and as a chat that person's direct chat; a chat called #team is a group of all who write in it.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Self

from aiohttp import web

from rejoinder.errors import BadUse
from rejoinder.outbound.draft import PLACEHOLDER
from rejoinder.testing.platform.control import control_routes
from rejoinder.testing.platform.faults import Fault, Faults, Kind, Verb
from rejoinder.testing.platform.personality import Personality, Stage
from rejoinder.testing.platform.truth import PATIENCE, Seen, Truth

PERSONALITIES = ("telegram", "discord", "slack", "web")


class FakePlatform:
    def __init__(
        self,
        personality: str = "telegram",
        *,
        seed: int = 0,
        port: int = 0,
        rates: Mapping[tuple[Verb, Kind], float] | None = None,
        **options: Any,
    ) -> None:
        if personality not in PERSONALITIES:
            raise BadUse(f"no platform called {personality!r} can be played; there are: {', '.join(PERSONALITIES)}")
        self.truth = Truth()
        self.faults = Faults(seed, rates)
        self.url = ""
        module = import_module(f"rejoinder.testing.platform.{personality}")
        self.people: Personality = module.personality(Stage(self.truth, self.faults, options))
        self._port = port
        self._runner: web.AppRunner | None = None
        self._heard: set[tuple[str, str]] = set()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=100_000_000)
        app.add_routes([*control_routes(self), *self.people.routes()])
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        self._port = self._runner.addresses[0][1]
        await self.people.start(self.url)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.people.stop()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    # --- what people do ---------------------------------------------------------------------------

    async def says(self, chat: str, person: str, text: str, **how: Any) -> str:
        return await self.people.says(chat, person, text, **how)

    async def edits(self, chat: str, person: str, message: str, text: str) -> None:
        await self.people.edits(chat, person, message, text)

    async def reacts(self, chat: str, person: str, message: str, emoji: str) -> None:
        await self.people.reacts(chat, person, message, emoji)

    async def presses(self, chat: str, person: str, message: str, label: str) -> None:
        await self.people.presses(chat, person, message, label)

    # --- what people see --------------------------------------------------------------------------

    async def hears(self, chat: str, text: str | None = None, *, seconds: float = PATIENCE) -> Seen:
        """Waits for the bot's next message in this chat, with this text or, without one, with any text.

        If no text is given, the message may still be growing.
        """

        def is_said() -> bool:
            said = next((seen.text for seen in self._unheard(chat)), PLACEHOLDER)
            return said == text if text is not None else said != PLACEHOLDER

        await self.truth.until(is_said, seconds)
        seen = self._unheard(chat)[0]
        self._heard.add((chat, seen.id))
        return seen

    def _unheard(self, chat: str) -> list[Seen]:
        return [seen for seen in self.truth.messages(chat) if (chat, seen.id) not in self._heard]

    # --- the world around -------------------------------------------------------------------------

    def fault(self, kind: Kind, on: Verb = "send", **how: Any) -> None:
        self.faults.add(Fault(kind, on, **how))

    def config(self) -> str:
        """The lines of `[channels.NAME]` for a gateway that serves this platform."""
        return self.people.config(self.url)

    def id_of(self, name: str) -> str:
        return self.people.id_of(name)
