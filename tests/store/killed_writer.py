"""A program that is killed: 16 producers accept, answer and deliver, and say on stdout what was confirmed."""

import asyncio
import sys
from datetime import UTC, datetime

from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.store.base import (
    Accept,
    BeginTurn,
    ClaimPart,
    Destination,
    EndRun,
    MarkSent,
    PartIntent,
    PlanParts,
    RouteEvent,
    RunClaim,
    StoredCursor,
    StoredPart,
)
from rejoinder.store.sqlite.store import open_store

PRODUCERS = 16


def confirm(what: str, name: str) -> None:
    sys.stdout.write(f"{what} {name}\n")
    sys.stdout.flush()


async def main(url: str, life: str, rounds: int) -> None:
    store = open_store(url)
    confirm("opened", life)

    async def produce(producer: int) -> None:
        session, route = f"session-{producer}-{life}", Route("telegram", f"{producer}-{life}")
        for number in range(rounds):
            name, now = f"{life}-{producer}-{number}", datetime.now(UTC)
            inbound = Inbound("telegram", name, name, Chat(route.chat), Sender("anna"), name)
            cursor = StoredCursor("telegram", f"offset-{producer}", name)
            (event,) = await store.write(Accept((inbound,), now, cursor))
            confirm("accepted", name)
            begin = BeginTurn(session, route, (event.id,), now)
            _, run = await store.write(RouteEvent(event.id, (Destination(session),)), begin)
            assert isinstance(run, RunClaim)
            plan = PlanParts((PartIntent(f"key-{name}", route, name.encode()),), now, run, final=True)
            _, part = await store.write(plan, ClaimPart(route, now))
            assert isinstance(part, StoredPart)
            confirm("sending", name)
            await store.write(MarkSent(part, f"receipt-{name}", now), EndRun(run, "answered", now))
            confirm("sent", name)

    await asyncio.gather(*map(produce, range(PRODUCERS)))
    confirm("done", life)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
