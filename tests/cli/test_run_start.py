"""What `rejoinder run` has loaded when it begins to listen, and what a while later."""

import asyncio
import signal
import sys
from contextlib import asynccontextmanager

from rejoinder.testing import FakePlatform
from rejoinder.testing.patience import PATIENCE

PROGRAM = """
import signal, sys
from rejoinder.programs import serving
from rejoinder.cli import main

serving.REHEARSED_AFTER = float(sys.argv.pop(1))
signal.signal(signal.SIGUSR1, lambda *_: print(*sys.modules, flush=True))
main()
"""
CONFIG = """
[gateway]
store = "sqlite:kept.db"

[agents.model]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
model = "any"

[channels.telegram]
{here}
"""
NEVER = 1e6
ONLY_FOR_OTHERS = {
    "aiohttp.web",
    "emoji",
    "markdown_it",
    "prompt_toolkit",
    "re2",
    "rejoinder.channels.terminal",
    "rejoinder.channels.telegram.webhook",
    "rejoinder.channels.web.channel",
    "rejoinder.channels.web.logins",
    "rejoinder.channels.web.records",
    "rejoinder.programs.demo",
    "rejoinder.web",
    "rejoinder.testing",
    "prometheus_client",
    "rich.console",
    "starlette",
    "uvicorn",
    "websockets",
}
FOR_ANY_MESSAGE = {"rejoinder.outbound.directives.react", "rejoinder.agents.model_agent", "encodings.utf_16_le"}


@asynccontextmanager
async def listening(folder, rehearsed_after):
    """A gateway that waits for its first message: asks it which modules it has loaded."""
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        (folder / "rejoinder.toml").write_text(CONFIG.format(here=platform.config()))
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, str(rehearsed_after), "run"),
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )

        async def loaded() -> set[str]:
            process.send_signal(signal.SIGUSR1)
            while "rejoinder.cli" not in (modules := (await process.stdout.readline()).decode().split()):
                assert modules, "it has ended"
            return set(modules)

        while b"serving @testbot" not in (line := await process.stderr.readline()):
            assert line, "it has ended"
        yield loaded
        process.send_signal(signal.SIGTERM)
        await process.wait()


async def test_who_polls_telegram_waits_for_nothing_else(tmp_path):
    """No server, no page, no Markdown and no emoji before the first poll; but what every message needs."""
    async with listening(tmp_path, NEVER) as loaded:
        modules = await loaded()
    assert modules & ONLY_FOR_OTHERS == set()
    assert modules >= FOR_ANY_MESSAGE


async def test_a_while_later_the_rest_is_there(tmp_path):
    """Who writes with markup later waits for nothing."""
    async with listening(tmp_path, 0) as loaded:
        while "markdown_it" not in (modules := await loaded()):
            continue
    assert modules & ONLY_FOR_OTHERS == {"markdown_it"}
