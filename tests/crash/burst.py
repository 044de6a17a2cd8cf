"""A burst: many messages in many channels, a new connection in the middle, a kill and a restart."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from rejoinder.testing import FakePlatform
from rejoinder.testing.patience import until
from rejoinder.testing.platform import oracles
from tests.crash.agent import marks_of
from tests.crash.gateway import Machine
from tests.crash.trial import PATIENCE, until_done

MESSAGES, CHANNELS = 200, 20


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


async def burst(
    folder: Path,
    platform: FakePlatform,
    reconnect: Callable[[], Awaitable[None]],
    *,
    mention: str = "",
    more: str = "",
    called: int = 0,
) -> oracles.Verdict:
    """200 messages in 20 channels; after a third of them the platform asks for a new connection, and when a quarter is
    answered the process is killed and started again. What people saw is judged. `mention`: every other message begins
    with it, and only those are answered. `more`: lines of the channel. `called`: the port at which the platform calls
    it, if it does."""
    chats = [f"#c{number}" for number in range(CHANNELS)]
    for chat in chats:
        platform.people.world.room(chat)
    name = platform.people.name
    here = f'{platform.config()}pace = {{ chat = "unlimited", account = "unlimited" }}\n{more}\n'
    how = {"mode": "followup", "debounce_ms": 0, "drafts": False, "require_mention": bool(mention)}
    machine = Machine(folder, name, here, on_unknown="hold", **how)
    answered = MESSAGES // 2 if mention else MESSAGES
    expected: dict[str, list[str]] = {}
    try:
        async with asyncio.timeout(2 * PATIENCE):
            await machine.start()
            await platform.truth.until(lambda: bool(platform.truth.calls), PATIENCE)
            if called:
                await until(lambda: _listens(called), "somebody listens", PATIENCE)
            for number in range(MESSAGES):
                if number == MESSAGES // 3:
                    await reconnect()
                chat = chats[number % CHANNELS]
                is_asked = not mention or number // CHANNELS % 2 == 1
                words = f"q{number * 4 + 3}. What is it?"
                await platform.says(chat, "ann", f"{mention} {words}".strip() if is_asked else words)
                expected.setdefault(chat, []).extend(marks_of(number * 4 + 3) if is_asked else ())
            await platform.truth.until(lambda: len(platform.truth.messages()) > answered // 4, PATIENCE)
            await machine.kill()
            await machine.start()
            await until_done(machine, MESSAGES)
    finally:
        await machine.kill()
    return oracles.judge(platform.truth.frames, expected, name, platform.truth.calls)
