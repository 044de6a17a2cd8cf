"""A run and its end: stop, silence, failure, a second model, and nothing that comes too late."""

import asyncio
from time import monotonic

import pytest
from msgspec.structs import replace

from rejoinder.agents.base import Done, Failed, SessionOpened, Thought, ToolEnded, ToolRenamed, ToolStarted, Usage
from rejoinder.agents.failures import failed
from rejoinder.app import with_channel
from rejoinder.config.agents import AgentDefaults
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, GatewaySettings, Settings
from rejoinder.events import Route
from rejoinder.runtime.engine import utc_now
from rejoinder.runtime.session import journal
from rejoinder.session import SessionSettings, with_event
from rejoinder.store.base import BeginTurn, EndRun
from rejoinder.testing import FakeChannel, FakeMessenger, ScriptedAgent, conversation
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.turns.signals import Stop
from rejoinder.wiring.runtime_settings import runtime_settings
from tests.conversations.agents import Asking, Deaf, Steerable, said, signs, told
from tests.conversations.restarting import settled
from tests.conversations.settings import queueing


async def test_late_words_of_a_stopped_run_reach_nobody():
    """TU-20: an agent that does not stop is left behind; its words answer nobody's next question."""
    agent = Deaf("Fine.")
    async with conversation(agent, settings=queueing("queue")) as chat:
        await chat.says("talk")
        await chat.sees("I never")
        await chat.says("/stop")
        await chat.hears("I never")
        await chat.hears("Agent was aborted.")
        await chat.says("how are you?")
        await chat.hears("Fine.")
        agent.release.set()


async def test_the_next_turn_is_told_once_that_the_run_was_aborted():
    """IN-71."""
    never = asyncio.Event()
    agent = ScriptedAgent(["One", never.wait], "Two.", "Three.")
    async with conversation(agent) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("stop")
        await chat.hears("One")
        await chat.hears("Agent was aborted.")
        for text in ("Two.", "Three."):
            await chat.says("go on")
            await chat.hears(text)
    assert ["aborted" in told(turn) for turn in agent.turns] == [False, True, False]


@pytest.mark.parametrize("stopped", [False, True])
async def test_a_message_for_a_busy_session_waits(monkeypatch, caplog, stopped):
    """TU-10: the store says that a turn of the session runs which no lane knows. The message waits until that turn has
    ended, or until somebody stops it, and what the session had to tell its agent is told by the turn that begins."""
    monkeypatch.setattr(journal, "BUSY_PAUSE", 0.01)
    agent = ScriptedAgent("One.", "Two.", "Three.")
    async with conversation(agent) as chat:
        await chat.says("one")
        await chat.hears("One.")
        session, engine, store = agent.turns[0].session, chat.gateway.engine, chat.gateway.engine.journal._store
        await settled(chat.gateway)
        async with engine.journal._sessions.changing(session, agent.name, utc_now()) as held:
            await journal.give_back(held, with_event(held.session, "The moon is full."), store)
        claim = await store.write(BeginTurn(session, Route("fake", "room"), (), utc_now()))
        await chat.says("two")
        await until(lambda: any("a turn waits" in record.message for record in caplog.records))
        assert len(agent.turns) == 1
        if stopped:
            await chat.says("/stop")
            await chat.hears("Agent was aborted.")
        await store.write(EndRun(claim, "stopped", utc_now()))
        if stopped:
            await chat.says("three")
        await chat.hears("Two.")
    assert [("moon" in told(turn), said(turn)) for turn in agent.turns[1:]] == [(True, ["three" if stopped else "two"])]


@pytest.mark.parametrize("limit", ["idle_timeout_s", "hard_timeout_s"])
async def test_a_run_that_takes_too_long_is_ended_and_the_lane_is_free(limit):
    """TU-20: idle and hard timeout are separate settings; each ends the run in a sentence."""
    never = asyncio.Event()
    settings = Settings(gateway=GatewaySettings(**{limit: 0.05}))
    agent = ScriptedAgent(["Let me", never.wait], "Fine.")
    async with conversation(agent, settings=settings) as chat:
        await chat.says("one")
        await chat.hears("Let me")
        await chat.hears("The agent did not answer in time; please try again.")
        await chat.says("two")
        await chat.hears("Fine.")


async def test_who_waits_for_a_person_is_not_silent():
    """TU-20, TU-33: an agent that asked something may wait for longer than it may be silent."""
    agent = Asking()
    async with conversation(agent, settings=Settings(gateway=GatewaySettings(idle_timeout_s=1))) as chat:
        await chat.says("clean up")
        await chat.hears()
        lane = chat.gateway.engine.lanes.get(agent.turns[0].session)
        later = monotonic() + 100
        assert lane.times_out_at(later) == later + lane.run.timer.limits.idle_timeout_s
        agent.answers.put_nowait("yes")
        await chat.hears("I was told yes.")


def test_an_agent_that_watches_itself_speaks_before_it_times_out():
    """TU-20, TU-22: it can say that it was too late, and another model is tried; a lost run is the end."""
    gateway = GatewaySettings(idle_timeout_s=100, hard_timeout_s=900)
    agent, channel = ScriptedAgent(), FakeChannel()
    settings = with_channel(Settings(gateway=gateway), channel.name, agent.name, ())
    timeouts = runtime_settings(settings, {agent.name: agent}, {channel.name: channel}).run_timeouts
    assert gateway.idle_timeout_s < timeouts.idle_timeout_s < 2 * gateway.idle_timeout_s
    assert timeouts.hard_timeout_s == gateway.hard_timeout_s


async def test_what_is_stopped_while_one_of_it_is_being_taken_in_does_not_come_back():
    """TU-2, IN-70: a stop drops what waits, also where the run takes in one of it at that moment."""
    go, booked, told_late = asyncio.Event(), asyncio.Event(), asyncio.Event()
    agent = Steerable(["One", go.wait])
    async with conversation(agent, settings=queueing("steer", 3_600_000)) as chat:
        journal = chat.gateway.engine.journal
        steered = journal.record_steered

        async def slowly(run, asked) -> None:
            await steered(run, asked)
            booked.set()
            await told_late.wait()

        journal.record_steered = slowly
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await booked.wait()
        await chat.says("/queue followup three")
        await chat.hears("For this turn: queue followup.")
        await chat.says("/stop")
        await chat.hears("One")
        await chat.hears("Agent was aborted.")
        told_late.set()
        await chat.rests()
        assert await chat.gateway.store.waiting_inputs(agent.turns[0].session) == ()


async def test_who_is_stopped_while_waiting_for_room_does_not_begin():
    """TU-20, TU-21: room that comes in the moment of the stop is not taken, and the next message gets its answer."""
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait, "Ann."], "Bob.")
    async with conversation(agent, settings=Settings(gateway=GatewaySettings(max_runs=1))) as chat:
        await chat.says("hi", sender="ann", chat="1")
        await chat.asked(agent, 1)
        await chat.says("hi", sender="bob", chat="2")
        lanes = chat.gateway.engine.lanes
        await chat.channel.until(lambda: len(lanes.running) == 2)
        run = lanes.running[1]
        lane = lanes.get(run.session)
        lane.feed(Stop())
        lane._go(run)  # what Slots does when there is room
        assert run.task is None
        await chat.says("hi again", sender="bob", chat="2")
        go.set()
        await chat.hears("Ann.")
        await chat.hears("Bob.")
    assert said(agent.turns[1]) == ["hi again"]


async def test_runs_wait_for_room_and_come_in_order():
    """TU-21: with room for one run, everybody is answered, first come, first served."""
    go = asyncio.Event()
    agent = ScriptedAgent([go.wait, "Ann."], "Bob.", "Cleo.")
    async with conversation(agent, settings=Settings(gateway=GatewaySettings(max_runs=1))) as chat:
        await chat.says("hi", sender="ann", chat="1")
        await chat.says("hi", sender="bob", chat="2")
        await chat.says("hi", sender="cleo", chat="3")
        go.set()
        for answer in ("Ann.", "Bob.", "Cleo."):
            await chat.hears(answer)


class Models(ScriptedAgent):
    """Has models, and forgets when there is too much to remember."""

    models = ("first", "quick")
    fallbacks = ("second",)
    compacted = 0

    async def compact(self, session) -> bool:
        self.compacted += 1
        return True


@pytest.mark.parametrize("typed", ["/model ghost", None])
async def test_who_chose_a_model_that_is_not_there_is_told(typed):
    """IN-52: a fallback answers, and says so, once, in a session that is not verbose too."""
    agent = Models([failed("model_not_found")], "One.", [failed("model_not_found")], "Two.")
    async with conversation(agent) as chat:
        if typed:
            await chat.says(typed)
            await chat.hears("Model: ghost.")
        await chat.says("hello" if typed else "/model ghost hello")
        if not typed:
            await chat.hears("For this turn: model ghost.")
        await chat.hears("Model fallback: second answers instead of ghost: there is no such model.\n\nOne.")
        if typed:
            await chat.says("again")
            await chat.hears("Two.")


@pytest.mark.parametrize("kind", ["billing", "rate_limit", "auth", "format", "model_not_found"])
async def test_another_model_answers_when_the_first_cannot(kind):
    """TU-22: the selected model, then its fallbacks."""
    agent = Models([failed(kind)], "Here I am.")
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Here I am.")
    assert [turn.model for turn in agent.turns] == ["first", "second"]


@pytest.mark.parametrize(("kind", "next_turn"), [("rate_limit", "second"), ("timeout", "second"), ("format", "first")])
async def test_a_model_that_failed_rests_while_another_answers(kind, next_turn):
    """TU-22: a cool-down; nobody waits in every turn for what has just failed."""
    agent = Models([failed(kind)], "Here I am.", "Still here.")
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Here I am.")
        await chat.says("hello again")
        await chat.hears("Still here.")
    assert [turn.model for turn in agent.turns] == ["first", "second", next_turn]


async def test_a_model_that_answers_again_has_its_failures_forgotten(monkeypatch):
    """TU-22: 1, 5, 25, 60 min are for failures in a row."""
    now = 0.0
    monkeypatch.setattr("rejoinder.runtime.session.attempts.monotonic", lambda: now)
    refuses = [failed("rate_limit")]
    agent = Models(refuses, "2", "1", refuses, "2", "1", refuses, "2")
    async with conversation(agent) as chat:
        for heard, later in (("2", 61), ("1", 1), ("2", 61), ("1", 1), ("2", 0)):
            await chat.says("hello")
            await chat.hears(heard)
            now += later
    first, second = "first", "second"
    assert [turn.model for turn in agent.turns] == [first, second, first, first, second, first, first, second]


async def test_who_says_when_to_come_back_is_asked_again_when_nobody_else_is_there():
    """TU-22: one retry, after the wait the provider asked for."""
    agent = ScriptedAgent(
        [failed("rate_limit", retry_after=0.01)], "Here I am.", [failed("rate_limit", retry_after=60)]
    )
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Here I am.")
        await chat.says("and now?")
        await chat.hears(failed("rate_limit").sentence)


async def test_a_hiccup_is_tried_once_more_with_the_same_model():
    """TU-22: transient HTTP, one retry."""
    agent = Models([failed("overloaded", transient=True)], "Here I am.")
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Here I am.")
    assert [turn.model for turn in agent.turns] == ["first", "first"]


async def test_what_has_begun_is_not_begun_again():
    """An answer that broke off is not said twice: the person gets the sentence."""
    agent = Models(["Half", failed("rate_limit")])
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Half")
        await chat.hears("The model is getting too many requests right now; please try again in a moment.")


async def test_an_emoji_cut_in_two_is_one_emoji():
    """TU-32: text is cut anywhere, also where a letter of two halves is; half a letter never fails an answer."""
    agent = ScriptedAgent(["Fine \ud83d", "\ude00!"], [Thought("\ud83d"), "Half \ud83d."])
    async with conversation(agent) as chat:
        await chat.says("one")
        await chat.hears("Fine 😀!")
        await chat.says("two")
        await chat.hears("Half \ufffd.")


async def test_who_is_verbose_is_told_of_the_other_model_and_of_tools():
    """TU-22: each transition is told once when verbose. IN-59: one line for each tool."""
    agent = Models(
        [failed("auth")], ["Looking.", ToolStarted("1", "read notes.txt"), ToolEnded("1", True, "abc"), "Done."]
    )
    async with conversation(agent) as chat:
        await chat.says("/verbose full")
        await chat.hears("Verbose: full.")
        await chat.says("hello")
        await chat.hears(
            "This is a new session.\n\n"
            "Model fallback: second answers instead of first: the credential is not accepted.\n\n"
            "Looking.\n\n_🔧 read notes.txt_\n\n```\nabc\n```\n\nDone."
        )


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ((ToolStarted("1", "Terminal"), ToolRenamed("1", "ls -la")), "_🔧 Terminal_ ls -la"),
        ((ToolStarted("1", "ls"), ToolRenamed("1", "ls")), "_🔧 ls_"),
        ((ToolStarted("1", "ls"), ToolStarted("2", " ls")), "_🔧 ls_ ×2"),
        ((ToolStarted("1", "🔧 ls"), ToolRenamed("1", "🔧 la")), "_🔧 🔧 ls_ 🔧 la"),
        ((ToolStarted("1", " "), ToolStarted("2", "")), "_🔧 _ ×2"),
    ],
    ids=["renamed", "to the same", "twice", "with the mark in its title", "without a title"],
)
async def test_a_tool_is_marked_where_it_is_shown_and_named_without_the_mark(events, shown):
    """DE-23: what is shown of a tool only grows, and equal neighbours share a line."""
    async with conversation(ScriptedAgent([*events, "Done."])) as chat:
        await chat.says("/verbose on")
        await chat.hears("Verbose: on.")
        await chat.says("hello")
        await chat.hears(f"This is a new session.\n\n{shown}\n\nDone.")


async def test_no_model_is_said_to_answer_that_fails_too():
    """TU-22: a transition is one when the other model answers; each is told once."""
    agent = Models([failed("format")], [failed("format")], [failed("format")], "Here I am.", "Me again.")
    async with conversation(agent) as chat:
        await chat.says("/verbose on")
        await chat.hears("Verbose: on.")
        await chat.says("hello")
        await chat.hears("This is a new session.")
        await chat.hears(failed("format").sentence)
        await chat.says("hello again")
        await chat.hears(
            "Model fallback: second answers instead of first: the model does not take this request.\n\nHere I am."
        )
        await chat.says("and now?")
        await chat.hears("Model fallback ended: first answers again (was second).\n\nMe again.")
    assert [turn.model for turn in agent.turns] == ["first", "second"] * 2 + ["first"]


async def test_a_full_context_is_shortened_once_and_tried_again():
    """TU-23: compaction, then one retry; if that fails, a clear message."""
    full = failed("context_overflow")
    agent = Models([full], "Room again.", [full], [full])
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Room again.")
        await chat.says("and now?")
        await chat.hears(full.sentence)
    assert agent.compacted == 2


async def test_thoughts_are_shown_to_who_wants_them_before_the_answer():
    """IN-59: on sends thoughts as a message of their own before the answer, off never."""
    agent = ScriptedAgent([Thought("Hm."), "A."], [Thought("Hm, "), Thought("yes."), "B."])
    async with conversation(agent) as chat:
        await chat.says("one")
        await chat.hears("A.")
        await chat.says("/reasoning on")
        await chat.hears("Reasoning: on.")
        await chat.says("two")
        await chat.hears("💭 Hm, yes.")
        await chat.hears("B.")
    assert "Reasoning is now on." in told(agent.turns[1])


async def test_the_agent_is_done_with_though_its_thoughts_are_still_being_said():
    """TU-20: whatever a stop finds a run at, it ends on the agent's side too."""
    ended, saying, go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class Pensive(ScriptedAgent):
        async def run(self, turn):
            try:
                yield Thought("Hm.")
                yield Done()
            finally:
                ended.set()

    class Slow(FakeMessenger):
        async def send(self, part):
            if "Hm." in part.text:
                saying.set()
                await go.wait()
            return await super().send(part)

    async with conversation(Pensive(), Slow()) as chat:
        await chat.says("/reasoning on")
        await chat.hears()
        await chat.says("hello")
        await saying.wait()
        await chat.says("/stop")
        await asyncio.wait_for(ended.wait(), PATIENCE)
        go.set()
        await chat.hears()
        await chat.hears("Agent was aborted.")


async def test_thoughts_can_be_watched():
    """IN-59: stream as a live draft."""
    go = asyncio.Event()
    async with conversation(ScriptedAgent([Thought("Hm, "), go.wait, Thought("yes."), "B."])) as chat:
        await chat.says("/reasoning stream")
        await chat.hears("Reasoning: stream.")
        await chat.says("two")
        await chat.sees("💭 Hm,")
        go.set()
        await chat.hears("💭 Hm, yes.")
        await chat.hears("B.")


@pytest.mark.parametrize("level", ["on", "stream"])
@pytest.mark.parametrize("words", [["NO_REPLY"], ["Well.", "\nNO_REPLY"]])
async def test_no_thought_stays_beside_silence(level, words):
    """OD-41, IN-59: who stays silent is not seen to have thought; who answers by a operation is."""
    agent = ScriptedAgent([Thought("Hm."), *words], [Thought("Yes."), '<actions><react emoji="👍"/></actions>'])
    async with conversation(agent) as chat:
        await chat.says(f"/reasoning {level}")
        await chat.hears()
        await chat.says("one")
        await chat.rests()
        await chat.says("two")
        await chat.hears("💭 Yes.")
        await chat.rests()
        said = [shown for shown in chat.channel.messages.values() if shown.author == "bot"]
        assert "💭 Hm." in [shown.text for shown in said]
        assert [shown.text for shown in said if not shown.deleted] == [f"Reasoning: {level}.", "💭 Yes."]


async def test_a_thought_that_is_stopped_as_it_appears_is_not_left_open():
    """IN-59, IN-70: nothing stands there as if it were still being written."""
    appearing, stopped = asyncio.Event(), asyncio.Event()

    class Slow(FakeChannel):
        async def begin(self, part):
            appearing.set()
            await stopped.wait()
            return await super().begin(part)

    async with conversation(ScriptedAgent([Thought("Hm."), asyncio.Event().wait]), Slow()) as chat:
        await chat.says("/reasoning stream")
        await chat.hears()
        await chat.says("hello")
        await appearing.wait()
        await chat.says("/stop")
        while (await chat.gateway.store.count_rows()).events != {"settled": 1, "routed": 1, "new": 1}:
            continue
        stopped.set()
        await chat.hears("💭 Hm.")
        await chat.hears("Agent was aborted.")


async def test_usage_is_counted_and_shown_when_wanted():
    """TU-29: stored in the session; /usage appends one line to the last part."""
    agent = ScriptedAgent(["A.", Usage(10, 2)], ["B.", Usage(20, 3)])
    async with conversation(agent) as chat:
        await chat.says("one")
        await chat.hears("A.")
        await chat.says("/usage tokens")
        await chat.hears("Usage line: tokens.")
        await chat.says("two")
        await chat.hears("B.\n\n_20 tokens in, 3 out_")
        await chat.rests()
        await chat.says("/usage")
        assert "30 tokens in, 5 out" in (await chat.hears()).text


async def test_what_became_of_directives_is_told_in_the_next_turn():
    """OD-51: to the agent, never as an error in the chat."""
    agent = ScriptedAgent('[[reply_to:m99]]\n<actions><react emoji="👀"/></actions>\nHi.', "Ho.", "Hum.")
    async with conversation(agent) as chat:
        for answer in ("Hi.", "Ho.", "Hum."):
            await chat.says("hello")
            await chat.hears(answer)
    assert "About your last answer: reply_to m99: denied" in told(agent.turns[1])
    assert "react 👀: done" in told(agent.turns[1])
    assert "last answer" not in told(agent.turns[2])


async def test_the_agent_is_told_what_it_can_do_here():
    """OD-54: from the registry and the channel's abilities; only what works here."""
    agent = ScriptedAgent("Hi.")
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Hi.")
    system = agent.turns[0].system
    assert "put `[[reply_to:<handle or id>]]` alone on the first line" in system
    assert '`<react emoji="..." [message="..."] [remove="..."] />`' in system
    assert "send-file" not in system


async def test_a_group_is_introduced_and_what_was_overheard_is_told():
    """IN-32, IN-34: unmentioned messages are kept and shown as untrusted history at the next turn."""
    from rejoinder.config.channels import CommonChannelSettings
    from rejoinder.config.schema import ConfiguredChannel

    common = CommonChannelSettings(groups="open", require_mention=True)
    settings = Settings(channels={"fake": ConfiguredChannel("fake", common, None)})
    agent = ScriptedAgent("Hello everybody.")
    async with conversation(agent, settings=settings) as chat:
        await chat.channel.says("nice weather", kind="group", sender="bob")
        await chat.channel.says("@bot hello", kind="group", mention=True)
        await chat.hears("Hello everybody.")
    turn = agent.turns[0]
    assert '"title":"room"' in turn.system
    assert "You were called into a group chat" in turn.system
    assert '"text":"nice weather","author":"bob","handle":"m1"' in told(turn)


async def test_typing_is_shown_while_an_agent_takes_its_time():
    """TU-24: starts after 0.4 s, and is over when the run is."""
    channel = FakeChannel()

    async def until_typing():
        await channel.until(lambda: channel.typed > 0)

    async with conversation(ScriptedAgent([until_typing, "Here."]), channel) as chat:
        await chat.says("hello")
        await chat.hears("Here.")
    assert channel.typed == 1


@pytest.mark.parametrize(
    ("configured", "says", "mode"),
    [
        (None, {}, "instant"),
        (None, {"kind": "group", "mention": True}, "instant"),
        (None, {"kind": "group"}, "message"),
        ("thinking", {"kind": "group"}, "thinking"),
        ("never", {}, "never"),
    ],
)
async def test_who_is_shown_typing_from_when(monkeypatch, configured, says, mode):
    """TU-24: at once in direct chats and when mentioned, with the first text otherwise; unless it is configured."""
    common = CommonChannelSettings(dm="open", groups="open", require_mention=False)
    settings = Settings(
        channels={"fake": ConfiguredChannel("fake", common, None)}, session=SessionSettings(typing_mode=configured)
    )
    shown = signs(monkeypatch)
    async with conversation(ScriptedAgent("Hello."), settings=settings) as chat:
        await chat.channel.says("hello", **says)
        await chat.hears("Hello.")
    assert shown == [mode]


@pytest.mark.parametrize(("kind", "configured", "period"), [("web", 6, 6), ("telegram", 6, 4.5), ("telegram", 3, 3)])
def test_typing_is_shown_again_in_the_channels_own_period(kind, configured, period):
    """TU-24: every 6 s; oftener where the platform's sign goes out by then."""
    agent, channel = ScriptedAgent(), FakeChannel()
    settings = Settings(agent_defaults=AgentDefaults(typing_interval_seconds=configured))
    settings = with_channel(settings, channel.name, agent.name, ())
    settings = replace(settings, channels={channel.name: replace(settings.channels[channel.name], kind=kind)})
    made = runtime_settings(settings, {agent.name: agent}, {channel.name: channel})
    assert made.channel(channel.name).typing.period_ms == period * 1000


def with_reactions(wanted=True) -> Settings:
    common = CommonChannelSettings(dm="open", status_reactions=wanted)
    settings = queueing("collect")
    return replace(settings, channels={"fake": ConfiguredChannel("fake", common, None)})


async def test_reactions_show_what_becomes_of_a_message():
    """TU-25: optional per channel; new added before the old is removed. Only who waits is shown as queued."""
    go = asyncio.Event()
    async with conversation(ScriptedAgent(["One", go.wait, "."], "Two."), settings=with_reactions()) as chat:
        first = await chat.says("one")
        await chat.sees("One")
        second = await chat.says("two")
        await chat.sees_reaction("👀", on=second)
        assert "👀" not in chat.channel.messages[first].reactions
        go.set()
        await chat.hears("One.")
        await chat.hears("Two.")
        for asked in (first, second):
            await chat.sees_reaction("👌", on=asked)
            await chat.channel.until(lambda asked=asked: chat.channel.messages[asked].reactions == ["👌"])


async def test_words_are_a_sign_of_life():
    """TU-25: who writes is neither at the last tool any more nor stalled."""
    channel = FakeChannel()
    asked = ""

    def shows(emoji):
        async def until_shown():
            await channel.until(lambda: channel.messages[asked].reactions == [emoji])

        return until_shown

    tool = ToolStarted("1", "cargo test", "execute")
    agent = ScriptedAgent([tool, shows("👨‍💻"), "Well", shows("🤔"), "."])
    async with conversation(agent, channel, with_reactions()) as chat:
        asked = await chat.says("test it")
        await chat.hears("Well.")


async def test_all_reactions_are_removed_where_that_is_configured():
    """TU-25: the last one is seen for a moment."""
    async with conversation(ScriptedAgent("Hi."), settings=with_reactions("removed")) as chat:
        asked = await chat.says("hello")
        await chat.hears("Hi.")
        await chat.sees_reaction("👌", on=asked)
        await chat.channel.until(lambda: not chat.channel.messages[asked].reactions)


async def test_what_a_run_took_in_is_done_when_the_run_is():
    """TU-25: a steered message shares the fate of the run."""
    go = asyncio.Event()
    settings = with_reactions()
    steering = replace(settings, messages=queueing("steer").messages)
    agent = Steerable(["One", go.wait, " and two."])
    async with conversation(agent, settings=steering) as chat:
        await chat.says("one")
        await chat.sees("One")
        second = await chat.says("two")
        await agent.was_offered.wait()
        go.set()
        await chat.hears("One and two.")
        await chat.channel.until(lambda: chat.channel.messages[second].reactions == ["👌"])


async def test_a_session_is_continued_under_the_name_its_agent_gave_it(tmp_path):
    """TU-33: the mapping is saved at creation, and loaded before the first turn after a restart."""
    from rejoinder.app import Gateway, with_channel

    class Loading(ScriptedAgent):
        def load_session(self, session, saved):
            self.loaded = (session, saved)

    store = f"sqlite:{tmp_path / 'rejoinder.db'}"
    for agent in (Loading([SessionOpened("theirs-1"), "One."]), Loading("Two.")):
        channel = FakeChannel()
        settings = with_channel(Settings(), channel.name, agent.name, ("ann",))
        async with Gateway(settings, agents={agent.name: agent}, channels=[channel], store=store) as gateway:
            gateway.tasks.start("serve", gateway.serve())
            await channel.says("hello", event=f"to {id(agent)}")
            await channel.until(lambda channel=channel: any(m.author == "bot" for m in channel.messages.values()))
    assert agent.loaded == (agent.turns[0].session, "theirs-1")


async def test_the_operator_finds_the_rest_in_status():
    async with conversation(ScriptedAgent([Failed("auth", "No key.", "HTTP 401: bad key")])) as chat:
        await chat.says("hello")
        await chat.hears("No key.")
        await chat.says("/status")
        assert "Last failure: auth: HTTP 401: bad key" in (await chat.hears()).text
