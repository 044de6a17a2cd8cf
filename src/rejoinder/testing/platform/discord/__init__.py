"""Discord: its gateway and its REST API, strict.

A name is a person, and that person's direct chat with the bot; a name that begins with # is a text channel of the only
server. Ids are derived from the names, so a configuration can be written before the first message. In people's texts,
`@name` is a mention.
"""

from rejoinder.testing.platform.personality import Personality, Stage


def personality(stage: Stage) -> Personality:
    from rejoinder.testing.platform.discord.server import DiscordServer  # noqa: PLC0415 - by name, not by import

    return DiscordServer(stage)
