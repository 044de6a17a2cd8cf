"""The same channel on a Discord that nobody here wrote: simcord, in process, with nothing of ours between discord.py
and it."""

import asyncio
from contextlib import asynccontextmanager, suppress

import simcord

from rejoinder.channels.base import Delivered
from rejoinder.channels.discord.bot import DiscordBot
from rejoinder.channels.discord.http import SingleAttemptClient
from rejoinder.events import Choice, MenuCommand, NewThread, Part, Route
from rejoinder.secret import Secret
from rejoinder.testing.channel_contract import RecordingInlet
from rejoinder.testing.patience import PATIENCE


@asynccontextmanager
async def simulated():
    """Ann in #general; the channel takes what simcord's gateway tells its client."""
    channel = DiscordBot("discord", Secret("x"), SingleAttemptClient("http://127.0.0.1:1"), threads="auto")
    channel.take_menu((MenuCommand("status", "What runs", private=True),))
    inlet = RecordingInlet()
    async with asyncio.timeout(PATIENCE), simcord.run(channel.client) as env:
        channel._know_itself()
        await channel._reception.offer(channel.own_id, channel.menu)
        guild = env.create_guild()
        general = guild.create_text_channel("general")
        ann = guild.add_member(env.create_user("ann"))
        taking = asyncio.create_task(channel.take(inlet))
        yield channel, inlet, general, ann
        taking.cancel()
        with suppress(asyncio.CancelledError):
            await taking


def texts(general):
    return [message.content for message in general.history()]


async def test_a_conversation():
    """CH-20 to CH-29, as another implementation of Discord has it: it comes, is replied to, changed, reacted to and
    taken back."""
    async with simulated() as (channel, inlet, general, ann):
        asked = await ann.send(general, "hello there")
        heard = await inlet.message("hello there")
        assert (heard.sender.name, heard.chat.id, heard.chat.title) == ("ann", str(general.id), "general")
        here = heard.route
        sent = await channel.send(Part(here, "Hello, Ann.", reply_to=heard.message_id, key="1"))
        assert isinstance(sent, Delivered)
        assert isinstance(await channel.edit(here, sent.message, Part(here, "Hello!")), Delivered)
        assert texts(general)[-1] == "Hello!"
        assert isinstance(await channel.react(here, str(asked.id), "👍"), Delivered)
        await channel.typing(here)
        assert isinstance(await channel.delete(here, sent.message), Delivered)
        assert texts(general) == ["hello there"]


async def test_a_thread_is_opened():
    """CH-24: under the question, and what is said in it belongs to the channel around it."""
    async with simulated() as (channel, inlet, general, ann):
        await ann.send(general, f"<@{channel.own_id}> lunch?")
        heard = await inlet.message(f"<@{channel.own_id}> lunch?")
        assert heard.opens == NewThread(heard.message_id, "lunch?")
        inside = Route("discord", heard.chat.id, heard.opens.thread)
        assert isinstance(await channel.send(Part(inside, "Soup.", opens=heard.opens)), Delivered)
        assert isinstance(await channel.send(Part(inside, "Or bread.", opens=heard.opens)), Delivered)


async def test_a_button_is_pressed_and_a_command_chosen():
    """CH-26."""
    async with simulated() as (channel, inlet, general, ann):
        here = Route("discord", str(general.id))
        await channel.send(Part(here, "May I?", choices=(Choice("Allow", "/approve q1"), Choice("Deny", "/deny q1"))))
        await ann.click(general.history()[-1], custom_id="/approve q1")
        pressed = await inlet.message("/approve q1")
        assert (pressed.entry, pressed.sender.name) == ("button", "ann")
        await ann.slash(general, "status")
        chosen = await inlet.message("/status")
        answer = Part(here, "All fine.", only_for=chosen.sender.id, reply_context=chosen.reply_context)
        assert isinstance(await channel.send(answer), Delivered)


async def test_a_direct_message_and_a_file():
    """CH-11: fetched by its address."""
    async with simulated() as (channel, inlet, general, ann):
        await ann.send_dm("alone")
        assert (await inlet.message("alone")).chat.kind == "direct"
        await ann.send(general, "a file", attachments=[("notes.txt", b"0123456789")])
        (file,) = (await inlet.message("a file")).attachments
        assert await channel.fetch(file, 10) == b"0123456789"
        assert await channel.fetch(file, 9) is None
