"""The life of a run: it only goes forward, its first cause counts, and what has timed out or is over says nothing."""

from itertools import permutations, product

import pytest

from rejoinder.turns.run_state import EndCause, RunStage, RunState, advanced, ended_by, recorded

STATES = [RunState(*each) for each in product(RunStage, (None, *EndCause), (False, True))]


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("stage", [*RunStage])
def test_a_run_never_goes_back(state, stage):
    after = advanced(state, stage)
    assert after.stage == max(state.stage, stage)
    assert (after.cause, after.is_recorded) == (state.cause, state.is_recorded)


@pytest.mark.parametrize(("first", "second"), [*permutations(EndCause)])
def test_the_first_cause_counts(first, second):
    """TU-20: a run that has timed out is not run again because the gateway shuts down just then."""
    state = ended_by(ended_by(RunState(RunStage.WORKING), first), second)
    assert state.cause is first
    assert state.runs_again == (first is EndCause.SHUTDOWN)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_what_is_over_or_timed_out_says_nothing(state):
    """TU-20: recording its end does not silence a run, being over or out of time does."""
    assert state.may_speak == (state.stage is not RunStage.OVER and state.cause is not EndCause.TIMEOUT)
    assert recorded(state).may_speak == state.may_speak
    assert recorded(state).is_recorded
