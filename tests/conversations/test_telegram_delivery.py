"""What the outbox makes of Telegram's moods: too fast, too long, badly formatted, down, and a text that grows."""

import asyncio
import threading
from functools import lru_cache

from rejoinder.channels.base import Rejected
from rejoinder.channels.telegram import LIMITS
from rejoinder.config.schema import Settings
from rejoinder.outbound import plan
from rejoinder.rendering import messages
from rejoinder.runtime import account_pace
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.platform import oracles
from tests.conversations.restarting import Machine, until
from tests.conversations.test_telegram import telegram


async def test_too_fast_is_waited_for():
    """DE-32: the answer comes when the time is over, once, and nothing was asked for inside of it."""
    async with telegram(ScriptedAgent("Hello.")) as platform:
        platform.fault("429", on="send", seconds=1)
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello.")
        assert not oracles.too_early(platform.truth.calls)
        assert len(platform.truth.messages("ann")) == 1


async def test_formatting_that_is_refused_is_said_plain():
    """DE-13: the same words, once."""
    async with telegram(ScriptedAgent("**Hello**")) as platform:
        platform.fault("400", on="send")
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "**Hello**")
        assert len(platform.truth.messages("ann")) == 1


async def test_words_without_any_format_are_said_again_too():
    """DE-13: whatever the platform found wrong with them; once, under a key of its own."""
    async with telegram(ScriptedAgent("Hello, all.", "Never.")) as platform:
        platform.fault("400", on="send")
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello, all.")
        platform.fault("400", on="send", times=2)
        await platform.says("ann", "ann", "again")
        await platform.truth.until(lambda: [call.status for call in platform.truth.calls].count(400) == 3)
        assert len(platform.truth.messages("ann")) == 1


async def test_markdown_is_telegrams_own():
    """DE-12: marks become entities, a strict platform refuses none of it."""
    source = (
        "# Title\n\nsome **bold** `code` [link](https://example.org) and @bob\n\n```py\nprint('@x')\n```\n\n> quoted"
    )
    async with telegram(ScriptedAgent(source)) as platform:
        await platform.says("ann", "ann", "hello")
        shown = await platform.hears("ann")
        assert "some bold code link and @bob" in shown.text
        assert not oracles.refused(platform.truth.calls)


async def test_what_nobody_sees_is_no_answer():
    """DE-14, OD-44: Telegram would refuse it, and a person would wait; however it is streamed."""
    async with telegram(ScriptedAgent(["\u200b", "\xad\u2800"], "Next.")) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "(no response)")
        await platform.says("ann", "ann", "again")
        await platform.hears("ann", "Next.")
        assert not oracles.refused(platform.truth.calls)


async def test_a_long_answer_is_several_messages():
    """DE-10: each within the limit, in order, none refused."""
    words = " ".join(f"word{number}" for number in range(1500))
    async with telegram(ScriptedAgent(words)) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.truth.until(lambda: "word1499" in "".join(seen.text for seen in platform.truth.messages("ann")))
        said = [seen.text for seen in platform.truth.messages("ann")]
        assert " ".join(said) == words
        assert not oracles.refused(platform.truth.calls)
        assert not oracles.over_length(platform.truth.frames, LIMITS)


async def test_a_long_answer_holds_nobody_up(monkeypatch):
    """OD-5: however it is made, a long text is cut beside the loop, its drafts as well as its end."""
    cut_by: list[tuple[int, threading.Thread]] = []

    def cut(text, *how):
        cut_by.append((len(text), threading.current_thread()))
        return messages(text, *how)

    monkeypatch.setattr(plan, "_cut_long", lru_cache(plan.LONG_REMEMBERED)(cut))
    seen = asyncio.Event()
    agent = ScriptedAgent(["![a" * 3000, seen.wait, "![b" * 3000])
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.truth.until(lambda: any("![a" in seen.text for seen in platform.truth.messages("ann")))
        seen.set()
        await platform.truth.until(lambda: platform.truth.messages("ann")[-1].text.endswith("![b"))
    by = {thread for size, thread in cut_by if size > plan.LONG}
    assert by
    assert threading.main_thread() not in by


async def test_a_growing_text_is_one_message():
    """DE-20: what is shown while the agent writes is edited into what it said; no late edit overwrites it."""
    go = asyncio.Event()
    agent = ScriptedAgent(["Once upon a time ", go.wait, "there was a bot."])
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: bool(platform.truth.messages("ann")))
        go.set()
        whole = "Once upon a time there was a bot."
        await platform.truth.until(lambda: [seen.text for seen in platform.truth.messages("ann")] == [whole])


async def test_a_platform_that_was_down_gets_everything_in_order():
    """DE-32: what surely did not arrive is sent when it can be."""
    async with telegram(ScriptedAgent("One.", "Two.")) as platform:
        platform.fault("5xx", on="send", times=2)
        await platform.says("ann", "ann", "first")
        await platform.hears("ann", "One.")
        await platform.says("ann", "ann", "second")
        await platform.hears("ann", "Two.")


async def test_a_send_nobody_can_tell_about_is_not_repeated():
    """DU-3: accepted, and the answer lost: `hold` never says it twice."""
    async with telegram(ScriptedAgent("Once.", "Next.")) as platform:
        platform.fault("accept-drop", on="send")
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Once.")
        calls = [call for call in platform.truth.calls if call.verb == "send"]
        assert len(calls) == 1


# --- an account that is refused -----------------------------------------------------------------


async def test_a_token_that_is_refused_for_a_while(monkeypatch):
    """DE-32: 401: the account pauses, rows stay; when it is over all of it is said, once and in order."""
    monkeypatch.setattr(account_pace, "FIRST_REFUSAL", 0.2)
    long = " ".join(f"word{number}" for number in range(1500))
    people = ("ann", "bob", "cyd", "dan")
    async with telegram(ScriptedAgent(*[long] * 4), 'dm = "open"\nstreaming = "off"') as platform:
        platform.fault("401", on="send", times=6)
        for person in people:
            await platform.says(person, person, "tell me")
        await platform.truth.until(lambda: sum("word1499" in seen.text for seen in platform.truth.messages()) == 4)
        for person in people:
            assert " ".join(seen.text for seen in platform.truth.messages(person)) == long
        assert sum(call.verb == "send" and call.status == 401 for call in platform.truth.calls) == 6


async def test_a_token_that_is_refused_while_it_reads():
    """DE-32: what people wrote meanwhile is read and answered when the token is taken again; nothing has ended."""
    async with telegram(ScriptedAgent("Hello.", "Again.", "Yes.")) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello.")
        for kind in ("401", "404"):
            platform.fault(kind, on="poll", times=1)
        await platform.says("ann", "ann", "are you")  # the question that is under way brings it, then come the refusals
        await platform.hears("ann", "Again.")
        await platform.says("ann", "ann", "there?")
        await platform.hears("ann", "Yes.")
        assert {401, 404} <= {call.status for call in platform.truth.calls if call.verb == "poll"}


async def test_after_a_restart_a_refused_account_is_tried_at_once(tmp_path, monkeypatch):
    """DE-32: the operator has set another token: what was kept does not wait for the pause of the old one."""
    monkeypatch.setattr(account_pace, "FIRST_REFUSAL", 1000.0)
    machine = Machine(tmp_path, Settings())
    async with machine.running(ScriptedAgent("Kept."), killed=True) as gateway:
        machine.channel.fails(Rejected("Unauthorized", "account"))
        await machine.chat.says("hello")
        await until(gateway, lambda census: census.parts.get("retry") == 1)
        assert gateway.engine.outbox.trouble("fake") == "Unauthorized"
    async with machine.running(ScriptedAgent()):
        await machine.chat.hears("Kept.")


async def test_an_emoji_that_an_agent_cut_in_two_arrives_whole():
    """DE-1: agents that count in UTF-16 cut between its halves; a half without the other stops no answer."""
    async with telegram(ScriptedAgent(["Well \ud83d", "\ude00 done", " \ud83d!"], "next")) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Well 😀 done \ufffd!")
        await platform.says("ann", "ann", "more")
        await platform.hears("ann", "next")
