"""The places, times and first steps that the promises start from."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from rejoinder.errors import RejoinderError, Superseded
from rejoinder.events import Chat, Inbound, Route, Sender
from rejoinder.store.base import (
    Accept,
    BeginTurn,
    ClaimPart,
    Destination,
    InboxEvent,
    PartIntent,
    RouteEvent,
    RunClaim,
    Store,
    StoredPart,
    Verb,
)

NOW = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
SOON = NOW + timedelta(minutes=1)
HERE = Route("telegram", "chat-1")
THREAD = Route("telegram", "chat-1", "thread-1")


def an_inbound(number: int, *, chat: str = "chat-1", sender: str = "anna", text: str = "") -> Inbound:
    return Inbound("telegram", f"event-{number}", f"{number}", Chat(chat), Sender(sender), text or f"text {number}")


def an_intent(number: int, route: Route = HERE, body: bytes = b"", kind: str = "text") -> PartIntent:
    return PartIntent(f"key-{number}", route, body or f"part {number}".encode(), kind)


async def accepted(store: Store, *numbers: int, now: datetime = NOW) -> tuple[InboxEvent, ...]:
    return await store.write(Accept(tuple(map(an_inbound, numbers)), now))


async def waiting(store: Store, *numbers: int, session: str = "s", now: datetime = NOW) -> tuple[int, ...]:
    """Events that wait in a session."""
    events = await accepted(store, *numbers, now=now)
    for event in events:
        await store.write(RouteEvent(event.id, (Destination(session),)))
    return tuple(event.id for event in events)


async def begun(store: Store, *numbers: int, session: str = "s") -> RunClaim:
    events = await waiting(store, *numbers, session=session)
    run = await store.write(BeginTurn(session, HERE, events, NOW))
    assert isinstance(run, RunClaim)
    return run


async def claimed(store: Store, *, route: Route = HERE, now: datetime = NOW) -> StoredPart:
    part = await store.write(ClaimPart(route, now))
    assert isinstance(part, StoredPart), part
    return part


async def loses(store: Store, *verbs: Verb[object]) -> None:
    """Writing this is refused, and nothing of it is written."""
    before = await store.count_rows()
    with refused(Superseded):
        await store.write(*verbs)
    assert await store.count_rows() == before


@contextmanager
def refused(kind: type[RejoinderError], words: str = "") -> Generator[None]:
    """Checks that the block is refused, in one line with these words."""
    try:
        yield
    except kind as error:
        said = str(error)
    else:
        raise AssertionError(f"nothing was refused; {kind.__name__} was expected")
    assert words in said
    assert "\n" not in said
