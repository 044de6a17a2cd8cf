"""What a bot has used up of what Discord allows: it is counted, and known to the next process."""

import asyncio
import time

import pytest
from msgspec.structs import replace

from rejoinder.channels.base import Delivered, Rejected, RetryAfter
from rejoinder.channels.discord import budget
from rejoinder.channels.discord.budget import GROUPED_SECONDS, MOST_REFUSED, REFUSED_SECONDS, Refusals, RefusedCalls
from rejoinder.channels.discord.cursor import Cursor, StoredAllowance, read_cursor, write_cursor
from rejoinder.channels.discord.used_allowance import STORED_EACH, UsedAllowance
from rejoinder.events import Part, Route
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE, until
from tests.channels.discord.served import QUICK, bot, listening

AHEAD = 1_800_000_000.0
"""The clock on the wall is so far ahead of the other."""


def refused(count: int, at: float) -> Refusals:
    refusals = Refusals()
    for _ in range(count):
        refusals.count(at)
    return refusals


def test_refused_calls_are_forgiven_minute_by_minute():
    """CH-28: those of the first minute first; until there are few enough nothing is called."""
    refusals = refused(MOST_REFUSED - 10, 100.0)
    for number in range(20):
        refusals.count(100.0 + GROUPED_SECONDS + number)
    assert refusals.wait(200.0) == 100.0 + REFUSED_SECONDS - 200.0
    assert refusals.wait(100.0 + REFUSED_SECONDS) == 0.0
    assert refusals.total(100.0 + REFUSED_SECONDS) == 20


def test_the_next_process_goes_on_counting():
    """CH-28: Discord does, too."""
    kept = refused(MOST_REFUSED, 100.0).kept(110.0, AHEAD)
    next_process = Refusals()
    next_process.recall(*kept, 5.0, AHEAD + 115.0)  # ten seconds later, on a clock of its own
    assert next_process.total(5.0) == MOST_REFUSED
    assert next_process.wait(5.0) == pytest.approx(REFUSED_SECONDS - 20.0)


def test_two_bots_that_have_stored_the_same_count_are_counted_once():
    """CH-28, CH-4: each stores the refusals of the address; the later one knows of more."""
    refusals = refused(5, 100.0)
    earlier = refusals.kept(101.0, AHEAD)
    refusals.count(102.0)
    later = refusals.kept(103.0, AHEAD)
    for both in ((earlier, later), (later, earlier)):
        found = Refusals()
        for kept in both:
            found.recall(*kept, 104.0, AHEAD)
        assert found.total(104.0) == 6


def test_an_address_that_is_shut_out_stays_so():
    """CH-28: for what is left of its time, and never for longer than Discord ever does, whatever the clock says."""
    refusals = Refusals()
    refusals.shut_out(60.0, 100.0)
    found = Refusals()
    found.recall(*refusals.kept(110.0, AHEAD), 20.0, AHEAD + 100.0)  # ten seconds later
    assert found.wait(20.0) == pytest.approx(40.0)
    wrong_clock = Refusals()
    wrong_clock.recall((), AHEAD + 1_000_000.0, 0.0, AHEAD)
    assert wrong_clock.wait(0.0) == REFUSED_SECONDS


def test_what_was_stored_by_an_older_version_is_read():
    """CH-28: a position without it."""
    assert read_cursor('{"session": "s", "sequence": 4}') == Cursor("s", 4)
    spent = StoredAllowance(5.0, (RefusedCalls(1.0, 2.0, 3),), 9.0)
    assert read_cursor(write_cursor(Cursor("s", spent=spent))) == Cursor("s", spent=spent)


def test_a_clock_that_was_put_back_delays_no_session_for_long():
    """CH-28: by the spacing at most."""
    spent = UsedAllowance(Refusals())
    spent.recall(StoredAllowance(began=time.time() + 1000.0))
    assert spent.wait_for_session(5.0) == 5.0


# --- on the platform ------------------------------------------------------------------------------


def begun(platform: FakePlatform) -> list[str]:
    return [call.name for call in platform.truth.calls if call.name in ("IDENTIFY", "TOO EARLY")]


async def test_sessions_are_begun_at_discords_pace():
    """CH-28: one in so many seconds, also by the next process; Discord refuses one that is begun earlier."""
    inlet = RecordingInlet()
    pace = replace(QUICK, sessions=0.6)
    async with asyncio.timeout(PATIENCE), FakePlatform("discord", spacing=0.5) as platform:
        async with listening(bot(platform, pace=pace), inlet):
            for said in ("one", "two"):
                await platform.says("#team", "ann", said)
                await inlet.message(said)
                platform.people.gateway.end_sessions()
        async with listening(bot(platform, pace=pace), inlet):
            await platform.says("#team", "ann", "three")
            await inlet.message("three")
        assert "TOO EARLY" not in begun(platform)
        assert len(begun(platform)) >= 2


async def test_the_fake_refuses_what_comes_too_early():
    """The test above can fail: a bot that does not wait is told so."""
    pace = replace(QUICK, sessions=0.0)
    inlet = RecordingInlet()
    async with (
        asyncio.timeout(PATIENCE),
        FakePlatform("discord", spacing=PATIENCE) as platform,
        listening(bot(platform, pace=pace), inlet),
    ):
        await platform.says("#team", "ann", "one")
        await inlet.message("one")
        platform.people.gateway.end_sessions()
        await platform.truth.until(lambda: "TOO EARLY" in begun(platform))


async def test_refused_calls_are_known_to_the_next_process(monkeypatch):
    """CH-28: a bot that is killed does not begin to count again: before Discord shuts out the address, nothing is
    called any more."""
    most = STORED_EACH + 10
    monkeypatch.setattr(budget, "MOST_REFUSED", most)
    inlet = RecordingInlet()
    async with asyncio.timeout(PATIENCE), FakePlatform("discord") as platform:
        here = Route("discord", platform.people.world.room("#team").id)
        async with listening(bot(platform), inlet) as channel:
            await platform.says("#team", "ann", "hi")
            await inlet.message("hi")
            platform.people.closes("#team", 50013)
            for number in range(STORED_EACH):
                assert isinstance(await channel.send(Part(here, "No.", key=f"{number}")), Rejected)
            await until(lambda: stored(inlet) >= STORED_EACH)
        kept = stored(inlet)
        budget._BY_ADDRESS.clear()  # as a new process has it
        async with listening(bot(platform), inlet) as channel:
            await until(lambda: channel._http._budget.refusals.total(time.monotonic()) >= kept)
            for number in range(most - kept):
                assert isinstance(await channel.send(Part(here, "No.", key=f"again {number}")), Rejected)
            calls = len(platform.truth.calls)
            refused = await channel.send(Part(here, "No.", key="one more"))
            assert isinstance(refused, RetryAfter)
            assert refused.limited
            assert len(platform.truth.calls) == calls
    assert not isinstance(refused, Delivered)


def stored(inlet: RecordingInlet) -> int:
    cursor = read_cursor(inlet._cursor)
    return 0 if cursor is None else sum(each.count for each in cursor.spent.refused)
