"""Promises about every text, by whomever and wherever it is said: made of what has a meaning, glued in any way."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rejoinder.inbound.directives.levels import LEVELS
from rejoinder.inbound.directives.queue import DROPS, MODES
from rejoinder.inbound.dry_run import ACTORS, CHATS, as_document, rehearsal_rules, rehearse
from rejoinder.inbound.freshness import GREETING
from rejoinder.inbound.outcome import Continue
from rejoinder.session import ExecChoice
from tests.inbound.floor import NOW
from tests.inbound.texts import TEXTS, is_left_of

RULES = rehearsal_rules()


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from(ACTORS), st.sampled_from(CHATS), st.booleans())
def test_every_text_is_decided(text: str, actor: Any, chat: Any, mention: bool) -> None:
    """IN-3, IN-54 to IN-56: an outcome with its reason, the same each time; a text only loses what was obeyed."""
    walks = [
        rehearse(text, actor, chat, RULES, NOW, lambda: 0.0, mention=mention, random=bytes(range(16))) for _ in range(2)
    ]
    assert walks[0] == walks[1]
    said, given_text = as_document(walks[0]), text.replace("\r\n", "\n").replace("\r", "\n")
    assert (said["outcome"] == "turn") == (said["agent_text"] is not None) == (said["reason"] is None)
    assert isinstance(walks[0].outcome, Continue) == (said["outcome"] == "turn")
    assert said["outcome"] != "drop" or (said["replies"], said["directives"]) == ([], {})
    assert said["outcome"] != "answer" or said["replies"] or walks[0].effects
    if said["agent_text"] not in (None, GREETING):
        assert is_left_of(said["agent_text"], given_text)
        assert said["agent_text"] == given_text or said["replies"]
    if actor in ("stranger", "bot"):
        assert said["outcome"] != "turn"
    if actor not in ("owner", "sender"):
        assert said["directives"] == {}
    assert_valid(said["directives"], owner=actor == "owner")


def assert_valid(directives: dict[str, Any], *, owner: bool) -> None:
    """Only what the tables know takes effect, and of privilege only what an owner said."""
    for name, value in directives.items():
        if name in LEVELS:
            assert value in LEVELS[name]
    assert owner or not {"exec", "elevated"} & directives.keys()
    queue = directives.get("queue", {})
    assert queue.get("mode", "default") in (*MODES, "default")
    assert queue.get("drop", "old") in DROPS
    assert queue.get("cap", 1) >= 1
    assert {*directives.get("exec", ())} <= {*ExecChoice.__struct_fields__}


@given(TEXTS, st.sampled_from(["`{}`", "```\n{}\n```", "~~~\n{}\n~~~", "[{}](http://a)"]), st.sampled_from(ACTORS[:3]))
def test_nothing_is_read_in_code_or_links(text: str, frame: str, actor: Any) -> None:
    """IN-6, IN-51: whatever it is, the agent gets it as it was written."""
    plain = text.translate(dict.fromkeys(map(ord, "`~[]()\n\r"), "x"))
    framed = frame.format(plain) if "\n" in frame else f"see {frame.format(plain)}"
    said = rehearse(framed, actor, "direct", RULES, NOW, lambda: 0.0)
    assert as_document(said)["agent_text"] == said.message.inbound.text
    assert said.replies == ()


@given(st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from(ACTORS[:3]))
def test_nothing_is_read_in_quoted_lines(lines: list[str], actor: Any) -> None:
    """IN-6: what somebody quotes, somebody else has said."""
    quoted = "\n".join(f"> {line.translate(dict.fromkeys(map(ord, chr(10) + chr(13)), 'x'))}" for line in lines)
    said = rehearse(f"{quoted}\nwhat is that", actor, "direct", RULES, NOW, lambda: 0.0)
    assert (as_document(said)["agent_text"], said.replies) == (said.message.inbound.text, ())


@pytest.mark.parametrize("name", [*LEVELS])
@given(word=TEXTS)
def test_a_level_is_one_of_the_table(name: str, word: str) -> None:
    """IN-52: every other word is answered or text, and changes nothing."""
    said = as_document(rehearse(f"/{name} {word}", "owner", "direct", RULES, NOW, lambda: 0.0))
    assert said["directives"].get(name, "off") in LEVELS[name]
