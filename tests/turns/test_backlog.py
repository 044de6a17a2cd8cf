"""What waits: lines, sizes, and who pays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.turns.backlog import LINE_LENGTH, Summary, WaitingMessage, admit, estimate_tokens, summary_line
from rejoinder.turns.modes import DropPolicy, Grouping, Mode, QueueSettings
from tests.turns.world import message


@given(st.text())
def test_a_summary_is_one_short_line(text: str) -> None:
    """TU-5: 160 characters, no line break, nothing invented."""
    line = summary_line(text)
    assert len(line) <= LINE_LENGTH
    assert len(line.splitlines()) <= 1
    assert " ".join(text.split()).startswith(line.removesuffix("…").rstrip())


@pytest.mark.parametrize(
    ("texts", "images", "tokens"), [([""], 0, 1), (["a" * 400], 0, 101), (["ä" * 4], 1, 515), ([], 2, 1024)]
)
def test_the_size_of_a_message_is_guessed(texts: list[str], images: int, tokens: int) -> None:
    """TU-6: four bytes to a token, an image is 512."""
    assert estimate_tokens(texts, images) == tokens


def test_a_text_that_is_no_unicode_has_a_size_too() -> None:
    """TU-6: half of a pair, as platforms sometimes send, is no reason to fail."""
    assert estimate_tokens(["\ud83d"]) == 1


@given(
    count=st.integers(0, 12),
    cap=st.integers(1, 6),
    drop=st.sampled_from(DropPolicy),
    mode=st.sampled_from([mode for mode in Mode if mode not in (Mode.QUEUE, Mode.INTERRUPT)]),
)
def test_a_capped_backlog_never_exceeds_its_cap(count: int, cap: int, drop: DropPolicy, mode: Mode) -> None:
    """TU-5: and whoever is not in it was named."""
    settings = QueueSettings(mode=mode, cap=cap, drop=drop)
    line: tuple[WaitingMessage, ...] = ()
    left: list[str] = []
    for number in range(count):
        admitted = admit(line, WaitingMessage(message(number)), settings)
        line = admitted.line
        left += [gone.id for gone in (*admitted.dropped, *admitted.summarised)]
    assert len(line) <= cap
    assert sorted([*left, *(each.message.id for each in line)]) == sorted(f"m{n}" for n in range(count))


def test_each_sender_has_a_cap_of_their_own() -> None:
    """TU-6: somebody who floods the thread costs nobody else a message."""
    settings = QueueSettings(cap=1, drop=DropPolicy.OLD, grouping=Grouping.SENDER)
    line: tuple[WaitingMessage, ...] = (WaitingMessage(message(0, sender="ann")),)
    for number in (1, 2, 3):
        line = admit(line, WaitingMessage(message(number, sender="bob")), settings).line
    assert [each.message.id for each in line] == ["m0", "m3"]


def test_a_summary_grows_without_limit_in_number_only() -> None:
    """TU-5: at most cap lines, the last ones, with the full count."""
    summary = Summary()
    for number in range(5):
        summary = summary.telling([message(number)], at_most=2)
    assert summary == Summary(5, ("text 3", "text 4"))
