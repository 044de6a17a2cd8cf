"""IN-8: hooks are told, nobody waits for them, and what goes wrong in them is a line in the log."""

import asyncio
from contextlib import suppress

import pytest

from rejoinder.errors import BadUse
from rejoinder.events import Chat, Inbound, MessageReceived, Sender, SessionStarted
from rejoinder.runtime.hooks import Hooks
from rejoinder.testing.patience import PATIENCE

RECEIVED = MessageReceived(Inbound("fake", "1", "1", Chat("room"), Sender("ann"), "hello"))


async def test_a_hook_is_told_its_happenings_and_no_others():
    heard = []

    async def hook(happening):
        heard.append(happening)

    hooks = Hooks()
    hooks.on("session_started", hook)
    hooks.tell(RECEIVED)
    hooks.tell(SessionStarted("s", "a", None))
    assert heard == [], "telling waited"
    await hooks.close()
    assert heard == [SessionStarted("s", "a", None)]


@pytest.mark.parametrize("problem", [TimeoutError, SystemExit, KeyboardInterrupt, asyncio.CancelledError])
async def test_one_that_fails_is_a_line_in_the_log_and_takes_no_other_along(caplog, problem):
    heard = []

    async def broken(happening):
        raise problem("of its own")

    async def sound(happening):
        heard.append(happening)

    hooks = Hooks()
    hooks.on("message_received", broken)
    hooks.on("message_received", sound)
    hooks.tell(RECEIVED)
    await hooks.close()
    assert heard == [RECEIVED]
    assert [record.message.rpartition(".")[2] for record in caplog.records] == ["broken failed"]


async def test_one_that_takes_no_notice_is_left_behind():
    """TU-20: it keeps no gateway from ending."""
    over = asyncio.Event()

    async def deaf(happening):
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()

    hooks = Hooks(seconds=0.01)
    hooks._tasks._patience = 0.01
    hooks.on("message_received", deaf)
    hooks.tell(RECEIVED)
    async with asyncio.timeout(PATIENCE):
        await hooks.close()
        over.set()
        await hooks._tasks.idle()


async def test_one_that_hangs_is_ended_and_logged(caplog):
    ended = []

    async def hanging(happening):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(happening)

    hooks = Hooks(seconds=0.01)
    hooks.on("message_received", hanging)
    hooks.tell(RECEIVED)
    await hooks.close()
    assert ended == [RECEIVED]
    assert "took longer than 0.01 s and was ended" in caplog.text


@pytest.mark.parametrize(
    ("name", "hook", "said"),
    [
        (
            "turn_end",
            asyncio.sleep,
            r"no hook called 'turn_end'; did you mean turn_ended\? there are: message_received",
        ),
        ("turn_ended", print, "must be an async function"),
    ],
)
def test_what_is_no_hook_is_refused(name, hook, said):
    with pytest.raises(BadUse, match=said):
        Hooks().on(name, hook)
