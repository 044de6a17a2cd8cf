"""The players of the demo, where a person joins in."""

import json

import pytest

from rejoinder.agents.base import TextDelta
from rejoinder.agents.cast import PARTS, CastAgent, CastMember
from rejoinder.events import PromptText, Turn

ADA, BO, CLEO = PARTS


async def no_pause(_: float) -> None: ...


async def answer(part: CastMember, text: str, *, by: str = "", name: str = "Ann") -> str:
    """What it says, directives included, to Ann or to another agent."""
    who = {"sender_id": by, "is_bot": True} if by else {"display_name": name}
    context = json.dumps({"schema": "rejoinder.sender.v1", "handle": "m7", **who})
    turn = Turn("s", (PromptText(f"<sender_context-1>\n{context}\n</sender_context-1>"), PromptText(text)))
    agent = CastAgent(part, tuple(other.name for other in PARTS if other is not part), pause=no_pause)
    return "".join([event.text async for event in agent.run(turn) if isinstance(event, TextDelta)])


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
@pytest.mark.parametrize("text", ["@all what now?", "so @bo and @cleo, lunch?", "mail me@example.org"])
async def test_who_does_not_understand_wakes_nobody(part: CastMember, text: str):
    """IN-21: an @ in its answer would wake the others, and they would answer each other."""
    said = await answer(part, text)
    assert said.startswith("[[reply_to:m7]]")
    assert "there is no model behind me" in said
    assert "@" not in said


TRIED = {
    "hello": "Hello, Ann!",
    "hey there": "Hello, Ann!",
    "help": "review",
    "what can you do?": "review",
    "how are you?": "Friday",
    "what is 12*7?": "84",
    "2 + 2": "4",
    "7 / 0": "more than I can count to",
    "what time is it?": "It is ",
    "write me a haiku": "Three times it has failed",
    "you are wrong": "What would you do instead?",
    "why?": "has to know that it failed",
    "thanks!": '<react emoji="heart"/>',
    "ok": '<react emoji="thumbsup"/>',
    "bye": '<react emoji="wave"/>',
    "please stay silent": "NO_REPLY",
    "react with 🎉": '<react emoji="🎉"',
    "reply to me": "[[reply_to:m7]]",
    "show me streaming": "while it is written",
    "please review my code": "Paste it",
    "```\ntry:\n    go()\nexcept:\n    pass\n```": "swallows bugs",
    "def f(x=[]): return x == None": "2 things I noticed",
    "```\nreturn 1\n```": "what does it do when it **fails**",
}
"""What people certainly try, and a piece of the answer."""


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
@pytest.mark.parametrize("text", TRIED)
async def test_what_people_try_is_answered(part: CastMember, text: str):
    """Whoever is asked answers it, and wakes nobody else."""
    said = await answer(part, text)
    assert TRIED[text] in said
    assert "no model behind me" not in said
    assert "@" not in said


async def test_who_has_no_name():
    """The page calls such a person "You", which would mean somebody else in an agent's mouth."""
    assert "Hello! I can" in await answer(BO, "hello", name="You")
    assert (await answer(ADA, "ask cleo", name="You")).startswith("@cleo, somebody would like")


@pytest.mark.parametrize("text", ["tell us a joke", "who are you?", "what do you think?"])
async def test_each_is_somebody(text: str):
    """The same question has three answers."""
    assert len({await answer(part, text) for part in PARTS}) == 3


@pytest.mark.parametrize(("text", "called"), [("ask cleo, please", "@cleo,"), ("ask the others", "@bo,")])
async def test_one_calls_another(text: str, called: str):
    """The one whose name is said; who is called this way speaks to the person."""
    said = await answer(ADA, text)
    assert said.startswith(called)
    assert "Here I am" in await answer(CLEO, said.removeprefix("@"), by="ada")


async def test_the_play():
    """A review, somebody who disagrees, a hand-off (OD-50), the tests."""
    assert "@bo, do you agree?" in await answer(ADA, "please review this: def retry(call): ...")
    assert "On 3 I disagree" in (said := await answer(BO, "Do you agree?", by="ada"))
    assert '<handoff to="cleo">' in (said := await answer(ADA, said, by="bo"))
    assert "Three tests would do" in await answer(CLEO, "Which tests does this version need?", by="ada")
    assert "The last one" in await answer(CLEO, "Which test would you write first?")


@pytest.mark.parametrize("text", ["the meeting is on 2026-11-17", "see 1.2-3.4"])
async def test_what_is_no_sum(text: str):
    assert "That is " not in await answer(ADA, text)
