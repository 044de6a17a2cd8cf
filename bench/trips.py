"""How often one warm Telegram message waits for PostgreSQL, from the platform's update to the turn closed (SC-21).

A round trip is noted at the connection, when it is sent and when its answers are there. Two that are under way at the
same time are one wait: what counts is the longest row of round trips each of which began after the last had ended.
"""

import asyncio
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median_low
from typing import Any

from bench.one_chat import CONFIG, Course
from bench.timing import Bars, print_table
from rejoinder.app import Gateway
from rejoinder.config.load import load
from rejoinder.store.postgresql.connection import Connection
from rejoinder.store.postgresql.wire import Wire
from rejoinder.testing import FakePlatform
from rejoinder.testing.platform.telegram.world import TOKEN
from tests.postgres import a_database, durable_server

MOST = 6
"""The bar of SC-21."""
WARM, MEASURED = 20, 15
BESIDE = ("rejoinder-store-leases", "rejoinder-store-listening", "rejoinder-store-live")
"""The threads whose statements no message waits for."""


class RoundTrip:
    """`began` and `ended` count what happened at all connections: they are no time."""

    def __init__(self, began: int, carried: list[str]) -> None:
        self.began = began
        self.ended: int | None = None
        self.carried = carried


class RoundTrips:
    """What this process asks of PostgreSQL, while it is watched."""

    def __init__(self) -> None:
        self.made: list[RoundTrip] = []
        self._moment = 0
        self._unsent: dict[Wire, list[str]] = {}

    def clear(self) -> None:
        self.made = []

    def sent(self, wire: Wire, sql: str) -> None:
        self._unsent.setdefault(wire, []).append(sql)

    def begin(self, carried: list[str]) -> RoundTrip:
        self._moment += 1
        self.made.append(trip := RoundTrip(self._moment, carried))
        return trip

    def begin_on(self, wire: Wire) -> RoundTrip:
        return self.begin(self._unsent.pop(wire, []))

    def end(self, trip: RoundTrip) -> None:
        self._moment += 1
        trip.ended = self._moment

    def in_sequence(self) -> list[RoundTrip]:
        return in_sequence(self.made)


def in_sequence(trips: list[RoundTrip]) -> list[RoundTrip]:
    """The longest row of round trips of which none began before the last had ended."""
    row: list[RoundTrip] = []
    ended = 0
    for trip in sorted(trips, key=lambda each: (each.ended is None, each.ended)):
        if trip.began > ended and trip.ended is not None:
            row.append(trip)
            ended = trip.ended
    return row


@contextmanager
def watched() -> Generator[RoundTrips]:
    """Counts at the wires of the event loop, and at the connections of threads, where every statement waits."""
    trips = RoundTrips()
    send, round_trip, execute = Wire.send, Wire.round_trip, Connection.execute

    def noted(wire: Wire, sql: str, *rest: Any) -> Any:
        trips.sent(wire, sql)
        return send(wire, sql, *rest)

    def counted(wire: Wire) -> asyncio.Future[None]:
        trip = trips.begin_on(wire)
        arrived = round_trip(wire)
        arrived.add_done_callback(lambda _: trips.end(trip))
        return arrived

    def waited(db: Connection, sql: str, *rest: Any) -> Any:
        if threading.current_thread().name.startswith(BESIDE):
            return execute(db, sql, *rest)
        trip = trips.begin([sql])
        try:
            return execute(db, sql, *rest)
        finally:
            trips.end(trip)

    Wire.send, Wire.round_trip, Connection.execute = noted, counted, waited  # type: ignore[method-assign]
    try:
        yield trips
    finally:
        Wire.send, Wire.round_trip, Connection.execute = send, round_trip, execute  # type: ignore[method-assign]


async def measure(folder: Path, store: str, warm: int = WARM, measured: int = MEASURED) -> list[list[RoundTrip]]:
    """Of each message what it waited for, the fewest first. Now and then a message meets what is done beside all of
    them, such as the look for work every second."""
    async with FakePlatform("telegram") as platform:
        file = folder / "rejoinder.toml"
        file.write_text(CONFIG.format(store=store, token=TOKEN, api=platform.url), "utf-8")
        found: list[list[RoundTrip]] = []
        with watched() as trips:
            async with Gateway(load(str(file), {})) as gateway:
                serving = asyncio.ensure_future(gateway.serve())
                course = Course(platform, gateway)
                await course.warm_up(warm)
                for _ in range(measured):
                    trips.clear()
                    await course.ask()
                    found.append(trips.in_sequence())
                await gateway.drain(0)
                await serving
    return sorted(found, key=len)


def middle(found: list[list[RoundTrip]]) -> list[RoundTrip]:
    return median_low([(len(each), index, each) for index, each in enumerate(found)])[2]


def run() -> None:
    bars = Bars()
    with tempfile.TemporaryDirectory() as folder, durable_server() as running:
        found = asyncio.run(measure(Path(folder), a_database(running)))
    usual = middle(found)
    rows = [
        [str(number if first == 0 else ""), " ".join(sql.split())[:100]]
        for number, trip in enumerate(usual, start=1)
        for first, sql in enumerate(trip.carried)
    ]
    print_table("One warm Telegram message on PostgreSQL, by round trip", ["", "carried"], rows)
    fewest, most = len(found[0]), len(found[-1])
    verdict = bars.verdict("round trips in sequence", (len(usual), MOST))
    print_table(
        "Round trips in sequence",
        ["fewest", "half of them at most", "most", "bar", ""],
        [[str(fewest), str(len(usual)), str(most), f"<= {MOST}", verdict]],
    )
    bars.settle()
