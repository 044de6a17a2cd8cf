"""A gateway for one conversation: in the terminal, or for a single message from a program."""

from functools import partial

from msgspec.structs import replace

from rejoinder import plugins
from rejoinder.app import MEMORY, SELF, Gateway, with_channel
from rejoinder.channels.base import Delivered, FileLimits, Inlet, Limits, Outcome, OutgoingFile
from rejoinder.config import schema
from rejoinder.errors import BadConfiguration
from rejoinder.events import Attachment, Inbound, Part, Reply, Route
from rejoinder.programs import config_writing, debug_settings
from rejoinder.programs.reloading import Reloading, SettingsSource
from rejoinder.runtime.session.relay import Hears, Watcher, tell
from rejoinder.runtime.tasks import Tasks


def _only(settings: schema.Settings, channel: str) -> schema.Settings:
    """Settings for only this channel, and no jobs, which belong to the gateway that serves all channels."""
    agents = {name: replace(agent, heartbeat=None) for name, agent in settings.agents.items()}
    return replace(settings, channels={channel: settings.channels[channel]}, agents=agents, cron={})


MOST_COLLECTED = 50_000_000
"""The most bytes of a file in a reply: the caller gets it as a whole."""


async def _whole(file: OutgoingFile) -> Attachment:
    content = b"".join([chunk async for chunk in file.chunks()])
    return Attachment(file.id, file.name, file.mime, file.size, content=content, kind=file.kind)


class _Collected:
    """A channel that keeps the replies."""

    limits = Limits()
    file_limits = FileLimits(MOST_COLLECTED, album=100)

    def __init__(self, name: str, on_block: Hears | None) -> None:
        self.name = name
        self.replies: list[Reply] = []
        self._on_block = on_block

    async def listen(self, deliver: Inlet) -> None:
        """Receives nothing: the caller dispatches the only message."""

    async def send(self, part: Part) -> Outcome:
        return await self._collect(part)

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        return await self._collect(part, *[await _whole(file) for file in files])

    async def _collect(self, part: Part, *files: Attachment) -> Outcome:
        self.replies.append(Reply(part.text, part.reply_to, part.silent, part.is_error, files))
        await tell(self._on_block, part.text)
        return Delivered(f"reply-{len(self.replies)}")


async def get_reply(
    inbound: Inbound,
    settings: schema.Settings,
    *,
    on_block: Hears | None = None,
    on_tool: Hears | None = None,
    on_model: Hears | None = None,
) -> list[Reply]:
    """The whole way from a message to its replies, without channel or store.

    If the channel is configured, its settings hold; otherwise it is open. `on_block` is called with each reply when it
    is ready, `on_tool` with the title of each tool the agent uses, `on_model` with the model.
    """
    if not settings.agents:
        raise BadConfiguration("there is no agent to ask; the settings need an [agents.NAME] section")
    if inbound.channel not in settings.channels:
        settings = with_channel(settings, inbound.channel, next(iter(settings.agents)), ())
    channel = _Collected(inbound.channel, on_block)
    watcher = Watcher(on_tool, on_model)
    alone = _only(settings, inbound.channel)
    async with Gateway(alone, channels=[channel], store=MEMORY, watcher=watcher) as gateway:
        await gateway.dispatch(inbound)
        await gateway.tasks.idle()
    return channel.replies


async def chat(settings: schema.Settings, agent: str, source: SettingsSource) -> None:
    """The gateway in the terminal."""
    terminal = plugins.find("channel", "terminal")
    channel = terminal.open_channel("terminal", terminal.Settings(), agent)
    here = _at_terminal(settings, agent)
    async with Gateway(here, channels=[channel], store=MEMORY) as gateway, Tasks() as beside:
        read = source.read
        source = source._replace(read=lambda: _at_terminal(read(), agent))
        note = partial(channel.notify_operator, Route("terminal", ""))
        beside.start("reloading", Reloading(gateway, source, note).run())
        debug_settings.attach(gateway, source)
        config_writing.attach(gateway, source)
        await gateway.serve()


def _at_terminal(settings: schema.Settings, agent: str) -> schema.Settings:
    return _only(with_channel(settings, "terminal", agent, (SELF,)), "terminal")
