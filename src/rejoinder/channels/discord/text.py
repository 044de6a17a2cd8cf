"""Puts the parts of a Discord message besides its text into words: stickers, polls, embeds, forwards (CH-27)."""

from collections.abc import Iterator

from rejoinder.channels.discord.wire import Embed, Message

LONGEST_EMBED = 4000
LINKS = frozenset({"link", "image", "video", "gifv", "article"})
"""Embeds that Discord itself makes from a link in the text; they are not the sender's words."""


def said_in(message: Message) -> str:
    """All of it as one text, for a message that is quoted or passed on."""
    return "\n".join((*filter(None, [message.content]), *_besides(message)))


def context_of(message: Message, me: str) -> Iterator[str]:
    """What came along with the text, in words for the agent, and the names of the people whose ids occur in it."""
    yield from _besides(message)
    for user in message.mentions or ():
        if user.id != me and f"<@{user.id}>" in (message.content or ""):
            name = f"{user.global_name} (@{user.username})" if user.global_name else f"@{user.username}"
            yield f"<@{user.id}> is {name}" + (", a bot" if user.bot else "")


def _besides(message: Message) -> Iterator[str]:
    for sticker in message.sticker_items or ():
        yield f"sent a sticker: {sticker.name}"
    if (poll := message.poll) is not None:
        options = " / ".join(answer.poll_media.text or "" for answer in poll.answers)
        yield f"sent a poll: {poll.question.text} ({options})"
    for embed in message.embeds or ():
        if embed.type not in LINKS and (words := _embed(embed)):
            yield f"sent an embed: {words[:LONGEST_EMBED]}"


def _embed(embed: Embed) -> str:
    author = embed.author.name if embed.author is not None else None
    footer = embed.footer.text if embed.footer is not None else None
    fields = [f"{field.name}: {field.value}" for field in embed.fields or ()]
    return "\n".join(filter(None, [author, embed.title, embed.description, *fields, footer]))
