"""The players of the demo, where a person joins in."""

import json

import pytest

from rejoinder.agents.base import TextDelta
from rejoinder.agents.cast import PARTS, CastAgent
from rejoinder.events import PromptText, Turn


async def no_pause(_: float) -> None: ...


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
@pytest.mark.parametrize("text", ["@all what now?", "so @bo and @cleo, lunch?", "mail me@example.org"])
async def test_who_does_not_understand_wakes_nobody(part, text):
    """IN-21: an @ in its answer would wake the others, and they would answer each other."""
    context = json.dumps({"schema": "rejoinder.sender.v1", "handle": "m7", "display_name": "Ann"})
    turn = Turn("s", (PromptText(f"<sender_context-1>\n{context}\n</sender_context-1>"), PromptText(text)))
    agent = CastAgent(part, tuple(other.name for other in PARTS if other is not part), pause=no_pause)
    said = "".join([event.text async for event in agent.run(turn) if isinstance(event, TextDelta)])
    assert said.startswith("[[reply_to:m7]]")
    assert "I only play a part here" in said
    assert "@" not in said
