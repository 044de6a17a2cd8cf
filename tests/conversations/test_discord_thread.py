"""Five bots, two of them strangers written with plain discord.py, and three people in one thread."""

import asyncio

import pytest

from rejoinder.testing.discord_thread import FOREIGN, OURS, TEAM, Printer, played
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.platform import oracles

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


async def test_five_bots_and_three_people_in_one_thread(capsys):
    """CH-25, CH-23, CH-24, IN-20 to IN-24: each question is answered once, by the bot that was asked, as a reply to it,
    in the thread that the first mention opened; two bots that answer each other are stopped; nobody is pinged but who
    is answered; and the strangers see every message whole, the first time they see it."""
    async with asyncio.timeout(2 * PATIENCE), played(Printer()) as play:
        truth, saw = play.platform.truth, play.strangers["scribe"].saw
        for text, (question, bot) in play.asked.items():
            (answer,) = play.answers(text)
            # From inside a thread Discord takes no reply to the message it hangs under.
            assert (answer.by, answer.thread) == (bot, play.root)
            assert answer.reply_to == (None if question == play.root else question)
        for name in OURS:
            about = {text for text in play.asked if text.startswith(name)}
            assert about == {text for text, (_, bot) in play.asked.items() if bot == name}
        back_and_forth = [seen for seen in truth.messages(TEAM, by=None) if "Are you sure?" in seen.text]
        assert 2 <= len(back_and_forth) <= 10
        ours = [frame for frame in truth.frames if frame.by in OURS]
        assert {name for frame in ours for name in frame.pinged} <= {"@weather"}
        assert not [frame for frame in ours if frame.kind == "edit" and frame.thread == play.root]
        said = [(frame.by, frame.text) for frame in ours if frame.kind == "message"]
        await until(lambda: len([each for each in saw if each[0] in OURS]) >= len(said), "what discord.py tells")
        assert [each for each in saw if each[0] in OURS] == said
        assert not oracles.leaked(truth.frames)
        assert not oracles.refused(truth.calls)
    assert set(FOREIGN) == set(play.strangers)
    assert "planner: planner on the release: done." in capsys.readouterr().out
