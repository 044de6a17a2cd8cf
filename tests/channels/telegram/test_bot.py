"""What is Telegram's own: albums, buttons, the menu, one reaction, moved groups, one reader, the webhook."""

import asyncio
from contextlib import asynccontextmanager, suppress

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from rejoinder import listener
from rejoinder.channels import http_listener
from rejoinder.channels.base import Delivered, Rejected, RetryAfter
from rejoinder.channels.http_listener import MOST_BYTES
from rejoinder.channels.telegram.api import Api
from rejoinder.channels.telegram.bot import TelegramBot
from rejoinder.channels.telegram.cursor import read_cursor, write_cursor
from rejoinder.channels.telegram.webhook import SECRET_HEADER
from rejoinder.errors import ChannelStopped
from rejoinder.events import Attachment, Choice, MenuCommand, Part, Route
from rejoinder.listener import ConnectionLimits
from rejoinder.secret import Secret
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import oracles
from rejoinder.testing.platform.telegram.world import TOKEN
from tests.channels.telegram.served import QUICK, bot, hook, listening


@pytest.fixture
async def platform():
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("telegram") as platform:
        yield platform


@pytest.fixture(params=["polled", "called"])
def way(request):
    """Both ways in which updates come: how to open a bot."""
    return lambda platform: bot(platform, hook=hook() if request.param == "called" else None)


def route(platform: FakePlatform, chat: str) -> Route:
    return Route("telegram", platform.id_of(chat))


# --- files --------------------------------------------------------------------------------------


async def test_a_file_is_fetched_up_to_its_limit(platform):
    """IN-9: whole, or not at all: nobody is given the half of a picture."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet) as channel:
        await platform.says("ann", "ann", "notes", file=("notes.txt", b"0123456789"))
        (file,) = (await inlet.message("notes")).attachments
        assert (file.name, file.mime, file.size, file.content) == ("notes.txt", "text/plain", 10, None)
        assert await channel.fetch(file, 10) == b"0123456789"
        assert await channel.fetch(file, 9) is None


async def test_a_file_that_is_not_given_out_is_told_without_the_token(platform, caplog):
    """Not there, nobody answers, or too large for a bot: a line in the log, and no address in it."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet) as channel:
        await platform.says("ann", "ann", "a film", file=("film.raw", bytes(20_000_001)))
        (large,) = (await inlet.message("a film")).attachments
        assert await channel.fetch(Attachment("gone", "cat.jpg"), 10) is None
        platform.fault("drop", on="file")
        assert await channel.fetch(large, 10) is None
        assert await channel.fetch(large, 10) is None
    told = [record.getMessage() for record in caplog.records if "was not fetched" in record.getMessage()]
    assert told == [
        "telegram: the file 'cat.jpg' was not fetched: Bad Request: invalid file_id",
        "telegram: the file 'film.raw' was not fetched: Server disconnected",
        "telegram: the file 'film.raw' was not fetched: Bad Request: file is too big",
    ]
    assert TOKEN not in caplog.text


# --- albums -------------------------------------------------------------------------------------


async def test_an_album_is_gathered(platform, way):
    """One message with all its pictures; other chats do not wait for it, its own chat keeps its order."""
    inlet = RecordingInlet()
    async with listening(way(platform), inlet):
        await platform.says("ann", "ann", "holidays", pictures=3)
        await platform.says("ann", "ann", "and?")
        await platform.says("bob", "bob", "me first")
        await inlet.message("and?")
    assert sorted(inlet.texts, key=["me first", "holidays", "and?"].index) == inlet.texts
    assert len((await inlet.message("holidays")).attachments) == 3


async def test_an_album_survives_a_crash_while_it_is_gathered(platform):
    """DU-1: the offset does not pass what waits; Telegram gives it again, and it comes whole, once."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        await platform.says("ann", "ann", "first")
        await inlet.message("first")
        polls = len(platform.truth.calls)
        await platform.says("ann", "ann", "holidays", pictures=3)
        await platform.says("bob", "bob", "me too")
        await platform.truth.until(lambda: len(platform.truth.calls) > polls)
    assert "holidays" not in inlet.texts
    async with listening(bot(platform), inlet):
        assert len((await inlet.message("holidays")).attachments) == 3
        await inlet.message("me too")
    assert sum(len(message.attachments) for message in inlet.given) == 3


async def test_what_a_webhook_left_waiting_a_poller_takes_up(platform):
    """The way can be changed between two starts, even then."""
    inlet = RecordingInlet()
    async with listening(bot(platform, hook=hook()), inlet) as called:
        await platform.truth.until(lambda: any(call.name == "setWebhook" for call in platform.truth.calls))
        await platform.says("ann", "ann", "holidays", pictures=2)
        await inlet.until(lambda: (inlet._cursor or "").count("media_group_id") == 2)
        assert called.own_name == "testbot"
    await platform.people.updates.delete_webhook()
    async with listening(bot(platform), inlet):
        assert len((await inlet.message("holidays")).attachments) == 2
        await platform.says("ann", "ann", "next")
        await inlet.message("next")


# --- buttons, menu, reactions -------------------------------------------------------------------


async def test_a_button_says_its_words(platform):
    """TU-34: pressed, it says them for the person, and the person sees that it was felt."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet) as channel:
        await platform.says("ann", "ann", "delete it")
        await inlet.message("delete it")
        asked = Part(route(platform, "ann"), "May I?", choices=(Choice("Allow", "/approve q1"),))
        outcome = await channel.send(asked)
        assert isinstance(outcome, Delivered)
        await platform.presses("ann", "ann", outcome.message, "Allow")
        pressed = await inlet.message("/approve q1")
        assert (pressed.entry, pressed.sender.id) == ("button", platform.id_of("ann"))
        assert pressed.reply_to.message_id == outcome.message
        await platform.truth.until(lambda: len(platform.people.methods.answered) == 1)


async def test_the_menu_is_offered(platform):
    """IN-60: Telegram's own menu comes from the registry."""
    inlet = RecordingInlet()
    channel = bot(platform)
    channel.take_menu((MenuCommand("help", "What there is"), MenuCommand("no-dash", "left out")))
    async with listening(channel, inlet):
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")
    assert platform.people.methods.commands == [{"command": "help", "description": "What there is"}]


async def test_a_persons_reaction_comes_in(platform):
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        message = await platform.says("ann", "ann", "look")
        await inlet.message("look")
        await platform.reacts("ann", "ann", message, "🔥")
        assert (await inlet.message("🔥")).entry == "reaction"


async def test_taking_an_old_reaction_away_leaves_the_new_one(platform):
    """TU-25: a new sign stands before the old one goes, and Telegram shows one at a time."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet) as channel:
        message = await platform.says("ann", "ann", "work")
        await inlet.message("work")
        here = route(platform, "ann")
        await channel.react(here, message, "👀")
        await channel.react(here, message, "👍")
        assert isinstance(await channel.react(here, message, "👀", remove=True), Delivered)
        assert platform.truth.messages("ann", by="ann")[0].reactions == "👍"


async def test_a_reaction_telegram_does_not_have_is_refused(platform):
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        message = await platform.says("ann", "ann", "work")
        await inlet.message("work")
        assert isinstance(await channel.react(route(platform, "ann"), message, "🦖"), Rejected)


# --- where it goes ------------------------------------------------------------------------------


async def test_a_group_that_moved_is_found(platform, way, caplog):
    """A group that became a supergroup: what is said goes to its new id, what comes is known by the one it had, also
    after a restart, and the operator is told."""
    inlet = RecordingInlet()
    async with listening(way(platform), inlet) as channel:
        await platform.says("#old", "ann", "hi")
        await inlet.message("hi")
        platform.people.moves("#old", "#new")
        assert isinstance(await channel.send(Part(route(platform, "#old"), "hello")), Delivered)
        assert [seen.text for seen in platform.truth.messages("#new")] == ["hello"]
        assert "continue under the old id" in caplog.text
        await platform.says("#new", "ann", "there")
        await inlet.message("there")
    calls = len(platform.truth.calls)
    async with listening(way(platform), inlet) as channel:
        await platform.says("#new", "ann", "and here")
        chats = [(await inlet.message(text)).chat for text in ("there", "and here")]
        await channel.send(Part(route(platform, "#old"), "hello again"))
    assert [(chat.id, chat.former) for chat in chats] == [(platform.id_of("#new"), platform.id_of("#old"))] * 2
    assert not oracles.refused(platform.truth.calls[calls:])


@pytest.mark.parametrize("told", ["told", "not told"])
async def test_no_message_of_a_group_that_moved_is_taken_for_another(platform, told):
    """OD-62: its numbers are other messages in the new group; what replies to one or changes one is refused."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        message = await platform.says("#old", "ann", "hi")
        await inlet.message("hi")
        old, new = platform.people.world.room("#old"), platform.people.world.room("#new")
        new.last = int(message) - 1
        await channel.send(Part(route(platform, "#new"), "mine"))
        if told == "told":
            platform.people.moves("#old", "#new")
            await channel.send(Part(route(platform, "#old"), "hello"))
        else:
            old.moved_to = new.id
        here = route(platform, "#old")
        outcomes = [
            await channel.send(Part(here, "yes", reply_to=message)),
            await channel.edit(here, message, Part(here, "changed")),
            await channel.react(here, message, "👍"),
            await channel.delete(here, message),
        ]
    assert [getattr(outcome, "why", outcome) for outcome in outcomes] == ["target"] * 4
    mine = platform.truth.messages("#new")[0]
    assert (mine.id, mine.text, mine.reactions) == (message, "mine", "")


@pytest.mark.parametrize(
    ("kept", "written"),
    [
        (None, "{}"),
        ("7", "7"),
        ('[{"update_id":3}]', '{"waiting":[{"update_id":3}]}'),
        ('{"offset":7,"moved":{"-5":-1005}}', '{"offset":7,"moved":{"-5":-1005}}'),
    ],
)
def test_a_cursor_is_read_as_it_was_written(kept, written):
    """DU-14: also one of an earlier version; and a number stays a number."""
    assert write_cursor(read_cursor(kept)) == written
    assert write_cursor(read_cursor(written)) == written


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (Part(Route("telegram", "-100"), "psst", only_for="111"), "other"),
        (Part(Route("telegram", "111"), "yes", reply_to="button:1"), "target"),
        (Part(Route("telegram", "-100", "plans"), "yes"), "gone"),
    ],
)
async def test_what_telegram_cannot_do_is_not_tried(platform, part, why):
    """A word for one person is not said to a group; a button is no message to reply to; topics have numbers."""
    channel = bot(platform)
    outcome = await channel.send(part)
    assert isinstance(outcome, Rejected)
    assert outcome.why == why
    assert not platform.truth.calls
    await channel.close()


async def test_a_chat_that_is_to_be_left_alone_is(platform):
    """DE-32: after a 429 nothing is asked for in that chat until its time is over; other chats go on."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        message = await platform.says("ann", "ann", "hi")
        await platform.says("bob", "bob", "hi too")
        await inlet.message("hi too")
        ann, bob = route(platform, "ann"), route(platform, "bob")
        platform.fault("429", on="send", chat="ann", seconds=60)
        first = await channel.send(Part(ann, "hello"))
        assert first == RetryAfter(60, "Too Many Requests: retry after 60", limited=True)
        await channel.typing(ann)
        for outcome in (await channel.send(Part(ann, "hello")), await channel.react(ann, message, "👍")):
            assert isinstance(outcome, RetryAfter)
            assert outcome.limited
            assert 50 < outcome.seconds <= 60
        assert isinstance(await channel.send(Part(bob, "hello")), Delivered)
        assert not oracles.too_early(platform.truth.calls)


@pytest.mark.parametrize(("chat", "is_slower"), [("42", False), ("-100123", True), ("-77", True)])
def test_groups_take_fewer_changes_of_a_draft(platform, chat, is_slower):
    """DE-32: Telegram counts edits among the twenty messages a minute of a group."""
    rate = bot(platform).frame_rate(Route("telegram", chat))
    assert (rate is not None) is is_slower
    if rate is not None:
        at_once, a_second = rate
        assert at_once + 60 * a_second <= 18  # and the opening and the answer


async def test_topics_are_kept_apart(platform):
    """IN-40: what comes from a topic goes back to it, the typing sign too."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        await platform.says("#forum", "ann", "water them", thread="7")
        heard = await inlet.message("water them")
        there = Route("telegram", heard.chat.id, heard.thread)
        await channel.typing(there)
        await channel.send(Part(there, "done"))
        shown = [(frame.kind, frame.thread) for frame in platform.truth.frames if frame.by == "bot"]
        assert shown == [("typing", "7"), ("message", "7")]


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        (rb'"a\ud83d b"', "a� b"),
        (b'"a\xff b"', "a\ufffd b"),
        (b'"a\\u0000b"', "a\0b"),
        (b'"quiet", "entities": null', "quiet"),
        (b'"late", "date": 99999999999999', None),
        (b"17", None),
        (b'"deep ]", "odd": ' + b"[" * 100_000 + b'"]"' + b"]" * 100_000, "deep ]"),
        (b'"deep", "from": ' + b'{"a":' * 990 + b"1" + b"}" * 990, None),
    ],
    ids=["half an emoji", "no text", "NUL", "null", "no date", "no string", "nested", "nested where it matters"],
)
async def test_an_update_nobody_expects_stops_no_other(text, heard):
    """DU-1: it would come again and again. It is taken as far as it can be read, and what follows it is heard."""
    message = b'{"update_id": %d, "message": {"message_id": %d, "chat": {"id": 1}, "text": %b}}'
    batches = [message % (1, 1, text), message % (2, 2, b'"on"')]

    async def updates(request):
        if not batches:
            await asyncio.Event().wait()
        return web.Response(body=b'{"ok": true, "result": [' + batches.pop(0) + b"]}")

    async with other_server(getMe=known, getUpdates=updates) as channel, listening(channel, inlet := RecordingInlet()):
        await inlet.message("on")
    assert inlet.texts == ([heard, "on"] if heard else ["on"])


async def test_the_numbers_of_updates_may_have_gaps_and_start_over():
    """DU-1: after a week without any, Telegram chooses the next one at random."""
    message = b'{"update_id": %d, "message": {"message_id": %d, "chat": {"id": 1}, "text": "%d"}}'
    batches = [message % (number, place, place) for place, number in enumerate((900, 907, 5, 6))]
    asked, done = [], asyncio.Event()

    async def updates(request):
        asked.append((await request.json()).get("offset"))
        if not batches:
            done.set()
            await asyncio.Event().wait()
        return web.Response(body=b'{"ok": true, "result": [' + batches.pop(0) + b"]}")

    async with other_server(getMe=known, getUpdates=updates) as channel, listening(channel, inlet := RecordingInlet()):
        await done.wait()
    assert inlet.texts == ["0", "1", "2", "3"]
    assert asked == [None, 901, 908, 6, 7]


async def test_a_store_in_trouble_fills_no_log(platform, way, caplog):
    """DU-15: the store says it once; the channel asks again and again, and says nothing of it."""
    async with asyncio.timeout(2 * PATIENCE), listening(way(platform), inlet := RecordingInlet()):
        await platform.says("ann", "ann", "before")
        await inlet.message("before")
        inlet.broken = True
        await platform.says("ann", "ann", "while")
        await inlet.until(lambda: inlet.refused > 2)
        inlet.broken = False
        await inlet.message("while")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@asynccontextmanager
async def other_server(**methods):
    """A bot at a server that answers as it is told."""
    app = web.Application()
    for method, answer in methods.items():
        app.router.add_post("/bot{token}/" + method, answer)
    async with asyncio.timeout(PATIENCE), TestServer(app) as server:
        yield TelegramBot("telegram", Api(str(server.make_url("")), Secret("7:x")), pace=QUICK)


async def known(request):
    return web.Response(body=b'{"ok": true, "result": {"id": 7, "username": "testbot"}}')


@pytest.mark.parametrize("status", [302, 403, 407, 413])
async def test_who_stands_on_the_way_is_not_telegram(status):
    """DE-31: what a proxy refuses Telegram has not seen: it is tried again, and the account is served on."""
    said = [web.Response(status=status, text="<html>", headers={"Location": "http://127.0.0.1:9/"}) for _ in range(3)]
    update = b'{"update_id": 1, "message": {"message_id": 1, "chat": {"id": 1}, "text": "hi"}}'

    async def updates(request):
        return said.pop() if len(said) > 1 else web.Response(body=b'{"ok": true, "result": [' + update + b"]}")

    async def send(request):
        return said.pop()

    server = other_server(getMe=known, getUpdates=updates, sendMessage=send)
    async with server as channel, listening(channel, inlet := RecordingInlet()):
        await inlet.message("hi")
        assert isinstance(await channel.send(Part(Route("telegram", "1"), "hello")), RetryAfter)


async def test_an_address_where_no_bot_api_is():
    """The error is the help."""
    async with other_server() as channel:
        assert "not a Bot API server (404 Not Found)" in await stopped(channel, RecordingInlet())


# --- who may read -------------------------------------------------------------------------------


async def stopped(channel, inlet) -> str:
    with pytest.raises(ChannelStopped) as raised:
        await channel.listen(inlet)
    await channel.close()
    return str(raised.value)


@pytest.mark.parametrize("token", ["123:wrong", "nonsense"])
async def test_an_unknown_token_is_said_clearly(platform, token):
    """The error is the help, and never shows the token."""
    said = await stopped(bot(platform, token=token), RecordingInlet())
    assert "@BotFather" in said
    assert "[channels.telegram]" in said
    assert token not in said


async def test_a_second_reader_stops_the_account(platform):
    """409: of two programs on one bot one stops and says why; the other serves on."""
    first, second = bot(platform), bot(platform)
    inlet = RecordingInlet()
    one, two = asyncio.create_task(first.listen(inlet)), asyncio.create_task(second.listen(inlet))
    done, left = await asyncio.wait({one, two}, return_when=asyncio.FIRST_COMPLETED)
    assert "Another program reads" in str(done.pop().exception())
    await platform.says("ann", "ann", "still there?")
    await inlet.message("still there?")
    (last,) = left
    last.cancel()
    await asyncio.wait({last})
    await first.close()
    await second.close()


async def test_one_conflict_is_forgiven(platform):
    """The program before us may have been asking when it was killed."""
    platform.fault("409", on="poll")
    async with listening(bot(platform), inlet := RecordingInlet()):
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")


async def test_a_webhook_that_is_set_is_said_clearly(platform):
    await platform.people.updates.set_webhook({"url": "https://elsewhere.example.org/"})
    assert "A webhook is set for this bot" in await stopped(bot(platform), RecordingInlet())


async def test_no_failure_shows_the_token(platform):
    """The token is part of every address, and of no message."""
    channel = bot(platform)
    await platform.__aexit__()
    outcome = await channel.send(Part(Route("telegram", "1"), "hi"))
    assert outcome.reason
    assert TOKEN not in outcome.reason
    await channel.close()


# --- the webhook -------------------------------------------------------------------------


async def test_the_door_is_guarded(platform):
    """Who does not know the secret, sends too much, or sends no update is sent away, and nothing comes in."""
    address, inlet = hook(), RecordingInlet()
    async with listening(bot(platform, hook=address), inlet), aiohttp.ClientSession() as session:
        await platform.truth.until(lambda: any(call.name == "setWebhook" for call in platform.truth.calls))
        secret = next(call.payload["secret_token"] for call in platform.truth.calls if call.name == "setWebhook")
        update = b'{"update_id": 1, "message": {"message_id": 1, "chat": {"id": 1}, "text": "let me in"}}'
        knocks = [
            ({}, update, 401),
            ({SECRET_HEADER: "guess"}, update, 401),
            ({SECRET_HEADER: "gueß"}, update, 401),
            ({SECRET_HEADER: secret}, b"x" * (MOST_BYTES + 1), 413),
            ({SECRET_HEADER: secret}, b"no json", 400),
            ({SECRET_HEADER: secret}, b"[" * 100_000, 400),
            ({SECRET_HEADER: secret}, b'{"update_id": 1, "x": ' + b"[" * 100_000, 400),
            ({SECRET_HEADER: b"\xff\xed\xa0\x80".decode("utf-8", "surrogateescape")}, update, 401),
            ({SECRET_HEADER: secret}, b'{"update_id": 9, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 200),
            ({SECRET_HEADER: secret}, b"[]", 400),
            ({SECRET_HEADER: secret}, b"\xff", 400),
        ]
        for headers, body, status in knocks:
            async with session.post(address.url, data=body, headers=headers) as answer:
                assert answer.status == status, (headers, body[:20])
        assert not inlet.given
        async with session.post(address.url, data=update, headers={SECRET_HEADER: secret}) as answer:
            assert answer.status == 200
        assert inlet.texts == ["let me in"]
        half = rb'{"update_id": 2, "message": {"message_id": 2, "chat": {"id": 1}, "text": "half \ud83d"}}'
        async with session.post(address.url, data=half, headers={SECRET_HEADER: secret}) as answer:
            assert answer.status == 200
        assert inlet.texts == ["let me in", "half �"]


async def secret_of(platform) -> str:
    await platform.truth.until(lambda: any(call.name == "setWebhook" for call in platform.truth.calls))
    return next(call.payload["secret_token"] for call in platform.truth.calls if call.name == "setWebhook")


@pytest.mark.parametrize("said", [b"", b"POST /tele", b"POST /telegram HTTP/1.1\r\nHost: localhost\r\nX: "])
async def test_who_says_nothing_to_the_webhook_is_put_out(platform, monkeypatch, said):
    """As at the page: ten seconds for a header."""
    monkeypatch.setattr(listener, "HEADER_SECONDS", 0.1)
    monkeypatch.setattr(http_listener, "TICK", 0.05)
    address = hook()
    async with listening(bot(platform, hook=address), RecordingInlet()):
        await secret_of(platform)
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(said)
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionResetError):
                assert await reader.read() == b""
        writer.close()


async def test_a_body_that_does_not_come_to_the_webhook_is_not_waited_for(platform, monkeypatch):
    monkeypatch.setattr(http_listener, "BODY_SECONDS", 0.05)
    address = hook()
    async with listening(bot(platform, hook=address), RecordingInlet()):
        head = f"POST /telegram HTTP/1.1\r\nHost: x\r\n{SECRET_HEADER}: {await secret_of(platform)}\r\n"
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(f"{head}Content-Length: 10\r\n\r\nabc".encode())
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readline()).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_a_flood_at_the_webhook_keeps_nobody_out(platform, monkeypatch):
    """Those who only wait make room for an update."""
    monkeypatch.setattr(http_listener, "LIMITS", ConnectionLimits(per_address=4, in_all=8))
    address, inlet = hook(), RecordingInlet()
    async with listening(bot(platform, hook=address), inlet), aiohttp.ClientSession() as session:
        secret = await secret_of(platform)
        flood = [await asyncio.open_connection(address.host, address.port) for _ in range(40)]
        update = b'{"update_id": 1, "message": {"message_id": 1, "chat": {"id": 1}, "text": "let me in"}}'
        async with session.post(address.url, data=update, headers={SECRET_HEADER: secret}) as answer:
            assert answer.status == 200
        open_ones = [reader for reader, _ in flood if not reader.at_eof() and reader.exception() is None]
        assert len(open_ones) <= 8
        for _, writer in flood:
            writer.close()
    assert inlet.texts == ["let me in"]


async def test_an_address_that_is_taken_is_said_clearly(platform):
    address = hook()
    server = await asyncio.start_server(lambda *_: None, address.host, address.port)
    async with server:
        assert f"cannot listen on 127.0.0.1:{address.port}" in await stopped(
            bot(platform, hook=address), RecordingInlet()
        )
