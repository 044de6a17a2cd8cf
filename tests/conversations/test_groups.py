"""Groups: bots that talk to each other until a person says something, and answers for so many messages a day."""

from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.schema import ConfiguredChannel, Settings
from rejoinder.inbound.settings import GroupSettings
from rejoinder.testing import ScriptedAgent, conversation

ROOM = {"chat": "lab", "kind": "group"}
NOTICE = "4 bot turns in a row: I am silent until a human writes."


def chatty(**limits) -> Settings:
    common = CommonChannelSettings(dm="open", groups="open", bot_messages="all", require_mention=False, **limits)
    return Settings(channels={"fake": ConfiguredChannel("fake", common, {})})


async def test_bots_fall_silent_until_a_person_writes():
    """IN-23: our own turns count; one notice at the limit, then nothing; a person begins the count again."""
    agent = ScriptedAgent("Yes.", "Indeed.", "Hello, Ann.", "Again.")
    async with conversation(agent, settings=chatty(bot_turns=4)) as chat:
        for heard in ("Yes.", "Indeed.", NOTICE):
            await chat.channel.says("right?", sender="other", bot=True, **ROOM)
            await chat.hears(heard)
            await chat.rests()
        await chat.channel.says("right?", sender="other", bot=True, **ROOM)
        await chat.channel.says("hello", **ROOM)
        await chat.hears("Hello, Ann.")
        await chat.channel.says("right?", sender="other", bot=True, **ROOM)
        await chat.hears("Again.")


async def test_the_limit_of_a_day_is_lifted_by_the_owner():
    """IN-23: /session bots counts from zero again."""
    agent = ScriptedAgent("One.", "Two.", "Three.")
    async with conversation(agent, settings=chatty(bot_turns_per_day=3)) as chat:
        for heard in ("One.", "Two."):
            await chat.channel.says("so?", sender="other", bot=True, **ROOM)
            await chat.hears(heard)
            await chat.rests()
        await chat.channel.says("so?", sender="other", bot=True, **ROOM)
        await chat.channel.says("/session bots", **ROOM)
        await chat.hears("Bot turns are counted from zero again.")
        await chat.channel.says("so?", sender="other", bot=True, **ROOM)
        await chat.hears("Three.")


async def test_a_group_has_so_many_answers_a_day():
    """IN-33: what comes after them is not answered; other groups are."""
    limited = chatty(group={"lab": GroupSettings(daily_limit=1)})
    async with conversation(ScriptedAgent("One.", "Elsewhere."), settings=limited) as chat:
        await chat.channel.says("hello", **ROOM)
        await chat.hears("One.")
        await chat.channel.says("hello again", **ROOM)
        await chat.channel.says("hello", chat="den", kind="group")
        await chat.hears("Elsewhere.")


async def test_who_takes_part_is_told_with_every_turn():
    """IN-34: the people and bots of the last messages, also those who did not mean the agent; not the agent itself."""
    agent = ScriptedAgent("One.", "Two.", "Elsewhere.")
    common = CommonChannelSettings(dm="open", groups="open")
    async with conversation(agent, settings=Settings(channels={"fake": ConfiguredChannel("fake", common, {})})) as chat:
        await chat.channel.says("lunch?", sender="bob", **ROOM)
        await chat.channel.says("it is noon", sender="clock", bot=True, **ROOM)
        await chat.channel.says("@bot hello", mention=True, **ROOM)
        await chat.hears("One.")
        await chat.channel.says("@bot again", sender="bob", mention=True, **ROOM)
        await chat.hears("Two.")
        await chat.channel.says("@bot hello", mention=True, chat="den", kind="group")
        await chat.hears("Elsewhere.")
    first, second, elsewhere = (turn.system for turn in agent.turns)
    assert '"participants":["ann","bob","clock"]' in first
    assert first == second
    assert '"participants":["ann"]' in elsewhere
