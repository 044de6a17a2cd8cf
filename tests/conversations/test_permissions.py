"""What agents ask people, and what was decided beforehand."""

import asyncio

import pytest

from rejoinder.agents.base import Option, Question, TextDelta
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, GatewaySettings, MessagesSettings, QueueSection, Settings
from rejoinder.inbound.settings import CommandsSettings, ElevatedSettings
from rejoinder.session import SessionSettings
from rejoinder.testing import FakeMessenger, conversation
from tests.conversations.agents import Asking, Steerable

QUESTION = "May I delete it all?\n\nAnswer yes or no. /approve {q} allows it once; /approve {q} deny denies it."
CHOICE = """May I delete it all?

1. yes
2. The old ones
3. No, nothing

Answer with the number. You can also write /approve {q} and the number, or /approve {q} deny."""
PERMISSION = CHOICE.replace("with the number.", "with the number, yes or no.")
OPTIONS = ("yes", Option("some", "The old ones"), Option("no!", "No, nothing"))


async def asked_for(chat, question: str = QUESTION) -> str:
    """The name of the request that was put into the chat."""
    text = (await chat.hears()).text
    which = text.rpartition("/approve ")[2].split()[0]
    assert text == question.format(q=which)
    return which


@pytest.mark.parametrize(
    ("answer", "reply", "heard"),
    [("", "allow-once", "I was told allow-once."), (" deny", "deny", "I was told None.")],
)
async def test_a_permission_is_asked_for_in_the_chat(answer, reply, heard):
    """TU-33: asked in the chat, answered by /approve."""
    async with conversation(Asking()) as chat:
        await chat.says("clean up")
        which = await asked_for(chat)
        await chat.says(f"/approve {which}{answer}")
        replies = {(await chat.hears()).text, (await chat.hears()).text}
    assert replies == {f"Request {which}: {reply}.", heard}


class Leaving(Asking):
    """Takes an answer, and ends as a program would."""

    async def answer(self, question, option) -> None:
        await super().answer(question, option)
        raise SystemExit(1)


async def test_an_agent_that_exits_when_it_is_answered_ends_no_gateway(caplog):
    """TU-33: an agent may be anybody's code."""
    async with conversation(Leaving()) as chat:
        await chat.says("clean up")
        await chat.says(f"/approve {await asked_for(chat)}")
        assert {(await chat.hears()).text for _ in range(2)} > {"I was told allow-once."}
    assert "failed: SystemExit: 1" in caplog.text


@pytest.mark.parametrize(
    ("answer", "reply", "heard"),
    [
        (" 2", "The old ones", "some"),
        (" YES", "yes", "yes"),
        (" some", "The old ones", "some"),
        (" no, nothing", "No, nothing", "no!"),
        (" Deny", "Deny", "None"),
        (" allow-always", "allow-always", "allow-always"),
        ("", "allow-once", "allow-once"),
    ],
)
async def test_the_options_of_a_question_are_answered_in_words(answer, reply, heard):
    """TU-33, TU-34: by number, by id or by label; what we say for yes and no holds for every question."""
    async with conversation(Asking(*OPTIONS)) as chat:
        await chat.says("clean up")
        which = await asked_for(chat, CHOICE)
        await chat.says(f"/approve {which}{answer}")
        replies = {(await chat.hears()).text, (await chat.hears()).text}
    assert replies == {f"Request {which}: {reply}.", f"I was told {heard}."}


@pytest.mark.parametrize(
    ("answer", "reply", "heard"),
    [
        ("/approve", "allow-once", "allow-once"),
        ("/approve deny", "deny", "None"),
        ("/approve 2", "The old ones", "some"),
        ("yes", "allow-once", "allow-once"),
        ("No.", "deny", "None"),
        ("2", "The old ones", "some"),
    ],
)
async def test_the_one_open_request_needs_no_name(answer, reply, heard):
    """TU-34: with one open question yes, no, a number, /approve and /approve deny answer it."""
    options = (Option("a", "Yes, once", "once"), Option("some", "The old ones", "always"), Option("x", "None", "no"))
    async with conversation(Asking(*options)) as chat:
        await chat.says("clean up")
        which = (await chat.hears()).text.rpartition("/approve ")[2].split()[0]
        await chat.says("/status")
        assert f"Waiting for you: request {which}" in (await chat.hears()).text
        await chat.says(answer)
        replies = {(await chat.hears()).text, (await chat.hears()).text}
    assert replies == {f"Request {which}: {reply}.", f"I was told {heard}."}


async def test_yes_is_a_message_where_nothing_was_asked():
    """TU-34: and `/approve` says that no request waits."""
    async with conversation(Asking()) as chat:
        await chat.says("/approve")
        await chat.hears("No single request is waiting for you here. If there are several, name one: /approve <which>")
        await chat.says("yes")  # a message like any other: the agent is asked, and asks
        await chat.says(f"/approve {await asked_for(chat)}")
        assert "I was told allow-once." in {(await chat.hears()).text, (await chat.hears()).text}


@pytest.mark.parametrize("answer", ["4", "0", "perhaps", "9" * 5000], ids=["4", "0", "perhaps", "far too many"])
async def test_an_option_that_is_none_leaves_the_question_open(answer):
    async with conversation(Asking(*OPTIONS)) as chat:
        await chat.says("clean up")
        which = await asked_for(chat, CHOICE)
        await chat.says(f"/approve {which} {answer}")
        said = (await chat.hears()).text
        await chat.says(f"/approve {which} 1")
        replies = {(await chat.hears()).text, (await chat.hears()).text}
    assert said.startswith(f"Request {which} has no option {answer}.")
    assert replies == {f"Request {which}: yes.", "I was told yes."}


async def test_a_permission_is_asked_for_below_the_words_before_it():
    """TU-34: whoever is to allow it has read what the agent wrote until then, whatever the pace of the draft."""

    class Explaining(Asking):
        async def run(self, turn):
            yield TextDelta("It is full.")
            async for event in super().run(turn):
                yield event

    channel = FakeMessenger()
    async with conversation(Explaining(), channel) as chat:
        await chat.says("clean up")
        await channel.until(lambda: any("May I" in shown.text for shown in channel.messages.values()))
        _, draft, question = channel.messages.values()
        assert draft.text == "It is full."
        await chat.says(f"/approve {question.text.rpartition('/approve ')[2].split()[0]}")
        await channel.until(lambda: draft.text == "It is full.I was told allow-once.")
        await chat.rests()
        for _ in range(3):
            await chat.hears()


@pytest.mark.parametrize("where", [{"sender": "bob", "chat": "room"}, {"sender": "ann", "chat": "elsewhere"}])
async def test_nobody_else_and_nowhere_else_can_answer(where):
    """TU-34: bound to the asking chat and person."""
    async with conversation(Asking(), owners=("ann", "bob")) as chat:
        await chat.says("clean up")
        which = await asked_for(chat)
        await chat.says(f"/approve {which}", **where)
        await chat.hears(f"There is no request {which} for you here; it may have been answered or have expired.")
        await chat.says(f"/approve {which} deny")
        replies = {(await chat.hears()).text, (await chat.hears()).text}
    assert replies == {f"Request {which}: deny.", "I was told None."}


async def test_a_question_that_nobody_answers_is_denied_in_the_end():
    settings = Settings(gateway=GatewaySettings(question_timeout_s=0.02))
    async with conversation(Asking(), settings=settings) as chat:
        await chat.says("clean up")
        await asked_for(chat)
        await chat.hears("I was told None.")


async def test_who_is_elevated_is_not_asked():
    """IN-59: elevated and exec set the permission policy of this session."""
    elevated = ElevatedSettings(enabled=True, allow_from=("fake:ann",))
    async with conversation(Asking(), settings=Settings(commands=CommandsSettings(elevated=elevated))) as chat:
        await chat.says("/elevated full")
        await chat.hears("Elevated: full.")
        await chat.says("clean up")
        await chat.hears("I was told allow-once.")


async def test_what_is_decided_for_this_turn_beats_the_session():
    """IN-55, IN-59: this turn's directive > session; afterwards it is as before."""
    async with conversation(Asking()) as chat:
        await chat.says("/exec security=full")
        await chat.hears("Exec: security=full.")
        await chat.says("/exec security=deny clean up")
        await chat.hears("For this turn: exec security=deny.")
        await chat.hears("I was told None.")
        await chat.says("clean up")
        await chat.hears("I was told allow-once.")


async def test_the_agent_is_told_where_a_session_is_stricter():
    """IN-59: what the agent's own settings allow is denied, or asked for, anyway."""
    agent = Asking()
    async with conversation(agent) as chat:
        for option, decided in (("security=deny", "None"), ("security=full ask=off", "allow-once")):
            await chat.says(f"/exec {option}")
            await chat.hears()
            await chat.says("clean up")
            await chat.hears(f"I was told {decided}.")
        await chat.says("/exec ask=always")
        await chat.hears()
        await chat.says("clean up")
        await chat.says(f"/approve {await asked_for(chat)}")
        await chat.hears()
        await chat.hears()
    assert [turn.permissions for turn in agent.turns] == ["deny", None, "ask"]


async def test_the_end_of_one_run_leaves_the_question_of_another_open():
    """TU-34: two sessions of one agent in one chat; each question waits for its own person."""
    common = CommonChannelSettings(dm="open", groups="open", require_mention=False)
    settings = Settings(
        channels={"fake": ConfiguredChannel("fake", common, None)}, session=SessionSettings(group_scope="per-sender")
    )
    ended = asyncio.Event()

    async def hears_of_it(_) -> None:
        ended.set()

    async with conversation(Asking(), settings=settings, owners=("ann", "bob")) as chat:
        chat.gateway.on("turn_ended", hears_of_it)
        for sender in ("ann", "bob"):
            await chat.channel.says("clean up", kind="group", sender=sender)
        first, second = await asked_for(chat), await asked_for(chat)
        await chat.channel.says(f"/approve {first} deny", kind="group", sender="ann")
        await chat.hears()
        await chat.hears("I was told None.")
        await ended.wait()
        await chat.channel.says(f"/approve {second} deny", kind="group", sender="bob")
        assert "There is no request" not in (await chat.hears()).text
        await chat.hears("I was told None.")


# --- where several people share a session ---------------------------------------------------------

ANN_IS_ELEVATED = CommandsSettings(elevated=ElevatedSettings(enabled=True, allow_from=("fake:ann",)))


def a_group(**settings) -> Settings:
    common = CommonChannelSettings(dm="open", groups="open", require_mention=False)
    return Settings(channels={"fake": ConfiguredChannel("fake", common, None)}, commands=ANN_IS_ELEVATED, **settings)


async def denied(chat, sender: str, hears: str = "I was told None.") -> None:
    """The agent asks, and this person says no."""
    which = await asked_for(chat)
    await chat.channel.says(f"/approve {which} deny", kind="group", sender=sender)
    assert {(await chat.hears()).text, (await chat.hears()).text} == {f"Request {which}: deny.", hears}


async def test_a_guest_gives_no_leave():
    """IN-12, TU-34: what a guest's turn asks for is denied at once; nobody else could answer it."""
    async with conversation(Asking(), settings=a_group()) as chat:
        await chat.channel.says("clean up", kind="group", sender="bob")
        await chat.hears("I was told None.")


@pytest.mark.parametrize("lifted", ["/elevated full", "/exec security=full"])
async def test_what_one_may_do_is_not_lent_to_the_others(lifted):
    """IN-59, TU-34: in a group that an owner has lifted, what others' turns ask for is not given by itself."""
    async with conversation(Asking(), settings=a_group()) as chat:
        await chat.channel.says(lifted, kind="group", sender="ann")
        await chat.hears()
        await chat.channel.says("clean up", kind="group", sender="ann")
        await chat.hears("I was told allow-once.")
        await chat.channel.says("clean up", kind="group", sender="bob")
        await chat.hears("I was told None.")


async def test_an_owner_who_is_not_named_lifts_nothing():
    """IN-57, IN-59: elevated is for those in `commands.elevated.allow_from`, also where it is on already."""
    async with conversation(Asking(), settings=a_group(), owners=("ann", "bob")) as chat:
        await chat.channel.says("/elevated full", kind="group", sender="ann")
        await chat.hears()
        await chat.channel.says("clean up", kind="group", sender="bob")
        await denied(chat, "bob")


async def test_what_lowers_holds_for_everybody():
    """IN-59: the policy of this session."""
    async with conversation(Asking(), settings=a_group()) as chat:
        await chat.channel.says("/exec security=deny", kind="group", sender="ann")
        await chat.hears()
        for sender in ("ann", "bob"):
            await chat.channel.says("clean up", kind="group", sender=sender)
            await chat.hears("I was told None.")


async def test_a_turn_of_several_people_is_not_lifted_by_one_of_them():
    """IN-59, TU-7: a batch in which a guest speaks too, gathered while the agent was at work."""
    go = asyncio.Event()

    class Busy(Asking):
        async def run(self, turn):
            if not self.turns:
                self.turns.append(turn)
                yield TextDelta("Just a moment.")
                await go.wait()
                return
            async for event in super().run(turn):
                yield event

    collects = MessagesSettings(queue=QueueSection(mode="collect", debounce_ms=1))
    agent = Busy()
    async with conversation(agent, settings=a_group(messages=collects)) as chat:
        await chat.channel.says("/elevated full", kind="group", sender="ann")
        await chat.hears()
        await chat.channel.says("one", kind="group", sender="ann")
        await chat.sees("Just a moment.")
        for sender in ("bob", "ann"):
            await chat.channel.says("clean up", kind="group", sender=sender)
        go.set()
        await chat.hears("Just a moment.")
        await denied(chat, "ann")
    assert len(agent.turns) == 2


async def test_who_steers_a_lifted_run_ends_its_licence():
    """IN-59: a guest's words go into the owner's run; what it asks for then is asked for."""

    class SteeredAsking(Asking, Steerable):
        def __init__(self) -> None:
            Asking.__init__(self)
            self.offered, self.willing, self.was_offered = [], True, asyncio.Event()

        async def run(self, turn):
            self.turns.append(turn)
            yield TextDelta("Just a moment.")
            await self.was_offered.wait()
            yield Question("permission-1", "May I delete it all?")
            yield TextDelta(f" I was told {await self.answers.get()}.")

    steers = MessagesSettings(queue=QueueSection(mode="steer"))
    async with conversation(SteeredAsking(), settings=a_group(messages=steers)) as chat:
        await chat.channel.says("/elevated full", kind="group", sender="ann")
        await chat.hears()
        await chat.channel.says("tidy the desk", kind="group", sender="ann")
        await chat.sees("Just a moment.")
        await chat.channel.says("and delete it all", kind="group", sender="bob")
        await denied(chat, "ann", "Just a moment. I was told None.")
