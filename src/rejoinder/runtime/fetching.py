"""Files that stayed on the platform, fetched when an agent is about to read the message they came with (IN-9)."""

from msgspec.structs import replace

from rejoinder.agents.base import Agent, CanSeeImages
from rejoinder.channels.base import CanFetch
from rejoinder.events import Attachment
from rejoinder.inbound.media import worth_fetching
from rejoinder.runtime.abilities import can
from rejoinder.runtime.asked import Asked


async def with_files(asked: tuple[Asked, ...], agent: Agent) -> tuple[Asked, ...]:
    """The same messages, with what this agent can take of their files, as far as it can be had."""
    if not any(each.message.inbound.attachments for each in asked):
        return asked
    sees_images = can(agent, CanSeeImages) and agent.sees_images
    return tuple([await _fetched(each, sees_images=sees_images) for each in asked])


async def _fetched(asked: Asked, *, sees_images: bool) -> Asked:
    channel, inbound = asked.conversation.channel, asked.message.inbound
    if not inbound.attachments or not can(channel, CanFetch):
        return asked
    files: list[Attachment] = []
    for file in inbound.attachments:
        limit = worth_fetching(file, sees_images=sees_images)
        content = await channel.fetch(file, limit) if limit else None
        files.append(file if content is None else replace(file, content=content))
    filled = replace(inbound, attachments=tuple(files))
    return replace(asked, message=replace(asked.message, inbound=filled))
