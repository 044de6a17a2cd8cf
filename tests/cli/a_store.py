"""A store with a bit of everything in it, made through the verbs a gateway writes."""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec

from rejoinder.events import Chat, Inbound, Part, PromptImage, PromptText, Route, Sender, Step
from rejoinder.session import Session
from rejoinder.store.base import (
    Accept,
    AppendTranscript,
    BeginTurn,
    BuryPart,
    ClaimPart,
    Destination,
    EndRun,
    HoldPart,
    IndexedMessage,
    MarkSent,
    MarkUnknown,
    NoteMessages,
    PairingRequest,
    PartIntent,
    PlanParts,
    PutJob,
    PutPairingRequest,
    PutSession,
    RouteEvent,
    RunClaim,
    SettleEvent,
    SkipTick,
    Store,
    StoredPart,
    Tick,
    Trace,
    TranscriptEntry,
)
from rejoinder.store.sqlite import open_store

NOW = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
LONG = timedelta(hours=1)
ANNA = Route("telegram", "1001")
TEAM = Route("discord", "1491365150664560881", "1502606076451885136")
SESSION = "helper:telegram:default:direct:anna"
TEAM_SESSION = "coder:discord:default:group:1491365150664560881:thread:1502606076451885136"

STAGES = (
    ("finalise", "continue", None, 0.000_041),
    ("own_message", "continue", None, 0.000_003),
    ("bot_rules", "continue", None, 0.000_001),
    ("access", "continue", "let in as owner", 0.000_012),
    ("abort", "continue", None, 0.000_002),
    ("activation", "continue", "a direct chat", 0.000_008),
    ("freshness_and_reset", "continue", None, 0.000_009),
    ("inline_directives", "continue", None, 0.000_003),
    ("skills", "continue", None, 0.000_001),
    ("inline_commands", "continue", None, 0.000_002),
    ("commands", "continue", None, 0.000_001),
    ("send_policy", "continue", None, 0.000_004),
    ("agent helper", "answered", None, 1.834),
)

BLOCK = PromptText(
    '<sender_context-a1b2>\n{"schema":"rejoinder.sender.v1","display_name":"Anna"}\n</sender_context-a1b2>'
)
"""What the agent is told of who wrote."""


def said(route: Route, key: str, text: str) -> PartIntent:
    return PartIntent(key, route, msgspec.json.encode({"type": "say", "part": Part(route, text, key=key)}), "say")


def received(route: Route, number: int, text: str, name: str = "Anna") -> Inbound:
    kind = "direct" if route.channel == "telegram" else "group"
    sender = Sender(name.lower(), name, name)
    sent = NOW - timedelta(seconds=2)
    chat = Chat(route.chat, kind)
    return Inbound(
        route.channel, f"update-{number}", f"{number}", chat, sender, text, thread=route.thread, sent_at=sent
    )


async def came(store: Store, route: Route, number: int, text: str, name: str = "Anna") -> int:
    (event,) = await store.write(Accept((received(route, number, text, name),), NOW))
    note = IndexedMessage(f"{number}", name.lower(), NOW, author_name=name, text=text)
    steps = tuple(Step(*stage) for stage in STAGES)
    await store.write(NoteMessages(route, (note,)), Trace(event.id, NOW, steps))
    return event.id


async def asked(store: Store, session: str, route: Route, *events: int) -> RunClaim:
    for event in events:
        await store.write(RouteEvent(event, (Destination(session),)))
    run = await store.write(BeginTurn(session, route, events, NOW))
    assert isinstance(run, RunClaim)
    return run


async def sending(store: Store, route: Route) -> StoredPart:
    part = await store.write(ClaimPart(route, NOW))
    assert isinstance(part, StoredPart)
    return part


async def fill(store: Store) -> None:
    """Anna's question is answered in two messages and one that died; the team's answer was never confirmed."""
    later = NOW + timedelta(seconds=2)
    await store.write(
        PutSession(Session(SESSION, "helper", NOW, later, model="gpt-x", input_tokens=12_345, output_tokens=678), 0)
    )
    await store.write(PutSession(Session(TEAM_SESSION, "coder", NOW, NOW, label="release room"), 0))
    question = await came(store, ANNA, 17, "What is the weather in Riga?")
    run = await asked(store, SESSION, ANNA, question)
    parts = (
        said(ANNA, "a:1", "It is **4 °C** and raining."),
        said(ANNA, "a:2", "Take an umbrella."),
        said(ANNA, "a:3", "By the way, the museum is closed on Mondays."),
    )
    await store.write(PlanParts(parts, NOW, run, final=True))
    await store.write(MarkSent(await sending(store, ANNA), "18", later, "It is 4 °C and raining.", "helper"))
    await store.write(MarkSent(await sending(store, ANNA), "19", later + timedelta(seconds=1), "Take...", "helper"))
    await store.write(BuryPart(await sending(store, ANNA), "403 Forbidden: bot was blocked by the user"))
    await store.write(EndRun(run, "answered", later))
    entries = (
        TranscriptEntry(
            "user", (BLOCK, PromptText("What is the weather in Riga?"), PromptImage("image/png", b"\x89PNG")), NOW
        ),
        TranscriptEntry("agent", (PromptText("It is **4 °C** and raining."),), later),
    )
    await store.write(AppendTranscript(SESSION, entries))
    await store.write(
        AppendTranscript(SESSION, (TranscriptEntry("user", (PromptText("Earlier."),), NOW - timedelta(days=1)),))
    )

    deploy = await came(store, TEAM, 700, "Deploy it, please.\nAnd say when.", "Boris")
    run = await asked(store, TEAM_SESSION, TEAM, deploy)
    await store.write(PlanParts((said(TEAM, "b:1", "Deployed."), said(TEAM, "b:2", "Version 1.4.2")), NOW, run))
    unknown = await store.write(MarkUnknown(await sending(store, TEAM), "the connection was lost"))
    await store.write(HoldPart(unknown))
    waits = await came(store, TEAM, 701, "And the changelog?", "Clara")
    await store.write(RouteEvent(waits, (Destination(TEAM_SESSION),)))

    ignored = await came(store, TEAM, 702, "\x1b[2J\x1b]0;owned\x07 lunch?\u202e", "Mallory")
    await store.write(SettleEvent(ignored, "not addressed to us"))
    soon = datetime.now(UTC) + timedelta(minutes=30)
    await store.write(PutPairingRequest(PairingRequest("telegram", "default", "2002", "K7QX2M9A", NOW, NOW, soon)))
    await store.write(PutPairingRequest(PairingRequest("telegram", "default", "2003", "EXPIRED1", NOW, NOW, NOW)))
    await store.write(PutJob("morning", "0 9 * * 1-5 Europe/Berlin", NOW), PutJob("party", "2024-01-02 05:00 UTC", NOW))
    await store.write(SkipTick(Tick("morning", NOW, datetime(2300, 1, 2, 8, tzinfo=UTC)), "somebody talks", NOW))
    await store.write(SkipTick(Tick("party", NOW, None), "its last turn has not ended yet", NOW))


def make(path: object) -> None:
    async def made() -> None:
        store = open_store(f"sqlite:{path}")
        await fill(store)
        await store.close()

    asyncio.run(made())
