"""Status reactions: what is shown of a turn, and that one at most is left over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.turns.status import (
    EMOJI,
    Action,
    Add,
    Ended,
    Event,
    RemoveReaction,
    State,
    StateChanged,
    Status,
    StatusSettings,
    WakeAfter,
    Woke,
    state_of_tool,
    step,
)

ON = StatusSettings(enabled=True)
QUEUED, THINKING, CODING = StateChanged(State.QUEUED), StateChanged(State.THINKING), StateChanged(State.CODING)


def after(status: Status, *events: Event) -> tuple[Status, tuple[Action, ...]]:
    asked: tuple[Action, ...] = ()
    for event in events:
        status, actions = step(status, event)
        asked += actions
    return status, asked


def marks(actions: tuple[Action, ...]) -> list[Action]:
    return [action for action in actions if not isinstance(action, WakeAfter)]


def test_a_turn_from_queued_to_done() -> None:
    """TU-25: queued and done at once, what is between after 700 ms; the new one before the old one goes."""
    status, asked = after(Status(ON), QUEUED, THINKING)
    assert asked == (Add("👀"), WakeAfter(10_000, "stall", 1), WakeAfter(700, "debounce", 2))
    _, asked = after(status, Woke("debounce", 2), Ended(ok=True))
    assert asked == (Add("🤔"), RemoveReaction("👀"), Add("👌"), RemoveReaction("🤔"))


def test_what_passes_within_the_debounce_is_not_shown() -> None:
    """TU-25: the last of a quick sequence is; and nothing where it came back to what is shown."""
    status, _ = after(Status(ON), QUEUED, THINKING, CODING)
    assert step(status, Woke("debounce", 2))[1] == (Add("👨‍💻"), RemoveReaction("👀"))
    shown, _ = after(status, Woke("debounce", 2), THINKING, CODING)
    assert marks(after(shown, *(Woke("debounce", number) for number in range(9)))[1]) == []


def test_a_silent_run_is_marked_twice_and_recovers() -> None:
    """TU-25: stall marks at 10 s and 30 s; the next sign of life removes them."""
    status, _ = after(Status(ON), QUEUED, THINKING, Woke("debounce", 2))
    status, asked = step(status, Woke("stall", 1))
    assert asked == (Add("🥱"), RemoveReaction("🤔"), WakeAfter(20_000, "stall", 3))
    status, asked = step(status, Woke("stall", 3))
    assert asked == (Add("😨"), RemoveReaction("🥱"))
    status, asked = step(status, THINKING)
    assert marks(step(status, Woke("debounce", status.timers["debounce"]))[1]) == [Add("🤔"), RemoveReaction("😨")]


def test_a_sign_of_life_puts_the_stall_off() -> None:
    """TU-25: the timer of before is of no consequence."""
    status, _ = after(Status(ON), THINKING, THINKING)
    assert step(status, Woke("stall", 1)) == (status, ())


def test_all_are_removed_where_so_configured() -> None:
    """TU-25: the last one lingers, so that people see how it ended."""
    status, asked = after(Status(StatusSettings(enabled=True, remove_when_done=True)), QUEUED, Ended(ok=False))
    assert asked[-1] == WakeAfter(1500, "linger", 1)
    assert step(status, Woke("linger", 1))[1] == (RemoveReaction("😱"),)


def test_one_may_choose_ones_own() -> None:
    """TU-25."""
    settings = StatusSettings(enabled=True, emoji={State.QUEUED: "📥"})
    assert step(Status(settings), QUEUED)[1] == (Add("📥"),)


def test_switched_off_nothing_is_shown() -> None:
    """TU-25: optional, also the very first one."""
    assert after(Status(StatusSettings()), QUEUED, THINKING, Ended(ok=True))[1] == ()


@pytest.mark.parametrize(
    ("title", "state"),
    [
        ("Bash: make test", State.CODING),
        ("edit_file", State.CODING),
        ("WebSearch", State.WEB),
        ("browser.open", State.WEB),
        ("weather", State.TOOL),
    ],
)
def test_what_a_tool_is_for(title: str, state: State) -> None:
    """TU-25."""
    assert state_of_tool(title) is state


working = st.sampled_from([StateChanged(s) for s in (State.THINKING, State.TOOL, State.CODING, State.WEB)])
timers = st.builds(Woke, st.sampled_from(["debounce", "stall", "linger"]), st.integers(0, 12))


@given(st.lists(working | timers), st.booleans(), st.booleans(), st.lists(working | timers))
def test_exactly_the_last_mark_is_left(story: list[Event], ok: bool, remove: bool, later: list[Event]) -> None:
    """TU-25: whatever happened before and comes late, only how it ended is shown, or nothing."""
    status = Status(StatusSettings(enabled=True, remove_when_done=remove))
    status, asked = after(status, QUEUED, *story, Ended(ok))
    if remove:
        status, gone = step(status, Woke("linger", status.number))
        asked += gone
    asked += after(status, *later, Ended(not ok))[1]
    shown: list[str] = []
    for action in marks(asked):
        if isinstance(action, Add):
            assert action.emoji not in shown
            shown.append(action.emoji)
        elif isinstance(action, RemoveReaction):
            shown.remove(action.emoji)
    assert shown == ([] if remove else [EMOJI[State.DONE if ok else State.ERROR]])
