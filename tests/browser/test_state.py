"""What the page knows, as values: frames in, windows out, without a room to draw."""

from typing import Any

import pytest

from tests.browser.conftest import Open, Playing

pytestmark = pytest.mark.asyncio(loop_scope="session")

RUN = """async (steps) => {
    const { ChatState } = await import("/static/chat/state.js");
    const state = new ChatState();
    for (const [kind, first, second] of steps) {
        if (kind === "apply") state.apply(first, 0);
        if (kind === "page") state.addPage(first, second);
        if (kind === "read") state.readAll(first);
    }
    const { ids, more, end } = state.timeline("lobby");
    const room = state.rooms.get("lobby");
    const texts = Object.fromEntries([...state.messages].map(([id, message]) => [id, message.text]));
    const typing = state.typing("lobby", 0).map(({ id }) => id);
    const atWork = state.isAtWork("lobby", 0);
    return { ids, more, end, seq: state.seq, unread: room.unread, read: room.read, texts, latest: room.latest?.id,
        under: Object.fromEntries([...state.messages].map(([id, { under }]) => [id, under?.replies ?? 0])),
        quotes: Object.fromEntries([...state.messages].flatMap(([id, m]) => (m.reply_to ? [[id, m.reply_to]] : []))),
        typing, atWork };
}"""

ME = {"id": "you", "name": "You", "face": {"hue": 1, "initials": "Y"}}


def said(seq: int, text: str = "x", author: str = "ada", **rest: Any) -> dict[str, Any]:
    return {"id": f"w{seq}", "room": "lobby", "author": author, "at": seq, "seq": seq, "text": text, **rest}


def posted(seq: int, **rest: Any) -> tuple[Any, ...]:
    return "apply", {"type": "message", "seq": seq, "message": said(seq, **rest)}


def welcome(seq: int = 0, resumed: bool = False, **room: Any) -> tuple[Any, ...]:
    rooms = [{"id": "lobby", "kind": "group", "title": "lobby", "agents": ["ada"], **room}]
    frame = {"type": "welcome", "protocol": 1, "version": "", "journal": "j", "seq": seq, "resumed": resumed, "me": ME}
    return "apply", {
        **frame,
        "agents": [{"id": "bo", "name": "Bo", "face": {"hue": 1, "initials": "B"}, "agent": True}],
        "people": [],
        "rooms": rooms,
        "commands": [],
        "growing": [],
        "upload_limit": 9,
    }


def page(*messages: dict[str, Any], more: bool = False, **asked: Any) -> tuple[Any, ...]:
    return "page", {"place": "lobby", **asked}, {"messages": list(messages), "more": more}


LOADED = (welcome(2), page(said(1), said(2)))

TYPES = ("apply", {"type": "typing", "room": "lobby", "who": "bo"})


def whole(seq: int) -> tuple[Any, ...]:
    return "apply", {"type": "edited", "seq": seq, "room": "lobby", "message": "w3", "text": "Done."}


CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "a new message joins the end": ((*LOADED, posted(3)), {"ids": ["w1", "w2", "w3"], "seq": 3, "latest": "w3"}),
    "the same message twice is one": ((*LOADED, posted(3), posted(3)), {"ids": ["w1", "w2", "w3"], "unread": 1}),
    "one's own is never unread": ((*LOADED, posted(3, author="you")), {"unread": 0}),
    "what was missed is counted by the welcome alone": (
        (*LOADED, welcome(5, resumed=True, unread=2), posted(4), posted(5)),
        {"ids": ["w1", "w2", "w4", "w5"], "unread": 2},
    ),
    "who types is shown": ((*LOADED, TYPES), {"typing": ["bo"]}),
    "who has spoken types no more": ((*LOADED, TYPES, posted(3, author="bo")), {"typing": []}),
    "nobody types whose words are seen": ((*LOADED, posted(3, author="bo", growing=True), TYPES), {"typing": []}),
    "nor when they are whole": ((*LOADED, posted(3, author="bo", growing=True), TYPES, whole(4)), {"typing": []}),
    "nor when they were taken back": (
        (
            *(*LOADED, posted(3, author="bo", growing=True), TYPES),
            ("apply", {"type": "deleted", "seq": 4, "room": "lobby", "message": "w3"}),
        ),
        {"typing": []},
    ),
    "another's words end nobody's typing": ((*LOADED, TYPES, posted(3, author="ada")), {"typing": ["bo"]}),
    "nobody is at work": (LOADED, {"atWork": False}),
    "an agent that types is at work": ((*LOADED, TYPES), {"atWork": True}),
    "a person who types is not": (
        (*LOADED, ("apply", {"type": "typing", "room": "lobby", "who": "ann"})),
        {"typing": ["ann"], "atWork": False},
    ),
    "whose words grow is at work": ((*LOADED, posted(3, author="bo", growing=True)), {"atWork": True}),
    "until they are whole": ((*LOADED, posted(3, author="bo", growing=True), whole(4)), {"atWork": False}),
    "who works in a thread does not in the room": (
        (*LOADED, posted(3, author="bo", growing=True, thread="w1")),
        {"atWork": False},
    ),
    "not resumed: everything is forgotten": ((*LOADED, welcome(9)), {"ids": [], "seq": 9}),
    "reading moves the mark": ((*LOADED, posted(3), ("read", "lobby")), {"unread": 0, "read": 3}),
    "older ones come before": (
        (welcome(2), page(said(2), more=True), page(said(1), before=2)),
        {"ids": ["w1", "w2"], "more": False, "end": True},
    ),
    "a far jump is a window of its own, and news do not join it": (
        (
            welcome(90, latest=said(90)),
            page(said(89), said(90), more=True),
            page(said(4), said(5), more=True, around="w5"),
            posted(91),
        ),
        {"ids": ["w4", "w5"], "end": False, "more": True},
    ),
    "a window that grows down reaches the end": (
        (
            welcome(6, latest=said(6)),
            page(said(6), more=True),
            page(said(1), said(2), around="w1"),
            page(said(2), said(3), said(6), around="w2"),
        ),
        {"ids": ["w1", "w2", "w3", "w6"], "end": True},
    ),
    "a reply in a thread is counted under its root": (
        (*LOADED, posted(3, thread="w1"), posted(4, thread="w1")),
        {"ids": ["w1", "w2"], "under": {"w1": 2, "w2": 0, "w3": 0, "w4": 0}, "latest": None},
    ),
    "a deleted message is gone, and its mark with it": (
        (*LOADED, posted(3), ("apply", {"type": "deleted", "seq": 4, "room": "lobby", "message": "w3"})),
        {"ids": ["w1", "w2"], "unread": 0, "latest": "w2", "seq": 4},
    ),
    "a deleted message with a thread stays without words": (
        (
            *(*LOADED, posted(3, text="x"), posted(4, thread="w3")),
            ("apply", {"type": "deleted", "seq": 5, "room": "lobby", "message": "w3", "stays": True}),
        ),
        {
            **{"ids": ["w1", "w2", "w3"], "texts": {"w1": "x", "w2": "x", "w3": "", "w4": "x"}, "latest": "w2"},
            **{"under": {"w1": 0, "w2": 0, "w3": 1, "w4": 0}},
        },
    ),
    "until its thread is empty": (
        (
            *(*LOADED, posted(3), posted(4, thread="w3")),
            ("apply", {"type": "deleted", "seq": 5, "room": "lobby", "message": "w3", "stays": True}),
            ("apply", {"type": "deleted", "seq": 6, "room": "lobby", "message": "w4"}),
        ),
        {"ids": ["w1", "w2"]},
    ),
    "the words of a deleted message are in no quote": (
        (
            *(*LOADED, posted(3, reply_to={"id": "w2", "author": "ada", "text": "x"})),
            ("apply", {"type": "deleted", "seq": 4, "room": "lobby", "message": "w2"}),
        ),
        {"quotes": {"w3": {"id": "w2", "author": "ada"}}},
    ),
    "a message grows and becomes whole": (
        (
            *LOADED,
            posted(3, text="", growing=True),
            ("apply", {"type": "delta", "room": "lobby", "message": "w3", "at": 0, "text": "🎉 He"}),
            ("apply", {"type": "delta", "room": "lobby", "message": "w3", "at": 5, "text": "llo"}),
            ("apply", {"type": "delta", "room": "lobby", "message": "w3", "at": 99, "text": "lost"}),
            ("apply", {"type": "unknown", "seq": 4}),
        ),
        {"texts": {"w1": "x", "w2": "x", "w3": "🎉 Hello"}, "seq": 4},
    ),
}


async def test_frames(open_page: Open, quiet: Playing) -> None:
    """Resume, windows, unread marks, threads: each case is a few frames and what the page then knows."""
    opened = await open_page(f"{quiet.url}/login")
    for name, (steps, expected) in CASES.items():
        known = await opened.evaluate(RUN, [list(step) for step in steps])
        assert {key: known.get(key) for key in expected} == expected, name
