"""From a message to its answer through the whole house, with an agent that says what the test wrote."""

import asyncio

import pytest

from rejoinder.agents.base import Done, Failed, SegmentEnded, ToolStarted
from rejoinder.testing import FakeChannel, ScriptedAgent, conversation
from tests.conversations.settings import queueing


async def test_an_answer_comes_back():
    async with conversation(ScriptedAgent("Hello, Ann.")) as chat:
        await chat.says("hello")
        await chat.hears("Hello, Ann.")


async def test_text_is_shown_while_it_is_written():
    more = asyncio.Event()
    async with conversation(ScriptedAgent(["One, ", more.wait, "two."])) as chat:
        await chat.says("count")
        shown = await chat.sees("One,")
        more.set()
        await chat.hears("One, two.")
    assert all("One, two.".startswith(frame) for frame in shown.frames)
    assert len(shown.frames) > 1


@pytest.mark.parametrize("reference", ["m1", "9001", "current"])
async def test_a_reply_by_handle_or_id(reference):
    """OD-22: directives take the handle or the platform id."""
    async with conversation(ScriptedAgent(f"[[reply_to:{reference}]]\nHere.")) as chat:
        asked = await chat.says("where?")
        answer = await chat.hears("Here.")
        assert answer.reply_to == asked


async def test_a_reply_to_an_answer_of_before():
    async with conversation(ScriptedAgent("First.", "[[reply_to:m2]]\nAs I said.")) as chat:
        await chat.says("one")
        first = await chat.hears("First.")
        await chat.says("two")
        assert (await chat.hears("As I said.")).reply_to == first.id


async def test_a_target_of_elsewhere_is_denied_and_the_text_goes_out_once():
    """OD-52, OD-62: only messages of this conversation; otherwise plainly, once, with a note."""
    async with conversation(ScriptedAgent("[[reply_to:m99]]\nHi.")) as chat:
        await chat.says("hello")
        assert (await chat.hears("Hi.")).reply_to is None
        await chat.reads_note("reply_to was denied: there is no message 'm99' in this chat")


async def test_a_reply_asked_for_after_the_text_moves_the_message():
    """OD-61: sent as a reply first, then the plain one goes."""
    more = asyncio.Event()
    script = ScriptedAgent(["Text first.\n", more.wait, '<actions><reply to="m1"/></actions>'])
    async with conversation(script) as chat:
        asked = await chat.says("hello")
        await chat.sees("Text first.")
        more.set()
        assert (await chat.hears("Text first.")).reply_to == asked
    first, second = [m for m in chat.channel.messages.values() if m.author == "bot"]
    assert first.deleted
    assert not second.deleted


async def test_a_reaction_shows_before_the_answer_is_whole():
    """OD-50: it acts when its tag closes."""
    more = asyncio.Event()
    script = ScriptedAgent(['<actions><react emoji="👀"/></actions>\nLooking', more.wait, " done."])
    async with conversation(script) as chat:
        asked = await chat.says("look")
        await chat.sees_reaction("👀", on=asked)
        more.set()
        await chat.hears("Looking done.")


async def test_no_frame_shows_a_byte_of_a_directive():
    """OD-3: not even when every character arrives alone."""
    reply = (
        "[[reply_to:m1]]\n<actions>\n<react emoji='eyes'/>\n</actions>\nNot <b>one</b>, said N.\n<react emoji='+1'/>"
    )
    async with conversation(ScriptedAgent([*reply])) as chat:
        asked = await chat.says("go")
        answer = await chat.hears("Not <b>one</b>, said N.")
        assert answer.reply_to == asked
    assert all("Not <b>one</b>, said N.".startswith(frame.rstrip()) for frame in answer.frames)
    assert chat.channel.messages[asked].reactions == ["👀", "👍"]


async def test_equal_reactions_act_once_and_no_more_than_twenty():
    """OD-50: equal ones of a turn act once; at most 20 act per turn."""
    faces = [chr(0x1F600 + n) for n in range(25)]
    tags = "".join(f'<react emoji="{face}"/>' for face in ["👀", "👀", *faces])
    async with conversation(ScriptedAgent(f"<actions>{tags}</actions>")) as chat:
        asked = await chat.says("go")
        await chat.sees_reaction(faces[18], on=asked)
        await chat.reads_note("react was denied: at most 20 actions per answer")
    assert chat.channel.messages[asked].reactions == ["👀", *faces[:19]]


async def test_a_reaction_alone_sends_no_message():
    """OD-44: a reply of actions only sends no message and no error notice."""
    async with conversation(ScriptedAgent('<actions><react emoji="👍"/></actions>')) as chat:
        asked = await chat.says("ok?")
        await chat.sees_reaction("👍", on=asked)


@pytest.mark.parametrize("nothing", ["", "  \n", "[[reply_to:m1]]\n"])
async def test_an_answer_without_content_says_so(nothing):
    """OD-44: neither text nor action sends `_(no response)_`, as reply to the target if one was given."""
    async with conversation(ScriptedAgent(nothing)) as chat:
        asked = await chat.says("hm")
        answer = await chat.hears("_(no response)_")
        assert answer.reply_to == (asked if "reply_to" in nothing else None)


@pytest.mark.parametrize("silence", ["<no-reply/>", "NO_REPLY"])
async def test_silence_is_silent_and_noted(silence):
    """OD-40, OD-41: nothing is sent; the one who runs it can see that it was meant."""
    async with conversation(ScriptedAgent(silence)) as chat:
        await chat.says("psst")
        await chat.reads_note("scripted chose to stay silent")


async def test_silence_at_the_end_withdraws_what_was_shown():
    """OD-41: the draft is deleted."""
    more = asyncio.Event()
    async with conversation(ScriptedAgent(["Well, I think.", more.wait, "\nNO_REPLY"])) as chat:
        await chat.says("psst")
        shown = await chat.sees("Well, I think.")
        more.set()
        await chat.reads_note("scripted chose to stay silent")
    assert shown.deleted
    assert not any("N" in frame for frame in shown.frames)


async def test_a_header_after_a_tool_call_is_obeyed():
    """OD-6: a header at the start of any segment counts, and the segments do not stick together."""
    script = ScriptedAgent(["Looking.", ToolStarted("1", "search"), "[[reply_to:m1]]\nFound it."])
    async with conversation(script) as chat:
        asked = await chat.says("find it")
        assert (await chat.hears("Looking.\n\nFound it.")).reply_to == asked


async def test_segments_are_paragraphs():
    async with conversation(ScriptedAgent(["One.", SegmentEnded(), "Two."])) as chat:
        await chat.says("go")
        await chat.hears("One.\n\nTwo.")


async def test_messages_are_answered_in_order_one_at_a_time():
    """TU-1: per session first in, first out, at most one active run."""
    go = asyncio.Event()
    agent = ScriptedAgent(["A", go.wait], "B", "C")
    async with conversation(agent, settings=queueing("queue")) as chat:
        for text in ("a", "b", "c"):
            await chat.says(text)
        await chat.sees("A")
        assert len(agent.turns) == 1
        go.set()
        for text in ("A", "B", "C"):
            await chat.hears(text)


async def test_an_arrival_right_after_the_last_answer_starts_at_once():
    """TU-9: between the last dequeue and the release nothing is stranded."""
    async with conversation(ScriptedAgent("A", "B")) as chat:
        await chat.says("a")
        await chat.hears("A")
        await chat.says("b")
        await chat.hears("B")


async def test_an_event_delivered_twice_is_answered_once():
    """DU-1: deduplicated by channel, account and event id."""
    async with conversation(ScriptedAgent("A", "B")) as chat:
        await chat.says("a", event="e1")
        await chat.says("a", event="e1")
        await chat.hears("A")


async def test_stop_ends_the_run_and_forgets_what_waits():
    """IN-70: aborts the run, clears the lane; nothing of it is said later; the next message is answered."""
    never = asyncio.Event()
    agent = ScriptedAgent(["Once upon", never.wait, " a time."], "Here I am.")
    async with conversation(agent) as chat:
        await chat.says("tell")
        await chat.says("and then?")
        await chat.sees("Once upon")
        await chat.says("/stop")
        await chat.hears("Once upon")
        await chat.hears("Agent was aborted.")
        await chat.says("hello")
        await chat.hears("Here I am.")
    assert len(agent.turns) == 2


async def test_stop_with_nothing_to_stop():
    async with conversation(ScriptedAgent()) as chat:
        await chat.says("/stop")
        await chat.hears("Nothing is running.")


async def test_a_failure_is_one_sentence_after_what_was_said():
    script = ScriptedAgent(["Half", Failed("overloaded", "The model is busy; try again in a minute.")], "Fine.")
    async with conversation(script) as chat:
        await chat.says("go")
        await chat.hears("Half")
        await chat.hears("The model is busy; try again in a minute.")
        await chat.says("again")
        await chat.hears("Fine.")


async def test_an_agent_that_raises_costs_one_sentence():
    async def trip():
        raise ZeroDivisionError("by nought")

    async with conversation(ScriptedAgent(["Half", trip], "Fine.")) as chat:
        await chat.says("go")
        await chat.hears("Half")
        await chat.hears("scripted failed and could not answer.")
        await chat.reads_note("ZeroDivisionError: by nought")
        await chat.says("again")
        await chat.hears("Fine.")


async def test_a_message_that_was_refused_does_not_stop_the_next():
    """DE-3: one failed delivery does not stop later ones."""
    channel = FakeChannel()
    channel.refuse = "too long"

    async def takes_again():
        channel.refuse = None

    async with conversation(ScriptedAgent("A", [takes_again, "B"]), channel, queueing("queue")) as chat:
        await chat.says("a")
        await chat.says("b")
        await chat.hears("B")


async def test_a_draft_that_was_refused_goes_out_whole_once():
    """OD-4: what could not be shown while it was written is not lost."""
    channel = FakeChannel()
    channel.refuse = "not now"

    async def takes_again():
        channel.refuse = None

    async with conversation(ScriptedAgent(["One, ", takes_again, "two, ", "three."]), channel) as chat:
        await chat.says("count")
        await chat.hears("One, two, three.")


async def test_what_the_agent_is_told():
    """TU-30: who wrote, under which handle and in answer to what; then the text as it came."""
    agent = ScriptedAgent("Hi.", ["Yes.", Done()])
    async with conversation(agent) as chat:
        await chat.says("hello")
        answer = await chat.hears("Hi.")
        await chat.says("really?\r\n \\n", reply_to=answer)
        await chat.hears("Yes.")
    block, quote, text = (part.text for part in agent.turns[1].parts)
    assert text == "really?\n \\n"
    assert '"handle":"m3"' in block
    assert '"reply_to":{"text":"Hi.","author":"","handle":"m2"' in block
    assert '"sender_id":"ann"' in block
    assert '"text":"Hi."' in quote
