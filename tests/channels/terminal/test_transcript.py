"""What is live and what has left: in order, complete, however the text was cut."""

from hypothesis import example, given
from hypothesis import strategies as st

from rejoinder.channels.terminal.transcript import LONGEST_LINE, ScreenBlock, Scrollback

TEXT = st.text(st.sampled_from(list("ab  \n\n`*日\t\r")), max_size=80)
HEAD = [("", "m1 bot")]


def lines(rows):
    return ["".join(text for _, text in row).rstrip() for row in rows]


def drawn(transcript, width=20, height=100):
    return lines(transcript.settle(width, height)), lines(transcript.rows(width))


@given(st.lists(TEXT), st.integers(1, 6), st.integers(8, 40))
@example(["\r \n", " "], 1, 8)
def test_any_chunking_and_any_height_give_the_same_rows(pieces, height, width):
    """What leaves early and what leaves last are together what one draws of the whole text."""
    transcript, gone = Scrollback(), []
    block = transcript.add(ScreenBlock(HEAD, complete=False))
    for piece in pieces:
        block.append(piece)
        gone += transcript.settle(width, height)
    block.finish()
    gone += transcript.settle(width, height)
    whole = ScreenBlock(HEAD, "".join(pieces)).rows(width)
    # Blank lines at the end are dropped when a message is whole; some may have left before that.
    assert "\n".join(lines(gone)).rstrip() == "\n".join(lines(whole)).rstrip()


def test_blocks_leave_in_the_order_in_which_they_began():
    transcript = Scrollback()
    first = transcript.add(ScreenBlock([("", "m1 bot")], "one", complete=False))
    transcript.add(ScreenBlock([("", "m2 you")], "two"))
    assert drawn(transcript) == ([], ["m1 bot", "   one", "m2 you", "   two"])
    first.finish()
    assert drawn(transcript) == (["m1 bot", "   one", "m2 you", "   two"], [])


def test_what_fits_can_be_taken_back():
    transcript = Scrollback()
    block = transcript.add(ScreenBlock(HEAD, "one\ntwo", complete=False))
    assert drawn(transcript) == ([], ["m1 bot", "   one", "   two"])
    transcript.remove(block)
    assert drawn(transcript) == ([], [])
    assert not block.left


def test_what_does_not_fit_leaves_from_the_top_and_the_growing_line_stays():
    transcript = Scrollback()
    block = transcript.add(ScreenBlock(HEAD, "one\ntwo\nthr", complete=False))
    assert drawn(transcript, height=2) == (["m1 bot", "   one"], ["   two", "   thr"])
    assert block.left
    block.append("ee")
    assert drawn(transcript, height=2) == ([], ["   two", "   three"])


def test_a_code_fence_stays_open_when_its_first_line_has_left():
    transcript = Scrollback()
    transcript.add(ScreenBlock(HEAD, "```\n**a**\n**b**", complete=False))
    transcript.settle(20, 1)
    assert lines(transcript.rows(20)) == ["   **b**"]


def test_a_change_of_width_redraws_what_is_live():
    transcript = Scrollback()
    transcript.add(ScreenBlock(HEAD, "one two three", complete=False))
    assert lines(transcript.rows(40)) == ["m1 bot", "   one two three"]
    assert lines(transcript.rows(12)) == ["m1 bot", "   one two", "   three"]


def test_a_line_without_end_is_laid_out_in_parts():
    block = ScreenBlock(HEAD, "x" * (LONGEST_LINE * 3), complete=False)
    transcript = Scrollback()
    transcript.add(block)
    gone = transcript.settle(103, 5)
    assert len(gone) == 1 + 2 * LONGEST_LINE // 100
    assert len(transcript.rows(103)) == LONGEST_LINE // 100
