"""What is Slack's own: acknowledgements, sockets that are refreshed, broken or shared, parts found again, tokens."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from rejoinder.channels.base import Delivered, Rejected, RetryAfter
from rejoinder.channels.slack import manifest
from rejoinder.channels.slack.history import AT_ONCE
from rejoinder.channels.slack.intake import BUSY, OTHERS, TROUBLE
from rejoinder.channels.slack.missing_events import NO_EVENTS
from rejoinder.channels.slack.socket_mode import TOO_MANY_SENTENCE
from rejoinder.config.load import read
from rejoinder.errors import BadConfiguration, ChannelStopped
from rejoinder.events import Choice, Part, ReplyContext, Route
from rejoinder.testing import FakePlatform
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform.slack.events import MOST_SOCKETS
from rejoinder.testing.platform.slack.strict import SCOPES
from rejoinder.testing.platform.slack.world import BOT_USER
from tests.channels.slack.served import AGO, SlowInlet, app, called_app, calls, listening, quick, spoken


@pytest.fixture
async def platform():
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", ack_seconds=2.9) as platform:
        yield platform


# --- what comes in ------------------------------------------------------------------------------


async def test_an_envelope_is_acknowledged_when_it_is_stored(platform):
    """CH-5, CH-30: not before, and with the store at work well within three seconds."""
    inlet, events = SlowInlet(), platform.people.events
    async with listening(app(platform), inlet):
        await platform.says("ann", "ann", "hello")
        await inlet.asked.wait()
        assert events.unacknowledged == 1
        assert not events.acknowledged
        inlet.may_store.set()
        await inlet.message("hello")
        await until(lambda: events.acknowledged)
        assert events.retried == 0


async def test_what_is_not_stored_in_time_comes_again():
    """CH-5: nothing is confirmed, Slack sends it again, and it is taken once."""
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", ack_seconds=0.2) as platform:
        inlet = SlowInlet()
        async with listening(app(platform, pace=quick(acknowledge=0.1)), inlet):
            await platform.says("ann", "ann", "hello")
            await until(lambda: platform.people.events.retried)
            inlet.may_store.set()
            await inlet.message("hello")
            await until(lambda: not platform.people.events.unacknowledged)
            assert [message.text for message in inlet.given] == ["hello"]


async def test_what_is_not_stored_in_time_keeps_its_place():
    """CH-5, CH-30: Slack sends it again after something newer; it is stored before that."""
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", ack_seconds=30.0) as platform:
        inlet = SlowInlet()
        async with listening(app(platform, pace=quick(acknowledge=0.1)), inlet) as channel:
            await platform.says("ann", "ann", "first")
            await until(lambda: channel._listening._catch_up is not None and channel_missed(channel))
            inlet.may_store.set()
            await platform.says("ann", "ann", "second")
            await inlet.message("second")
            assert inlet.texts == ["first", "second"]


def channel_missed(channel):
    return channel._listening._catch_up._intake.places.has_missed


async def test_who_gives_a_command_is_told_that_the_store_is_away(platform):
    """CH-5: a command does not come again, so the person is told in the acknowledgement."""
    inlet = SlowInlet()
    async with listening(app(platform, pace=quick(acknowledge=0.1)), inlet):
        await platform.people.commands("#team", "ann", "status")
        await until(lambda: platform.people.events.answers)
        assert platform.people.events.answers == [{"response_type": "ephemeral", "text": BUSY}]


async def test_names_are_looked_up_once(platform):
    """IN-1: events carry ids; a name that cannot be had does not hold a message up."""
    inlet = RecordingInlet()
    async with listening(app(platform), inlet):
        await platform.says("ann", "ann", "one")
        await platform.says("ann", "ann", "two")
        assert (await inlet.message("two")).sender.display_name == "Ann"
    assert [call.name for call in platform.truth.calls].count("users.info") == 1


async def test_a_refresh_loses_nothing(platform):
    """CH-30: the new socket is open before the old one is given up, and history is not read."""
    inlet, events = RecordingInlet(), platform.people.events
    async with listening(app(platform), inlet):
        await platform.says("ann", "ann", "before")
        await inlet.message("before")
        read = calls(platform, "conversations.history")
        await events.ask_to_refresh()
        for number in range(20):
            await platform.says("ann", "ann", f"during {number}")
        await inlet.message("during 19")
        await until(lambda: events.opened == 2 and len(events._open()) == 1)
        assert calls(platform, "conversations.history") == read
    assert inlet.texts == ["before", *(f"during {number}" for number in range(20))]


async def test_after_a_gap_history_is_read(platform):
    """CH-30, CH-7: a dead socket is replaced, and what Slack gave up meanwhile is fetched in thread and channel."""
    inlet, events = RecordingInlet(), platform.people.events
    async with listening(app(platform), inlet):
        root = await platform.says("#team", "ann", "root")
        await platform.says("#team", "ann", "in the thread", thread=root)
        await inlet.message("in the thread")
        events.subscribed = False  # lost for ever, but for history
        await platform.says("#team", "bob", "missed")
        await platform.says("#team", "bob", "missed in the thread", thread=root)
        events.subscribed = True
        events.break_sockets()
        await inlet.message("missed")
        await inlet.message("missed in the thread")
        await platform.says("#team", "ann", "after")
        await inlet.message("after")
    assert sorted(inlet.texts) == sorted(["root", "in the thread", "missed", "missed in the thread", "after"])
    assert len(inlet.given) == 5


async def test_a_hundred_places_are_read_within_slacks_limit():
    """CH-30, CH-35: after a restart the channels and threads that were active last are read. Slack lets history be read
    so often in a minute: it is waited for, and nothing is asked meanwhile; each message comes once, in its order."""
    limit = (25, 1.0)
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", reads=limit) as platform:
        inlet, world, events = RecordingInlet(), platform.people.world, platform.people.events
        events.subscribed = False  # only history has them
        missed = []
        for number in range(50):
            chat = f"#room{number}"
            root = await platform.says(chat, "ann", f"read {number}")
            places = {world.room(chat).id: root, f"{world.room(chat).id}/{root}": root}
            await inlet(places=places)
            await platform.says(chat, "ann", f"one {number}")
            await platform.says(chat, "bob", f"under it {number}", thread=root)
            missed += [f"one {number}", f"under it {number}"]
        events.subscribed = True
        async with listening(app(platform), inlet):
            await inlet.until(lambda: len(inlet.kept) == 100)
            await platform.says("#room7", "ann", "now")
            await inlet.message("now")
        assert sorted(inlet.texts) == sorted([*missed, "now"])
        assert len(inlet.given) == 101
        refused = sum(call.status == 429 for call in platform.truth.calls)
        assert 0 < refused <= 10 * AT_ONCE  # those that are under way when it says so


async def test_a_place_that_is_gone_has_no_history(platform, caplog):
    """CH-13, CH-30: a deleted thread and a channel without us are passed over in silence; the others are read."""
    inlet, world, events = RecordingInlet(), platform.people.world, platform.people.events
    events.subscribed = False  # only history has them
    said = await platform.says("ann", "ann", "one")
    await platform.says("#team", "ann", "two")
    events.subscribed = True
    platform.people.closes("#team")
    ann = world.room("ann").id
    await inlet(places={"C0NOBODY": said, f"{ann}/1700000000.000100": said, world.room("#team").id: said, ann: "0"})
    async with listening(app(platform), inlet):
        await inlet.message("one")
    assert inlet.texts == ["one"]
    assert "could not be read" not in caplog.text


async def test_too_many_sockets_are_told(platform):
    """CH-30, CH-13: Slack opens no eleventh; the operator is told, and it goes on when there is room."""
    inlet, events = RecordingInlet(), platform.people.events
    for _ in range(MOST_SOCKETS):
        events.add_ghost()
    channel = app(platform)
    serving = asyncio.create_task(channel.listen(inlet))
    await until(lambda: channel.trouble == TOO_MANY_SENTENCE)
    events.remove_ghosts()
    await until(lambda: events.opened)
    await platform.says("ann", "ann", "hello")
    await inlet.message("hello")
    assert not channel.trouble
    serving.cancel()
    with suppress(asyncio.CancelledError):
        await serving
    await channel.close()


async def test_events_of_another_workspace_are_not_ours(platform, caplog):
    """CH-4: they are confirmed, dropped and told once; nobody is answered in the wrong place."""
    inlet, events = RecordingInlet(), platform.people.events
    async with listening(app(platform), inlet):
        events.bot_user = "U0ANOTHER"
        await platform.says("ann", "ann", "one")
        await platform.says("ann", "ann", "two")
        events.bot_user = BOT_USER
        await platform.says("ann", "ann", "three")
        await inlet.message("three")
        await until(lambda: len(events.acknowledged) == 3)
    assert inlet.texts == ["three"]
    assert [record.message for record in caplog.records].count(f"slack: {OTHERS}") == 1


async def test_an_assistant_is_acknowledged_before_prompts_are_offered():
    """CH-5, CH-32: however slow Slack is."""
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", ack_seconds=2.9) as platform:
        events = platform.people.events
        channel = app(platform, prompts=("Plan my day",))
        async with listening(channel, RecordingInlet()):
            platform.fault("slow", on="other", seconds=0.5)
            await platform.people.opens_assistant("ann")
            await until(lambda: events.acknowledged)
            assert not platform.people.methods.prompts
            await until(lambda: platform.people.methods.prompts)


@pytest.mark.parametrize("key", ["app_token", "signing_secret"])
def test_two_workspaces_need_two_apps(key):
    """CH-4: Slack gives an event to any connection of an app."""
    two = "".join(f'[channels.slack.accounts.{name}]\nbot_token = "x-{name}"\n' for name in ("a", "b"))
    agent = '[agents.a]\nkind = "scripted"\nscript = "none.json"\n'
    with pytest.raises(BadConfiguration, match="give each an app of its own"):
        read(f'{agent}[channels.slack]\n{key} = "same"\n{two}', "x.toml", {})


async def test_events_that_never_come_are_told(platform):
    """CH-13: history has messages, and no event ever came: the subscription is missing."""
    inlet, events = RecordingInlet(), platform.people.events
    events.subscribed = False
    first = await platform.says("ann", "ann", "one")
    await inlet(places={platform.people.world.room("ann").id: first})
    channel = app(platform, pace=quick(no_events=0.0, ghosts=0.05))
    async with listening(channel, inlet):
        await until(lambda: events.opened)
        for said in ("hello?", "is anybody there?"):  # the first may still be read as what came before the start
            await platform.says("ann", "ann", said)
            await inlet.message(said)
        await until(lambda: channel.trouble)
        assert channel.trouble == NO_EVENTS


async def test_events_that_never_come_to_a_new_app_are_told(platform):
    """CH-12, CH-13: nobody has ever been heard, so it asks Slack where people can write; an idle app asks ever less."""
    inlet, events = RecordingInlet(), platform.people.events
    events.subscribed = False
    channel = app(platform, pace=quick(no_events=0.02, ghosts=0.01))
    async with listening(channel, inlet):
        await until(lambda: calls(platform, "users.conversations") >= 2)
        await platform.says("ann", "ann", "is anybody there?")
        await inlet.message("is anybody there?")
        await until(lambda: channel.trouble == NO_EVENTS)
        await until(lambda: channel.trouble_in(inlet._places) == NO_EVENTS)
        asked = calls(platform, "users.conversations")
        events.subscribed = True
        await platform.says("ann", "ann", "and now?")
        await inlet.message("and now?")
        await until(lambda: not channel.trouble and not channel.trouble_in(inlet._places))
    assert inlet.texts == ["is anybody there?", "and now?"]
    assert calls(platform, "users.conversations") == asked


async def test_a_trouble_that_is_over_is_forgotten_by_the_next_process(platform):
    """CH-12: what `rejoinder doctor` tells is what holds now."""
    inlet = RecordingInlet()
    await inlet(places={TROUBLE: NO_EVENTS})
    channel = app(platform, pace=quick(ghosts=0.01))
    async with listening(channel, inlet):
        await platform.says("ann", "ann", "hello")
        await inlet.message("hello")
        await until(lambda: not channel.trouble_in(inlet._places))
    assert calls(platform, "conversations.history") == 0  # no place has such a name


async def test_it_shows_signs_of_life(platform):
    """CH-7."""
    channel, inlet = app(platform, pace=quick(ping=0.05)), RecordingInlet()
    assert channel.last_sign is None
    async with listening(channel, inlet):
        await until(lambda: channel.last_sign is not None)
        first = channel.last_sign
        await until(lambda: channel.last_sign > first)


# --- tokens and doors ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"token": "xoxb-wrong"}, "set its new token as `bot_token`"),
        ({"app_token": "xapp-wrong"}, "connections:write"),
        ({"app_token": "xoxb-1-for-tests-only"}, "xapp-"),
    ],
)
async def test_a_wrong_token_is_said_clearly(platform, how, words):
    """CH-13: the account stops with a sentence."""
    channel = app(platform, **how)
    with pytest.raises(ChannelStopped, match="slack") as stopped:
        await channel.listen(RecordingInlet())
    await channel.close()
    assert words in str(stopped.value)


async def test_socket_mode_that_is_off_is_said_clearly():
    """CH-12, CH-13."""
    async with asyncio.timeout(PATIENCE), FakePlatform("slack", socket_mode=False) as platform:
        channel = app(platform)
        with pytest.raises(ChannelStopped, match="Socket Mode is off"):
            await channel.listen(RecordingInlet())
        with pytest.raises(ChannelStopped, match="turn it on in its settings"):
            await channel.check()
        await channel.close()


async def test_socket_mode_that_is_turned_off_while_it_runs(platform):
    """CH-13: the account says so, and goes on when it is turned on again; what came meanwhile is read."""
    inlet, events = RecordingInlet(), platform.people.events
    channel = app(platform)
    async with listening(channel, inlet):
        await platform.says("ann", "ann", "one")
        await inlet.message("one")
        await events.turn_socket_mode_off()
        await until(lambda: "Socket Mode is off" in channel.trouble)
        await platform.says("ann", "ann", "two")
        events.socket_mode = True
        await inlet.message("two")
        await until(lambda: not channel.trouble)
    assert inlet.texts == ["one", "two"]


async def test_a_token_that_is_revoked_while_it_runs(platform):
    """CH-13: nothing is lost: the part waits, and the sentence says what to do."""
    inlet = RecordingInlet()
    async with listening(app(platform), inlet) as channel:
        await platform.says("ann", "ann", "hello")
        route = (await inlet.message("hello")).route
        platform.people.tokens.clear()
        outcome = await channel.send(Part(route, "hi"))
        assert isinstance(outcome, Rejected)
        assert outcome.why == "account"


@pytest.mark.parametrize("how", ["unsigned", "forged", "old", "signed"])
async def test_only_slack_may_call(platform, how):
    """CH-30: the signature is over the raw body and five minutes old at most."""
    from time import time

    import aiohttp

    from rejoinder.testing.platform.slack.events import signed
    from rejoinder.testing.platform.slack.world import SIGNING_SECRET

    inlet = RecordingInlet()
    async with listening(called_app(platform), inlet):
        await platform.says("ann", "ann", "served")
        await inlet.message("served")
        body = b'{"type": "url_verification", "challenge": "c1"}'
        headers = {
            "unsigned": {},
            "forged": signed(body, "another secret", int(time())),
            "old": signed(body, SIGNING_SECRET, int(time()) - 400),
            "signed": signed(body, SIGNING_SECRET, int(time())),
        }[how]
        async with aiohttp.ClientSession() as session:
            url = platform.people.events.events_url
            async with session.post(url, data=body, headers=headers) as answer:
                assert answer.status == (200 if how == "signed" else 401)
                if how == "signed":
                    assert await answer.text() == "c1"


# --- what goes out ------------------------------------------------------------------------------


async def test_a_part_is_found_by_its_key(platform):
    """CH-35: in a channel and in a thread; what is not there may be sent again."""
    async with spoken(platform) as (channel, route, question):
        for place in (route, Route("slack", route.chat, question)):
            part = Part(place, "here", key=f"k/{place.thread}")
            platform.fault("accept-drop")
            await channel.send(part)
            found = await channel.find(part, AGO)
            assert isinstance(found, Delivered)
            assert found.message in platform.people.world.room("#team").messages
            missing = await channel.find(Part(place, "there", key="k/other"), AGO)
            assert isinstance(missing, RetryAfter)


async def test_three_reads_find_what_history_shows_late(platform):
    """CH-35: three reads over half a minute, here over a moment."""
    async with spoken(platform, pace=quick(looks=(0.0, 0.1, 0.4))) as (channel, route, _):
        part = Part(route, "here", key="k1")
        assert isinstance(await channel.send(part), Delivered)
        platform.people.hides(0.3)
        assert isinstance(await channel.find(part, AGO), Delivered)
    assert len([call for call in platform.truth.calls if call.name == "conversations.history"]) >= 3


async def test_one_attempt_each(platform):
    """CH-6: no call is repeated behind our back; when Slack says to wait, that comes back."""
    async with spoken(platform) as (channel, route, _):
        for kind in ("429", "5xx", "drop"):
            before = calls(platform, "chat.postMessage")
            platform.fault(kind, seconds=1)
            outcome = await channel.send(Part(route, "hi"))
            assert not isinstance(outcome, Delivered)
            assert calls(platform, "chat.postMessage") == before + 1
            platform.people._not_before.clear()


async def test_nobody_is_pinged_but_who_is_addressed(platform):
    """CH-34, DE-34: what the renderer escaped stays escaped, but for the one person."""
    from rejoinder.channels.slack import render

    async with spoken(platform) as (channel, route, _):
        ann, bob = platform.id_of("ann"), platform.id_of("bob")
        text = render.render(f"<@{ann}> <@{bob}> <!channel> <!here>", "code").text
        await channel.send(Part(route, text, addressed=(ann,)))
    (frame,) = [frame for frame in platform.truth.frames if frame.by == "bot"]
    assert frame.pinged == (f"@{ann}",)
    assert not any(call.payload.get("unfurl_links") for call in platform.truth.calls)


async def test_choices_are_buttons_or_a_menu(platform):
    """CH-33: up to five are buttons, more are a menu; when they are answered they go."""
    async with spoken(platform) as (channel, route, _):
        few = tuple(Choice(f"Choice {n}", f"say {n}") for n in range(3))
        many = tuple(Choice(f"Choice {n}", f"say {n}") for n in range(9))
        outcome = await channel.send(Part(route, "which?", choices=few))
        await channel.send(Part(route, "which of these?", choices=many))
        assert isinstance(outcome, Delivered)
        await channel.edit(route, outcome.message, Part(route, "which? Choice 1"))
    shown, menu = platform.truth.messages("#team")
    assert shown.buttons == ()
    assert len(menu.buttons) == 9


async def test_an_answer_for_one_person(platform):
    """CH-33, CH-3: by the response address where there is one, else ephemeral; found again it does no harm."""
    async with spoken(platform) as (channel, route, _):
        ann = platform.id_of("ann")
        outcome = await channel.send(Part(route, "psst", only_for=ann))
        assert isinstance(outcome, Delivered)
        address = platform.people._response("#team", "ann")
        context = ReplyContext(address, datetime.now(UTC) + timedelta(minutes=1), private=True)
        assert isinstance(await channel.send(Part(route, "hush", only_for=ann, reply_context=context)), Delivered)
    assert [each["text"] for each in platform.people.methods.ephemeral] == ["psst"]
    assert [each["response_type"] for each in platform.people.methods.responses] == ["ephemeral"]
    assert not platform.truth.messages("#team")


async def test_emoji_of_the_workspace():
    """CH-33: by name; one that nobody added is refused."""
    async with (
        FakePlatform("slack", emoji=["party-parrot"]) as platform,
        spoken(platform) as (channel, route, question),
    ):
        assert isinstance(await channel.react(route, question, "party-parrot"), Delivered)
        assert isinstance(await channel.react(route, question, "👍🏽"), Delivered)
        assert isinstance(await channel.react(route, question, "no-such-thing"), Rejected)
        for _ in range(2):
            assert isinstance(await channel.react(route, question, "👍🏽", remove=True), Delivered)


async def test_a_stream_of_unknown_fate_is_found_and_one_that_was_left_is_stopped():
    """CH-32, CH-35: a stream carries no key while it grows; a process that died leaves it growing."""
    async with FakePlatform("slack", streams=True) as platform, spoken(platform) as (channel, route, question):
        thread = Route("slack", route.chat, question)
        opening = Part(thread, "One", html="One", key="turn/open0/abc")
        platform.fault("accept-drop")
        await channel.begin(opening)
        found = await channel.find(opening, AGO)
        assert isinstance(found, Delivered)
        assert isinstance(await channel.edit(thread, found.message, Part(thread, "One two", key="turn/0")), Delivered)
    (sent,) = platform.truth.messages("#team")
    assert sent.text == "One two"


async def test_a_stream_that_stands_still_is_stopped_and_goes_on_by_edits():
    """CH-32: an answer may end with what is shown already; and what is withdrawn is deleted."""
    async with (
        FakePlatform("slack", streams=True) as platform,
        spoken(platform, pace=quick(idle_stream=0.1)) as (channel, route, question),
    ):
        thread = Route("slack", route.chat, question)
        begun = await channel.begin(Part(thread, "One", html="One"))
        assert isinstance(begun, Delivered)
        stored = platform.people.world.room("#team").messages[begun.message]
        await until(lambda: stored.streaming == "completed")
        assert isinstance(await channel.edit(thread, begun.message, Part(thread, "One two")), Delivered)
        assert stored.text == "One two"
        assert isinstance(await channel.delete(thread, begun.message), Delivered)
    assert not platform.truth.messages("#team")


# --- init and doctor ----------------------------------------------------------------------------


async def test_doctor_says_who_it_is(platform):
    """CH-12: with both tokens, and without opening a socket that would take events."""
    channel = app(platform)
    assert await channel.check() == "it is @testbot in Example, by Socket Mode"
    await channel.close()
    assert not platform.people.events.opened


async def test_doctor_names_what_it_does_without():
    """CH-12: scopes that nothing depends on are named, too, with what they are for."""
    async with FakePlatform("slack", scopes=set(manifest.SCOPES) - {"files:write"}) as platform:
        channel = app(platform)
        assert (await channel.check()).endswith("by Socket Mode; without files:write (send files)")
        await channel.close()


async def test_doctor_names_the_scopes_that_are_missing():
    """CH-12."""
    scopes = set(manifest.SCOPES) - {"reactions:write", "im:history"}
    async with FakePlatform("slack", scopes=scopes) as platform:
        channel = app(platform)
        with pytest.raises(ChannelStopped, match=r"im:history, reactions:write"):
            await channel.check()
        await channel.close()


def test_the_manifest_asks_for_what_is_used():
    """CH-12: every scope that a method needs, every event that is read, and the command."""
    said = manifest.app_manifest()
    assert set(SCOPES.values()) | manifest.NEEDED <= set(said["oauth_config"]["scopes"]["bot"])
    assert said["settings"]["socket_mode_enabled"]
    called = manifest.app_manifest("https://bot.example.org/slack/events")
    assert not called["settings"]["socket_mode_enabled"]
    assert called["features"]["slash_commands"][0]["url"] == "https://bot.example.org/slack/events"
