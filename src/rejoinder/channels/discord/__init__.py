"""A Discord bot: events come through Discord's gateway, messages are sent with its REST API."""

import re
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from rejoinder.channels.accounts import name_problems
from rejoinder.channels.base import DEFAULT_ACCOUNT, Channel, Limits
from rejoinder.channels.declaration import ChannelKind, Pace, Setup
from rejoinder.channels.discord import render
from rejoinder.channels.threads import Threads
from rejoinder.filetypes import FileLimits
from rejoinder.identity import Identity, Shape
from rejoinder.keys import Url
from rejoinder.rendering import Renderer
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion, asks_api_root

LIMITS = Limits(2000, "utf16", title=100)
FILES = FileLimits(10 << 20, album=10)
"""File limits in every server."""
BOOSTED: dict[int, FileLimits] = {2: FileLimits(50 << 20, album=10), 3: FileLimits(100 << 20, album=10)}
"""File limits in a server that its members have boosted to this level."""
API_ROOT = "https://discord.com/api"


class Account(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bot of several."""

    token: Annotated[Secret, Meta(examples=["${WORK_TOKEN}"])]
    """The token of this bot."""
    api_root: Url | None = None
    """Where this bot finds Discord; unset: as the section says."""
    threads: Threads | None = None
    """When this bot opens threads; unset: as the section says."""


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Discord bot, or several."""

    token: Annotated[Secret | None, Meta(examples=["${DISCORD_TOKEN}"], extra={"unless": "accounts"})] = None
    """The bot's token from the developer portal; needed unless there are `accounts`."""
    accounts: dict[str, Account] = {}
    """Several bots side by side, by name, all with the other keys of this section. What each has read, its sessions and
    its failures are its own."""
    api_root: Url = API_ROOT
    """For tests and proxies."""
    threads: Threads = "auto"
    """When an answer in a text channel opens a thread under the question: to a mention (`auto`), to every message it
    answers (`always`), or never (`off`). In direct chats, threads and forums none is opened."""

    def problems(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from name_problems(self.accounts)


def accounts(settings: Settings) -> dict[str, Settings]:
    """The settings of each bot."""
    found = {} if settings.token is None else {DEFAULT_ACCOUNT: settings}
    for name, own in settings.accounts.items():
        where = {"api_root": own.api_root or settings.api_root, "threads": own.threads or settings.threads}
        found[name] = replace(settings, token=own.token, **where)
    return found


def open_channel(name: str, settings: Settings, account: str = DEFAULT_ACCOUNT) -> Channel:
    from rejoinder.channels.discord.bot import DiscordBot  # noqa: PLC0415 - only serving a bot needs the SDK
    from rejoinder.channels.discord.http import SingleAttemptClient  # noqa: PLC0415

    assert settings.token is not None, "an account has a token"
    return DiscordBot(
        name, settings.token, SingleAttemptClient(settings.api_root), threads=settings.threads, account=account
    )


SETUP = Setup(
    offer="Serve a Discord bot?",
    steps="""\
  1. Open https://discord.com/developers/applications and make a New Application.
  2. On its page Bot switch on the Message Content Intent, under Privileged Gateway Intents.
  3. On the same page Reset Token: it shows a token, once.""",
    section={"token": "${DISCORD_TOKEN}"},
    asks=(asks_api_root("API", "Discord", API_ROOT),),
    verified=True,
    asks_then=(
        SetupQuestion(
            key="owners",
            question="Your own id, such as 80351110224678912: with Developer Mode on (Settings, Advanced), right-click "
            "your name, Copy User ID (Enter: `rejoinder pair` lets you in later)",
            optional=True,
            listed=True,
        ),
        SetupQuestion(
            key="allow_groups",
            question="A channel it may take part in, by its id: right-click it, Copy Channel ID "
            "(Enter: direct messages only)",
            optional=True,
            listed=True,
        ),
    ),
    advice="  More channels can be listed under `allow_groups`, by their ids.",
)

_SNOWFLAKE = re.compile(r"[0-9]{5,20}")
IDENTITY = Identity(
    Shape(_SNOWFLAKE, 'a number such as "80351110224678912"'),
    Shape(_SNOWFLAKE, 'a number such as "41771983423143937"'),
)

CHANNEL = ChannelKind(
    settings=Settings,
    identity=IDENTITY,
    open=open_channel,
    accounts=accounts,
    limits=LIMITS,
    files=FILES,
    can=frozenset({"reply", "react", "send", "files", "voice", "ephemeral", "silent", "previews", "threads"}),
    renderer=Renderer(render.render, render.plain, keeps_prose=True),
    pace=Pace(1.2, chat=(5, 1.0), account=(50, 50.0), typing=8.0),
    delivery="short-window key",
    edits="told",
    replies_across_threads=False,
    private_needs_interaction=True,
    setup=SETUP,
)
