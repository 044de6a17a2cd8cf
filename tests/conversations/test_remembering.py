"""Agents that keep a conversation only as long as their process lives: the store remembers it for them."""

import pytest

from rejoinder.agents.base import Exchange, Usage
from rejoinder.config.agents import AgentDefaults
from rejoinder.config.schema import Settings
from rejoinder.events import PromptText
from rejoinder.session import SessionSettings
from rejoinder.testing import ScriptedAgent
from tests.conversations.restarting import Machine


def text_of(turn) -> str:
    return "\n".join(part.text for part in turn.parts)


class Recalling(ScriptedAgent):
    """Keeps what was said, in its process alone."""

    def __init__(self, *replies):
        super().__init__(*replies)
        self.recalled = []

    def recall(self, session, past):
        self.recalled += [(text_of(each), each.answer) for each in past]


class Summarising(Recalling):
    async def compact(self, session):
        return Exchange((PromptText(f"In short: {len(self.recalled)} recalled."),), "Understood.")


async def test_an_agent_without_a_memory_of_its_own_is_reminded(tmp_path):
    """TU-33: once in each process; a reset starts later and is not undone."""
    machine = Machine(tmp_path)
    async with machine.running(Recalling("Hi, Ann.")):
        await machine.chat.says("I am Ann.")
        await machine.chat.hears("Hi, Ann.")
    second = Recalling("Ann.", "Yes.")
    async with machine.running(second):
        await machine.chat.says("Who am I?")
        await machine.chat.hears("Ann.")
        await machine.chat.says("Sure?")
        await machine.chat.hears("Yes.")
    ((question, answer),) = second.recalled
    assert ("I am Ann." in question, answer) == (True, "Hi, Ann.")
    third = Recalling("Who?")
    async with machine.running(third):
        await machine.chat.says("/new")
        await machine.chat.hears()
        await machine.chat.says("And now?")
        await machine.chat.hears("Who?")
    assert third.recalled == []


@pytest.mark.parametrize("by_hand", [True, False])
async def test_a_shortened_conversation_stays_short(tmp_path, by_hand):
    """TU-23, DU-5: the summary is in the place of what was said before it, in the next process too."""
    settings = Settings(agent_defaults=AgentDefaults(context_tokens=None if by_hand else 1000, memory_flush=False))
    machine = Machine(tmp_path, settings)
    async with machine.running(Summarising(["Hi, Ann.", Usage(900, 200, context_tokens=1100)], "Ann.")):
        await machine.chat.says("I am Ann.")
        await machine.chat.hears("Hi, Ann.")
        if by_hand:
            await machine.chat.says("/compact")
            await machine.chat.hears()
        await machine.chat.says("Who am I?")
        await machine.chat.hears("Ann.")
    second = Recalling("Yes.")
    async with machine.running(second):
        await machine.chat.says("Sure?")
        await machine.chat.hears("Yes.")
    (summary, understood), (question, answer) = second.recalled
    assert (summary, understood) == ("In short: 0 recalled.", "Understood.")
    assert ("Who am I?" in question, answer) == (True, "Ann.")


@pytest.mark.parametrize("inherits", [True, False])
async def test_a_thread_begins_with_what_was_said_in_its_chat(tmp_path, inherits):
    """IN-45: once, if it may at all; neither a restart nor a reset of the thread brings it again."""
    machine = Machine(tmp_path, Settings(session=SessionSettings(thread_inherits=inherits)))

    async def ask(text, answer, thread=None):
        await machine.channel.says(text, kind="group", mention=True, thread=thread)
        await machine.chat.hears(answer)

    first = Recalling("Hi, Ann.", "Ann.", "Yes.")
    async with machine.running(first):
        await ask("I am Ann.", "Hi, Ann.")
        await ask("Who am I?", "Ann.", "t1")
        await ask("Sure?", "Yes.", "t1")
    assert [("I am Ann." in question, answer) for question, answer in first.recalled] == [(True, "Hi, Ann.")] * inherits
    second = Recalling("Still Ann.", "Who?")
    async with machine.running(second):
        await ask("And now?", "Still Ann.", "t1")
        assert [answer for _, answer in second.recalled] == ["Hi, Ann."] * inherits + ["Ann.", "Yes."]
        second.recalled.clear()
        await ask("/new", None, "t1")
        await ask("And now?", "Who?", "t1")
    assert second.recalled == []


async def test_a_conversation_from_before_a_restart_can_be_shortened(tmp_path):
    """TU-23: `/compact` as the first word to a new process."""
    machine = Machine(tmp_path)
    async with machine.running(Summarising("Hi, Ann.")):
        await machine.chat.says("I am Ann.")
        await machine.chat.hears("Hi, Ann.")
    second = Summarising()
    async with machine.running(second):
        await machine.chat.says("/compact")
        assert "nothing to shorten" not in (await machine.chat.hears()).text
    assert len(second.recalled) == 1


async def test_who_has_rested_long_is_told_again(tmp_path, monkeypatch):
    """DU-5, TU-33: an agent keeps as many conversations as it has room for; the store keeps them all."""
    monkeypatch.setattr("rejoinder.runtime.services.MOST_REMEMBERED_SESSIONS", 4)
    machine, agent = Machine(tmp_path), Recalling(*["Hi."] * 5)
    async with machine.running(agent):
        for sender in ("ann", "bob", "cid", "ann", "cid"):
            await machine.chat.says(f"I am {sender}.", sender=sender, chat=sender)
            await machine.chat.hears("Hi.")
    ((question, answer),) = agent.recalled
    assert ("I am ann." in question, answer) == (True, "Hi.")


async def test_why_is_about_the_last_message_even_if_it_was_long_ago(tmp_path):
    """IN-64, DU-5: what became of it stands in the store; a process that does not have it in mind looks there."""
    machine = Machine(tmp_path)
    async with machine.running(Recalling("Hi.")):
        await machine.chat.says("hello")
        await machine.chat.hears("Hi.")
        await machine.chat.says("/whoami")
        await machine.chat.hears()
    async with machine.running(Recalling()):
        await machine.chat.says("/why")
        assert "agent scripted: answered" in (await machine.chat.hears()).text
