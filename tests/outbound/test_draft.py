"""A message that is seen while it is written."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rejoinder.channels.telegram import CHANNEL
from rejoinder.events import Route
from rejoinder.outbound import draft as drafts
from rejoinder.outbound.draft import (
    FADES,
    PLACEHOLDER,
    SOON,
    AppendToSlot,
    Draft,
    EditSlot,
    Idle,
    OpenSlot,
    Preview,
    SendBlock,
    Streaming,
    Wait,
    next_step,
)
from rejoinder.outbound.operations import Amend, Remove, Say
from rejoinder.outbound.plan import AnswerWording, cut, settle
from rejoinder.rendering import RenderOptions, chunk

MANNER = RenderOptions(CHANNEL.renderer, 40, "utf16")
EDITS = Streaming("edits", pace=1.0)


def sources(text):
    return [message.source for message in cut(text, MANNER)]


class Screen:
    """Makes every call it is asked for, and keeps what people see."""

    def __init__(self, streaming, options=MANNER):
        self.draft = Draft(streaming)
        self.options = options
        self.now = 0.0
        self.messages: list[str] = []
        self.frames: list[tuple[str, ...]] = []
        self.calls = 0

    def grows(self, piece):
        self.draft = drafts.grow(self.draft, piece, self.now)

    def cut(self, text):
        return [message.source for message in cut(text, self.options)]

    def works(self):
        """All that can be done now; returns what it waits for."""
        while True:
            self.draft, step = next_step(self.draft, self.now, self.cut)
            match step:
                case Idle() | Wait():
                    return step
                case OpenSlot(source=source):
                    assert source == PLACEHOLDER or not self.draft.streaming.placeholder, "words that could stand twice"
                    self.messages.append(source)
                    self.draft = drafts.opened(self.draft, step, str(len(self.messages) - 1), None, self.now)
                case EditSlot(slot=slot, source=source):
                    assert self.messages[slot] != source, "an equal edit"
                    self.messages[slot] = source
                    self.draft = drafts.shown(self.draft, step, self.now)
                case AppendToSlot(text=text):
                    self.messages[-1] += text
                    self.draft = drafts.shown(self.draft, step, self.now)
                case SendBlock(source=source):
                    self.messages.append(source)
                    self.draft = drafts.sent(self.draft, step, self.now + 1)
            self.calls += 1
            self.frames.append(tuple(self.messages))

    def finishes(self):
        final = settle(
            self.draft.text,
            self.draft.slots,
            Route("t", "1"),
            self.options,
            AnswerWording(),
            "t1",
            live=False,
            may_move=True,
        )
        self.draft = drafts.close(self.draft)
        for planned in final:
            match planned.operation:
                case Amend(message=message, part=part):
                    self.messages[int(message)] = part.text
                case Remove():
                    self.messages.pop()
                case Say(part=part):
                    self.messages.append(part.text)


def test_it_opens_with_the_first_words_and_changes_at_its_pace():
    """DE-20: pace per channel, the latest wins; what is complete at once is never edited."""
    screen = Screen(EDITS)
    screen.grows("  \n")
    assert screen.works() == Idle()
    screen.grows("One")
    assert screen.works() == Wait(SOON)
    screen.grows(" two")
    screen.now = SOON
    for piece in (" three", " four"):
        screen.grows(piece)
        screen.works()
    assert screen.messages == ["  \nOne two three"]
    assert screen.works() == Wait(SOON + 1.0)
    screen.now = SOON + 1.0
    assert screen.works() == Idle()
    assert screen.messages == ["  \nOne two three four"]
    assert screen.calls == 2


def test_a_preview_grows_at_its_pace_and_is_no_message():
    """DE-20: the latest wins; the final is planned as if nothing had been shown."""
    draft = drafts.grow(Draft(Streaming("preview", pace=1.0)), "  \n", 0.0)
    assert next_step(draft, 0.0, sources)[1] == Idle()
    draft, step = next_step(drafts.grow(draft, "One", 0.0), 0.0, sources)
    assert step == Preview("  \nOne", 1, 6)
    draft = drafts.grow(drafts.shown(draft, step, 0.0), " two", 0.5)
    assert next_step(draft, 0.5, sources)[1] == Wait(1.0)
    draft, step = next_step(draft, 1.0, sources)
    assert step == Preview("  \nOne two", 2, 10)
    assert drafts.shown(draft, step, 1.0).slots == ()


def test_a_preview_is_shown_again_before_it_fades():
    """An agent that is silent for long has not taken back what it said."""
    draft, step = next_step(drafts.grow(Draft(Streaming("preview", pace=1.0)), "One", 0.0), 0.0, sources)
    assert isinstance(step, Preview)
    draft = drafts.shown(draft, step, 0.0)
    assert next_step(draft, 5.0, sources)[1] == Wait(1.0 + FADES)
    assert next_step(draft, 1.0 + FADES, sources)[1] == Preview("One", 2, 3)
    assert next_step(drafts.close(draft), 1.0 + FADES, sources)[1] == Idle(), "not beside the final"


def test_of_a_long_answer_the_preview_shows_what_grows():
    text = "one two three four five six seven eight nine ten eleven twelve"
    _, step = next_step(drafts.grow(Draft(Streaming("preview")), text, 0.0), 0.0, sources)
    assert isinstance(step, Preview)
    assert step.source == sources(text)[-1] != text


def test_without_previews_it_is_written_by_edits():
    draft, step = next_step(drafts.grow(Draft(Streaming("preview", placeholder=True)), "One", 0.0), SOON, sources)
    assert isinstance(step, Preview)
    assert next_step(drafts.refused(draft, step, 7.0), SOON, sources)[1] == Wait(7.0)
    draft, step = next_step(drafts.refused(draft, step, None), SOON, sources)
    assert isinstance(step, OpenSlot)
    assert step.source == PLACEHOLDER


def test_a_preview_that_is_to_stay_becomes_a_message():
    """TU-34: what was written stands above the question that follows it."""
    draft, step = next_step(drafts.grow(Draft(Streaming("preview", pace=1.0)), "One", 0.0), 0.0, sources)
    assert isinstance(step, Preview)
    kept = drafts.to_keep(drafts.shown(draft, step, 0.0))
    assert next_step(drafts.at_once(kept), 0.0, sources)[1] == OpenSlot("One", 2, 3)
    assert drafts.to_keep(kept) == kept


def test_equal_frames_are_skipped():
    """DE-20: a piece that changes no source makes no call."""
    screen = Screen(EDITS)
    screen.grows("one two three four five six seven eight nine")
    for screen.now in (SOON, 9):
        screen.works()
    calls = screen.calls
    screen.grows("  ")
    screen.now = 19
    assert screen.works() == Idle()
    assert screen.calls == calls


def test_it_rolls_over_into_the_next_message():
    """DE-20: the first one is complete before the second begins."""
    screen = Screen(EDITS)
    screen.grows("one two three four five six seven")
    screen.works()
    screen.now = 1
    screen.grows(" eight nine ten eleven twelve")
    screen.works()
    screen.now = 2
    screen.works()
    assert screen.messages == sources(screen.draft.text)
    assert len(screen.messages) == 2
    assert all(len(frame[0]) <= 40 for frame in screen.frames)


def test_a_sign_opens_where_nobody_can_tell_whether_words_arrived():
    """DU-3: on a blind channel an opening of unknown fate holds no word that could stand twice."""
    screen = Screen(Streaming("edits", placeholder=True))
    screen.grows("Hello")
    assert screen.works() == Wait(SOON)
    screen.now = SOON
    screen.works()
    assert screen.frames == [(PLACEHOLDER,), ("Hello",)]
    screen.grows(", and so on, until it is more than one message may have.")
    screen.now += 1.0
    screen.works()
    screen.now += 1.0
    screen.works()
    assert [frame[1] for frame in screen.frames if len(frame) > 1] == [PLACEHOLDER, screen.cut(screen.draft.text)[1]]


def test_an_answer_that_is_whole_at_once_is_never_a_mere_sign():
    """DE-20: a placeholder only when there is something to show."""
    screen = Screen(Streaming("edits", placeholder=True))
    screen.grows("Hello")
    screen.grows(", all of it.")
    assert screen.works() == Wait(SOON)
    screen.draft = drafts.close(screen.draft)
    screen.now = SOON
    assert screen.works() == Idle()
    assert screen.frames == []


def test_the_answer_to_a_late_call_changes_nothing():
    """DE-20: a sequence number per slot."""
    draft = drafts.grow(Draft(EDITS), "One", 0)
    draft, opening = next_step(draft, SOON, sources)
    draft = drafts.opened(draft, opening, "7", None, 0)
    draft = drafts.grow(draft, " two", 0)
    draft, late = next_step(draft, 1, sources)
    closed = drafts.close(draft)
    assert drafts.shown(closed, late, 2) == closed
    assert next_step(drafts.grow(closed, " three", 2), 9, sources)[1] == Idle()
    assert drafts.opened(drafts.close(Draft(EDITS)), opening, "7", None, 0).slots[0].message == "7"


def test_what_was_refused_is_tried_at_its_time_or_not_before_the_end():
    draft = drafts.grow(Draft(EDITS), "One", 0)
    draft, step = next_step(draft, SOON, sources)
    assert next_step(drafts.refused(draft, step, 5.0), 1, sources)[1] == Wait(5.0)
    assert next_step(drafts.refused(draft, step, None), 9, sources)[1] == Idle()


def test_live_feeds_every_piece():
    """DE-20: web each delta."""
    screen = Screen(Streaming("live"), RenderOptions())
    for piece in ("One", ", ", "two"):
        screen.grows(piece)
        screen.works()
    assert screen.frames == [("One",), ("One, ",), ("One, two",)]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.text("ab \n*`.", max_size=12), st.sampled_from([0.0, 0.4, 1.0])), max_size=25),
    st.booleans(),
)
def test_what_is_seen_is_within_the_limit_and_ends_as_the_answer(growth, placeholder):
    """DE-1, DE-10, DE-20: no frame is too long, and the final leaves what an answer in one piece would have left."""
    screen = Screen(Streaming("edits", placeholder=placeholder))
    for piece, passes in growth:
        screen.grows(piece)
        screen.works()
        screen.now += passes
    screen.finishes()
    assert all(len(message.rendering.text) <= 40 for message in cut(screen.draft.text, MANNER))
    whole = sources(screen.draft.text)
    for said, source in zip(screen.messages, whole, strict=True):
        assert said in (source, cut(source, MANNER)[0].rendering.text)


BLOCKS = Streaming("blocks", least=20, most=40, idle=1.0)


def test_blocks_are_cut_at_paragraphs_and_pause_between():
    """DE-22: between the least and the most, break preference, a delay before the second."""
    screen = Screen(BLOCKS, RenderOptions())
    screen.grows("A first paragraph here.\n\nAnd more of it, that is longer than the most there may be.")
    assert screen.works() == Wait(1.0)
    assert screen.messages == ["A first paragraph here."]
    screen.now = 1.0
    screen.works()
    assert screen.messages[1] == "And more of it, that is longer than the"
    assert screen.draft.rest.strip() == "most there may be."


def test_what_pauses_is_sent_after_a_while():
    """DE-22: coalescing over an idle second."""
    screen = Screen(BLOCKS, RenderOptions())
    screen.grows("Twenty characters and some")
    assert screen.works() == Wait(1.0)
    screen.now = 1.0
    screen.works()
    assert screen.messages == ["Twenty characters and some"]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a", "bb", "cc. ", "d" * 15, "e ", "\n", "\n\n", "\n```\n", "\n|h|\n|-|\n"]), max_size=60)
)
@example(["| h | h |\n|---|---|\n", "[a](xxxxs://e.org/xx)b"])
def test_blocks_and_rest_are_the_source(pieces):
    """DE-2, DE-22: nothing is said twice and nothing is left out; what the cutter adds and white space aside."""
    screen = Screen(BLOCKS, RenderOptions())
    for piece in pieces:
        screen.grows(piece)
        screen.works()
        screen.now += 0.3
    said = [*screen.messages, *drafts.last_blocks(screen.draft)]
    bare = str.maketrans("", "", " \n`|h-")
    assert "".join(said).translate(bare) == "".join(pieces).translate(bare)
    assert all(len(message) <= 40 for message in said)


def test_a_block_is_cut_without_reading_all_that_follows(monkeypatch):
    """OD-5: an answer that was whole at once is not read again for each of its blocks."""
    read: list[int] = []
    cut_pieces = chunk.cut
    monkeypatch.setattr(chunk, "cut", lambda text, most: read.append(len(text)) or cut_pieces(text, most))
    text = " ".join(f"word{number}" for number in range(500))
    blocks = drafts.last_blocks(Draft(BLOCKS, text))
    assert " ".join(blocks) == text
    assert max(read) < len(text) / 5


@pytest.mark.parametrize("fence", ["```py\n" + "x = 1\n" * 20 + "```"])
def test_a_fence_is_closed_and_opened_again_between_blocks(fence):
    """DE-11: in blocks too."""
    screen = Screen(BLOCKS, RenderOptions())
    screen.grows(fence)
    while isinstance(screen.works(), Wait):
        screen.now += 1
    assert all(message.count("```") == 2 for message in screen.messages)
