"""No frame ever shows a byte of a directive: an observer reads every text of the room that changes.

An agent answers several people of one room at once, as fast as the page can draw. Half of the answers
hold none of the characters directives are made of, so that in them even one such character is a leak; the others
hold what looks like the beginning of one. The seed of a run is printed, and `STREAMS_SEED` runs it again.
"""

import asyncio
import json
import os
import random
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.async_api import Page, WebSocketRoute, expect

from rejoinder.app import Gateway
from rejoinder.channels.web.channel import WebChannel
from rejoinder.channels.web.nouns import Person
from rejoinder.config import schema
from rejoinder.events import ReplyEvent, Text, TurnEnded
from rejoinder.outbound.reading import read_reply
from rejoinder.runtime.answer import delivery
from rejoinder.testing.patience import PATIENCE
from tests.browser.conftest import Open
from tests.browser.hands import box
from tests.web.running import Site, running, settings

pytestmark = pytest.mark.asyncio(loop_scope="session")

PEOPLE = ("ada", "bo", "cleo", "dee", "eli", "flo", "gus", "hal")

PLAIN = (
    "well,",
    "the build",
    "is green",
    "i would ship",
    "**after**",
    "*soon*",
    "🙂",
    "`make test`",
    "\n\n- one\n- two\n\n",
)
RICH = (*PLAIN, "a < b", "[1]", "No, thanks", "<3", "x[[0]]", "NOT now", "[docs](https://example.org)", "</p>")
HEADERS = (
    "[[reply_to:m1]]\n",
    "\n[[ silent : true ]]\r\n",
    "[[title:On reviews]]\n",
    "[[reply_to:m1]]\n[[silent]]\n",
    "[[reply-to:m1]]\n",
    "",
    "",
)
ACTIONS = (
    '<actions><react emoji="tada"/></actions>\n',
    '<actions>\n  <react emoji="eyes" message="m1"/>\n  <react emoji=\'tada\'/>\n</actions>\n',
    "<ACTIONS class='x'></ACTIONS>",
    '<actions><send-message chat="C1">[[x]] "psst" </send-message></actions>\n',
    '<react emoji="heart" />\n',
    "<no-reply/>",
)
FIRST = ("[[reply_to_current]] ", "[[reply_to:m1]] [[silent]]", "", "", "")
LAST = (
    "\n\nNO_REPLY",
    '\n<actions><handoff to="bo">Please.</handoff></actions>',
    '\n<react emoji="fire"/>',
    "",
    "",
    "",
    "",
)

LEAKED = r"""[\[\]<>="_]|\bN|emoji|react|reply|silent|title|actions"""
LEAKED_AMONG_THE_LIKE = r"\[\[[^0…]|reply_|<\/?act|<rea|emoji=|no-reply|silent|title:|NO_|handoff|send-m"

WATCH = """([strict, loose]) => {
    const plain = new RegExp(strict), rich = new RegExp(loose, "i");
    const places = "main .message .body, .preview, main .quote, [role=status] p";
    const waiting = new Set();
    Object.assign(window, { seen: [], looks: 0, ends: new Set() });
    window.until = (holds) => new Promise((resolve) => {
        const look = () => holds() && (waiting.delete(look), resolve());
        waiting.add(look);
        look();
    });
    const read = (place) => {
        const text = place.textContent;
        const words = text.replace(/^(?:\\w+: )?rich /, "");
        const hit = (words === text ? plain : rich).exec(words);
        if (hit && window.seen.length < 20) window.seen.push(text);
        for (const end of text.matchAll(/end (\\d+)\\./g)) window.ends.add(end[1]);
    };
    new MutationObserver((records) => {
        const changed = new Set();
        for (const { target, addedNodes } of records) {
            const element = target.nodeType === 1 ? target : target.parentElement;
            const place = element?.closest(places);
            if (place) changed.add(place);
            else for (const node of addedNodes) {
                if (node.nodeType !== 1) continue;
                if (node.matches(places)) changed.add(node);
                for (const inner of node.querySelectorAll(places)) changed.add(inner);
            }
        }
        window.looks += changed.size;
        changed.forEach(read);
        if (changed.size) waiting.forEach((look) => look());
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
}"""


def written(chance: random.Random, number: int) -> str:
    """One answer with directives in the places they may stand, its end marked by its number."""
    words = chance.choice((PLAIN, RICH))
    head = chance.choice(HEADERS) + chance.choice(HEADERS) + chance.choice(FIRST) + chance.choice((*ACTIONS, "", ""))
    said = " ".join(chance.choices(words, k=chance.randint(2, 7)))
    if chance.random() < 0.3:
        said += "\n" + chance.choice(ACTIONS[:5]) + chance.choice(words)
    kind = "rich " if words is RICH else ""
    return f"{head}{kind}{said}\n\nend {number}.{chance.choice(LAST)}"


def cut(chance: random.Random, text: str) -> tuple[str | float, ...]:
    """Into pieces of any size, with pauses in which the page can draw."""
    pieces: list[str | float] = []
    while text:
        size = chance.choice((1, 1, 2, 3, 5, 9, 30))
        pieces.append(text[:size])
        text = text[size:]
        if chance.random() < 0.2:
            pieces.append(0.008)
    return tuple(pieces)


def played(streams: Sequence[tuple[str | float, ...]]) -> schema.Settings:
    """One agent in a room where everybody has a lane of their own: it answers all of them at once."""
    made = settings(tuple(streams))
    queue = schema.QueueSection(mode="queue", debounce_ms=0)
    return replace(
        made,
        session=replace(made.session, group_scope="per-sender"),
        messages=schema.MessagesSettings(queue=queue),
    )


class Crowd:
    """Each of them asks, and asks again when they have been answered."""

    def __init__(self, rounds: int) -> None:
        self._left = dict.fromkeys(PEOPLE, rounds)
        self._begin = asyncio.Event()

    async def play(self, gateway: Gateway, web: WebChannel) -> None:
        async def ask(person: str) -> None:
            if self._left[person]:
                self._left[person] -= 1
                client = f"go {self._left[person]}"  # the same ids for all: each is its browser's own
                await web.journal.say(person, client, self.room, "go", None, None, ())

        async def answered(turn: TurnEnded) -> None:
            await ask(turn.session.rpartition(":")[2])

        for person in PEOPLE:
            await web.journal.arrive(Person(person, person))
        self.room = await web.journal.make_room(PEOPLE[0], "room", "room", ())
        gateway.on("turn_ended", answered)
        await self._begin.wait()
        for person in PEOPLE:
            await ask(person)

    async def watched(self, page: Page, site: Site) -> None:
        """Opens the room and reads along from then on; what was read is in the page."""
        await page.goto(f"{site.url}/#{self.room}")
        await expect(box(page)).to_be_focused()
        await page.evaluate(WATCH, [LEAKED, LEAKED_AMONG_THE_LIKE])
        self._begin.set()


async def looked(page: Page, holds: str) -> None:
    """Waits until this holds of what was read, and not for ever."""
    async with asyncio.timeout(PATIENCE):
        await page.evaluate(f"until(() => {holds})")


@pytest.mark.parametrize("count", [240, pytest.param(2000, marks=pytest.mark.deep)])
async def test_random_streams(open_page: Open, capsys: pytest.CaptureFixture[str], count: int) -> None:
    """OD-3: however the answers are cut, whatever stands in them; other ones each time."""
    seed = int(os.environ.get("STREAMS_SEED", random.randrange(10**6)))
    with capsys.disabled():
        print(f"\n{count} random streams, STREAMS_SEED={seed}")
    chance = random.Random(seed)
    texts = [written(chance, number) for number in range(count)]
    said = {str(number) for number, text in enumerate(texts) if not read_reply(text).silent}
    crowd = Crowd(count // len(PEOPLE))
    async with running(played([cut(chance, text) for text in texts]), crowd.play) as site:
        await crowd.watched(page := await open_page(site.url), site)
        async with asyncio.timeout(PATIENCE + count / 4):
            await page.evaluate("said => until(() => seen.length || said.every((end) => ends.has(end)))", sorted(said))
        assert await page.evaluate("seen") == []
        looks = await page.evaluate("looks")
        await expect(page.locator(".pill")).to_be_hidden()  # it has followed all the way
        with capsys.disabled():
            print(f"{looks} looks")
        assert looks > 3 * count


class Unread(delivery.ReplyReader):
    """A reader that reads nothing: every byte of the agent is text."""

    def feed(self, piece: str) -> list[ReplyEvent]:
        return [Text(piece)]

    def finish(self) -> list[ReplyEvent]:
        return []


ONE = tuple(("[[reply_to:m1]]\n", 0.05, f"well, the build is green\n\nend {number}.") for number in range(len(PEOPLE)))


async def test_a_gateway_that_leaks_is_caught(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The observer can fail: without the reader it sees the header."""
    monkeypatch.setattr(delivery, "ReplyReader", Unread)
    crowd = Crowd(1)
    async with running(played(ONE), crowd.play) as site:
        await crowd.watched(page := await open_page(site.url), site)
        await looked(page, "seen.length")
        assert "[[reply_to:m1]]" in (await page.evaluate("seen"))[0]


@pytest.mark.parametrize("byte", ["[", "<", "N"])
async def test_one_byte_in_one_frame_is_caught(open_page: Open, byte: str) -> None:
    """The observer can fail: a line that adds one character to what grows, and fixes it at the end."""

    lines: list[WebSocketRoute] = []
    held: list[Any] | None = None  # what follows the first byte, until the page has drawn it

    def pass_on(frame: Any) -> None:
        nonlocal held
        if held:
            held.append(frame)
            return
        told = json.loads(frame)
        if told["type"] == "message" and told["message"].get("growing"):
            told["message"]["text"] += f" {byte}"
            held = [frame] if held is None else held
        lines[-1].send(json.dumps(told))

    def tamper(line: WebSocketRoute) -> None:
        lines.append(line)
        line.connect_to_server().on_message(pass_on)

    crowd = Crowd(1)
    streams = [("well, ", 0.1, f"end {number}.") for number in range(len(PEOPLE))]
    async with running(played(streams), crowd.play) as site:
        page = await open_page("about:blank")
        await page.route_web_socket("**/socket", tamper)
        await crowd.watched(page, site)
        await looked(page, "seen.length")
        _, *waiting = held or []
        held = []
        for frame in waiting:
            pass_on(frame)
        await expect(page.locator(".message.growing")).to_have_count(0)
        assert {text.partition(byte)[0].rpartition(":")[2].strip() for text in await page.evaluate("seen")} == {"well,"}
