"""Reads events into messages, edits, deletions, reactions, commands and buttons.

An unknown place is looked up before its message is stored (CH-24).
"""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from rejoinder.channels.discord.interactions import parse_interaction
from rejoinder.channels.discord.parse import (
    BotIdentity,
    EventPlace,
    parse_deletion,
    parse_edit,
    parse_message,
    parse_reaction,
)
from rejoinder.channels.discord.places import Place, Places
from rejoinder.channels.discord.wire import AUTOCOMPLETE, Deleted, Interaction, Message, Reaction, convert
from rejoinder.events import Inbound

LookUp = Callable[[str], Awaitable[Place | None]]


class Event(Struct, frozen=True):
    kind: str
    data: Any
    session: str = ""
    sequence: int = 0
    address: str = ""


class ReadEvents(Struct):
    """The contents of a batch of events."""

    messages: list[Inbound] = []
    chosen: list[Interaction] = []
    """Commands and buttons; the people who used them are waiting for a sign."""
    typed: list[tuple[Interaction, Inbound]] = []
    """Commands that are still being typed; they are not stored."""


class EventReader:
    """`echoed` is called for our own messages when Discord sends them back to us."""

    def __init__(self, places: Places, look_up: LookUp, echoed: Callable[[str, str], None]) -> None:
        self._places = places
        self._look_up = look_up
        self._echoed = echoed
        self.me = BotIdentity("", "", "")

    def read_as(self, me: BotIdentity) -> None:
        """From now on it can tell which messages are the bot's own, and which mentions mean the bot."""
        self.me = me

    async def read(self, events: list[Event]) -> ReadEvents:
        heard = ReadEvents()
        for event in events:
            await self._read(event, heard)
        return heard

    async def message(self, message: Message, guild: str | None) -> Inbound | None:
        """`guild`: None in a direct chat."""
        if message.author is not None and message.author.id == self.me.id:
            if message.nonce is not None:
                self._echoed(str(message.nonce), message.id)
            return None
        heard = parse_message(message, await self._where(message.channel_id, guild), self.me)
        if heard is not None:
            self._places.note_read(message.channel_id, message.id)
            if heard.sender.is_bot and message.webhook_id is None:  # a webhook does not read the channel
                self._places.note_bot(message.channel_id)
        return heard

    async def _read(self, event: Event, heard: ReadEvents) -> None:
        said: Inbound | None = None
        match event.kind:
            case "MESSAGE_CREATE":
                if (message := convert(event.data, Message)) is not None and message.has_place:
                    said = await self.message(message, message.guild_id)
            case "MESSAGE_UPDATE":
                if (message := convert(event.data, Message)) is not None and message.has_place:
                    said = await self._edit(message)
            case "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK":
                if (deleted := convert(event.data, Deleted)) is not None:
                    where = await self._where(deleted.channel_id, deleted.guild_id)
                    heard.messages += [parse_deletion(each, where, self.me) for each in deleted.all]
            case "MESSAGE_REACTION_ADD":
                if (reaction := convert(event.data, Reaction)) is not None:
                    where = await self._where(reaction.channel_id, reaction.guild_id)
                    said = parse_reaction(reaction, where, self.me, f"{event.session}:{event.sequence}")
            case "INTERACTION_CREATE":
                if (interaction := convert(event.data, Interaction)) is not None:
                    said = await self._interaction(interaction, heard)
            case _:
                pass
        if said is not None:
            heard.messages.append(said)

    async def _edit(self, edited: Message) -> Inbound | None:
        if edited.edited_timestamp is None or edited.author is None:
            return None
        return parse_edit(edited, await self._where(edited.channel_id, edited.guild_id), self.me)

    async def _interaction(self, interaction: Interaction, heard: ReadEvents) -> Inbound | None:
        where = await self._where(interaction.channel_id or "", interaction.guild_id)
        said = parse_interaction(interaction, where, self.me)
        if said is not None and interaction.type == AUTOCOMPLETE:
            heard.typed.append((interaction, said))
            return None
        if said is not None:
            heard.chosen.append(interaction)
        return said

    async def _where(self, channel: str, guild: str | None) -> EventPlace:
        place = self._places.get(channel)
        if place is None and guild is None:
            place = self._places.learn_direct(channel)
        elif place is None:
            place = await self._look_up(channel) or Place(guild=guild or "")
        around = self._places.get(place.parent) if place.parent else place
        return EventPlace(channel, place, around.name if around is not None else "")
