"""Promises that hold for every text and every message."""

import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rejoinder.events import (
    AskPairing,
    Attachment,
    Chat,
    EarlierMessage,
    Forward,
    Inbound,
    Mention,
    Overhear,
    Quote,
    Sender,
)
from rejoinder.inbound import decide
from rejoinder.inbound.directives.removal import BLANKS, remove
from rejoinder.inbound.dry_run import as_document, rehearsal_rules, rehearse
from rejoinder.inbound.facts import Facts, OwnIdentity, RunFacts, ThreadFacts
from rejoinder.inbound.outcome import Answer, Continue, Drop, StageResult
from rejoinder.inbound.rules import AgentProfile, make_rules
from rejoinder.inbound.settings import GroupSettings
from rejoinder.inbound.skills import Skill
from tests.inbound.floor import AGENT, AT_US, NOW, house, says, send, session
from tests.inbound.texts import TEXTS, is_left_of

TOKENS = [
    "/think high",
    "/think:low",
    "/t low",
    "/think extra high",
    "/v full",
    "/reasoning: on",
    "/model gpt-x",
    "/model: opus",
    "/queue steer cap=2",
    "/status",
    "[[/help]]",
]
RULES = rehearsal_rules()
# No slash, bracket, backtick or quote: the text itself asks for nothing and protects nothing.
PLAIN = st.text(st.characters(exclude_characters="/[]`~><!@\r", exclude_categories=["Cs"]), max_size=60)


def document(text: str) -> dict[str, Any]:
    return as_document(rehearse(text, "owner", "direct", RULES, NOW, lambda: 0.0))


@given(
    PLAIN,
    PLAIN,
    st.sampled_from([" ", "\t", "\n", "  ", "\n\n"]),
    st.lists(st.sampled_from(TOKENS), min_size=1, max_size=3),
)
def test_tokens_at_white_space_come_out_again(before: str, after: str, gap: str, tokens: list[str]) -> None:
    """IN-3: what goes in at white space comes out, and gives back the text."""
    text = f"word{before}word{gap}word{after}word"
    at = text.index(gap, len(before) + 4) + len(gap)
    inserted = text[:at] + "".join(f"{token} " for token in tokens) + text[at:]
    assert document(inserted)["agent_text"] == text


@given(PLAIN, st.lists(st.tuples(st.integers(0, 99), st.sampled_from(TOKENS)), min_size=1, max_size=5))
def test_tokens_anywhere_cost_one_blank_each(text: str, places: list[tuple[int, str]]) -> None:
    """IN-3: at any white space, on a line of their own or not: the words and their lines stay."""
    words = f"word {text} word".split(" ")
    inserted = list(words)
    for place, token in places:
        inserted.insert(1 + place % len(inserted), token)
    left = document(" ".join(inserted))["agent_text"]
    assert left.split() == " ".join(words).split()
    assert left.count("\n") == text.count("\n")


@given(st.text(alphabet="ab \t\n/", max_size=40), st.data())
def test_removal_takes_spans_and_one_blank_and_nothing_else(text: str, data: Any) -> None:
    """IN-3: all but the spans is left, save blanks beside them and the newlines of lines they empty."""
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False) if "\n" not in text[a:b]]
    rough, position = "", 0
    for start, end in spans:
        rough += text[position:start]
        position = end
    rough += text[position:]
    left = remove(text, spans)
    gone = len(rough) - len(left)
    white = f"{BLANKS}\n"
    assert left.translate(str.maketrans("", "", white)) == rough.translate(str.maketrans("", "", white))
    touched = {text.count("\n", 0, start) for start, _ in spans}
    lines = rough.split("\n")
    emptied = sum(len(lines[number]) + 1 for number in touched if not lines[number].strip())
    assert 0 <= gone <= len(spans) + emptied


@given(st.text(max_size=80))
def test_a_text_without_tokens_is_never_touched(text: str) -> None:
    """IN-3: byte-exact, carriage returns apart, whoever writes it."""
    walk = rehearse(text, "guest", "direct", RULES, NOW, lambda: 0.0)
    if isinstance(walk.outcome, Continue):
        assert walk.message.agent_text == text.replace("\r\n", "\n").replace("\r", "\n")


# --- no message is too odd ----------------------------------------------------------------------

CALLS = ["/new", "/stop", "stop", "```", "`", "> ", "@ourbot", "@a", "@all", "/config show", "/poem", "\n", "! ls"]
WORDS = st.one_of(st.text(max_size=30), TEXTS, st.lists(st.sampled_from([*TOKENS, *CALLS])).map(" ".join))
MAYBE = st.none() | WORDS
INBOUND = st.builds(
    Inbound,
    channel=st.sampled_from(["telegram", "nowhere", ""]),
    event_id=st.text(max_size=3),
    message_id=st.text(max_size=3),
    chat=st.builds(Chat, st.sampled_from(["-100", "2", ""]), st.sampled_from(["direct", "group", "channel"]), WORDS),
    sender=st.builds(
        Sender,
        st.sampled_from(["1", "2", "3", "4", "999", ""]),
        WORDS,
        WORDS,
        MAYBE,
        MAYBE,
        st.booleans(),
        st.booleans(),
    ),
    text=WORDS,
    thread=MAYBE,
    entry=st.sampled_from(["text", "native", "button", "reaction", "edit", "http", "cron"]),
    raw_text=MAYBE,
    command_text=MAYBE,
    agent_text=MAYBE,
    transcript=MAYBE,
    thread_starter=MAYBE,
    thread_history=st.lists(st.builds(EarlierMessage, WORDS, WORDS, WORDS, WORDS), max_size=2).map(tuple),
    untrusted_context=st.lists(WORDS, max_size=2).map(tuple),
    participants=st.lists(WORDS, max_size=2).map(tuple),
    reply_to=st.none() | st.builds(Quote, WORDS, MAYBE, WORDS, WORDS),
    forwarded=st.none() | st.builds(Forward, WORDS, WORDS),
    mentions=st.lists(
        st.builds(
            Mention,
            st.sampled_from(["999", "8", "helper"]),
            st.sampled_from(["user", "role", "everyone"]),
            WORDS,
        ),
        max_size=3,
    ).map(tuple),
    attachments=st.lists(st.builds(Attachment, WORDS, WORDS, WORDS), max_size=2).map(tuple),
)
FACTS = st.builds(
    Facts,
    me=st.builds(OwnIdentity, st.sampled_from(["999", ""]), st.sampled_from(["ourbot", ""])),
    sent_by_us=st.booleans(),
    replies_to_us=st.booleans(),
    resolves_mentions=st.booleans(),
    thread=st.builds(ThreadFacts, st.booleans(), st.booleans(), st.booleans(), st.integers(0, 20)),
    paired=st.booleans(),
    run_facts=st.builds(RunFacts, st.booleans(), st.integers(0, 3)),
    random=st.binary(max_size=20),
)
HOUSES = [
    house(),
    house(bot_messages="all", require_mention=False, dm="open", groups="open", mention_patterns=("rob.",)),
    house(AgentProfile("a"), AgentProfile("helper"), agents=("a", "helper"), wake="all", groups="open"),
    house(commands={"text": False, "config": True, "debug": True}),
    house(group={"*": GroupSettings(mode="listen")}, groups="open", dm="open"),
    make_rules(house().settings, (AGENT,), skills=(Skill("poem", "Writes.", "Rhyme."), Skill("clock", tool="time"))),
]


@settings(max_examples=150, deadline=None)
@given(INBOUND, FACTS, st.sampled_from(HOUSES))
def test_no_message_raises(inbound: Inbound, facts: Facts, rules: Any) -> None:
    """For every message there is an outcome with a reason, the same each time, and nobody gets more than is theirs."""

    def decided() -> StageResult:
        return decide(inbound, facts, lambda message: session(agent=message.agents[0]), rules, NOW, lambda: 0.0)

    walk = decided()
    assert walk == decided()
    assert isinstance(walk.outcome, Continue | Answer | Drop)
    assert isinstance(walk.outcome, Continue) or walk.outcome.reason
    message, role = walk.message, walk.message.actor.role
    if message.prompt is None and message.framed_text is None:
        assert is_left_of(message.agent_text, message.text)
    if isinstance(walk.outcome, Continue):
        assert role != "stranger"
        assert not (message.listening and message.choices)
        assert role in ("owner", "sender") or not (message.choices or walk.effects)
    if role != "owner" and walk.session is not None:
        assert (walk.session.exec, walk.session.elevated, walk.session.send_policy) == (None, None, None)
    if inbound.entry == "edit":
        assert {type(effect) for effect in walk.effects} <= {Overhear, AskPairing}


# --- long messages ------------------------------------------------------------------------------

SHAPES = {
    "words": "word ",
    "a token in each line": "do /think high it\n",
    "letters that are no tokens": "look at /t and /v\n",
    "directives alone": "/think high ",
    "one exec": "host=node ",
    "backticks": "`",
    "open code": "``` ` `` ",
    "fences": "```\n/think high\n```\n",
    "open links": "[[/status]] [a](",
    "quotes": "> /think high\n",
    "blanks": " \t",
    "mentions": "@ourbot ",
    "slashes": "/",
    "tags": "<a:",
    "tildes": "~",
    "commands in brackets": "[[/status]]",
    "one command and our name": "@ourbot\n",
}


BEFORE = {"one exec": "/exec ", "one command and our name": "/compact "}


def calls_for(text: str) -> int:
    """How many calls a decision makes, C functions included: a measure of work that no machine changes."""
    made = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    inbound = says(text, group=True, mentions=AT_US)
    sys.setprofile(count)
    try:
        walk = send(inbound, HOUSES[0])
        walk.message.agent_text  # noqa: B018 - it is made when it is looked at
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_no_faster_than_the_text(shape: str) -> None:
    """Twice the text, at most twice the work."""
    piece = SHAPES[shape]
    before = BEFORE.get(shape, "")
    once, twice = (calls_for(before + piece * (size // len(piece))) for size in (8000, 16000))
    assert twice <= 2 * once + 500


@pytest.mark.parametrize("shape", SHAPES)
def test_a_million_characters_are_decided(shape: str) -> None:
    """Linear where calls do not show it: in the patterns."""
    piece = SHAPES[shape]
    size = 1_000_000 if len(piece) < 6 else 200_000
    for after in ("", "`\n/think high"):
        walk = send(says(BEFORE.get(shape, "") + piece * (size // len(piece)) + after, mentions=AT_US), HOUSES[0])
        assert walk.trace
        assert sum(map(len, walk.replies)) < 10_000


def test_time_is_a_parameter() -> None:
    """The same message decides the same at the same instant, whenever that is."""
    inbound = replace(says("/status and /think high go"), sent_at=datetime(1999, 1, 1, tzinfo=UTC))
    assert send(inbound, HOUSES[0]) == send(inbound, HOUSES[0])
