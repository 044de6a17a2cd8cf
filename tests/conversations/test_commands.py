"""What the gateway answers itself, in the chat in which it is asked."""

import asyncio

import pytest

from rejoinder.agents.base import Exchange
from rejoinder.agents.http import Settings as HttpSettings
from rejoinder.channels.base import FileLimits, Unknown
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredAgent, ConfiguredChannel, Settings
from rejoinder.inbound.settings import CommandsSettings, ElevatedSettings
from rejoinder.runtime.place import gateway_commands
from rejoinder.runtime.session.unconfirmed_notice import MAY_HAVE_BEEN_LOST
from rejoinder.secret import Secret
from rejoinder.testing import FakeFiles, FakeMessenger, ScriptedAgent, conversation
from tests.conversations.agents import said, told
from tests.conversations.restarting import Machine
from tests.conversations.settings import queueing


async def test_a_level_is_kept_for_the_session_and_reaches_the_agent():
    """IN-54, IN-59: stored, acknowledged, the agent is not run; the next turns have it."""
    agent = ScriptedAgent("Deep.", "Usual.")
    async with conversation(agent) as chat:
        await chat.says("/think high")
        await chat.hears("Thinking: high.")
        await chat.says("hello")
        await chat.hears("Deep.")
        await chat.says("/think off")
        await chat.hears("Thinking: off.")
        await chat.says("hello")
        await chat.hears("Usual.")
    assert [turn.think for turn in agent.turns] == ["high", "off"]


async def test_a_level_inside_a_text_is_for_this_turn_alone():
    """IN-55: the text is cleaned of exactly that token, one short acknowledgement goes along."""
    agent = ScriptedAgent("Deep.", "Usual.")
    async with conversation(agent) as chat:
        await chat.says("please /think high about it")
        await chat.hears("For this turn: thinking high.")
        await chat.hears("Deep.")
        await chat.says("and now?")
        await chat.hears("Usual.")
    assert [turn.think for turn in agent.turns] == ["high", None]
    assert said(agent.turns[0]) == ["please about it"]


class Plain:
    """An agent without any talent."""

    name = "plain"

    async def run(self, turn):
        raise AssertionError("it was not to be asked")
        yield


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("/think high", "The agent plain has no thinking levels."),
        ("/model gpt-x", "The agent plain does not change its model."),
        ("/reasoning on", "The agent plain does not show its thoughts."),
        ("/exec security=full", "The agent plain never asks for permission, so security and ask would change nothing."),
        ("/exec", "Exec: not set. The agent plain has no options for it."),
        ("/elevated full", "The agent plain never asks for permission, so /elevated would change nothing."),
        ("/compact", "The agent plain keeps its own memory; /new starts a new session."),
        ("/exec host=node", "The agent plain does not take host; valid: default"),
        ("/compact shortly", "The agent plain keeps its own memory; /new starts a new session."),
        ("/restart", "This gateway is part of another program: restart that program."),
        ("/tts on", "No text-to-speech is set up; the owner can add [media.text_to_speech] to the configuration."),
        ("/config show", "/config is off; commands.config = true turns it on."),
        ("/approve q1", "There is no request q1 for you here; it may have been answered or have expired."),
        ("/stop", "Nothing is running."),
    ],
)
async def test_what_cannot_be_done_is_refused_and_never_kept(asked, answered):
    """IN-59: a level the agent cannot honour is refused with that reason, never stored as a no-op."""
    async with conversation(Plain()) as chat:
        await chat.says(asked)
        await chat.hears(answered)


async def test_status_tells_what_runs_and_what_waits():
    go = asyncio.Event()
    async with conversation(ScriptedAgent(["One", go.wait, "."], "Two."), settings=queueing("collect")) as chat:
        await chat.says("one")
        await chat.sees("One")
        await chat.says("two")
        await chat.says("/status")
        status = (await chat.hears()).text
        go.set()
        await chat.hears("One.")
        await chat.hears("Two.")
    assert "Agent: scripted" in status
    assert "Queue: collect, 1 waiting" in status
    assert "Runs: 1 running" in status


async def test_new_starts_a_session_and_the_agent_forgets():
    """IN-42, IN-43: the rest of the text is the first prompt; what is sticky stays."""

    class Forgetful(ScriptedAgent):
        forgotten: tuple[str, ...] = ()

        def forget(self, session):
            self.forgotten += (session,)

    agent = Forgetful("One.", "Two.")
    async with conversation(agent) as chat:
        await chat.says("/think high")
        await chat.hears("Thinking: high.")
        await chat.says("one")
        await chat.hears("One.")
        await chat.says("/new two")
        await chat.hears("New session.")
        await chat.hears("Two.")
    assert agent.forgotten == (agent.turns[0].session,)
    assert said(agent.turns[1]) == ["two"]
    assert agent.turns[1].think == "high"


async def test_new_in_the_middle_of_an_answer_ends_it():
    """What ran for the old session says nothing in the new one, and the new one hears nothing of it."""
    never = asyncio.Event()
    agent = ScriptedAgent(["Once upon", never.wait, " a time."], "Anew.")
    async with conversation(agent) as chat:
        await chat.says("tell")
        await chat.sees("Once upon")
        await chat.says("/new hello")
        await chat.hears("Once upon")
        await chat.hears("New session.")
        await chat.hears("Anew.")
    assert "aborted" not in told(agent.turns[1])


async def test_why_tells_what_each_stage_and_the_agent_did():
    """IN-64, OD-51: the outcome of directives is in the trace."""
    async with conversation(ScriptedAgent("[[reply_to:m99]]\nHi.")) as chat:
        await chat.says("hello")
        await chat.hears("Hi.")
        await chat.rests()
        await chat.says("/why")
        trace = (await chat.hears()).text
    assert "finalise: continue" in trace
    assert "agent scripted: answered" in trace
    assert "reply_to m99: denied, there is no message 'm99' in this chat" in trace


async def test_why_is_about_the_last_message_and_not_about_commands():
    """IN-64: what a command did stands in its answer; alone it is explained anyway."""
    async with conversation(ScriptedAgent("Hi.")) as chat:
        await chat.says("/whoami")
        await chat.hears()
        await chat.says("/why")
        assert "commands: answer, /whoami" in (await chat.hears()).text
        await chat.says("hello")
        await chat.hears("Hi.")
        await chat.rests()
        for command in ("/status", "/think high", "/stop", "/why", "/why"):
            await chat.says(command)
            answer = (await chat.hears()).text
        assert "agent scripted: answered" in answer


async def test_a_guest_may_talk_but_not_command():
    """IN-56: in an open chat an unlisted person's directive is text."""
    agent = ScriptedAgent("Hi Bob.")
    async with conversation(agent) as chat:
        await chat.says("do /think high now", sender="bob", chat="other")
        await chat.hears("Hi Bob.")
    assert said(agent.turns[0]) == ["do /think high now"]
    assert agent.turns[0].think is None


def secretive() -> Settings:
    agent = ConfiguredAgent("http", HttpSettings(url="http://127.0.0.1:1/", headers={"X-Key": Secret("hush")}))
    return Settings(agents={"far": agent}, commands=CommandsSettings(config=True))


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("/config get gateway.max_runs", "```toml\ngateway.max_runs = 256\n```"),
        ("/config get commands.elevated", "```toml\n[commands.elevated]\nenabled = false\nallow_from = []\n```"),
        ("/config get nothing.here", "The configuration has nothing under nothing.here."),
    ],
)
async def test_the_owner_reads_the_configuration(asked, shown):
    """IN-61: what is in effect, from a key on."""
    async with conversation(Plain(), settings=secretive()) as chat:
        await chat.says(asked)
        await chat.hears(shown)


async def test_the_configuration_is_shown_without_secrets():
    async with conversation(Plain(), settings=secretive()) as chat:
        await chat.says("/config show")
        shown = (await chat.hears()).text
    assert "[agents.far]" in shown
    assert "hush" not in shown


async def test_the_allow_list_changes_at_once():
    """IN-61, IN-10: who is added talks and commands from the next message on, who is removed no longer."""
    agent = ScriptedAgent("Hi Bob.")
    closed = CommonChannelSettings(dm="allowlist")
    settings = Settings(channels={"fake": ConfiguredChannel("fake", closed, {})})
    async with conversation(agent, settings=settings) as chat:
        await chat.says("hello?", sender="bob", chat="bobs")
        await chat.says("/allowlist add bob")
        await chat.hears("bob is on the allow-list of fake; to make that permanent, add it to channels.fake.allow.")
        await chat.says("hello", sender="bob", chat="bobs")
        await chat.hears("Hi Bob.")
        await chat.says("/allowlist")
        await chat.hears("On the list of fake: bob. Groups: none.")
        await chat.says("/allowlist remove bob")
        await chat.hears(
            "bob is no longer on the allow-list of fake; to make that permanent, remove it from channels.fake.allow."
        )
        await chat.says("hello again", sender="bob", chat="bobs")
    assert [said(turn) for turn in agent.turns] == [["hello"]]


async def test_an_owner_has_sent_again_what_was_not_confirmed():
    """DU-3: `/resend`; the person is told of it, once."""
    channel = FakeMessenger()
    async with conversation(ScriptedAgent("Here it is."), channel) as chat:
        channel.fails(Unknown("the connection broke"))
        await chat.says("hello")
        await chat.hears(MAY_HAVE_BEEN_LOST)
        await chat.rests()
        await chat.says("/resend")
        await chat.hears("Here it is.")
        await chat.hears("Sent again: 1.")
        await chat.says("/resend")
        await chat.hears("Nothing here is waiting to be sent again.")


def rows(table: str) -> dict[str, int]:
    """The characters of each part that `/context` tells."""
    cells = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    return {part: int(count.replace(",", "")) for part, count, _ in cells[2:]}


async def test_context_tells_what_the_next_turn_is_made_of():
    """IN-61: of this session, in the sizes in which the agent is told it."""
    agent = ScriptedAgent("Hi.", "Once more.")
    async with conversation(agent) as chat:
        await chat.says("hello")
        await chat.hears("Hi.")
        await chat.rests()
        await chat.says("/context")
        told = (await chat.hears()).text
        await chat.says("/context")
        assert (await chat.hears()).text == told
        await chat.says("again")
        await chat.hears("Once more.")
    sizes = rows(told)
    system = {part: count for part, count in sizes.items() if part not in ("told with the next message", "together")}
    assert sum(system.values()) + 2 * (len(system) - 1) == len(agent.turns[1].system)
    assert sizes["together"] == sum(sizes.values()) - sizes["together"]
    assert "scripted keeps the conversation itself" in told


class Remembering(ScriptedAgent):
    """Tells its model the conversation with every turn, as it was recalled."""

    past: tuple[Exchange, ...] = ()

    def recall(self, session, past):
        self.past = past

    def remembered(self, session):
        return self.past


async def test_context_counts_what_a_model_is_told_again(tmp_path):
    """TU-33: also when the gateway has just been started; of the session before a reset nothing."""
    machine = Machine(tmp_path)
    async with machine.running(ScriptedAgent("Hi, Ann.")):
        await machine.chat.says("I am Ann.")
        await machine.chat.hears("Hi, Ann.")
    async with machine.running(Remembering()):
        await machine.chat.says("/context")
        sizes = rows((await machine.chat.hears()).text)
        assert sizes["said so far by people"] == len("I am Ann.")
        assert sizes["said so far by the agent"] == len("Hi, Ann.")
        assert sizes["told so far about messages"] > 0
        await machine.chat.says("/new")
        await machine.chat.hears()
    async with machine.running(Remembering()):
        await machine.chat.says("/context")
        assert "said so far by people" not in rows((await machine.chat.hears()).text)


async def test_a_command_that_cannot_be_carried_out_says_so(caplog, monkeypatch):
    """IN-60: the person gets one sentence without the details, the log has them, and the chat goes on."""

    def broken(transcript):
        raise LookupError("the folder of files")

    monkeypatch.setattr(gateway_commands, "_file", broken)
    async with conversation(ScriptedAgent("One.", "Two."), FakeFiles()) as chat:
        await chat.says("one")
        await chat.hears("One.")
        await chat.rests()
        await chat.says("/export-session")
        await chat.hears("That failed (LookupError); the gateway's log has the details.")
        await chat.says("two")
        await chat.hears("Two.")
    assert "the folder of files" in caplog.text


async def test_a_session_is_exported_as_a_file():
    """IN-61: once, with what was said in this session and in no other; no directive and no secret in it."""
    channel = FakeFiles()
    agent = ScriptedAgent("Hello Bob.", "Old.", "[[reply_to:m1]]\nNew, sk-0123456789abcdefghijkl.")
    async with conversation(agent, channel) as chat:
        await chat.says("hello, I am Bob", sender="bob", chat="bobs")
        await chat.hears("Hello Bob.")
        await chat.says("one")
        await chat.hears("Old.")
        await chat.says("/new two")
        await chat.hears()
        await chat.hears()
        await chat.rests()
        await chat.says("/export-session")
        await chat.hears("The transcript of this session.")
    (file,) = channel.files
    assert (file.mime, file.kind) == ("text/markdown", "document")
    page = file.content.decode()
    assert page.count("## ") == 2
    assert "\n\ntwo\n\n" in page
    assert page.endswith("\n\nNew, [redacted].\n")
    assert "Bob" not in page


async def test_where_no_file_can_be_sent_a_transcript_is_text():
    """IN-61: within bounds, and who runs the gateway has the rest."""
    async with conversation(ScriptedAgent(*["word " * 1000] * 2)) as chat:
        await chat.says("/export-session")
        await chat.hears("Nothing has been said in this session yet.")
        await chat.says("one")
        await chat.hears()
        await chat.rests()
        await chat.says("/export-session")
        whole = (await chat.hears()).text
        await chat.says("two")
        await chat.hears()
        await chat.rests()
        await chat.says("/export-session")
        end = (await chat.hears()).text
    assert whole.startswith("The transcript of this session:\n\n```markdown\n## ann, ")
    assert end.startswith(
        "The last 2 of 4 entries; `rejoinder export scripted:fake:default:direct:ann` prints all of it"
    )
    assert len(end) < 6500


async def test_a_transcript_that_is_too_large_for_the_channel_is_text_too():
    channel = FakeFiles()
    channel.file_limits = FileLimits(10)
    async with conversation(ScriptedAgent("Hi."), channel) as chat:
        await chat.says("hello")
        await chat.hears("Hi.")
        await chat.rests()
        await chat.says("/export-session")
        assert (await chat.hears()).text.startswith("The transcript of this session:")
    assert channel.files == []


def operating(**commands) -> Settings:
    elevated = ElevatedSettings(enabled=True, allow_from=("fake:ann",))
    return Settings(commands=CommandsSettings(bash=True, elevated=elevated, **commands))


async def test_an_owner_runs_commands_beside_the_gateway():
    """IN-61: the answer is what it writes, without secrets; the agent hears nothing of it, and others may not."""
    agent = ScriptedAgent("Hi Bob.")
    async with conversation(agent, settings=operating()) as chat:
        await chat.says("! echo sk-0123456789abcdefghijkl; echo two")
        await chat.hears("```\n[redacted]\ntwo\n```")
        await chat.rests()
        await chat.says("/bash false")
        await chat.hears("It exited with status 1.")
        await chat.says("! echo bob", sender="bob", chat="bobs")
        await chat.says("hello", sender="bob", chat="bobs")
        await chat.hears("Hi Bob.")
    assert len(agent.turns) == 1


async def test_a_command_ends_with_the_gateway():
    """What is to be said of it is said before."""
    channel = FakeMessenger()
    async with conversation(ScriptedAgent(), channel, settings=operating()) as chat:
        await chat.says("! sleep 300")
        await chat.says("! sleep 300")
        await chat.hears("A command is already running; it has 60 seconds in all.")
        await chat.gateway.drain()
        await chat.hears("It was ended with the gateway.")


class Placed(ScriptedAgent):
    """Lets people say where it runs things."""

    takes_exec = ("host",)


async def test_where_to_run_things_reaches_an_agent_that_takes_it():
    """IN-53, IN-59: `host` is handed over, stored or for one turn; what it does not take is refused."""
    agent = Placed("One.", "Two.", "Three.")
    async with conversation(agent) as chat:
        await chat.says("/exec host=sandbox")
        await chat.hears("Exec: host=sandbox.")
        await chat.says("hello")
        await chat.hears("One.")
        await chat.says("/exec node=mac")
        await chat.hears("The agent scripted does not take node; valid: host=sandbox|gateway|node, or default")
        await chat.says("/exec host=gateway hello")
        await chat.hears("For this turn: exec host=gateway.")
        await chat.hears("Two.")
        await chat.says("/exec default")
        await chat.hears("Exec: default.")
        await chat.says("hello")
        await chat.hears("Three.")
    assert [(turn.host, turn.node) for turn in agent.turns] == [("sandbox", None), ("gateway", None), (None, None)]


class Telling(ScriptedAgent):
    """Says which models it has, and which commands."""

    models = ("gpt-x",)
    fallbacks = ()
    profiles = ("work",)

    async def list_models(self):
        return ("gpt-x", "gpt-y", "gpt-z-2030-01-02", "llama3:8b")

    def announced_commands(self):
        return frozenset({"statu"})


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/model gpt-y", "Model: gpt-y."),
        ("/model GPT-Y@Work", "Model: gpt-y@work."),
        ("/model openai/gpt-y", "Model: gpt-y."),
        ("/model gpt-z", "Model: gpt-z."),
        ("/model llama3", "Model: llama3."),
        ("/model gpt-q", "gpt-q is not a model you can choose here; valid: gpt-y, gpt-x; /models lists more"),
        ("/model nonexist hi there", "nonexist is not a model you can choose here; valid: "),
        ("/model gpt-y@home", "There is no profile 'home'; there are: work."),
        ("do /model gpt-y@home it", "There is no profile 'home'; there are: work."),
        ("[[/model nonexist]]", "nonexist is not a model you can choose here; valid: "),
        ("/models", "It also offers: gpt-y, gpt-z-2030-01-02, llama3:8b"),
        ("/models", "/model <name>@work"),
        ("/staus", "There is no /staus. Did you mean /status? Nothing was run."),
    ],
)
async def test_a_model_the_agent_does_not_offer_is_refused(typed, answer):
    """IN-52, IN-55, IN-60: with the nearest ones, before anything is written; the agent does not run."""
    agent = Telling()
    async with conversation(agent) as chat:
        await chat.says(typed)
        assert answer in (await chat.hears()).text
    assert agent.turns == []


async def test_a_name_the_agent_announces_is_the_agents():
    """IN-60: however near it is to a command of ours."""
    agent = Telling("My own.")
    async with conversation(agent) as chat:
        await chat.says("/statu")
        await chat.hears("My own.")


async def test_default_unsets_a_level_for_the_session_or_one_turn():
    """IN-52: what would hold if nobody had chosen holds again."""
    agent = ScriptedAgent("One.", "Two.", "Three.")
    async with conversation(agent) as chat:
        for typed, heard in (
            ("/think high", "Thinking: high."),
            ("/think default", "Thinking: default, which is off."),
            ("/think high", "Thinking: high."),
        ):
            await chat.says(typed)
            await chat.hears(heard)
        await chat.says("/think default for this one")
        await chat.hears("For this turn: thinking default.")
        await chat.hears("One.")
        await chat.says("and now?")
        await chat.hears("Two.")
        await chat.says("/t reset")
        await chat.hears("Thinking: default, which is off.")
        await chat.says("and now?")
        await chat.hears("Three.")
    assert [turn.think for turn in agent.turns] == [None, "high", None]


class Nicknamed(ScriptedAgent):
    """Its configuration has a short name for a model."""

    models = ("gpt-x", "best")
    fallbacks = ()
    aliases = {"best": "vendor/gpt-y"}  # noqa: RUF012 - as a settings record has it


async def test_a_configured_alias_is_a_directive_of_its_own():
    """IN-50: `/best` alone chooses the model, before other words for one turn."""
    agent = Nicknamed("One.", "Two.")
    async with conversation(agent) as chat:
        await chat.says("/best hello")
        await chat.hears("For this turn: model vendor/gpt-y.")
        await chat.hears("One.")
        await chat.says("/best")
        await chat.hears("Model: vendor/gpt-y.")
        await chat.says("hello")
        await chat.hears("Two.")
    assert [turn.model for turn in agent.turns] == ["vendor/gpt-y", "vendor/gpt-y"]
