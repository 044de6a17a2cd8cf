"""What has to be read from Slack's history: every order in which gaps open and close, others come and go, and history
is read."""

from itertools import product

import pytest

from rejoinder.channels.slack.unread_history import HistoryPass, UnreadHistory

STEPS = ("open", "close", "others", "alone", "look", "read")
"""`look`: a reading begins, if there is something to read; `read`: the one under way ends."""
LONGEST = 6


class Watched:
    """The state, and an account of what happened to it that knows nothing of its counters."""

    def __init__(self, *, is_first: bool) -> None:
        self.state = UnreadHistory(is_first=is_first)
        self.is_first = is_first
        self.reading: HistoryPass | None = None
        self.is_shared = False
        self.was_shared = False
        """When the reading under way began."""
        self.is_due = False
        self.opened_since = False
        """A gap has opened since the reading under way began."""
        self.is_complete = False

    def step(self, step: str) -> None:
        match step:
            case "open":
                self.state.open()
                self.is_complete, self.opened_since = False, True
            case "close":
                self.state.close()
                self.is_due = True
            case "others":
                self.state.share(2)
                self.is_shared = True
            case "alone":
                self.state.share(0)
                self.is_due, self.is_shared = self.is_due or self.is_shared, False
            case "look" if self.reading is None:
                self.look()
            case "read" if self.reading is not None:
                self.read(self.reading)
        assert self.state.is_complete is self.is_complete
        assert self.state.is_due is self.is_due

    def look(self) -> None:
        self.reading = self.state.next(has_missed=False)
        assert (self.reading is not None) is (self.is_due or self.is_shared)
        if self.reading is not None:
            assert (self.reading.gaps is not None) is self.is_due
            assert self.reading.includes_new is (not self.is_first if self.is_due else True)
        self.is_due, self.opened_since, self.was_shared = False, False, self.is_shared

    def read(self, reading: HistoryPass) -> None:
        self.state.done(reading)
        self.reading = None
        if reading.gaps is not None:
            self.is_first = False
            self.is_complete = self.is_complete or not self.opened_since
            assert self.state.is_shared(reading) is (self.was_shared or self.is_shared)


@pytest.mark.parametrize("is_first", [True, False])
def test_every_order(is_first: bool) -> None:
    """CH-30: complete is what was read after its last gap had opened and some gap had closed; what is due stays due
    until it is read; while others take a share, every look reads."""
    for steps in product(STEPS, repeat=LONGEST):
        watched = Watched(is_first=is_first)
        for step in steps:
            watched.step(step)


def test_nothing_is_complete_at_the_start() -> None:
    """CH-30: what came while no gateway ran is read first."""
    state = UnreadHistory(is_first=False)
    assert (state.is_complete, state.is_due, state.next(has_missed=False)) == (False, False, None)


def test_what_could_not_be_stored_is_read_and_fills_no_gap() -> None:
    """CH-30: it is asked for again at every look, and nobody waits for it."""
    state = UnreadHistory(is_first=False)
    reading = state.next(has_missed=True)
    assert reading == HistoryPass(includes_new=False)
    state.done(reading)
    assert not state.is_complete


def test_new_chats_that_slack_did_not_list_are_read_with_the_next_reading() -> None:
    """CH-30: until Slack has told which there are."""
    state = UnreadHistory(is_first=False)
    state.listed_new(is_known=False)
    assert state.next(has_missed=False) == HistoryPass(includes_new=True)
    state.listed_new(is_known=True)
    assert state.next(has_missed=False) is None
