"""Browsers and the channel: who is told what, and what is made up for after a broken line (surface.md, Pages)."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from rejoinder.blobs import Upload, whole
from rejoinder.channels.base import Delivered
from rejoinder.channels.web import reading, sockets
from rejoinder.channels.web.channel import WebChannel
from rejoinder.events import Attachment, Part, Route
from tests.channels.web.browser import Browser, a_channel, browsers

LOBBY = Route("web", "lobby")


@pytest_asyncio.fixture
async def channel() -> AsyncIterator[WebChannel]:
    opened = await a_channel()
    yield opened
    await opened.close()


async def test_welcome_tells_the_place(channel):
    """Agents with names and faces, a direct chat with each, the lobby they share, commands to complete."""
    async with browsers(channel, "") as [page]:
        welcome = page.frames[0]
        assert welcome["me"] == {"id": "you", "name": "You", "face": welcome["me"]["face"]}
        assert [(agent["id"], agent["name"], agent["agent"]) for agent in welcome["agents"]] == [
            ("helper", "Helper", True),
            ("coder", "Coder", True),
        ]
        assert [room["id"] for room in welcome["rooms"]] == ["lobby", "helper~you", "coder~you"]
        assert welcome["rooms"][0]["agents"] == ["helper", "coder"]
        assert welcome["commands"] == [{"name": "help", "description": "Shows help."}]
        assert welcome["resumed"] is False


async def test_one_agent_needs_no_lobby():
    channel = await a_channel(agents=("helper",))
    async with browsers(channel, "") as [page]:
        assert [room["id"] for room in page.frames[0]["rooms"]] == ["helper~you"]
    await channel.close()


async def test_two_browsers_see_the_same(channel):
    """What one person says, everybody in the room sees, in the same order."""
    async with browsers(channel, "", "ann") as [page, ann]:
        await page.ask("say", room="lobby", text="from you")
        await ann.ask("say", room="lobby", text="from ann")
        await page.told("message", since=2)
        assert list(page.shown("lobby").items()) == list(ann.shown("lobby").items())
        assert list(page.shown("lobby").values()) == ["from you", "from ann"]


async def test_a_direct_chat_is_nobody_elses(channel):
    async with browsers(channel, "", "ann") as [page, ann]:
        said = await page.ask("say", room="helper~you", text="private")
        await page.ask("say", room="lobby", text="public")
        assert (await ann.told("message"))["message"]["text"] == "public"
        assert (await ann.ask("search", query="private"))["messages"] == []
        for type, more in (
            ("say", {"room": "helper~you", "text": "me too"}),
            ("history", {"room": "helper~you"}),
            ("react", {"message": said["id"], "emoji": "👀"}),
            ("edit", {"message": said["id"], "text": "mine"}),
        ):
            assert (await ann.ask(type, **more))["type"] == "refused"


async def test_a_request_sent_twice_is_done_once(channel):
    """A browser that did not hear `done` sends the same again after a reconnect."""
    async with browsers(channel, "") as [page]:
        first = await page.ask("say", client="c1", room="lobby", text="once")
    async with browsers(channel, "") as [page]:
        assert await page.ask("say", client="c1", room="lobby", text="once") == first
        await page.ask("say", client="c2", room="lobby", text="end")
        assert [message.text for message in channel.got] == ["once", "end"]


async def test_resume_brings_exactly_what_was_missed(channel):
    """Events after the number that was said come in order, and none twice."""
    async with browsers(channel, "") as [page]:
        said = (await page.ask("say", room="lobby", text="one"))["id"]
        seq, journal = page.seq, page.journal
    await channel.send(Part(LOBBY, "two", author="helper"))
    async with browsers(channel, "ann") as [ann]:
        await ann.ask("react", message=said, emoji="🎉")
    async with browsers(channel, "", seq=seq, journal=journal) as [page]:
        await page.ask("say", room="lobby", text="three")
        assert page.frames[0]["resumed"] is True
        seen = [frame["seq"] for frame in page.frames[1:] if "seq" in frame]
        assert seen == sorted(set(seen))
        assert min(seen) > seq
        kinds = [frame["type"] for frame in page.frames[1:]]
        assert kinds == ["message", "person", "reacted", "message", "done"]


@pytest.mark.parametrize("other", [{"journal": "another"}, {"seq": 10**9}, {"seq": None}, {"seq": -1}])
async def test_other_numbers_start_over(channel, other):
    async with browsers(channel, "") as [page]:
        known = {"seq": page.seq, "journal": page.journal, **other}
    async with browsers(channel, "", **known) as [page]:
        assert page.frames[0]["resumed"] is False


async def test_too_much_missed_starts_over(channel, monkeypatch):
    monkeypatch.setattr(reading, "MOST_RESUMED", 3)
    async with browsers(channel, "") as [page]:
        known = {"seq": page.seq, "journal": page.journal}
    for number in range(4):
        await channel.send(Part(LOBBY, str(number)))
    async with browsers(channel, "", **known) as [page]:
        assert page.frames[0]["resumed"] is False
        assert page.frames[0]["rooms"][0]["unread"] == 4


async def test_resuming_while_a_message_grows(channel):
    """A growing message comes as it stands, and its deltas fit onto it."""
    async with browsers(channel, "") as [page]:
        known = {"seq": page.seq, "journal": page.journal}
    begun = await channel.begin(Part(LOBBY, "a", author="helper"))
    assert isinstance(begun, Delivered)
    await channel.append(LOBBY, begun.message, "b")
    async with browsers(channel, "", **known) as [page]:
        await channel.append(LOBBY, begun.message, "c")
        await page.told("delta")
        assert page.shown("lobby") == {begun.message: "abc"}


async def test_what_grows_comes_behind_what_was_said_before_it(channel):
    """Who was away hears first what was said first: a growing message that was missed comes in its place and once, one
    that was seen to begin comes with the welcome."""
    async with browsers(channel, "") as [page]:
        seen = await channel.begin(Part(LOBBY, "I see", author="helper"))
        known = {"seq": (await page.told("message"))["seq"], "journal": page.journal}
    await channel.append(LOBBY, seen.message, " more")
    handed = await channel.send(Part(LOBBY, "@coder this is yours", author="helper"))
    taken = await channel.begin(Part(LOBBY, "I have", author="coder"))
    await channel.append(LOBBY, taken.message, " it")
    async with browsers(channel, "", **known) as [page]:
        await page.ask("say", room="lobby", text="end")
        welcome, first, second, *_ = page.frames
        assert [(each["id"], each["text"]) for each in welcome["growing"]] == [(seen.message, "I see more")]
        assert (first["message"]["id"], second["message"]["id"]) == (handed.message, taken.message)
        assert (second["message"]["text"], second["message"]["growing"]) == ("I have it", True)
    async with browsers(channel, "") as [page]:
        assert [each["id"] for each in page.frames[0]["growing"]] == [seen.message, taken.message]


async def test_nothing_falls_between_welcome_and_live(channel):
    """Browsers that come while much is said have each number once, wherever they came in."""

    async def talk() -> None:
        for number in range(100):
            await channel.send(Part(LOBBY, f"line {number}"))

    async with browsers(channel, "") as [page]:
        known = {"seq": page.seq, "journal": page.journal}
    came: list[Browser] = []
    async with asyncio.TaskGroup() as group:
        talking = group.create_task(talk())
        opened: list[asyncio.Task[None]] = []
        while not talking.done():
            browser = Browser(channel)
            came.append(browser)
            opened.append(group.create_task(browser.run()))
            browser.send(type="hello", protocol=1, **known)
            await browser.told("welcome")
        for browser in came:
            await browser.ask("history", room="lobby", limit=1)
            browser.leave()
    assert len(came) > 1
    for browser in came:
        assert list(browser.shown("lobby").values()) == [f"line {number}" for number in range(100)]


async def test_a_slow_browser_is_let_go_and_comes_back(channel, monkeypatch):
    """Nobody waits for it: it is closed with 4001, and resumes."""
    monkeypatch.setattr(sockets, "MOST_FRAMES", 5)
    async with browsers(channel, "") as [page]:
        known = {"seq": page.seq, "journal": page.journal}
        assert page.connection is not None
        for number in range(7):
            page.connection.put(f'{{"type": "note", "room": "lobby", "text": "{number}"}}')
        assert await page.is_closed() == sockets.TOO_SLOW
    assert channel.hub.dropped == 1
    async with browsers(channel, "", **known) as [page]:
        assert page.frames[0]["resumed"] is True


async def test_threads(channel):
    """A thread hangs under a message and shows there how many answers it has."""
    async with browsers(channel, "") as [page]:
        root = (await page.ask("say", room="lobby", text="root"))["id"]
        inner = (await page.ask("say", room="lobby", text="inside", thread=root))["id"]
        assert (await page.ask("say", room="lobby", text="deeper", thread=inner))["type"] == "refused"
        await channel.send(Part(Route("web", "lobby", root), "answer", author="helper"))
        outside = (await page.ask("history", room="lobby"))["messages"]
        inside = (await page.ask("history", room="lobby", thread=root))["messages"]
        got = channel.got
    assert [message["text"] for message in outside] == ["root"]
    assert outside[0]["under"]["replies"] == 2
    assert [message["text"] for message in inside] == ["inside", "answer"]
    assert [message.thread for message in got] == [None, root, root]


async def test_read_marks_and_unread(channel):
    """Marks move forward only, and every browser of the person knows."""
    async with browsers(channel, "", "") as [page, other]:
        await channel.send(Part(LOBBY, "one", author="helper"))
        await channel.send(Part(LOBBY, "two", author="helper"))
        first = (await page.told("message"))["message"]["seq"]
        page.send(type="read", room="lobby", seq=first)
        await other.told("read", room="lobby", read=first)
        page.send(type="read", room="lobby", seq=first - 1)
        await page.ask("history", room="lobby")
        assert len([frame for frame in page.frames if frame["type"] == "read"]) == 1
    async with browsers(channel, "") as [page]:
        lobby = page.frames[0]["rooms"][0]
        assert (lobby["unread"], lobby["read"], lobby["latest"]["text"]) == (1, first, "two")


async def test_history_pages_and_jumps(channel):
    async with browsers(channel, "") as [page]:
        ids = [(await page.ask("say", room="lobby", text=str(number)))["id"] for number in range(10)]
        latest = await page.ask("history", room="lobby", limit=3)
        older = await page.ask("history", room="lobby", limit=3, before=latest["messages"][0]["seq"])
        around = await page.ask("history", room="lobby", limit=4, around=ids[4])
    assert [message["text"] for message in latest["messages"]] == ["7", "8", "9"]
    assert [message["text"] for message in older["messages"]] == ["4", "5", "6"]
    assert latest["more"]
    assert [message["text"] for message in around["messages"]] == ["2", "3", "4", "5", "6"]


async def test_a_page_holds_no_more_text_than_a_browser_reads_in_one_go(channel, monkeypatch):
    """Long messages make short pages, one at least; what is older comes with the next."""
    monkeypatch.setattr(reading, "MOST_BYTES", 2500)
    async with browsers(channel, "") as [page]:
        for text in ("a" * 1000, "b" * 1000, "c" * 1000, "d" * 9999):
            await page.ask("say", room="lobby", text=text)
        newest = await page.ask("history", room="lobby")
        assert [message["text"][0] for message in newest["messages"]] == ["d"]
        older = await page.ask("history", room="lobby", before=newest["messages"][0]["seq"])
        assert [message["text"][0] for message in older["messages"]] == ["b", "c"]
        assert (newest["more"], older["more"]) == (True, True)
        first = await page.ask("history", room="lobby", before=older["messages"][0]["seq"])
        assert ([message["text"][0] for message in first["messages"]], first["more"]) == (["a"], False)
        near = await page.ask("history", room="lobby", around=older["messages"][1]["id"])
        assert [message["text"][0] for message in near["messages"]] == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("query", "found"),
    [("SCHÖN", ["Schöne Straße"]), ("schöne straSSE", ["Schöne Straße"]), ("100%", ["100% sure"]), ("a_b", ["a_b"])],
)
async def test_search(channel, query, found):
    """All words, in upper and lower case alike; signs mean themselves."""
    async with browsers(channel, "") as [page]:
        for text in ("Schöne Straße", "100% sure", "1000 sure", "a_b", "axb"):
            await page.ask("say", room="lobby", text=text)
        assert [message["text"] for message in (await page.ask("search", query=query))["messages"]] == found


async def test_people_make_rooms(channel):
    async with browsers(channel, "", "ann") as [page, ann]:
        made = await page.ask("make_room", title=" Plans  2025 ", agents=["coder"])
        room = await ann.told(
            "room", room={"id": made["id"], "kind": "group", "title": "Plans 2025", "agents": ["coder"]}
        )
        assert (await ann.ask("say", room=room["room"]["id"], text="Hi"))["type"] == "done"
        refused = await page.ask("make_room", title="x", agents=["nobody"])
        assert refused["reason"] == "There is no agent called nobody."


async def test_files_come_along(channel):
    """What was uploaded is fetched by its id when an agent reads the message, if it is not too large."""
    file = await channel.journal.blobs.keep(Upload(name="plan.txt", mime="text/plain"), whole(b"the plan"))
    async with browsers(channel, "") as [page]:
        await page.ask("say", room="lobby", text="", files=[file.id])
        assert (await page.told("message"))["message"]["files"][0]["name"] == "plan.txt"
        assert (await page.ask("say", room="lobby", text="", files=["nope"]))["type"] == "refused"
        [message] = channel.got
    assert message.attachments == (Attachment(file.id, "plan.txt", "text/plain", 8),)
    assert await channel.fetch(message.attachments[0], 8) == b"the plan"
    assert await channel.fetch(message.attachments[0], 7) is None


async def test_only_ones_own_messages_can_be_changed(channel):
    async with browsers(channel, "", "ann") as [page, ann]:
        said = (await page.ask("say", room="lobby", text="mine"))["id"]
        for type, more in (("edit", {"text": "yours"}), ("delete", {})):
            answer = await ann.ask(type, message=said, **more)
            assert answer == {
                "type": "refused",
                "client": answer["client"],
                "reason": "Only the author of a message can change it.",
            }
        await page.ask("delete", message=said)
        assert (await page.ask("history", room="lobby"))["messages"] == []


async def test_a_deleted_message_stays_without_words_while_a_thread_hangs_under_it(channel):
    """Nothing else leads to the thread. It is no message any more: not counted, not the latest, not to be changed."""
    async with browsers(channel, "", "ann") as [page, ann]:
        first = (await page.ask("say", room="lobby", text="first"))["id"]
        said = (await page.ask("say", room="lobby", text="secret"))["id"]
        reply = (await page.ask("say", room="lobby", text="below it", thread=said))["id"]
        await page.ask("delete", message=said)
        assert (await ann.told("deleted", message=said))["stays"]
        [_, left] = (await page.ask("history", room="lobby"))["messages"]
        assert (left["id"], left["text"], left["gone"], left["under"]["replies"]) == (said, "", True, 1)
        [inside] = (await page.ask("history", room="lobby", thread=said))["messages"]
        assert inside["id"] == reply
        for type, more in (("edit", {"text": "x"}), ("delete", {}), ("react", {"emoji": "👍"})):
            assert (await page.ask(type, message=said, **more))["reason"] == "This message no longer exists."
        async with browsers(channel, "bob") as [bob]:
            [lobby] = [room for room in bob.frames[0]["rooms"] if room["id"] == "lobby"]
            assert (lobby["latest"]["id"], lobby["unread"]) == (first, 2), "the first and the reply"
        await page.ask("delete", message=reply)
        assert [each["id"] for each in (await page.ask("history", room="lobby"))["messages"]] == [first]


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ('{"type": "ping"}', sockets.BROKEN),
        ("no frame", sockets.BROKEN),
        ('{"type": "hello", "protocol": 99}', sockets.OTHER_PROTOCOL),
    ],
)
async def test_a_wrong_beginning_is_closed(channel, first, code):
    browser = Browser(channel)
    browser.raw(first)
    await browser.run()
    assert browser.closed == code


async def test_wrong_frames_are_refused_and_too_many_end_it(channel):
    async with browsers(channel, "") as [page]:
        page.raw('{"type": "say", "client": "c1"}')
        assert "room" in (await page.told("refused", client="c1"))["reason"]
        for _ in range(20):
            page.raw("]")
        assert await page.is_closed() == sockets.BROKEN


async def test_a_name_like_an_agents_is_no_agent(channel):
    async with browsers(channel, "Helper", "you") as [first, second]:
        assert first.frames[0]["me"]["id"] == "person-helper"
        assert second.frames[0]["me"]["id"] == "person-you"
