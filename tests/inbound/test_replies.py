"""What the gateway itself says to a message, and who sees that; what is recorded and told of a decision."""

import pytest
from msgspec.structs import replace

from rejoinder.events import Chat, Invoked, MessageDecided, ReplyContext, Sender
from rejoinder.inbound.commands.command import Command
from rejoinder.inbound.finalise import undecided_message
from rejoinder.inbound.gate import Actor
from rejoinder.inbound.outcome import PASS, Answer, Drop, StageResult, end_of, told_of
from rejoinder.inbound.replies import NOT_YOURS, only_for, replies_to
from tests.inbound.floor import FACTS, NOW, SENDER, says

ALONE, SHARED = ReplyContext("t", NOW, private=True), ReplyContext("t", NOW)
COMMANDS = {
    "own": Command("own", "", ""),
    "open": Command("open", "", "", takes_turn=True),
}


def decided(outcome, *replies: str) -> StageResult:
    return StageResult(undecided_message(says("hello"), FACTS), None, outcome, replies)


@pytest.mark.parametrize(
    ("entry", "context", "group", "outcome", "replies", "said", "expected"),
    [
        ("text", None, True, Answer(("a",)), ("a",), (), ("a",)),
        ("text", None, True, Answer(("a",)), ("a",), ["b"], ["b"]),
        ("text", ALONE, True, Drop("no"), (), (), ()),
        ("button", ALONE, True, Drop("no"), (), (), (NOT_YOURS,)),
        ("native", ALONE, True, Drop("no"), (), (), (NOT_YOURS,)),
        ("button", ALONE, False, Drop("no"), (), (), ()),
        ("button", SHARED, True, Drop("no"), (), (), ()),
        ("button", None, True, Drop("no"), (), (), ()),
        ("button", ALONE, True, Answer(()), (), (), ()),
        ("button", ALONE, True, Drop("no"), ("why",), (), ("why",)),
    ],
)
def test_what_is_said(entry, context, group, outcome, replies, said, expected):
    """CH-9: whoever pressed a button in vain is told so, where nobody else sees it."""
    inbound = says("x", group=group, entry=entry, reply_context=context)
    assert replies_to(inbound, decided(outcome, *replies), said) == expected


@pytest.mark.parametrize(
    ("entry", "context", "group", "invoked", "person"),
    [
        ("native", ALONE, True, "own", SENDER),
        ("native", ALONE, True, "OWN", SENDER),
        ("native", ALONE, True, "open", None),
        ("native", ALONE, True, "unknown", SENDER),
        ("button", ALONE, True, "open", SENDER),
        ("button", ALONE, True, None, SENDER),
        ("native", ALONE, False, "own", None),
        ("native", SHARED, True, "own", None),
        ("native", None, True, "own", None),
    ],
)
def test_who_sees_it(entry, context, group, invoked, person):
    """CH-9: one person, where the answer is theirs and the platform can show it so."""
    chosen = Invoked(invoked) if invoked is not None else None
    inbound = says("x", group=group, entry=entry, reply_context=context, invoked=chosen)
    assert only_for(inbound, COMMANDS) == person


@pytest.mark.parametrize(
    ("outcome", "overheard", "end"),
    [
        (Answer(("a",)), False, "answered"),
        (Answer(("a",), reason="/status"), False, "answered: /status"),
        (Drop("a bot"), False, "dropped: a bot"),
        (Drop("not addressed"), True, "overheard: not addressed"),
    ],
)
def test_how_it_ended_in_words(outcome, overheard, end):
    assert end_of(decided(outcome), overheard=overheard) == end


@pytest.mark.parametrize(("outcome", "told"), [(PASS, "turn"), (Answer(("a",)), "answer"), (Drop("a bot"), "drop")])
def test_what_hooks_are_told(outcome, told):
    inbound = says("x")
    assert told_of(inbound, decided(outcome)) == MessageDecided(inbound, told, ())


@pytest.mark.parametrize(
    ("chat", "addressed", "entry", "bot", "awaited"),
    [
        ("direct", "direct", "text", False, True),
        ("direct", "direct", "text", True, False),
        ("direct", "direct", "cron", False, False),
        ("group", "mention", "text", False, True),
        ("group", "reply", "text", False, True),
        ("group", "pattern", "text", False, False),
        ("group", "none", "text", False, False),
        ("group", "mention", "text", True, False),
        ("group", "mention", "cron", False, False),
    ],
)
def test_who_expects_an_answer(chat, addressed, entry, bot, awaited):
    """OD-44."""
    inbound = replace(says("x", chat=Chat("1", chat), entry=entry), sender=Sender("2", is_bot=bot))
    message = replace(undecided_message(inbound, FACTS), addressed=addressed)
    assert message.awaits_answer is awaited


@pytest.mark.parametrize(
    ("role", "group", "alone"), [("owner", False, True), ("owner", True, False), ("sender", False, False)]
)
def test_what_an_owner_says_alone(role, group, alone):
    message = replace(undecided_message(says("x", group=group), FACTS), actor=Actor(role))
    assert message.is_owners_alone is alone
