"""What `/debug` sets holds in all processes (SC-25)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from rejoinder.app import Gateway
from rejoinder.config.load import load
from rejoinder.programs import debug_settings
from rejoinder.programs.reloading import SettingsSource, Watch
from rejoinder.runtime.settings_agreement import DEBUG
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import PutFact
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import FakePlatform
from tests.cluster.beside import configuration, owns, serving
from tests.postgres import Server, a_database


class Debugged:
    """Two gateways on one store, each with a file of its own that says the same."""

    def __init__(self, folder: Path, url: str, platform: FakePlatform) -> None:
        self.folder = folder
        self.url = url
        self.platform = platform
        self._text = f'gateway.store = "{url}"\ncommands.debug = true\n' + configuration(platform, "telegram", "echo")

    @asynccontextmanager
    async def gateway(self, name: str) -> AsyncIterator[Gateway]:
        file = self.folder / f"{name}.toml"
        file.write_text(self._text)
        overlay = {}
        source = SettingsSource(Watch(str(file)), lambda: load(str(file), {}, overlay=overlay), overlay)
        async with Tasks() as tasks, serving(source.read(), {"echo": ScriptedAgent(name="echo")}, self.url) as gateway:
            debugging = debug_settings.attach(gateway, source)
            assert debugging is not None
            tasks.start("debug", debugging.follow())
            yield gateway

    async def says(self, text: str) -> str:
        await self.platform.says("ann", "ann", text)
        return (await self.platform.hears("ann")).text


def prefix(gateway: Gateway) -> str:
    return gateway.configured.messages.response_prefix


@asynccontextmanager
async def debugged(folder: Path, server: Server) -> AsyncIterator[Debugged]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(asyncio.timeout(2 * PATIENCE))
        platform = await stack.enter_async_context(FakePlatform("telegram"))
        yield Debugged(folder, a_database(server, "four_shards"), platform)


async def test_it_holds_for_all_until_none_runs(postgres: Server, tmp_path: Path) -> None:
    """SC-25: set in the chat of one process, it holds in the other, and in one that starts later; taken back, in none.
    Who starts when none runs finds nothing of it."""
    async with debugged(tmp_path, postgres) as here:
        async with here.gateway("one") as one:
            async with here.gateway("two") as two:
                await until(lambda: owns(one, 2) and owns(two, 2))
                told = await here.says("/debug set messages.response_prefix B:")
                assert debug_settings.EVERYWHERE in told
                await until(lambda: prefix(one) == prefix(two) == "B:")
                async with here.gateway("late") as late:
                    await until(lambda: prefix(late) == "B:")
                await here.says("/debug unset messages.response_prefix")
                await until(lambda: prefix(one) == prefix(two) == "")
                await here.says("/debug set messages.response_prefix C:")
                await until(lambda: prefix(one) == prefix(two) == "C:")
            assert prefix(one) == "C:"
        async with here.gateway("alone") as alone:
            await until(lambda: owns(alone, 4))
            assert not await alone.store.facts(DEBUG)
            await until(lambda: prefix(alone) == "")


async def test_what_one_cannot_take_is_told_and_the_rest_goes_on(postgres: Server, tmp_path: Path) -> None:
    """SC-25: a row that another version wrote, or one that only the file may say, changes nothing here, and `/status`
    tells owners."""
    async with debugged(tmp_path, postgres) as here, here.gateway("one") as one:
        await until(lambda: owns(one, 4))
        await one.store.write(PutFact(DEBUG, "commands.bash", b"true"))
        await until(lambda: "commands.bash can only be changed in the file" in one.not_in_effect)
        assert not one.configured.commands.bash
        await one.store.write(PutFact(DEBUG, "commands.bash", None), PutFact(DEBUG, "messages.later", b"1"))
        await until(lambda: "messages.later" in one.not_in_effect)
        await one.store.write(PutFact(DEBUG, "messages.later", None), PutFact(DEBUG, "messages.response_prefix", b"B:"))
        await until(lambda: prefix(one) == "B:")
