"""The order of the stages and the walk through them."""

from itertools import count

from rejoinder.events import ResetSession
from rejoinder.inbound import BEFORE_SESSION, WITH_SESSION, decide
from rejoinder.inbound.finalise import undecided_message
from rejoinder.inbound.outcome import PASS, Answer, Continue, Drop, run_stages
from tests.inbound.floor import FACTS, NOW, house, says, send, session


def test_the_order_is_the_promised_one() -> None:
    """The two tuples are the order of the spec, word by word."""
    assert [stage.__name__ for stage in BEFORE_SESSION] == [
        "finalise",
        "own_message",
        "bot_rules",
        "access",
        "abort",
    ]
    assert [stage.__name__ for stage in WITH_SESSION] == [
        "activation",
        "freshness_and_reset",
        "inline_directives",
        "skills",
        "inline_commands",
        "commands",
        "send_policy",
    ]


def test_a_turn_has_passed_every_stage() -> None:
    """The trace names each stage once, in order."""
    stages = [step.stage for step in send(says("hello"), house()).trace]
    assert stages == [stage.__name__ for stage in (*BEFORE_SESSION, *WITH_SESSION)]


def test_durations_come_from_the_tick() -> None:
    """Time is a parameter: each stage is as long as the tick says."""
    ticks = count()
    done = decide(says("hello"), FACTS, lambda message: session(), house(), NOW, tick=lambda: float(next(ticks)))
    assert {step.took for step in done.trace} == {1.0}


def test_a_walk_stops_where_a_stage_says_so_and_keeps_what_came_before() -> None:
    """Replies and effects of earlier stages stay; later stages are not asked."""
    effect = ResetSession("key", "asked")
    stages = (
        lambda *_: Continue(replies=("first",), effects=(effect,)),
        lambda *_: PASS,
        lambda *_: Answer(("second",), reason="enough"),
        lambda *_: Drop("never asked"),
    )
    done = run_stages(stages, undecided_message(says("x"), FACTS), session(), house(), NOW, lambda: 0.0)
    assert done.replies == ("first", "second")
    assert done.effects == (effect,)
    assert [step.decision for step in done.trace] == ["continue", "continue", "answer"]


def test_every_ending_has_a_reason() -> None:
    """No answer and no drop without a stated reason."""
    rules = house()
    for text in ("/help", "/think", "/think high", "stop", "/config show", "/skill x", "", "/usage nonsense"):
        for sender in ("1", "2", "3", "4"):
            done = send(says(text, sender), rules)
            if not isinstance(done.outcome, Continue):
                assert done.outcome.reason, text
