"""The whole gateway on a fake Discord."""

import asyncio
from contextlib import asynccontextmanager, suppress

from rejoinder.app import MEMORY, Gateway
from rejoinder.config.load import read
from rejoinder.testing import FakePlatform
from rejoinder.testing.patience import PATIENCE
from rejoinder.testing.platform import oracles
from rejoinder.wiring.opening import open_channels

SETTINGS = """
[agents.scripted]
kind = "scripted"
script = "answers.json"

[channels.discord]
{here}
owners = ["{owner}"]
allow_groups = ["{group}", "{forum}"]
pace = {{ chat = "unlimited", account = "unlimited" }}
{more}

[messages.queue]
debounce_ms = 0
"""


@asynccontextmanager
async def discord(agent, more="", answered=None, store=MEMORY, platform=None, **options):
    """Ann owns the bot; #team is a channel it may take part in. `answered`: who may be pinged."""
    async with asyncio.timeout(2 * PATIENCE), platform or FakePlatform("discord", **options) as platform:
        await platform.people.start(platform.url)
        for chat in ("#team", "#forum"):
            platform.people.world.room(chat)
        text = SETTINGS.format(
            here=platform.config(),
            owner=platform.id_of("ann"),
            group=platform.id_of("#team"),
            forum=platform.id_of("#forum"),
            more=more,
        )
        settings = read(text, "rejoinder.toml", {})
        agents = {agent.name: agent}
        async with Gateway(settings, agents=agents, channels=open_channels(settings), store=store) as gateway:
            serving = asyncio.create_task(gateway.serve())
            platform.gateway = gateway
            yield platform
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
        frames = platform.truth.frames
        assert not oracles.leaked(frames)
        assert all(answered and fired.endswith(f": @{answered}") for fired in oracles.mentions_fired(frames))
