"""Whose session a message belongs to, how long it lasts, and what survives a new start."""

import itertools
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields, replace

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.session import (
    PENDING_EVENTS,
    ExecChoice,
    Lifetime,
    QueueChoice,
    Session,
    SessionSettings,
    deciding_home,
    entries_for,
    home,
    inherits_from,
    lifetimes,
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


def in_chat(kind: str, sender: Sender, peer: str = "") -> Inbound:
    return Inbound("telegram", "e", "m", Chat("7", kind), sender, peer=peer)


@pytest.mark.parametrize(
    ("inbound", "where"),
    [
        (in_chat("direct", Sender("7")), "telegram:default:7"),
        (in_chat("direct", Sender("")), ""),
        (in_chat("direct", Sender("bot", is_self=True)), ""),
        (in_chat("direct", Sender("bot", is_self=True), peer="7"), "telegram:default:7"),
        (in_chat("direct", Sender("program", is_bot=True), peer="7"), "telegram:default:7"),
        (in_chat("group", Sender("")), "telegram:default:7"),
        (in_chat("group", Sender("bot", is_self=True)), "telegram:default:7"),
    ],
)
def test_what_does_not_say_whose_chat_it_is_in_is_decided_where_the_chat_is(inbound, where):
    """SC-1: a message of our own, a deletion that names nobody."""
    assert deciding_home(inbound, SessionSettings()) == where


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
