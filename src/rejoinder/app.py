"""THE wiring: names -> channel, agent, engine."""

from rejoinder import plugins
from rejoinder.agents.base import Agent, CanClose
from rejoinder.channels.base import Channel
from rejoinder.runtime.engine import Engine
from rejoinder.runtime.runs import Runs


async def serve(channel: Channel, agent: Agent) -> None:
    """Until the channel has come to its end and all that it brought is answered."""
    try:
        async with Runs() as runs:
            await channel.listen(Engine(agent, [channel], runs).accept)
            await runs.idle()
    finally:
        if isinstance(agent, CanClose):
            await agent.close()


async def chat(agent: str) -> None:
    """The gateway in the terminal."""
    answering, terminal = plugins.find("agent", agent), plugins.find("channel", "terminal")
    await serve(
        terminal.open_channel("terminal", terminal.Settings(agent=agent)),
        answering.open_agent(agent, answering.Settings()),
    )
