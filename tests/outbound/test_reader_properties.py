"""Properties of any reading (Hypothesis)."""

from hypothesis import given
from hypothesis import strategies as st

from rejoinder import Reading, ReplyReader, Text, read_reply
from rejoinder.events import ReplyEvent
from tests.outbound import invariants
from tests.outbound.every_way import joined

MARKS = r"""
<actions> </actions> <react <react> emoji="x"/> emoji="a > /> </react> <no-reply/> <voice> </voice> <foo> </foo>
<send-message chat="C"> [[reply_to:1]] [[zz:1]] [[silent]] [[Note]] [[reply-to:1 ]] NO_REPLY HEARTBEAT_OK NO_ N
` `` ``` ~~~ > - 1. . ! Hi \ \< \[[ " ' ** “ ” 。 = < </ <re _ * :
"""
WHITE = ["\n", "\n\n", " ", "  ", "    ", "\t", "\r\n", "\xa0", "\x1c", "\u2028", "\ud800"]
UNSEEN = ["\ufeff", "\u200b", "\u200d", "\u2060", "\u200f", "\u202e", "\u2066", "\xad", "\u0301", "\ufe0f"]
FRAGMENTS = st.sampled_from(MARKS.split() + WHITE + UNSEEN + ['<react emoji="x"/>', '<send-message chat="C">'])
ANYTHING = st.lists(FRAGMENTS | st.text(max_size=3), max_size=14).map("".join)
EDGES = [
    "NO_REPLY",
    "HEARTBEAT_OK",
    "<react/>",
    "<actions>",
    "</actions>",
    "[[zz:1]]",
    "<no-reply/>",
    "N",
    "x.",
    "! ",
    ">",
]
AT_EDGES = st.lists(st.sampled_from(EDGES + WHITE + UNSEEN), max_size=7).map("".join)
REPLIES = ANYTHING | AT_EDGES


@given(st.data(), st.lists(REPLIES, min_size=1, max_size=3))
def test_any_chunking_gives_equal_events(data: st.DataObject, segments: list[str]) -> None:
    """OD-2, OD-4, OD-7, and what else tests/outbound/invariants.py promises."""
    plan: list[list[str]] = []
    for segment in segments:
        places = data.draw(st.lists(st.integers(0, len(segment)), max_size=6).map(sorted))
        ends = [*places, len(segment)]
        plan.append([segment[begin:end] for begin, end in zip([0, *places], ends, strict=True)])
    invariants.check(plan)


@given(REPLIES, st.sampled_from(["edges", "alone"]), st.booleans(), st.booleans())
def test_every_option_is_read_in_any_pieces(text: str, silence: str, heartbeat: bool, trigger: bool) -> None:
    """OD-2 holds under every option."""

    def read(pieces: list[str]) -> list[ReplyEvent]:
        reader = ReplyReader(silence=silence, heartbeat=heartbeat, has_trigger=trigger, ack_max_chars=5)  # type: ignore[arg-type]
        return joined([event for piece in pieces for event in reader.feed(piece)] + reader.finish())

    assert read(list(text)) == read([text])


@given(REPLIES)
def test_frames_only_grow_towards_the_text(text: str) -> None:
    """OD-3: what was shown stays as it was shown."""
    reader = ReplyReader()
    events: list[ReplyEvent] = []
    frames = []
    for character in text:
        events += reader.feed(character)
        frames.append("".join(event.text for event in events if isinstance(event, Text)))
    events += reader.finish()
    whole = "".join(event.text for event in events if isinstance(event, Text))
    assert all(whole.startswith(frame) for frame in frames)
    assert Reading.of(events) == read_reply(text)


@given(st.text(st.characters(exclude_characters="[<\\NH"), max_size=200))
def test_plain_text_comes_out_equal(text: str) -> None:
    """OD-4: byte for byte."""
    assert read_reply(text).text == text


@given(st.text(st.characters(exclude_characters="\n`~\\ \t>"), min_size=1, max_size=30))
def test_code_comes_out_equal(text: str) -> None:
    """OD-36, OD-4: whatever stands in code is shown as it stands."""
    for code in (f"```\n{text}\n```", f"x `{text}`.", f"    {text}", f"> {text}"):
        assert read_reply(code).text == code
        assert read_reply(code).directives == ()
