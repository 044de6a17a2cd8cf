"""What is played on the stage: rooms full of the things a chat has to draw well."""

import asyncio
import math
from datetime import UTC, datetime, timedelta

from rejoinder.channels.web import nouns as n
from rejoinder.channels.web import protocol as p
from rejoinder.events import Step
from rejoinder.web import console_frames as c
from tests.browser.stage import Stage

ADA = n.Member("ada", "Ada", n.Avatar(20, "AD", "🦊"), agent=True)
BEE = n.Member("bee", "Bee", n.Avatar(95, "BE", "🐝"), agent=True)
COD = n.Member("cod", "Cod", n.Avatar(210, "CO"), agent=True)
AGENTS = (ADA, BEE, COD)
ROOMS = (
    n.Room("lobby", "group", "lobby", ("ada", "bee", "cod")),
    n.Room("design", "group", "design", ("ada", "bee")),
    n.Room("dm-ada", "direct", "Ada", ("ada",)),
    n.Room("dm-bee", "direct", "Bee", ("bee",)),
    n.Room("dm-cod", "direct", "Cod", ("cod",)),
)

REVIEW = """\
I read the change. Two things:

1. `drain()` closes the socket **before** the last frame is written, so a reply can get lost on shutdown.
2. The retry has no ceiling.

```python
async def drain(self) -> None:
    while frame := self._queue.pop_first():
        await self._socket.send(frame)   # a slow client holds everybody up: this needs a timeout, and a test
    await self._socket.close()
```

| case | before | after |
|---|---:|---:|
| restart, 1 client | 212 ms | 38 ms |
| restart, 500 clients | 9.4 s | 0.7 s |

> Keep the queue bounded, and say so in the docs.

See https://example.org/review/42 for the whole list."""

ARABIC = "مرحبا، هل يمكنكم مراجعة هذا التغيير؟ الملف هو `server.py` والاختبارات خضراء."

STREAM = """\
Done. Here is what changed:

- **`drain()`** writes the last frame first
- a *ceiling* of five tries
- [the docs](https://example.org/docs) say it

```python
TRIES = 5
```

All tests pass."""


def in_pieces(text: str, size: int = 4) -> list[str]:
    return [text[i : i + size] for i in range(0, len(text), size)]


async def answer(stage: Stage, message: n.Message) -> None:
    """An agent for trying the page by hand: it types, reacts, and streams a reply."""
    room = stage.rooms[message.room]
    who = next((agent for agent in room.agents if f"@{agent}" in message.text), room.agents[0])
    await stage.live(p.TypingNow(message.room, who, message.thread))
    await stage.react(message.id, who, "👀")
    await asyncio.sleep(0.4)
    rest = {"thread": message.thread, "reply_to": message.id}
    await stage.stream(message.room, who, in_pieces(STREAM), **rest)


async def review() -> Stage:
    """Three agents review a change: replies to each other, reactions, a thread, a button, and fifty messages."""
    stage = Stage(AGENTS, ROOMS, answer)
    post, react = stage.post, stage.react
    hour, minute = 3600.0, 60.0
    for i in range(36):
        who = ("you", "ada", "bee", "cod")[i % 4]
        words = ("Morning! Anything on fire?", "No. Two builds, both green.", "I moved the docs.", "Thanks 🙏")[i % 4]
        await post("lobby", who, f"{words}" if i < 30 else f"{words} ({i})", ago=26 * hour - i * 10 * minute)
    ask = await post("lobby", "you", "@all can you review the shutdown change? I want to ship it **today**.", ago=900)
    first = await post("lobby", "ada", REVIEW, ago=870)
    await react(ask.id, "bee", "👀")
    await react(ask.id, "cod", "👀")
    second = await post("lobby", "bee", "I disagree on 2: the *caller* sets the ceiling.", reply_to=first.id, ago=820)
    await react(second.id, "cod", "💯")
    third = await post("lobby", "cod", "Tests cover both. I would ship.", reply_to=ask.id, ago=790)
    for who in ("you", "ada", "bee"):
        await react(third.id, who, "🚀")
    await react(third.id, "you", "🎉")
    await post("lobby", "ada", "Fair. Then only the first point stands.", reply_to=second.id, ago=760)
    await post("lobby", "you", ARABIC, ago=420)
    await post("lobby", "cod", "نعم، سأراجعه الآن. שלום גם לך.", ago=400)
    await post("lobby", "you", "🎉🎉", ago=300)
    for i, (who, words) in enumerate(
        (
            ("bee", "What about slow clients?"),
            ("ada", "Two seconds, then they resume."),
            ("you", "Good, let us do that."),
        )
    ):
        await post("lobby", who, words, thread=first.id, ago=290 - i * 20)
    choices = (n.Choice("Allow once", "allow"), n.Choice("Always", "always"), n.Choice("Deny", "deny"))
    await post("lobby", "cod", "May I run `make test` in **~/work/gateway**?", choices=choices, ago=200)
    await post("lobby", "", "Session of Ada: 12 turns, model *tour*, thinks **high**.", only_for="you", ago=150)
    await post("lobby", "you", "Ship it.", ago=60, edited=True)
    long = "A long line without an end: " + "very " * 60 + "long, and a word that cannot be broken: " + "x" * 150
    await post("dm-ada", "you", "How do you stream a table?", ago=5 * hour)
    await post(
        "dm-ada",
        "ada",
        f"{REVIEW}\n\n---\n\n### Nested\n- one\n  - two\n    1. three\n- [x] done\n- [ ] to do\n\n{long}",
        ago=4 * hour,
    )
    await post("design", "bee", "The new icons are in. Which hue for Cod?", ago=2 * hour)
    await post("dm-bee", "bee", "I have read everything. Call me when you need me.", ago=30 * hour)
    stage.read = {("you", room.id): stage.seq for room in ROOMS if room.id != "design"}
    await console(stage)
    return stage


async def empty() -> Stage:
    stage = Stage(AGENTS, ROOMS, answer)
    return stage


async def console(stage: Stage) -> None:
    """What an operator sees on a busy day with one thing gone wrong."""
    now = datetime.now(UTC)
    ms = int(now.timestamp() * 1000)

    def ago(seconds: float) -> str:
        return (now - timedelta(seconds=seconds)).isoformat()

    steps = (
        Step("finalise", "continue", None, 0.00002),
        Step("access", "continue", "owner of this gateway", 0.00004),
        Step("activation", "continue", "@all means every agent of the room", 0.00003),
        Step("directives", "continue", None, 0.00005),
        Step("commands", "continue", None, 0.00001),
    )
    muted = (*steps[:2], Step("activation", "drop", "the group needs a mention and there is none", 0.00003))
    flow = (
        c.FlowReceived(ms - 60_000, "web", "lobby", "w37", "You", "@all can you review the shutdown change?"),
        c.FlowDecided(ms - 59_998, "web", "lobby", "w37", "turn", steps),
        c.FlowSession(ms - 59_990, "web:lobby", "ada", "web", "lobby", True),
        c.FlowSent(ms - 57_000, "web", "lobby", "w38", "I read the change. Two things:", 1),
        c.FlowTurn(ms - 56_000, "web", "lobby", "w37", "web:lobby", "ada", "answered", None, 4.0, 1),
        c.FlowReceived(ms - 30_000, "telegram", "-1001", "771", "Mira", "lunch?"),
        c.FlowDecided(ms - 29_999, "telegram", "-1001", "771", "drop", muted),
        c.FlowReceived(ms - 9_000, "telegram", "42", "772", "Sam", "summarise the thread please"),
        c.FlowDecided(ms - 8_999, "telegram", "42", "772", "turn", steps),
        c.FlowTurn(
            ms - 2_000, "telegram", "42", "772", "telegram:42", "bee", "failed", "the model did not answer in 60 s", 7.0
        ),
    )
    stage.flow = list(flow)
    points: list[c.Gauges] = []
    for i in range(600):
        busy = max(0.0, math.sin(i / 55) + 0.4 * math.sin(i / 9))
        noise = (i * 7919) % 7 / 7
        first = 220 + 260 * busy + 60 * noise if i > 40 else None
        came = int(busy * 2 + noise)
        points.append(
            c.Gauges(
                ms - (600 - i) * 1000, came, int(came * 1.4 + noise),
                int(busy * 3), int(busy * busy * 4), came // 2, 1, 1, 2,
                first, first and first * 3 + 300, first and first * 5 + 900,
            )
        )  # fmt: skip
    part = {"key": "k", "chat": "42", "thread": None, "attempts": 5, "planned": ago(400), "retry_at": None}
    job = {"paused": False, "state": None, "outcome": None, "fired": None, "detail": "", "passed": None, "reason": ""}
    stage.api = {
        "series": {"points": points},
        "sessions": {
            "sessions": [
                {"key": "web:lobby", "agent": "ada", "started": ago(7200), "touched": ago(56), "model": "gpt-x",
                 "waiting": 0, "input_tokens": 48_211, "output_tokens": 9_120},
                {"key": "telegram:42", "agent": "bee", "started": ago(90_000), "touched": ago(9), "model": None,
                 "waiting": 2, "input_tokens": 1_902, "output_tokens": 640},
            ]
        },
        "lanes": {
            "lanes": [
                {"session": "telegram:42", "agent": "bee", "waiting": [
                    {"message": "773", "channel": "telegram", "chat": "42", "sender": "Sam", "text": "and in French",
                     "since": ago(6)},
                    {"message": "774", "channel": "telegram", "chat": "42", "sender": "Sam", "text": "shorter",
                     "since": ago(3)}]}
            ]
        },
        "outbox": {
            "parts": [
                {**part, "id": 7, "channel": "telegram", "state": "dead", "text": "The summary you asked for: …",
                 "error": "Forbidden: bot was blocked by the user"},
                {**part, "id": 9, "channel": "telegram", "state": "held", "text": "Good morning!",
                 "error": "nobody knows whether it arrived"},
                {**part, "id": 12, "channel": "web", "chat": "lobby", "state": "planned", "attempts": 0,
                 "text": "On my way", "error": ""},
            ]
        },
        "jobs": {
            "jobs": [
                {**job, "name": "heartbeat/bee", "schedule": "30m", "next": ago(-840), "passed": ago(960),
                 "reason": "these are quiet hours"},
                {**job, "name": "standup", "schedule": "0 9 * * 1-5 Europe/Berlin", "next": ago(-50_000),
                 "state": "over", "outcome": "answered", "fired": ago(36_400)},
                {**job, "name": "weekly", "schedule": "0 17 * * 5 UTC", "paused": True, "next": None},
            ]
        },
        "gateway": {"version": "1", "agents": ["ada", "bee"], "configuration": ""},
        "channels": {
            "channels": [
                {"name": "web", "kind": "web", "listening": True, "problem": ""},
                {"name": "telegram", "kind": "telegram", "listening": True, "problem": "",
                 "places": ["the bot lacks a permission in #ideas"]},
                {"name": "slack", "kind": "slack", "listening": False, "problem": "the token was revoked"},
            ]
        },
        "people": {"people": [{"person": "ann", "name": "Ann", "since": "2025-01-02T03:04:05Z"}]},
        "pairing": {
            "requests": [
                {"channel": "telegram", "account": "bot", "sender": "Noor (991)", "code": "K7QF2M", "asked": ago(120),
                 "expires": ago(-3480)}
            ]
        },
        "messages/w37/trace": {
            "events": [
                {"id": 1, "message": "w37", "channel": "web", "chat": "lobby", "sender": "You", "entry": "text",
                 "text": "@all can you review the shutdown change?", "at": ago(60), "state": "done", "reason": "",
                 "steps": steps, "routed": [{"session": "web:lobby", "state": "answered", "turn": 12, "reason": ""}]}
            ]
        },
    }  # fmt: skip
