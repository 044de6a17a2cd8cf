"""What a reply answers, who sees it, and what the agent may change of that (DE-6, OD-54)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rejoinder.events import NewThread, ReplyContext
from rejoinder.outbound.directives.effects import ShapeReply
from rejoinder.outbound.reply_shape import (
    AnsweredMessage,
    ReplyAbilities,
    ReplyShape,
    ReplyTarget,
    aimed,
    initial_shape,
    opened_thread,
    reply_target,
    shaped,
    usable_abilities,
    wording_of,
)

LATER = datetime(2026, 1, 1, tzinfo=UTC)
PRIVATE, PUBLIC = ReplyContext("token", LATER, private=True), ReplyContext("token", LATER)
ANNA = AnsweredMessage("m1", direct=False, person="anna")
OPENS = replace(ANNA, opens=NewThread("t1"))
EPHEMERAL = ReplyAbilities(can=frozenset({"ephemeral"}))
BY_INTERACTION = replace(EPHEMERAL, private_needs_interaction=True)


@pytest.mark.parametrize(
    ("answered", "here", "target", "reply_all"),
    [
        ({}, {}, "m1", False),
        ({}, {"mode": "all"}, "m1", True),
        ({}, {"mode": "off"}, None, False),
        ({}, {"replies_are_threads": True}, "m1", True),
        ({"direct": True}, {}, None, False),
        ({"direct": True}, {"mode": "first"}, "m1", False),
        ({"among_bots": True}, {}, None, False),
        ({"is_message": False}, {}, None, False),
        ({"opens": NewThread("t1")}, {"mode": "all"}, None, True),
        ({"id": ""}, {}, None, False),
    ],
)
def test_before_the_agent_says_anything_the_mode_holds(answered, here, target, reply_all):
    """DE-6: nothing is replied to where the mode is off, the answer opens a thread, or no message stands there."""
    shape = initial_shape(replace(ANNA, **answered), ReplyAbilities(**here))
    assert (shape.target, shape.reply_all) == (target, reply_all)


@pytest.mark.parametrize(
    ("reference", "found", "out_of_thread", "target", "result"),
    [
        ("none", None, False, None, None),
        ("m2", "m2", False, "m2", "done"),
        ("m2", "m2", True, None, "unsupported"),
        ("m9", None, False, None, "denied"),
    ],
)
def test_what_the_agent_names_is_replied_to_or_nothing_is(reference, found, out_of_thread, target, result):
    """OD-60: the agent's choice overrides the mode, even if it names an unknown message."""
    aim = reply_target(reference, found, out_of_thread=out_of_thread)
    shape = aimed(ReplyShape("m1", reply_all=True, silent=True), aim, ReplyAbilities())
    assert (aim.result, shape) == (result, ReplyShape(target, silent=True))
    assert bool(aim.why) == (result in ("unsupported", "denied"))


ASKER, TITLE, VOICE = ShapeReply(only_for_asker=True), ShapeReply(title=" Two\n words "), ShapeReply(as_voice=True)
BUTTONS = "it works only on answers to the platform's commands and buttons"


@pytest.mark.parametrize(
    ("effect", "ability", "answered", "here", "changed", "outcome"),
    [
        (ShapeReply(silent=True), "silent", ANNA, ReplyAbilities(frozenset({"silent"})), {"silent": True}, (True, "")),
        (ShapeReply(silent=True), "silent", ANNA, ReplyAbilities(), {"silent": True}, (False, "")),
        (ShapeReply(previews=True), None, ANNA, ReplyAbilities(), {"previews": True}, (False, "")),
        (VOICE, "voice", ANNA, ReplyAbilities(frozenset({"voice"})), {}, (False, "spoken answers are off here")),
        (VOICE, "voice", ANNA, ReplyAbilities(frozenset({"voice"}), speaks=True), {"as_voice": True}, (True, "")),
        (TITLE, "threads", ANNA, ReplyAbilities(), {}, (False, "this answer opens no thread")),
        (TITLE, "threads", ANNA, ReplyAbilities(retitles_threads=True), {"title": "Two words"}, (True, "")),
        (TITLE, "threads", OPENS, ReplyAbilities(title_length=5), {"title": "Two w"}, (True, "")),
        (ASKER, "ephemeral", ANNA, ReplyAbilities(), {}, (False, "")),
        (ASKER, "ephemeral", ANNA, EPHEMERAL, {"only_for": "anna"}, (True, "")),
        (ASKER, "ephemeral", replace(ANNA, person=""), EPHEMERAL, {}, (True, "")),
        (ASKER, "ephemeral", ANNA, BY_INTERACTION, {}, (False, BUTTONS)),
        (ASKER, "ephemeral", replace(ANNA, reply_context=PUBLIC), BY_INTERACTION, {}, (False, BUTTONS)),
        (ASKER, "ephemeral", replace(ANNA, reply_context=PRIVATE), BY_INTERACTION, {"only_for": "anna"}, (True, "")),
    ],
)
def test_what_the_agent_changes(effect, ability, answered, here, changed, outcome):
    """OD-54: what the platform cannot do has no effect, and the agent is told why."""
    result = shaped(ReplyShape("m1"), effect, ability, answered, here)
    assert result.shape == replace(ReplyShape("m1"), **changed)
    assert (result.has_effect, result.why) == outcome


@pytest.mark.parametrize(
    ("context", "needs_interaction", "works"),
    [(None, False, True), (None, True, False), (PUBLIC, True, False), (PRIVATE, True, True), (PUBLIC, False, True)],
)
def test_an_answer_for_one_person_may_need_an_interaction(context, needs_interaction, works):
    """CH-29: and the rest of what the platform can do is left as it is."""
    can = frozenset({"ephemeral", "silent"})
    usable = usable_abilities(can, context, private_needs_interaction=needs_interaction)
    assert usable == (can if works else can - {"ephemeral"})


CHOICE = st.none() | st.booleans()
EFFECTS = st.builds(
    ShapeReply, silent=CHOICE, previews=CHOICE, only_for_asker=CHOICE, title=st.none() | st.text(), as_voice=CHOICE
)
HERE = st.builds(
    ReplyAbilities,
    can=st.frozensets(st.sampled_from(("ephemeral", "silent", "voice"))),
    private_needs_interaction=st.booleans(),
    retitles_threads=st.booleans(),
    title_length=st.integers(1, 20),
    speaks=st.booleans(),
)


@given(st.lists(EFFECTS, max_size=4), HERE, st.sampled_from((ANNA, OPENS, replace(ANNA, reply_context=PRIVATE))))
def test_no_directive_reaches_past_what_the_platform_can_do(effects, here, answered):
    """OD-54: whatever an agent asks for, and however often."""
    shape = initial_shape(answered, here)
    for effect in effects:
        shape = shaped(shape, effect, None, answered, here).shape
    assert shape.only_for is None or "ephemeral" in here.can
    assert here.speaks or not shape.as_voice
    assert len(shape.title) <= here.title_length
    assert shape.target == initial_shape(answered, here).target


def test_the_thread_is_called_what_the_agent_calls_it():
    """CH-2."""
    assert opened_thread(ReplyShape(title="Plans"), OPENS) == NewThread("t1", "Plans")
    assert opened_thread(ReplyShape(), OPENS) == NewThread("t1")
    assert opened_thread(ReplyShape(title="Plans"), ANNA) is None


def test_the_wording_says_all_of_it():
    shape = aimed(ReplyShape(silent=True, only_for="anna"), ReplyTarget("m2", "done"), ReplyAbilities())
    wording = wording_of(shape, ANNA, "helper", ("@anna",))
    assert (wording.reply_to, wording.silent, wording.only_for, wording.answers) == ("m2", True, "anna", "m1")
    assert (wording.author, wording.addressed) == ("helper", ("@anna",))
