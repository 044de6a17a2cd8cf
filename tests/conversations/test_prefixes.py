"""The response prefix through the whole gateway (DE-5): on every final reply, whoever makes it."""

import pytest

from rejoinder.agents.base import Failed, ModelSelected
from rejoinder.config.schema import AgentDefaults, MessagesSettings, Settings
from rejoinder.inbound.settings import CommandsSettings, ElevatedSettings
from rejoinder.testing import ScriptedAgent
from rejoinder.testing.chat import conversation

NAME = "[{identity.name}]"


def prefixed(prefix: str, **more) -> Settings:
    return Settings(messages=MessagesSettings(response_prefix=prefix), **more)


async def test_what_the_gateway_replies_is_prefixed():
    """DE-5: answers, commands, acknowledgements, status and errors alike."""
    agent = ScriptedAgent("Hello.", "Deep.", [Failed("billing", "Nobody paid.", "402")], "")
    async with conversation(agent, settings=prefixed(NAME)) as chat:
        await chat.says("hello")
        await chat.hears("[scripted] Hello.")
        await chat.says("/think high")
        await chat.hears("[scripted] Thinking: high.")
        await chat.says("/status")
        assert (await chat.hears()).text.startswith("[scripted] rejoinder ")
        await chat.says("/think low be deep")
        assert (await chat.hears()).text.startswith("[scripted] For this turn: thinking low.")
        await chat.hears("[scripted] Deep.")
        await chat.says("and now?")
        await chat.hears("[scripted] Nobody paid.")
        await chat.says("nothing?")
        await chat.hears("[scripted] _(no response)_")
        await chat.says("/stop")
        await chat.hears("[scripted] Nothing is running.")


async def test_a_shell_command_is_answered_with_it():
    """DE-5, IN-61: its output comes later, as a reply all the same."""
    commands = CommandsSettings(bash=True, elevated=ElevatedSettings(enabled=True, allow_from=("fake:ann",)))
    async with conversation(ScriptedAgent(), settings=prefixed(NAME, commands=commands)) as chat:
        await chat.says("/elevated on")
        await chat.hears()
        await chat.says("/bash echo hello")
        assert (await chat.hears()).text.strip() == "[scripted]\n\n```\nhello\n```"


@pytest.mark.parametrize("said", ["/compact", "crash"])
async def test_what_stands_in_for_an_answer_is_prefixed(said: str):
    """DE-5: what became of a run that gave no answer."""

    async def crashes():
        raise RuntimeError("broken")

    agent = ScriptedAgent("Hello.", [crashes])
    async with conversation(agent, settings=prefixed(NAME)) as chat:
        await chat.says("hello")
        await chat.hears("[scripted] Hello.")
        await chat.says(said)
        assert (await chat.hears()).text.startswith("[scripted] ")


async def test_the_thinking_level_is_what_status_says():
    """DE-5: by default, of the session and of the turn; a known variable without a value leaves no brackets."""
    agent = ScriptedAgent("One.", "Two.", "Three.", [ModelSelected("acme/large-2"), "Four."])
    defaults = AgentDefaults(thinking_default="low")
    async with conversation(agent, settings=prefixed("[{model}] {thinkingLevel}:", agent_defaults=defaults)) as chat:
        await chat.says("one")
        await chat.hears("low: One.")
        await chat.says("/think off")
        await chat.hears("off: Thinking: off.")
        await chat.says("two")
        await chat.hears("off: Two.")
        await chat.says("/t high three")
        assert (await chat.hears()).text.startswith("high: For this turn: thinking high.")
        await chat.hears("high: Three.")
        await chat.says("four")
        await chat.hears("[large-2] off: Four.")
