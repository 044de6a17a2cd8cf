"""The guide: the same answer to the same words, and everything it offers it can do."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder import read_reply
from rejoinder.agents.base import Done, TextDelta
from rejoinder.agents.tour.guide import STREAMED, TRICKS, TourAgent, answer, read_turn
from rejoinder.events import PromptText, Turn
from rejoinder.inbound.freshness import GREETING


def said(text: str, handle: str = "m7", **context: object) -> Turn:
    block = json.dumps({"schema": "rejoinder.sender.v1", "handle": handle, **context})
    return Turn("tour:test", (PromptText(block), PromptText(text)))


def reading(text: str, **context: object):
    return read_reply(answer(read_turn(said(text, **context))))


def directives(text: str):
    return [(d.name, d.args) for d in reading(text).directives]


@pytest.mark.parametrize("text", ["hello", "Hi!", "What can you do?", "who are you", "help", "…", "?"])
def test_the_menu_names_every_trick(text):
    menu = reading(text)
    assert not menu.directives
    for trick in TRICKS:
        assert f"**{trick.invite}**" in menu.text


def test_a_new_session_is_greeted_with_the_menu():
    """After `/new` the gateway asks for a greeting; people never read that request."""
    assert reading(GREETING).text == reading("hello").text


@pytest.mark.parametrize("text", ["how do I connect Telegram?", "Can I use my own OpenAI model?", "discord"])
def test_who_wants_more_than_the_guide_learns_how(text):
    assert "`rejoinder init`" in reading(text).text


@pytest.mark.parametrize("text", ["thanks!", "thank you"])
def test_thanks_are_answered_like_thanks(text):
    assert "welcome" in reading(text).text


@pytest.mark.parametrize(
    ("text", "is_command"), [("/statsu", True), ("/Foo bar", True), ("/tmp/x", False), ("a /statsu", False)]
)
def test_a_command_that_nobody_knows(text, is_command):
    """IN-60: it goes to the agent; the guide says so, and where the commands are listed."""
    assert ("**/commands**" in reading(text).text) is is_command


def test_a_message_that_was_edited_into_a_command():
    """CH-8: the command may well exist, but an edit runs none."""
    edited = reading("/status", edit_of={"handle": "m7", "text": "hello"})
    sentence = "An edited message runs no commands, so `/status` came to me, the agent. Send it as a new message."
    assert edited.text == sentence


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.invite)
def test_what_the_menu_offers_is_done(trick):
    """Only what works is advertised: each invitation, typed as it stands, does something."""
    offered = reading(trick.invite)
    assert offered.directives or offered.silent or offered.text == STREAMED or "/think high" in offered.text
    assert not offered.problems


@pytest.mark.parametrize(
    ("text", "target"),
    [("reply to me", "m7"), ("please answer this", "m7"), ("Reply to m3", "m3"), ("reply to m12!", "m12")],
)
def test_asked_to_reply(text, target):
    assert directives(text) == [("reply_to", {"id": target})]
    assert "native reply" in reading(text).text


@pytest.mark.parametrize(
    ("text", "reactions"),
    [
        ("react", [{"emoji": "eyes"}]),
        ("react with 🎉", [{"emoji": "🎉"}]),
        ("react with 👍🏽 and ❤️", [{"emoji": "👍🏽"}, {"emoji": "❤️"}]),
        ("react with tada", [{"emoji": "tada"}]),
        ("give me a :heart: reaction", [{"emoji": "heart"}]),
        ("react to m2 with thumbs_up", [{"emoji": "thumbs_up", "message": "m2"}]),
        ("react with +1", [{"emoji": "+1"}]),
        ("react with something odd to it", [{"emoji": "eyes"}]),
    ],
)
def test_asked_to_react(text, reactions):
    assert directives(text) == [("react", args) for args in reactions]


def test_asked_for_silence():
    assert reading("stay silent please").silent
    assert reading("shh").text == ""


def test_asked_for_two_things_at_once():
    both = reading("reply to me and react with 🔥")
    assert [d.name for d in both.directives] == ["reply_to", "react"]
    assert "native reply" in both.text
    assert "reaction" in both.text
    quiet = reading("react with 🔥 and stay silent")
    assert quiet.silent
    assert [d.args for d in quiet.directives] == [{"emoji": "🔥"}]


def test_directives_in_its_code_are_shown_not_obeyed():
    """OD-36: in a fence the syntax is text."""
    shown = reading("show me streaming")
    assert not shown.directives
    assert "[[reply_to:m1]]\n<actions><react" in shown.text
    assert shown.text == STREAMED


@pytest.mark.parametrize("text", ["fly me to the moon", "what is the weather?"])
def test_what_it_did_not_understand_it_quotes(text):
    """A question about something else is no reason to say the whole menu again."""
    lost = reading(text)
    assert f"`{text}`" in lost.text
    assert lost.text.count("**") >= 4
    assert "in reply to m2" in reading("nice", reply_to={"handle": "m2", "text": "x"}).text


@given(st.lists(st.sampled_from([*"`<>[]/ x_\n\\:", "<no-reply/>", "NO_REPLY", "[[title:x]]", "<actions>"])))
def test_what_somebody_says_is_quoted_not_obeyed(pieces):
    """OD-53: no directive comes of somebody's words, and they cannot silence the guide."""
    heard = reading("".join(pieces))
    assert not heard.directives
    assert not heard.silent
    assert heard.text


@pytest.mark.parametrize("parts", [(), (PromptText("reply"),), (PromptText('{"schema" broken'), PromptText("reply"))])
def test_without_a_sender_it_answers_the_current_message(parts):
    assert read_turn(Turn("s", parts))[0].handle == "current"


async def test_it_speaks_word_by_word_at_its_pace():
    pauses = []

    async def pause(seconds):
        pauses.append(seconds)

    events = [event async for event in TourAgent(pace=0.5, pause=pause).run(said("show streaming"))]
    assert events[-1] == Done()
    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    assert "".join(pieces) == STREAMED
    assert len(pieces) > 50
    assert set(pauses) == {0.5}


def test_it_knows_how_hard_it_was_told_to_think():
    """IN-59: a level that is stored does something."""
    asked = read_turn(Turn("s", (PromptText("how hard do you think?"),), think="high"))
    assert "**high**" in answer(asked)


def test_every_message_of_a_turn_is_answered():
    """What was said while it spoke comes as one turn (`collect`), and each message gets what it asks for."""

    def block(handle: str) -> PromptText:
        context = json.dumps({"schema": "rejoinder.sender.v1", "handle": handle})
        return PromptText(f"<sender_context-1>\n{context}\n</sender_context-1>")

    texts = ("react with rocket", "reply to me", "stay silent", "react with tada")
    parts = [part for number, text in enumerate(texts, 3) for part in (block(f"m{number}"), PromptText(text))]
    read = read_reply(answer(read_turn(Turn("s", tuple(parts)))))
    assert [(each.name, each.args) for each in read.directives] == [
        ("reply_to", {"id": "m4"}),
        ("react", {"emoji": "rocket", "message": "m3"}),
        ("react", {"emoji": "tada"}),
    ]
    assert "native reply" in read.text
    assert read.text.count("Look at your message") == 1
    assert not read.silent
