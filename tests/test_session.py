"""Whose session a message belongs to, how long it lasts, and what survives a new start."""

import itertools
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import fields, replace

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.session import (
    PENDING_EVENTS,
    ExecChoice,
    Lifetime,
    QueueChoice,
    ResetByType,
    ResetOverride,
    ResetPolicy,
    ResetSettings,
    Session,
    SessionSettings,
    entries_for,
    grown_old,
    home,
    inherits_from,
    last_boundary,
    lifetimes,
    reset_policy,
    route_home,
    session_home,
    session_key,
    shard_of,
    start_over,
    turn_taken,
    with_event,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def message(
    sender="7", chat="7", kind="direct", thread=None, channel="telegram", account="default", former=""
) -> Inbound:
    return Inbound(
        channel=channel,
        event_id="e",
        message_id="m",
        chat=Chat(id=chat, kind=kind, former=former),
        sender=Sender(id=sender),
        account=account,
        thread=thread,
    )


def session(**given) -> Session:
    return Session(**{"key": "helper:main", "agent": "helper", "started": NOW, "touched": NOW, **given})


# --- the key ------------------------------------------------------------------------------------

IN_GROUP = {"chat": "-100", "kind": "group"}


@pytest.mark.parametrize(
    ("given_settings", "given_message", "key"),
    [
        ({}, {}, "helper:telegram:default:direct:7"),
        ({}, {"account": "second"}, "helper:telegram:second:direct:7"),
        ({}, {"thread": "t1"}, "helper:telegram:default:direct:7"),
        ({"scope": "shared"}, {}, "helper:main"),
        ({"scope": "shared", "main_key": "home"}, {"sender": "8"}, "helper:home"),
        ({"scope": "shared"}, IN_GROUP, "helper:telegram:default:group:-100"),
        ({}, IN_GROUP, "helper:telegram:default:group:-100"),
        ({}, {"chat": "-1001", "kind": "group", "former": "-100"}, "helper:telegram:default:group:-100"),
        ({}, {**IN_GROUP, "kind": "channel"}, "helper:telegram:default:channel:-100"),
        ({}, {**IN_GROUP, "thread": "t1"}, "helper:telegram:default:group:-100:thread:t1"),
        ({"group_scope": "per-chat"}, {**IN_GROUP, "thread": "t1"}, "helper:telegram:default:group:-100"),
        ({"group_scope": "per-sender"}, IN_GROUP, "helper:telegram:default:group:-100:from:7"),
        (
            {"group_scope": "per-sender"},
            {**IN_GROUP, "thread": "t1"},
            "helper:telegram:default:group:-100:from:7",
        ),
        (
            {},
            {"channel": "matrix", "sender": "@a:b.org"},
            "helper:matrix:default:direct:@a%3Ab.org",
        ),
        ({"main_key": "a:b%"}, {"sender": "100%"}, "helper:telegram:default:direct:100%25"),
    ],
)
def test_scope(given_settings, given_message, key):
    """IN-40: scope and group scope decide who shares a session; the agent is part of every key."""
    assert session_key(message(**given_message), SessionSettings(**given_settings), "helper") == key


@pytest.mark.parametrize(
    ("given_message", "key"),
    [
        ({"sender": "123"}, "helper:person:anna"),
        ({"sender": "123", "account": "second"}, "helper:person:anna"),
        ({"channel": "discord", "sender": "9"}, "helper:person:anna"),
        ({"channel": "slack", "account": "T1", "sender": "U2"}, "helper:person:anna"),
        ({"channel": "slack", "account": "T2", "sender": "U2"}, "helper:slack:T2:direct:U2"),
        ({"channel": "slack", "sender": "T1:U2"}, "helper:slack:default:direct:T1%3AU2"),
        ({"channel": "matrix", "sender": "@a:b.org"}, "helper:person:anna"),
        ({"channel": "matrix", "account": "@a", "sender": "b.org"}, "helper:matrix:@a:direct:b.org"),
        ({"sender": "124"}, "helper:telegram:default:direct:124"),
        ({"channel": "signal", "sender": "123"}, "helper:signal:default:direct:123"),
        ({"sender": "123", **IN_GROUP}, "helper:telegram:default:group:-100"),
    ],
)
def test_identity_links(given_message, key):
    """IN-40: identity links join one person's ids, and no other way to spell them."""
    links = {"anna": ("telegram:123", "discord:9", "slack:T1:U2", "matrix:@a:b.org")}
    assert session_key(message(**given_message), SessionSettings(identity_links=links), "helper") == key


def test_a_linked_person_has_one_session_in_a_group_per_sender():
    """IN-40: two ids of one person in a group that is kept per sender are one person."""
    settings = SessionSettings(group_scope="per-sender", identity_links={"anna": ("telegram:1", "telegram:2")})
    keys = {session_key(message(sender=id, **IN_GROUP), settings, "helper") for id in "12"}
    assert keys == {"helper:telegram:default:group:-100:person:anna"}


ids = st.text(st.sampled_from("ab:%25A3@"), max_size=5) | st.text(max_size=8)
messages = st.builds(
    message,
    sender=ids,
    chat=ids,
    kind=st.sampled_from(["direct", "group", "channel"]),
    thread=ids | st.none(),
    channel=ids,
    account=ids,
)


def belongs_to(inbound: Inbound, settings: SessionSettings, agent: str) -> tuple:
    """What the key has to tell apart, as a plain tuple: no joining, so no way to confuse two of them."""
    if inbound.chat.kind == "direct":
        if settings.scope == "shared":
            return (agent, "shared")
        return (agent, "direct", inbound.channel, inbound.account, inbound.sender.id)
    room = (agent, "room", inbound.channel, inbound.account, inbound.chat.kind, inbound.chat.id)
    if settings.group_scope == "per-sender":
        return (*room, "sender", inbound.sender.id)
    if settings.group_scope == "per-thread" and inbound.thread is not None:
        return (*room, "thread", inbound.thread)
    return room


@given(
    st.tuples(messages, ids),
    st.tuples(messages, ids),
    st.sampled_from(["per-sender", "shared"]),
    st.sampled_from(["per-thread", "per-chat", "per-sender"]),
    ids.filter(bool),
)
def test_the_key_is_injective(one, other, scope, group_scope, main_key):
    """IN-40: whatever characters ids contain, two keys are equal exactly when the settings say so."""
    settings = SessionSettings(scope=scope, group_scope=group_scope, main_key=main_key)
    same_key = session_key(one[0], settings, one[1]) == session_key(other[0], settings, other[1])
    same_place = belongs_to(one[0], settings, one[1]) == belongs_to(other[0], settings, other[1])
    assert same_key == same_place


# --- the home -----------------------------------------------------------------------------------

ANNA = {"identity_links": {"anna": ("telegram:7", "discord:9")}}


@pytest.mark.parametrize(
    ("given_settings", "given_message", "where"),
    [
        ({}, {}, "telegram:default:7"),
        ({}, {"account": "second"}, "telegram:second:7"),
        ({}, {"thread": "t1"}, "telegram:default:7"),
        ({"scope": "shared"}, {}, "main"),
        ({"scope": "shared"}, {"channel": "discord", "sender": "8"}, "main"),
        ({"scope": "shared", "main_key": "all"}, {}, "all"),
        (ANNA, {}, "person:anna"),
        (ANNA, {"channel": "discord", "sender": "9"}, "person:anna"),
        ({}, IN_GROUP, "telegram:default:-100"),
        ({}, {**IN_GROUP, "thread": "t1"}, "telegram:default:-100"),
        ({}, {"chat": "-1001", "kind": "group", "former": "-100"}, "telegram:default:-100"),
        ({"group_scope": "per-sender"}, IN_GROUP, "telegram:default:-100"),
        ({"group_scope": "per-chat"}, {**IN_GROUP, "thread": "t1"}, "telegram:default:-100"),
        ({"scope": "shared"}, IN_GROUP, "telegram:default:-100"),
        ({}, {"channel": "matrix", "sender": "@a:b.org"}, "matrix:default:@a%3Ab.org"),
    ],
)
def test_a_home_is_a_group_chat_or_what_shares_a_direct_session(given_settings, given_message, where):
    """SC-1: threads and people of a group are one home; for direct chats it follows the session without its agent."""
    assert home(message(**given_message), SessionSettings(**given_settings)) == where


@given(
    messages,
    messages,
    st.sampled_from(["per-sender", "shared"]),
    st.sampled_from(["per-thread", "per-chat", "per-sender"]),
    ids.filter(bool),
)
def test_what_shares_a_session_shares_a_home(one, other, scope, group_scope, main_key):
    """SC-1: whoever owns a home owns its sessions whole; and a group's threads are never divided."""
    settings = SessionSettings(scope=scope, group_scope=group_scope, main_key=main_key)
    same_home = home(one, settings) == home(other, settings)
    if session_key(one, settings, "helper") == session_key(other, settings, "helper"):
        assert same_home
    if one.chat.kind != "direct" and one.chat.kind == other.chat.kind:
        same_chat = (one.channel, one.account, one.chat.id) == (other.channel, other.account, other.chat.id)
        assert same_home == same_chat


@given(messages, st.sampled_from(["per-sender", "shared"]), st.sampled_from(["per-thread", "per-sender"]), ids)
def test_a_session_says_its_home(one, scope, group_scope, agent):
    """SC-1: by its key alone, whatever characters ids contain; and who sends to a group first finds the same home."""
    settings = SessionSettings(scope=scope, group_scope=group_scope)
    assert session_home(session_key(one, settings, agent)) == home(one, settings)
    if one.chat.kind != "direct" and not one.chat.former:
        assert route_home(one.route) == home(one, settings)


def test_a_home_stays_in_its_shard():
    """SC-2: the hash is the same in every process and version; these values are stored."""
    assert [shard_of(f"telegram:default:{id}", 64) for id in range(6)] == [35, 53, 15, 25, 58, 44]
    assert {shard_of(f"telegram:default:{id}", 4) for id in range(100)} == {0, 1, 2, 3}
    assert shard_of("telegram:default:\ud800", 1) == 0


@given(st.tuples(ids, ids, ids), st.tuples(ids, ids, ids))
def test_no_two_people_are_named_by_one_entry(one, other):
    """IN-13: an entry names one id of one channel, on one account or on any; never a second person."""
    if set(entries_for(*one)) & set(entries_for(*other)):
        assert (one[0], one[2]) == (other[0], other[2])


@pytest.mark.parametrize(
    ("given_settings", "given_message", "given_session", "parent"),
    [
        ({"thread_inherits": True}, {**IN_GROUP, "thread": "t1"}, {}, "helper:telegram:default:group:-100"),
        ({"thread_inherits": True}, {**IN_GROUP, "thread": "t1"}, {"inherited": True}, None),
        ({"thread_inherits": True}, {**IN_GROUP, "thread": "t1"}, {"touched": NOW + timedelta(seconds=1)}, None),
        ({"thread_inherits": True}, IN_GROUP, {}, None),
        ({"thread_inherits": True}, {"thread": "t1"}, {}, None),
        ({"thread_inherits": True, "group_scope": "per-chat"}, {**IN_GROUP, "thread": "t1"}, {}, None),
        ({}, {**IN_GROUP, "thread": "t1"}, {}, None),
    ],
)
def test_what_a_thread_inherits_from(given_settings, given_message, given_session, parent):
    """IN-45: its chat's session, once, before its first turn, when the settings say so and it has one of its own."""
    assert (
        inherits_from(session(**given_session), message(**given_message), SessionSettings(**given_settings)) == parent
    )


# --- what survives ------------------------------------------------------------------------------

USED = session(
    touched=NOW + timedelta(hours=1),
    think="high",
    verbose="full",
    reasoning="on",
    model="gpt-y",
    label="the big one",
    tts="always",
    tts_voice="nova",
    tts_limit=200,
    activation="always",
    inherited=True,
    elevated="full",
    exec=ExecChoice(host="gateway", security="full", ask="off", node="n1"),
    queue=QueueChoice(mode="steer", debounce_ms=5, cap=3, drop="old"),
    send_policy="off",
    usage="full",
    input_tokens=10,
    output_tokens=20,
    aborted_last_run=True,
    system_events=("model changed",),
)


def test_every_field_declares_a_lifetime():
    """IN-43: a field without a lifetime does not exist, and USED above sets every field there is."""
    assert set(lifetimes()) == set(Session.__struct_fields__)
    assert all(getattr(USED, f.name) != f.default for f in fields(Session))


def test_start_over():
    """IN-43: reset and rollover keep what is sticky, as it was, and begin the rest again."""
    later = NOW + timedelta(days=1)
    kept = {"think": "high", "verbose": "full", "reasoning": "on", "model": "gpt-y", "label": "the big one"}
    room = {"activation": "always", "inherited": True, "tts": "always", "tts_voice": "nova", "tts_limit": 200}
    assert start_over(USED, later) == session(started=later, touched=later, **kept, **room)


@pytest.mark.parametrize("field", ["elevated", "exec", "send_policy", "queue", "usage", "input_tokens"])
def test_privilege_and_counters_never_survive(field):
    """IN-43: privilege never survives a new start, nor do queue, send policy and counters."""
    assert lifetimes()[field] is not Lifetime.STICKY
    default = {f.name: f.default for f in fields(Session)}[field]
    assert getattr(start_over(USED, NOW), field) == default


def test_a_turn_takes_what_waited_and_nothing_else():
    """IN-58, IN-71: the next turn is told once; everything else stays."""
    assert turn_taken(USED) == replace(USED, aborted_last_run=False, system_events=())


def test_a_session_is_stored_and_read_back():
    """DU-5: session state is durable: it goes through JSON unchanged, and instants keep their zone."""
    assert msgspec.json.decode(msgspec.json.encode(USED), type=Session) == USED
    without_zone = msgspec.json.encode(replace(USED, started=NOW.replace(tzinfo=None)))
    with pytest.raises(msgspec.ValidationError, match="timezone"):
        msgspec.json.decode(without_zone, type=Session)


@given(st.lists(st.sampled_from("abc"), max_size=60))
def test_pending_events(events):
    """IN-58: at most 20 wait, the latest; equal neighbours are one."""
    state = session()
    for event in events:
        state = with_event(state, event)
    merged = tuple(event for event, _ in itertools.groupby(events))
    assert state.system_events == merged[-PENDING_EVENTS:]
    assert PENDING_EVENTS == 20


# --- how long it lasts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "idle", "fresh"),
    [
        (ResetPolicy(), timedelta(days=9999), True),
        (ResetPolicy("idle", idle_minutes=30), timedelta(minutes=30), True),
        (ResetPolicy("idle", idle_minutes=30), timedelta(minutes=30, microseconds=1), False),
        (ResetPolicy("idle"), timedelta(minutes=60), True),
        (ResetPolicy("idle"), timedelta(minutes=61), False),
        (ResetPolicy("daily", at_hour=12), timedelta(0), True),
        (ResetPolicy("daily", at_hour=12), timedelta(microseconds=1), False),
        (ResetPolicy("daily", at_hour=13), timedelta(hours=22), True),
        (ResetPolicy("daily", at_hour=13), timedelta(hours=24), False),
        (ResetPolicy("daily", at_hour=13, zone="Asia/Kolkata"), timedelta(hours=4), True),
        (ResetPolicy("daily", at_hour=13, zone="Asia/Kolkata"), timedelta(hours=5), False),
    ],
)
def test_freshness(policy, idle, fresh):
    """IN-41: never, daily at an hour of a zone, idle after minutes."""
    assert (grown_old(session(touched=NOW - idle), policy, NOW) is None) is fresh


@pytest.mark.parametrize(
    ("idle", "why"),
    [
        (timedelta(minutes=30), None),
        (timedelta(minutes=31), "idle"),
        (timedelta(hours=1), "idle"),
        (timedelta(hours=1, microseconds=1), "daily"),
        (timedelta(days=3), "daily"),
    ],
)
def test_daily_and_idle_together(idle, why):
    """IN-41: whichever comes first ends the session; a day that has passed says more than the minutes."""
    policy = ResetPolicy("both", at_hour=11, idle_minutes=30)
    assert grown_old(session(touched=NOW - idle), policy, NOW) == why


IDLE = ResetOverride(mode="idle", idle_minutes=5)
DAILY = ResetOverride(mode="daily", at_hour=0)


@pytest.mark.parametrize(
    ("by_type", "by_channel", "given_message", "policy"),
    [
        ({}, {}, {}, ResetPolicy(zone="Asia/Kolkata")),
        ({"direct": IDLE}, {}, {}, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        ({"direct": IDLE}, {}, IN_GROUP, ResetPolicy(zone="Asia/Kolkata")),
        ({"group": IDLE}, {}, IN_GROUP, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        ({"group": IDLE}, {}, {**IN_GROUP, "kind": "channel"}, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        ({"group": IDLE}, {}, {**IN_GROUP, "thread": "t"}, ResetPolicy("idle", 4, "Asia/Kolkata", 5)),
        (
            {"group": IDLE, "thread": DAILY},
            {},
            {**IN_GROUP, "thread": "t"},
            ResetPolicy("daily", 0, "Asia/Kolkata", 5),
        ),
        ({"thread": DAILY}, {}, IN_GROUP, ResetPolicy(zone="Asia/Kolkata")),
        (
            {"direct": DAILY},
            {"telegram": ResetOverride(mode="never")},
            {},
            ResetPolicy("never", 0, "Asia/Kolkata", 60),
        ),
        ({"direct": DAILY}, {"discord": IDLE}, {}, ResetPolicy("daily", 0, "Asia/Kolkata", 60)),
    ],
)
def test_policy(by_type, by_channel, given_message, policy):
    """IN-41: channel over thread over group or direct; what an override leaves open stays."""
    reset = ResetSettings(zone="Asia/Kolkata", by_type=ResetByType(**by_type), by_channel=by_channel)
    assert reset_policy(message(**given_message), SessionSettings(reset=reset)) == policy


# --- the daily boundary, against a clock that is watched ----------------------------------------

ZONES = ["UTC", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Asia/Kolkata", "Pacific/Apia"]
STEP = timedelta(minutes=30)  # every offset and every change of these zones is a multiple


@cache
def edges(name: str) -> list[datetime]:
    """The hours of 2020 to 2035 in which the zone's offset changed, found by looking at each day's clock."""
    zone, found = ZoneInfo(name), []
    day = datetime(2020, 1, 1, tzinfo=UTC)
    while day.year < 2036:
        after = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != after.astimezone(zone).utcoffset():
            found.append(day)
        day = after
    return found


def watched_boundaries(name: str, hour: int, first: datetime, last: datetime) -> list[datetime]:
    """Watches the wall clock in steps of half an hour and notes when a day first reaches the hour.

    Knows nothing of folds or offsets: it reads the clock on the wall and remembers the furthest it has shown.
    """
    zone, found = ZoneInfo(name), []
    wall = first.astimezone(zone).replace(tzinfo=None)
    furthest = wall
    instant = first
    while instant < last:
        instant += STEP
        wall = instant.astimezone(zone).replace(tzinfo=None)
        day = furthest.date()
        while day <= wall.date():
            mark = datetime(day.year, day.month, day.day, hour)
            if furthest < mark <= wall:
                found.append(instant)
            day += timedelta(days=1)
        furthest = max(furthest, wall)
    return found


@pytest.mark.parametrize("name", ZONES)
def test_the_zones_have_the_edges_we_think(name):
    """The table below is worth something: zones with summer time change their clocks in these years."""
    expected = {"UTC": 0, "Asia/Kolkata": 0, "Pacific/Apia": 3, "America/Nuuk": 31}
    assert len(edges(name)) == expected.get(name, 32)


@pytest.mark.parametrize("name", ZONES)
@pytest.mark.parametrize("hour", range(24))
def test_daily_boundary(name, hour):
    """IN-41: at any hour, missing or repeated, the boundary is where a watched clock reaches it first."""
    for day in edges(name) or [datetime(2024, 3, 31, tzinfo=UTC)]:
        first, last = day - timedelta(days=2), day + timedelta(days=3)
        boundaries = watched_boundaries(name, hour, first, last)
        instant = first + timedelta(days=1, hours=2)
        while instant < last:
            passed = max(boundary for boundary in boundaries if boundary <= instant)
            assert last_boundary(hour, ZoneInfo(name), instant) == passed, (day, instant)
            instant += STEP


@settings(max_examples=200)
@given(st.data())
def test_fresh_means_no_boundary_between(data):
    """IN-41: a session is fresh while the watched clock has not reached the hour since its last message."""
    name = data.draw(st.sampled_from(ZONES))
    hour = data.draw(st.integers(0, 23))
    start = data.draw(st.sampled_from(edges(name) or [datetime(2030, 1, 1, tzinfo=UTC)])) - timedelta(days=1)
    touched = start + data.draw(st.integers(0, 100)) * STEP
    now = touched + data.draw(st.integers(0, 150)) * STEP
    between = watched_boundaries(name, hour, start - timedelta(days=1), now)
    stale = any(touched < boundary for boundary in between)
    policy = ResetPolicy("daily", hour, name)
    assert (grown_old(session(touched=touched), policy, now) == "daily") is stale


@pytest.mark.parametrize(
    ("name", "hour", "now", "boundary"),
    [
        # New York skips 2 o'clock on 8 March 2026 and repeats 1 o'clock on 1 November.
        ("America/New_York", 2, "2026-03-08T12:00Z", "2026-03-08T07:00Z"),
        ("America/New_York", 1, "2026-11-01T12:00Z", "2026-11-01T05:00Z"),
        # Lord Howe moves by half an hour.
        ("Australia/Lord_Howe", 2, "2026-10-04T12:00Z", "2026-10-03T15:30Z"),
        ("Australia/Lord_Howe", 2, "2026-04-05T12:00Z", "2026-04-04T15:30Z"),
        # Nuuk skips 23 o'clock of a Saturday: the boundary is Sunday's midnight.
        ("America/Nuuk", 23, "2026-03-29T12:00Z", "2026-03-29T01:00Z"),
        # Newfoundland once fell back from one past midnight to the evening before.
        ("America/St_Johns", 0, "2010-11-07T03:00Z", "2010-11-07T02:30Z"),
        # Apia had no 30 December 2011.
        ("Pacific/Apia", 4, "2011-12-30T12:00Z", "2011-12-29T14:00Z"),
    ],
)
def test_strange_days(name, hour, now, boundary):
    """IN-41: the edges people meet, each written down."""
    found = last_boundary(hour, ZoneInfo(name), datetime.fromisoformat(now))
    assert found == datetime.fromisoformat(boundary)
