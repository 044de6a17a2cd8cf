"""How answers behave on Telegram: replies, what does not arrive, blocks, tools, templates."""

import asyncio
import json
from itertools import pairwise

import pytest

from rejoinder.agents.base import ToolEnded, ToolStarted
from rejoinder.runtime.outbox.performing import WITHDRAWN
from rejoinder.runtime.session.unconfirmed_notice import MAY_HAVE_BEEN_LOST
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.platform import oracles
from tests.conversations.test_telegram import telegram

LONG = "\n\n".join(f"{number} " + "word " * 100 for number in range(20))  # three messages of Telegram's length
QUICK = """
[agents.defaults.human_delay]
mode = "custom"
min_ms = 1
max_ms = 2
"""


def texts(platform, chat="ann"):
    return [seen.text for seen in platform.truth.messages(chat)]


# --- replies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "chat", "replies"),
    [
        ("", "ann", [False, False]),
        ("", "#team", [True, False]),
        ('reply_to_mode = "all"', "ann", [True, True]),
        ('reply_to_mode = "off"', "#team", [False, False]),
        ('reply_to_mode = { direct = "first" }', "ann", [True, False]),
        ('reply_to_mode = { direct = "first", group = "all" }', "#team", [True, True]),
    ],
)
async def test_the_reply_mode_by_kind_of_chat(more, chat, replies):
    """DE-6, OD-60: off in direct chats, first in groups, unless it is said otherwise; `first` is the first chunk."""
    async with telegram(ScriptedAgent(LONG), more) as platform:
        question = await platform.says(chat, "ann", "@testbot tell me")
        await platform.truth.until(lambda: "19 word" in "".join(texts(platform, chat)))
        seen = platform.truth.messages(chat)
        assert [each.reply_to == question for each in seen[:2]] == replies
        assert not oracles.refused(platform.truth.calls)


async def test_what_the_agent_says_wins_over_the_mode():
    """DE-6: an explicit directive, `none` among them."""
    async with telegram(ScriptedAgent("[[reply_to:none]]\nPlainly."), 'reply_to_mode = "all"') as platform:
        await platform.says("ann", "ann", "hello")
        assert (await platform.hears("ann", "Plainly.")).reply_to is None


@pytest.mark.parametrize(("reference", "replies"), [("m1", [True, False]), ("m999", [False, False])])
async def test_the_directives_target_is_on_the_first_chunk_or_nowhere(reference, replies):
    """OD-60, OD-52, DE-6: whatever the mode; where the target is denied the text goes out plainly."""
    async with telegram(ScriptedAgent(f"[[reply_to:{reference}]]\n{LONG}"), 'reply_to_mode = "all"') as platform:
        question = await platform.says("#team", "ann", "@testbot tell me")
        await platform.truth.until(lambda: "19 word" in "".join(texts(platform, "#team")))
        seen = platform.truth.messages("#team")
        assert [each.reply_to == question for each in seen[:2]] == replies


async def test_a_quoted_message_nobody_told_us_of_can_be_answered():
    """OD-52: with privacy mode on, the bot sees what was said between people only when somebody quotes it."""
    agent = ScriptedAgent("[[reply_to:m2]]\nHe is right.<actions><react emoji='eyes' message='m2'/></actions>")
    async with telegram(agent, reads_everything=False) as platform:
        remark = await platform.says("#team", "bob", "it is too long")
        await platform.says("#team", "ann", "@testbot is he right?", reply_to=remark)
        assert (await platform.hears("#team", "He is right.")).reply_to == remark
        await platform.truth.until(lambda: platform.truth.messages("#team", by="bob")[0].reactions == "👀")
    assert '"handle":"m2"' in str(agent.turns[0]).replace(" ", "")


async def test_the_agent_is_told_that_a_message_was_edited():
    """TU-30: which one, by its handle, and what it said before; of the second edit what the first one said."""
    agent = ScriptedAgent("Five?", "Six.", "Seven.")
    async with telegram(agent) as platform:
        question = await platform.says("ann", "ann", "what is 2 + 3")
        await platform.hears("ann", "Five?")
        await platform.edits("ann", "ann", question, "what is 3 + 3")
        await platform.hears("ann", "Six.")
        await platform.edits("ann", "ann", question, "what is 3 + 4")
        await platform.hears("ann", "Seven.")
    first, *edits = [json.loads(turn.parts[0].text.splitlines()[1]) for turn in agent.turns]
    assert "edit_of" not in first
    assert [(each["handle"], each["edit_of"]["handle"], each["edit_of"]["text"]) for each in edits] == [
        ("m1", "m1", "what is 2 + 3"),
        ("m1", "m1", "what is 3 + 3"),
    ]


async def test_what_was_overheard_and_edited_is_told_as_it_reads_now():
    """IN-32: the history of a group has the words that stand there, once."""
    agent = ScriptedAgent("At five.")
    async with telegram(agent) as platform:
        remark = await platform.says("#team", "bob", "we meet at four")
        await platform.edits("#team", "bob", remark, "we meet at five")
        await platform.says("#team", "ann", "@testbot when do we meet?")
        await platform.hears("#team", "At five.")
    assert "we meet at five" in str(agent.turns[0].parts)
    assert "we meet at four" not in str(agent.turns[0].parts)


async def test_of_a_partly_quoted_message_the_agent_sees_the_part():
    """TU-30: people quote the words they mean."""
    agent = ScriptedAgent("One. Two. Three.", "Because.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "count")
        counted = await platform.hears("ann", "One. Two. Three.")
        await platform.says("ann", "ann", "why?", reply_to=counted.id, quote={"text": "Two.", "position": 5})
        await platform.hears("ann", "Because.")
    assert '"Two."' in str(agent.turns[1])


async def test_a_message_of_another_chat_cannot_be_answered_here():
    """OD-52: it is quoted here, and is no message of this conversation."""
    outside = {"origin": {"type": "channel", "date": 1, "chat": {"id": -1009, "type": "channel", "title": "News"}}}
    quote = {"external_reply": {**outside, "chat": {"id": -1009, "type": "channel"}, "message_id": 77}}
    agent = ScriptedAgent("[[reply_to:-1009/77]]\nIndeed.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "look", quote={"text": "Rain", "position": 0}, **quote)
        assert (await platform.hears("ann", "Indeed.")).reply_to is None
    assert not oracles.refused(platform.truth.calls)


async def test_who_is_answered_can_be_called_by_name():
    """DE-34, OD-64: a typed mention of the person who asked is one; of anybody else it is code and calls nobody."""
    agent = ScriptedAgent("@ann look, @bob and @everyone are here.")
    async with telegram(agent, answered="ann") as platform:
        await platform.says("#team", "ann", "@testbot who is here?")
        heard = await platform.hears("#team", "@ann look, @bob and @everyone are here.")
        frame = next(frame for frame in platform.truth.frames if frame.message == heard.id)
        assert frame.pinged == ("@ann",)


async def test_a_draft_is_a_reply_from_the_beginning():
    """OD-61, OD-3: the header is known before any text is shown, so nothing has to move."""
    go = asyncio.Event()
    agent = ScriptedAgent(["[[reply_to:current]]\n", "Once ", go.wait, "upon a time."])
    async with telegram(agent) as platform:
        question = await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: bool(platform.truth.messages("ann")))
        assert platform.truth.messages("ann")[0].reply_to == question
        go.set()
        await platform.truth.until(lambda: texts(platform) == ["Once upon a time."])
        assert not [frame for frame in platform.truth.frames if frame.kind == "delete"]


async def test_a_draft_that_has_to_move_is_sent_first_and_then_deleted():
    """OD-61: at no instant is the answer nowhere, and in the end it stands once."""
    go = asyncio.Event()
    agent = ScriptedAgent("One.", ["Once ", go.wait, "upon a time.<actions><reply to='m1'/></actions>"])
    async with telegram(agent) as platform:
        first = await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "One.")
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: len(texts(platform)) == 2)
        go.set()
        await platform.truth.until(lambda: texts(platform) == ["One.", "Once upon a time."])
        await platform.truth.until(lambda: any(frame.kind == "delete" for frame in platform.truth.frames))
        assert platform.truth.messages("ann")[-1].reply_to == first
        kinds = [frame.kind for frame in platform.truth.frames if frame.kind in ("message", "delete")]
        assert kinds[-2:] == ["message", "delete"]


async def test_a_draft_that_cannot_be_deleted_does_not_stay_beside_the_answer():
    """OD-61: a failed delete is a warning; Telegram takes no invisible text, so it says what became of it."""
    go = asyncio.Event()
    agent = ScriptedAgent("One.", ["Once ", go.wait, "upon a time.<actions><reply to='m1'/></actions>"])
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "One.")
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: len(texts(platform)) == 2)
        platform.fault("400", on="delete")
        go.set()
        await platform.truth.until(lambda: texts(platform) == ["One.", WITHDRAWN, "Once upon a time."])


@pytest.mark.parametrize("target", ["m77", "12345", "deleted"])
async def test_a_target_that_is_not_there_costs_the_reply_and_nothing_else(target, caplog):
    """OD-62: unknown, of another chat, or deleted meanwhile: said plainly, once, with a warning."""
    go = asyncio.Event()
    aims = "current" if target == "deleted" else target
    async with telegram(ScriptedAgent([go.wait, f"[[reply_to:{aims}]]\nHere.", "\n"])) as platform:
        question = await platform.says("ann", "ann", "hello")
        if target == "deleted":
            del platform.people.world.room("ann").messages[int(question)]
        go.set()
        assert (await platform.hears("ann", "Here.")).reply_to is None
        assert texts(platform) == ["Here."]
    assert any(record.levelname == "WARNING" for record in caplog.records)


# --- what does not arrive -----------------------------------------------------------------------


async def test_a_part_that_does_not_arrive_fails_the_turn_visibly():
    """OD-65, DE-3: what arrived stays, those behind it are tried, and `/why` and `/status` tell of it."""
    async with telegram(ScriptedAgent(LONG), 'streaming = "off"') as platform:
        platform.fault("403", on="send", after=1)
        question = await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: "19 word" in "".join(texts(platform)))
        assert len(texts(platform)) == 2  # of three
        await platform.says("ann", "ann", "/status")
        await platform.truth.until(lambda: any("Not delivered: 1 given up" in text for text in texts(platform)))
        await platform.says("ann", "ann", "/why", reply_to=question)
        why = "agent scripted: failed, Forbidden: bot was blocked"
        await platform.truth.until(lambda: any(why in text for text in texts(platform)))
        await platform.says("ann", "ann", "/resend")
        await platform.truth.until(lambda: any("8 word" in text for text in texts(platform)[2:]))


@pytest.mark.parametrize("kind", ["403", "404"])
async def test_what_is_refused_for_good_is_dead_and_its_owner_told(kind):
    """DE-32: one chat that refuses holds up no other."""
    async with telegram(ScriptedAgent("Hello.", "Two.", "Three.")) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello.")
        platform.fault(kind, on="send", chat="#team")
        await platform.says("#team", "ann", "@testbot hello")
        assert "gave up on" in (await platform.hears("ann")).text
        await platform.says("ann", "ann", "and you?")
        await platform.hears("ann", "Three.")
        assert platform.truth.messages("#team") == []


async def test_the_owner_is_told_of_a_chat_that_is_gone():
    """DE-32: once, in the direct chat, not for every answer; the chat itself is not told."""
    agent = ScriptedAgent("Hello.", "Two.", "Three.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Hello.")
        platform.people.closes("#team", "bot was kicked from the supergroup chat")
        await platform.says("#team", "ann", "@testbot hello")
        told = await platform.hears("ann")
        assert told.text.startswith(
            f"The gateway gave up on a message to telegram {platform.id_of('#team')}: Forbidden"
        )
        await platform.says("#team", "ann", "@testbot hello again")
        await platform.truth.until(lambda: sum(call.status == 403 for call in platform.truth.calls) > 1)
        assert len(texts(platform)) == 2


async def test_a_message_nobody_can_tell_about_is_counted_and_sent_again_by_hand():
    """DE-33, DU-3: the person is told; `/status` says never confirmed; `/resend` sends it, though it may be there twice
    then."""
    async with telegram(ScriptedAgent("Once.")) as platform:
        platform.fault("accept-drop", on="send")
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "Once.")
        await platform.hears("ann", MAY_HAVE_BEEN_LOST)
        await platform.says("ann", "ann", "/status")
        assert "Not delivered: 0 given up, 1 never confirmed" in (await platform.hears("ann")).text
        await platform.says("ann", "ann", "/resend")
        await platform.truth.until(lambda: texts(platform).count("Once.") == 2)


async def test_a_notice_of_unknown_fate_goes_with_the_next_call_that_succeeds():
    """DU-3: it is never held itself."""
    async with telegram(ScriptedAgent("Once.", "Twice.")) as platform:
        platform.fault("drop", on="send", times=2)
        await platform.says("ann", "ann", "hello")
        await platform.truth.until(lambda: sum(call.verb == "send" for call in platform.truth.calls) >= 2)
        await platform.says("ann", "ann", "and?")
        await platform.hears("ann", "Twice.")
        await platform.hears("ann", MAY_HAVE_BEEN_LOST)
        await platform.says("ann", "ann", "/resend")
        await platform.truth.until(lambda: "Sent again: 1." in texts(platform))
        assert texts(platform).count(MAY_HAVE_BEEN_LOST) == 1


async def test_the_owner_is_told_of_what_may_not_have_arrived_and_sends_it_again_from_there():
    """DU-3, IN-61: in the direct chat; `/resend all` there reaches every chat."""
    async with telegram(ScriptedAgent("Hello.", "Once.")) as platform:
        await platform.says("ann", "ann", "hi")
        await platform.hears("ann", "Hello.")
        platform.fault("accept-drop", on="send", chat="#team")
        await platform.says("#team", "ann", "@testbot hello")
        told = (await platform.hears("ann")).text
        assert told.startswith(f"It is not known whether a message to telegram {platform.id_of('#team')} arrived: ")
        await platform.truth.until(lambda: texts(platform, "#team") == ["Once.", MAY_HAVE_BEEN_LOST])
        await platform.says("ann", "ann", "/resend all")
        await platform.truth.until(lambda: texts(platform, "#team").count("Once.") == 2)


async def test_what_is_sent_again_is_the_answer_alone():
    """DE-33: a draft that was not let in is no message of its own, neither listed nor sent again."""
    async with telegram(ScriptedAgent("Hello.", ["Once ", 0.3, "upon a time."])) as platform:
        await platform.says("ann", "ann", "hi")
        await platform.hears("ann", "Hello.")
        await platform.says("#team", "ann", "@testbot tell me")
        platform.people.closes("#team")
        await platform.truth.until(lambda: any("gave up on" in text for text in texts(platform)))
        platform.people.world.room("#team").closed = ""
        await platform.says("#team", "ann", "/resend")
        await platform.truth.until(lambda: len(texts(platform, "#team")) == 2)
        assert "Once upon a time." in texts(platform, "#team")
        assert "…" not in texts(platform, "#team")


async def test_the_agent_is_told_what_works_here_and_nothing_else():
    """OD-54: what Telegram could and we do not is not offered."""
    agent = ScriptedAgent("Hello.")
    async with telegram(agent) as platform:
        await platform.says("ann", "ann", "hi")
        await platform.hears("ann", "Hello.")
    assert "<react" in agent.turns[0].system
    assert not [name for name in ("audio_as_voice", "send-file", "[[title") if name in agent.turns[0].system]


# --- blocks, signs, tools, templates ------------------------------------------------------------


async def test_blocks_with_a_human_pause():
    """DE-22: whole pieces of 800 to 1200 characters as they are written, none of them edited."""
    pieces = [f"{number} " + "word " * 60 + "\n\n" for number in range(12)]
    agent = ScriptedAgent([step for piece in pieces for step in (piece, 0.02)])
    async with telegram(agent, 'streaming = "blocks"\n' + QUICK) as platform:
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: any("11 word" in text for text in texts(platform)))
        said = texts(platform)
        assert len(said) > 2
        assert [len(text) for text in said[:-1] if not 800 <= len(text) <= 1200] == []
        assert " ".join(" ".join(said).split()) == " ".join("".join(pieces).split())
        assert not [frame for frame in platform.truth.frames if frame.kind == "edit"]


PAUSING = """
[agents.defaults.human_delay]
mode = "custom"
min_ms = 200
max_ms = 210
"""


@pytest.mark.parametrize("first", [0, 3], ids=["whole", "its second half"])
async def test_an_agent_that_is_faster_than_people_is_said_in_blocks_too(first):
    """DE-22: what is left when it has ended is no wall of text; there is a pause before each but the first."""
    pieces = [f"{number} " + "word " * 80 + "\n\n" for number in range(9)]
    agent = ScriptedAgent(["".join(pieces[:first]), 0.3, "".join(pieces[first:])])
    async with telegram(agent, 'streaming = "blocks"\n' + PAUSING) as platform:
        await platform.says("ann", "ann", "tell me")
        await platform.truth.until(lambda: any("8 word" in text for text in texts(platform)))
        said = texts(platform)
        assert [len(text) for text in said[:-1] if not 800 <= len(text) <= 1200] == []
        assert " ".join(" ".join(said).split()) == " ".join("".join(pieces).split())
        shown = [frame.at for frame in platform.truth.frames if frame.by == "bot" and frame.kind == "message"]
        assert min(later - earlier for earlier, later in pairwise(shown)) > 0.19


async def test_stop_ends_the_blocks():
    """IN-70: what waits behind a human pause is not said any more, and nobody waits for the end of that pause."""
    text = "\n\n".join(f"{number} " + "word " * 160 for number in range(9))
    slow = PAUSING.replace("200", "60000").replace("210", "60000")
    async with telegram(ScriptedAgent(text, "Fine."), 'streaming = "blocks"\n' + slow) as platform:
        await platform.says("ann", "ann", "tell me")
        await platform.hears("ann")
        await platform.says("ann", "ann", "/stop")
        assert "word" not in (await platform.hears("ann")).text
        assert len([text for text in texts(platform) if "word" in text]) == 1


async def test_status_reactions_are_of_telegrams_own_set():
    """TU-25, OD-72: none is refused, and the last says that it is done."""
    async with telegram(ScriptedAgent("Done."), "status_reactions = true") as platform:
        await platform.says("ann", "ann", "do it")
        await platform.truth.until(lambda: platform.truth.messages("ann", by="ann")[0].reactions == "👌")
        assert not oracles.refused(platform.truth.calls)


WORK = [
    ToolStarted("1", "rm -rf /srv/secret", "execute"),
    ToolEnded("1", True, "removed"),
    ToolStarted("2", "rm -rf /srv/secret", "execute"),
    ToolEnded("2", True, ""),
    "Done.",
]


@pytest.mark.parametrize(
    ("more", "chat", "person", "shown"),
    [
        ("", "ann", "ann", "🔧 rm -rf /srv/secret ×2"),
        ("", "#team", "ann", "🔧 execute ×2"),
        ('tool_display = "full"', "#team", "ann", "🔧 execute ×2"),
        ('tool_display = "compact"', "ann", "ann", "🔧 execute ×2"),
        ('tool_display = "none"', "ann", "ann", None),
        ('dm = "open"', "bob", "bob", "🔧 execute ×2"),
    ],
)
async def test_who_may_not_sees_no_command_line(more, chat, person, shown):
    """DE-23: equal neighbours are one line; a command line is for people on the allow-list, in a direct chat."""
    verbose = more + '\n[agents.defaults]\nverbose_default = "on"\n'
    async with telegram(ScriptedAgent(WORK), verbose) as platform:
        await platform.says(chat, person, "@testbot clean up")
        await platform.truth.until(lambda: any("Done." in text for text in texts(platform, chat)))
        text = texts(platform, chat)[0]
        assert shown is None or shown in text
        assert ("🔧" in text) == (shown is not None)
        assert "secret" not in text or person == chat == "ann"


async def test_names_are_filled_in():
    """DE-5: in the prefix and in what the agent is told; `IsNewSession` is true once."""
    more = (
        'response_prefix = "[{{Channel}} {{IsNewSession}}]"\nextra_system_prompt = "You talk to {{Sender}}{{Nobody}}."'
    )
    agent = ScriptedAgent("One.", "Two.")
    async with telegram(agent, more) as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "[telegram true] One.")
        await platform.says("ann", "ann", "hello again")
        await platform.hears("ann", "[telegram false] Two.")
    assert all("You talk to ann." in turn.system.lower() or "You talk to Ann." in turn.system for turn in agent.turns)


# --- keys that shape the message ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "previews_off", "quiet"),
    [
        ("", True, None),
        ("[[suppress_embeds:false]]\n", False, None),
        ("[[suppress_embeds:true]]\n", True, None),
        ("[[silent]]\n", True, True),
    ],
)
async def test_previews_are_off_unless_the_agent_wants_them(header, previews_off, quiet):
    """DE-34: a preview fetches what the model wrote. `silent` is Telegram's own."""
    async with telegram(ScriptedAgent(f"{header}See https://example.org"), 'streaming = "off"') as platform:
        await platform.says("ann", "ann", "hello")
        await platform.hears("ann", "See https://example.org")
        (sent,) = (call.payload for call in platform.truth.calls if call.verb == "send")
        assert sent["link_preview_options"] == {"is_disabled": previews_off}
        assert sent.get("disable_notification") == quiet


@pytest.mark.parametrize("header", ["title:Plans", "ephemeral"])
async def test_what_telegram_cannot_show_costs_nothing_and_is_told_to_the_agent(header, caplog):
    """OD-51: the answer goes out plainly; the next turn and the log know that it had no effect."""
    agent = ScriptedAgent(f"[[{header}]]\nHere.", "Two.")
    async with telegram(agent) as platform:
        await platform.says("#team", "ann", "@testbot hello")
        await platform.hears("#team", "Here.")
        await platform.says("#team", "ann", "@testbot and?")
        await platform.hears("#team", "Two.")
    name = header.partition(":")[0]
    assert f"{name} has no effect here" in caplog.text
    assert any(
        f"{name}: unsupported" in part.text or f"{name} unsupported" in part.text for part in agent.turns[1].parts
    )
