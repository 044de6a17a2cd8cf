"""What is Discord's own: sessions that are resumed, history, threads, the nonce, a connection that goes deaf."""

import asyncio
from datetime import UTC, datetime, timedelta
from threading import enumerate as enumerate_threads

import pytest
from discord.gateway import DiscordWebSocket, KeepAliveHandler
from msgspec.structs import replace

from rejoinder.channels.base import Delivered, Rejected, RetryAfter
from rejoinder.channels.discord.connection import GOODBYE_SECONDS, LATE_SECONDS
from rejoinder.errors import ChannelStopped
from rejoinder.events import Attachment, Part, Route
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE, until
from tests.channels.discord.served import QUICK, bot, listening


@pytest.fixture
async def platform():
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("discord") as platform:
        platform.people.world.room("#team")
        yield platform


def route(platform: FakePlatform, chat: str, thread: str | None = None) -> Route:
    return Route("discord", platform.people.world.room(chat).id, thread)


def gateway_calls(platform: FakePlatform) -> list[str]:
    return [call.name for call in platform.truth.calls if call.verb == "poll" and call.name != "CLOSED"]


# --- sessions -------------------------------------------------------------------------------------


async def test_a_new_process_resumes_the_session(platform):
    """CH-20: what was said meanwhile is replayed by Discord, from the last event that is stored."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        await platform.says("#team", "ann", "one")
        await inlet.message("one")
    await platform.says("#team", "ann", "two")
    async with listening(bot(platform), inlet):
        await inlet.message("two")
    assert gateway_calls(platform) == ["IDENTIFY", "RESUME"]
    assert [message.text for message in inlet.given] == ["one", "two"]


async def test_an_invalid_session_is_caught_up_with(platform):
    """CH-20: everything since the last stored message of each place, once, in its order; also where nothing was stored
    yet, in a thread that was opened meanwhile, and in a direct chat."""
    people, inlet = platform.people, RecordingInlet()
    people.world.room("#new")
    async with listening(bot(platform), inlet):
        for chat, text in (("#team", "one"), ("ann", "direct one")):
            await platform.says(chat, "ann", text)
            await inlet.message(text)
    people.gateway.end_sessions()
    root = await platform.says("#team", "ann", "two")
    thread = await people.opens_thread("#team", "ann", root, "a thread")
    await platform.says("#team", "bob", "in it", thread=thread)
    await platform.says("#team", "ann", "three")
    await platform.says("#new", "ann", "where nobody was")
    await platform.says("ann", "ann", "direct two")
    async with listening(bot(platform), inlet):
        await inlet.until(lambda: len(inlet.kept) == 7)
    assert gateway_calls(platform) == ["IDENTIFY", "RESUME", "IDENTIFY"]
    texts = inlet.texts
    assert sorted(texts) == sorted(["one", "direct one", "two", "in it", "three", "where nobody was", "direct two"])
    assert texts.index("two") < texts.index("three")
    in_it = await inlet.message("in it")
    assert (in_it.chat.id, in_it.thread) == (platform.id_of("#team"), thread)


async def test_a_server_that_is_described_late_is_caught_up_with(platform):
    """CH-20: Discord names the servers at once and describes them later; nothing that was said there is lost, and it
    comes before what is said now."""
    inlet, gateway = RecordingInlet(), platform.people.gateway
    channel = bot(platform, pace=replace(QUICK, guilds=0.05))
    async with listening(channel, inlet):
        await platform.says("#team", "ann", "one")
        await inlet.message("one")
        gateway.describes = False
        gateway.end_sessions()
        await platform.says("#team", "ann", "two")
        await until(lambda: channel._intake._unread_since, "the end of the first look")
        gateway.describe()
        await platform.says("#team", "ann", "three")
        await inlet.message("three")
    assert inlet.texts == ["one", "two", "three"]


async def test_a_thread_that_was_archived_in_a_gap_is_caught_up_with(platform):
    """CH-20: a new session names open threads only; what an earlier one told of it is old."""
    inlet, people = RecordingInlet(), platform.people
    async with listening(bot(platform), inlet):
        root = await platform.says("#team", "ann", "root")
        thread = await people.opens_thread("#team", "ann", root, "a thread")
        await platform.says("#team", "ann", "one", thread=thread)
        people.rest.archive(people.world.rooms[thread], archived=False)  # which tells of its newest message
        await platform.says("#team", "ann", "two", thread=thread)
        await inlet.message("two")
        people.gateway.end_sessions()
        await platform.says("#team", "ann", "three", thread=thread)
        people.archives(thread)
        await inlet.message("three")
    assert inlet.texts == ["root", "one", "two", "three"]


async def test_more_than_a_page_is_caught_up_with(platform):
    """CH-20: Discord gives a hundred messages at a time."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        await platform.says("#team", "ann", "first")
        await inlet.message("first")
    platform.people.gateway.end_sessions()
    for number in range(230):
        await platform.says("#team", "ann", f"m{number}")
    async with listening(bot(platform), inlet):
        await inlet.message("m229")
    assert inlet.texts == ["first", *(f"m{number}" for number in range(230))]


async def test_a_process_that_dies_while_it_catches_up_begins_again(platform):
    """CH-20: the new session counts only when what was missed is stored."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        await platform.says("#team", "ann", "one")
        await inlet.message("one")
    platform.people.gateway.end_sessions()
    await platform.says("#team", "ann", "two")
    inlet.broken = True
    async with listening(bot(platform), inlet):
        await inlet.until(lambda: inlet.refused > 0)
        await platform.says("#team", "ann", "three")
    inlet.broken = False
    async with listening(bot(platform), inlet):
        await inlet.message("three")
    assert inlet.texts == ["one", "two", "three"]
    assert gateway_calls(platform)[-2:] == ["RESUME", "IDENTIFY"]


async def test_a_first_start_that_died_is_caught_up_with(platform):
    """CH-20: from the first start on everything counts, though no session was stored."""
    inlet = RecordingInlet()
    await bot(platform)._intake.recall(inlet, 0.0)
    platform.people.gateway.somebody_listens.set()
    await platform.says("#team", "ann", "said meanwhile")
    async with listening(bot(platform), inlet):
        await inlet.message("said meanwhile")


async def test_a_first_start_reads_no_history(platform):
    """What was said before the bot came is not for it."""
    inlet = RecordingInlet()
    platform.people.gateway.somebody_listens.set()
    await platform.says("#team", "ann", "long ago")
    async with listening(bot(platform), inlet):
        await platform.truth.until(lambda: "IDENTIFY" in gateway_calls(platform))
        await platform.says("#team", "ann", "now")
        await inlet.message("now")
    assert inlet.texts == ["now"]


async def test_discord_asks_for_a_new_connection(platform):
    """The session goes on over it."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        await platform.says("#team", "ann", "one")
        await inlet.message("one")
        platform.people.gateway.ask_to_reconnect()
        await platform.truth.until(lambda: gateway_calls(platform) == ["IDENTIFY", "RESUME"])
        await platform.says("#team", "ann", "two")
        await inlet.message("two")
    assert [message.text for message in inlet.given] == ["one", "two"]


async def test_a_connection_that_ends_before_it_is_greeted_is_opened_again(platform):
    """CH-7: Discord's gateway restarts; the account goes on by itself."""
    inlet, gateway = RecordingInlet(), platform.people.gateway
    async with listening(bot(platform), inlet):
        await platform.says("#team", "ann", "one")
        await inlet.message("one")
        gateway.hang_up(3)
        gateway.break_off()
        await platform.says("#team", "ann", "two")
        await inlet.message("two")
    assert inlet.texts == ["one", "two"]


async def test_a_connection_that_is_called_off_is_closed(platform, monkeypatch):
    """SC-3: an account that stops listening while it connects leaves nothing open."""
    greeted = asyncio.Event()

    async def identify(_: DiscordWebSocket) -> None:
        greeted.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(DiscordWebSocket, "identify", identify)
    gateway, channel = platform.people.gateway, bot(platform)
    task = asyncio.create_task(channel.listen(RecordingInlet()))
    await greeted.wait()
    task.cancel()
    await asyncio.wait({task})
    await until(lambda: gateway.open == 0, "its end")
    await until(lambda: not any(isinstance(each, KeepAliveHandler) for each in enumerate_threads()), "its last beat")
    await channel.close()


async def test_a_deaf_connection_is_replaced():
    """CH-7: heartbeats are not acknowledged any more; within 4/3 of their interval, 55 s with Discord's own, there is a
    new connection, and what was said meanwhile comes."""
    async with asyncio.timeout(PATIENCE), FakePlatform("discord", heartbeat=1.0) as platform:
        inlet, channel = RecordingInlet(), bot(platform)
        async with listening(channel, inlet):
            await platform.says("#team", "ann", "one")
            await inlet.message("one")
            assert channel.last_sign is not None
            platform.people.gateway.deafen()
            await platform.says("#team", "ann", "two")
            await inlet.message("two")
        assert channel.stale_after == pytest.approx(4 / 3)
        assert gateway_calls(platform)[:2] == ["IDENTIFY", "RESUME"]
    assert 41.25 * 4 / 3 + LATE_SECONDS + GOODBYE_SECONDS < 60


async def test_events_without_acknowledgements_are_no_sign_of_life():
    """CH-7: however much still comes, a connection whose heartbeats nobody acknowledges is replaced."""
    async with asyncio.timeout(PATIENCE), FakePlatform("discord", heartbeat=1.0) as platform:
        inlet, said = RecordingInlet(), 0
        async with listening(bot(platform), inlet):
            await platform.says("#team", "ann", "0")
            await inlet.message("0")
            platform.people.gateway.deafen(still_tells=True)
            while "RESUME" not in gateway_calls(platform):
                said += 1
                await platform.says("#team", "ann", str(said))
                await asyncio.sleep(0.002)
            await inlet.message(str(said))
        assert inlet.texts == [str(number) for number in range(said + 1)]


async def test_a_deaf_connection_whose_session_is_gone_is_caught_up_with():
    """CH-7, CH-20: Discord does not resume it either; what was said is read from the history."""
    async with asyncio.timeout(PATIENCE), FakePlatform("discord", heartbeat=1.0) as platform:
        platform.people.world.room("#team")
        inlet, gateway = RecordingInlet(), platform.people.gateway
        async with listening(bot(platform), inlet):
            await platform.says("#team", "ann", "one")
            await inlet.message("one")
            gateway.deafen()
            await platform.says("#team", "ann", "two")
            gateway.forget_sessions()
            await inlet.message("two")
        assert gateway_calls(platform)[:3] == ["IDENTIFY", "RESUME", "IDENTIFY"]
        assert inlet.texts == ["one", "two"]


@pytest.mark.deep
async def test_a_deaf_connection_is_replaced_within_a_minute():
    """CH-7: at the pace of Discord's own heartbeats."""
    async with asyncio.timeout(2 * PATIENCE), FakePlatform("discord") as platform:
        inlet = RecordingInlet()
        async with listening(bot(platform), inlet):
            await platform.says("#team", "ann", "one")
            await inlet.message("one")
            platform.people.gateway.deafen()
            await platform.says("#team", "ann", "two")
            async with asyncio.timeout(60):
                await inlet.message("two")


# --- what only a person can fix -------------------------------------------------------------------


async def stopped(channel):
    try:
        await channel.listen(RecordingInlet())
    finally:
        await channel.close()


async def test_a_wrong_token_is_told(platform):
    """CH-13: in a sentence that says what to do."""
    with pytest.raises(ChannelStopped, match=r"\[channels.discord\] Discord does not know this bot .*Reset Token"):
        await stopped(bot(platform, token="wrong"))


async def test_a_missing_intent_is_told(platform):
    """CH-13."""
    platform.people.gateway.content_granted = False
    with pytest.raises(ChannelStopped, match="Message Content Intent"):
        await stopped(bot(platform))


async def test_all_sessions_of_a_day_are_used_up(platform):
    """CH-28: it waits, says why, and goes on when Discord allows it."""
    platform.people.gateway.starts_left = 0
    channel, inlet = bot(platform), RecordingInlet()
    async with listening(channel, inlet):
        await platform.truth.until(lambda: sum("gateway/bot" in call.name for call in platform.truth.calls) > 1)
        assert "used up the sessions" in channel.trouble
        platform.people.gateway.starts_left = 5
        await platform.says("#team", "ann", "hi")
        await inlet.message("hi")
        assert channel.trouble == ""


async def test_another_server_is_not_discord():
    """CH-13: the address is wrong, not the token."""
    async with FakePlatform("telegram") as other:
        with pytest.raises(ChannelStopped, match="is not Discord"):
            await stopped(bot(other))


# --- places ---------------------------------------------------------------------------------------


async def test_a_thread_is_looked_up_when_it_is_not_known(platform):
    """CH-24: a message in a thread does not name the channel around it, and a resumed session tells nothing."""
    people, inlet = platform.people, RecordingInlet()
    async with listening(bot(platform), inlet):
        root = await platform.says("#team", "ann", "root")
        await inlet.message("root")
    inlet._places.clear()
    thread = people.world.open_thread(people.world.room("#team"), root, "made while nobody looked").id
    await platform.says("#team", "ann", "in it", thread=thread)
    async with listening(bot(platform), inlet):
        heard = await inlet.message("in it")
    assert (heard.chat.id, heard.chat.title, heard.thread) == (platform.id_of("#team"), "team", thread)
    assert thread in inlet._places


async def test_a_post_of_a_forum_is_a_thread(platform):
    """CH-24."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        await platform.says("#team", "ann", "hi")
        thread = await platform.people.posts("#forum", "ann", "Ideas", "let us begin")
        heard = await inlet.message("let us begin")
    assert (heard.chat.id, heard.thread) == (platform.id_of("#forum"), thread)


async def test_a_thread_tells_what_was_said_in_it(platform):
    """TU-31: in order, before the message that is asked about."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet) as channel:
        root = await platform.says("#team", "ann", "root")
        thread = await platform.people.opens_thread("#team", "ann", root, "a thread")
        for text in ("one", "two", "three"):
            last = await platform.says("#team", "ann", text, thread=thread)
        await inlet.message("three")
        said = await channel.thread_before(route(platform, "#team", thread), last, 10)
    assert [each.text for each in said] == ["one", "two"]


async def test_a_link_that_is_shown_is_no_edit(platform):
    """CH-29."""
    inlet = RecordingInlet()
    async with listening(bot(platform), inlet):
        message = await platform.says("#team", "ann", "see https://example.org")
        platform.people.unfurls(message)
        await platform.edits("#team", "ann", message, "see there")
        await inlet.message("see there")
    assert [heard.entry for heard in inlet.given] == ["text", "edit"]


# --- out ------------------------------------------------------------------------------------------


async def test_a_nonce_is_taken_once(platform):
    """CH-28: the same part, sent again, is the same message."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")
        part = Part(route(platform, "ann"), "hello", key="turn:1:0")
        assert await channel.send(part) == await channel.send(part)
        assert len(platform.truth.messages("ann")) == 1


@pytest.mark.parametrize("echoes", [True, False], ids=["repeated to us", "not repeated"])
async def test_what_was_sent_is_found_again(platform, echoes):
    """CH-28: by what Discord repeats to us, while it knows the nonce by sending again, and after that by its
    history, where nothing older is taken for it."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")
        here = route(platform, "ann")
        await channel.send(Part(here, "Done.", key="an older one"))
        await asyncio.sleep(0.01)  # the clock goes on: the older one is older
        planned, long_ago = datetime.now(UTC), datetime.now(UTC) - timedelta(minutes=10)
        part = Part(here, "Done.", key="turn:1:0")
        assert isinstance(await channel.find(part, planned), RetryAfter)
        platform.fault("accept-drop")
        await channel.send(part)
        there = platform.truth.messages("ann")[-1].id
        await platform.says("ann", "ann", "and?")
        await inlet.message("and?")
        if not echoes:
            channel._outgoing._echoes.clear()
            assert isinstance(await channel.find(part, planned), RetryAfter)
        assert await channel.find(part, long_ago) == Delivered(there)
        missing = Part(here, "Never said.", key="turn:1:1")
        assert isinstance(await channel.find(missing, long_ago), RetryAfter)


async def test_a_limit_is_honoured_without_asking(platform):
    """CH-6, DE-32: one request is one attempt, and none is made while Discord has said to wait."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        await platform.says("ann", "ann", "hi")
        await inlet.message("hi")
        platform.fault("429", seconds=1.0)
        part = Part(route(platform, "ann"), "hello")
        outcomes = [await channel.send(part) for _ in range(3)]
        assert all(isinstance(each, RetryAfter) and each.limited for each in outcomes)
        assert sum(call.verb == "send" for call in platform.truth.calls) == 1

        async def is_taken() -> bool:
            return isinstance(await channel.send(part), Delivered)

        await until(is_taken, "the end of the limit")
        assert sum(call.verb == "send" for call in platform.truth.calls) == 2


async def test_a_servers_own_emoji(platform):
    """CH-27: by its name."""
    platform.people.world.emojis["blobwave"] = "123456789012345678"
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        message = await platform.says("#team", "ann", "hi")
        await inlet.message("hi")
        assert isinstance(await channel.react(route(platform, "#team"), message, ":blobwave:"), Delivered)
        assert isinstance(await channel.react(route(platform, "#team"), message, "nosuch"), Rejected)
    assert platform.truth.messages("#team", by="ann")[0].reactions == ":blobwave:"


async def test_the_root_of_a_thread_can_be_reacted_to(platform):
    """CH-21: it stands in the channel around the thread."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        root = await platform.says("#team", "ann", "root")
        other = await platform.says("#team", "ann", "another")
        await inlet.message("another")
        thread = await platform.people.opens_thread("#team", "ann", root, "a thread")
        for message in (root, other):
            assert isinstance(await channel.react(route(platform, "#team", thread), message, "👍"), Delivered)


async def test_a_closed_channel_is_gone(platform):
    """CH-13: 50001, and what it means for what was to be said there."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        await platform.says("#team", "ann", "hi")
        await inlet.message("hi")
        platform.people.closes("#team")
        outcome = await channel.send(Part(route(platform, "#team"), "hello"))
        assert isinstance(outcome, Rejected)
        assert (outcome.why, "50001" in outcome.reason) == ("gone", True)


async def test_files_are_fetched_up_to_their_limit(platform):
    """IN-9, CH-11: whole, or not at all; and again by the message, when the link has expired."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        await platform.says("ann", "ann", "notes", file=("notes.txt", b"0123456789"))
        (file,) = (await inlet.message("notes")).attachments
        assert await channel.fetch(file, 10) == b"0123456789"
        assert await channel.fetch(file, 9) is None
        expired = Attachment(file.id, file.name, url=f"{platform.url}/attachments/1/2/expired")
        assert await channel.fetch(expired, 10) == b"0123456789"
        assert await channel.fetch(Attachment("1/2/3", "gone.txt"), 10) is None


async def test_several_bots_are_apart(platform):
    """CH-4: each has its own token, its own session and its own direct chats."""
    platform.people.add_bot("second")
    one, two = RecordingInlet(), RecordingInlet()
    async with listening(bot(platform), one), listening(bot(platform, "second", account="second"), two):
        await platform.truth.until(lambda: gateway_calls(platform).count("IDENTIFY") == 2)
        await platform.says("ann", "ann", "to the second", bot="second")
        await platform.says("#team", "ann", "to all")
        await one.message("to all")
        await two.message("to all")
    assert (one.texts, two.texts) == (["to all"], ["to the second", "to all"])


async def test_it_says_goodbye_and_stays_resumable(platform):
    """CH-20: the connection is closed, not the session."""
    async with listening(bot(platform), RecordingInlet()):
        await platform.says("#team", "ann", "hi")
    await platform.truth.until(lambda: any(call.name == "CLOSED" for call in platform.truth.calls))
    (session,) = platform.people.gateway.sessions.values()
    assert session.socket is None


async def test_a_place_that_is_closed_is_told_once_and_stops_no_other(platform, caplog):
    """CH-13: with what to do, until it works again."""
    async with listening(bot(platform), inlet := RecordingInlet()) as channel:
        await platform.says("#team", "ann", "hi")
        await inlet.message("hi")
        platform.people.closes("#team", 50013)
        for number in range(2):
            refused = await channel.send(Part(route(platform, "#team"), "No.", key=f"{number}"))
            assert isinstance(refused, Rejected)
            assert refused.why == "gone"
            assert refused.reason.startswith("the bot lacks a permission in #team: allow it Send Messages")
        (trouble,) = channel.place_troubles
        assert caplog.text.count(trouble) == 1
        assert isinstance(await channel.send(Part(route(platform, "ann"), "Yes.", key="2")), Delivered)
        platform.people.closes("#team", 0)
        assert isinstance(await channel.send(Part(route(platform, "#team"), "Again.", key="3")), Delivered)
        assert not channel.place_troubles


async def test_before_it_has_logged_in_nothing_is_sent(platform):
    """DU-3: after a restart something may be said before the bot listens: it certainly did not arrive, and no fault is
    reported."""
    channel = bot(platform)
    here = route(platform, "ann")
    for outcome in (
        await channel.send(Part(here, "Hi.", key="1")),
        await channel.edit(here, "123456789012345678", Part(here, "Hi.")),
        await channel.react(here, "123456789012345678", "👍"),
    ):
        assert outcome == RetryAfter(None, "the bot has not logged in yet")
    await channel.typing(here)
    await channel.close()
