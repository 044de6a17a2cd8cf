"""The work of `rejoinder run`: the gateway with all its channels, and the pages if there is a web channel."""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from rejoinder.agents.base import Agent
from rejoinder.app import SELF, Gateway
from rejoinder.channels.base import Channel
from rejoinder.channels.web import Settings as WebSettings
from rejoinder.channels.web import open_channel
from rejoinder.config import schema
from rejoinder.config.default_channels import default_channels
from rejoinder.config.kinds import channel_kind, is_in_memory, shared_stores, store_kind
from rejoinder.errors import BadUse, RejoinderError
from rejoinder.events import ChangeInvitations
from rejoinder.outbound.rehearsal import MARKUP, PROSE, rehearse
from rejoinder.programs import config_writing, debug_settings
from rejoinder.programs.agent_choice import absent_programs
from rejoinder.programs.interpreter import tune_to_serve
from rejoinder.programs.reloading import Reloading, SettingsSource
from rejoinder.programs.signals import EndedBy, serve_until_told
from rejoinder.rendering import RenderOptions
from rejoinder.runtime.cluster_member import ProcessRole
from rejoinder.runtime.place.restarting import RestartCheck
from rejoinder.runtime.tasks import Tasks
from rejoinder.store.base import (
    SharedStore,
)
from rejoinder.wiring.opening import menu, open_channels
from rejoinder.wiring.stores import open_store_when_ready, opened_by, opening, place_of, share_options, shown

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel

Say = Callable[[str], None]

REHEARSED_AFTER = 2.0
"""Seconds after which a serving gateway prepares what only some replies need."""
HOOKS_LOOKED_FOR = 2.0
"""Seconds between two checks whether a hook has been configured."""


# --- the configuration with its page ----------------------------------------------------------------


def with_page(settings: schema.Settings, port: int | None = None) -> schema.Settings:
    """The channels that `run` serves. If there are none, those that are served by default, such as the page, with all
    agents. Everybody who may open the page is its owner."""
    served = {
        name: channel
        for name, channel in settings.channels.items()
        if channel_kind(channel.kind).opened_by != "command"
    }
    if not served:
        names = tuple(settings.agents)
        here = {"agents": names} if len(names) > 1 else {"agent": next(iter(names), None)}
        served = {
            name: replace(channel, common=replace(channel.common, **here))
            for name, channel in default_channels().items()
        }
    channels = {name: _owned(channel, port) if channel.kind == "web" else channel for name, channel in served.items()}
    return replace(settings, channels=channels)


def _owned(channel: schema.ConfiguredChannel, port: int | None) -> schema.ConfiguredChannel:
    common = replace(channel.common, owners=(*channel.common.owners, SELF))
    section = channel.settings if port is None else replace(channel.settings, port=port)
    return replace(channel, common=common, settings=section)


def _members(channel: schema.ConfiguredChannel, settings: schema.Settings) -> tuple[str, ...]:
    """The agents on the page."""
    return channel.common.agents or ((channel.common.agent,) if channel.common.agent else tuple(settings.agents)[:1])


# --- at work ----------------------------------------------------------------------------------------


Play = Callable[[Gateway, "WebChannel"], Coroutine[Any, Any, None]]
"""Something that happens on the page by itself, such as the demo."""


async def serve(
    settings: schema.Settings,
    say: Say,
    *,
    beginning: Iterable[str] = (),
    new_token: bool = False,
    agents: Mapping[str, Agent] | None = None,
    play: Play | None = None,
    source: SettingsSource | None = None,
    restart_check: RestartCheck | None = None,
    role: ProcessRole = "all",
) -> EndedBy:
    """Runs until every channel has ended, or a signal or a restart ends it cleanly; returns which of these.

    `beginning`: printed first, once nothing can prevent the start any more. `agents`: agents opened elsewhere, used
    instead of those of the settings. `source`: where the settings came from; it is watched for changes.
    `restart_check`: as for `Gateway`. `role`: the task of this process, beside others on the same store (SC-24).
    """
    page = next(((name, channel) for name, channel in settings.channels.items() if channel.kind == "web"), None)
    async with AsyncExitStack() as stack:
        listening: socket.socket | None = None
        _refuse_alone(role, settings)
        # This comes before all else is opened, because a second gateway is refused here.
        channels, store = await _channels_and_store(settings)
        stack.push_async_callback(store.close)
        web: WebChannel | None = None
        facts: WebSettings | None = None
        if page is not None:
            web, facts = _page_channel(*page, settings)
            channels.insert(0, web)
            if role != "worker":
                listening = stack.enter_context(_bound(facts))
        only = replace(settings, channels={channel.name: settings.channels[channel.name] for channel in channels})
        gateway = await stack.enter_async_context(
            Gateway(only, agents=agents, channels=channels, store=store, restart_check=restart_check)
        )
        role = _possible_role(role, settings, say) if gateway.cluster_member.is_shared else role
        tasks = await stack.enter_async_context(Tasks())
        for sentence in (*beginning, kept_in(settings.gateway.store)):
            say(sentence)
        if web is not None and facts is not None and listening is not None:
            from rejoinder.programs.page_serving import open_pages  # noqa: PLC0415 - only loaded for a page

            await open_pages(stack, tasks, gateway, only, web, facts, listening, say, new_token)
            if play is not None:
                tasks.start("play", play(gateway, web))
        if web is not None and role == "worker":
            _invite_beside_the_page(gateway)
        tasks.start("hooks over HTTP", _tell_programs(gateway, tasks))
        rehearse(PROSE, gateway.render_options)
        tune_to_serve()
        tasks.start("rehearsal", _rehearse_later(gateway.render_options))
        if source is not None:
            tasks.start("reloading", Reloading(gateway, source).run())
            debugging = debug_settings.attach(gateway, source)
            if debugging is not None and debugging.is_shared:
                tasks.start("debug", debugging.follow())
            config_writing.attach(gateway, source)
        return await serve_until_told(gateway, role)


async def _channels_and_store(settings: schema.Settings) -> tuple[list[Channel], SharedStore]:
    """Opens the store in a thread while it loads the channels: both mostly wait for C code, disk or network."""
    url, how = settings.gateway.store, share_options(settings.gateway)
    first = opening(url, how)
    try:
        channels = open_channels(settings)
    except BaseException:
        with suppress(RejoinderError):
            await (await opened_by(first)).close()
        raise
    return channels, await open_store_when_ready(url, how, first)


def _possible_role(role: ProcessRole, settings: schema.Settings, say: Say) -> ProcessRole:
    """A process that cannot start every agent claims no chats: one of them might be for a missing agent (SC-7)."""
    absent = [] if role == "front" else absent_programs(settings)
    if absent and role == "worker":
        raise BadUse(f"a worker needs the programs of all agents; {absent[0]}")
    if absent:
        say("This process listens and serves pages; processes that have all agents do the answering.")
        return "front"
    return role


def _refuse_alone(role: ProcessRole, settings: schema.Settings) -> None:
    """Before the store is opened: if a gateway runs on it, that is no reason to stop that gateway."""
    if role != "all" and store_kind(settings.gateway.store).share is None:
        alone = f"a {role} shares its store with others, and {shown(settings.gateway.store)} serves one process"
        raise BadUse(f"{alone}; set gateway.store to {shared_stores()} (docs/scale.md)")


def _page_channel(
    name: str, configured: schema.ConfiguredChannel, settings: schema.Settings
) -> "tuple[WebChannel, WebSettings]":
    facts, here = cast(WebSettings, configured.settings), _members(configured, settings)
    return open_channel(name, facts, here, configured.common.wake if len(here) > 1 else "lead", menu(settings)), facts


def _bound(facts: WebSettings) -> socket.socket:
    from rejoinder.channels.web.port import bind  # noqa: PLC0415 - only loaded for a page

    return bind(facts.host, facts.port)


def _invite_beside_the_page(gateway: Gateway) -> None:
    from rejoinder.programs.invitations import command_of_worker  # noqa: PLC0415 - only loaded for a page

    gateway.commands.provide(ChangeInvitations, partial(command_of_worker, gateway.store))


async def _tell_programs(gateway: Gateway, tasks: Tasks) -> None:
    """Posts to hooks; loads what that needs when there is a hook, now or later."""
    while not gateway.configured.hooks:  # noqa: ASYNC110 - reading the file again sends no signal
        await asyncio.sleep(HOOKS_LOOKED_FOR)
    from rejoinder.programs.outgoing import WebhookSender  # noqa: PLC0415 - only loaded for hooks

    await WebhookSender(gateway, tasks.start).run()


async def _rehearse_later(render_options: tuple[RenderOptions, ...]) -> None:
    """Waits, so that the first seconds are free for messages that came while no gateway ran, and uses a thread, so that
    the loop is free for later ones."""
    await asyncio.sleep(REHEARSED_AFTER)
    await asyncio.to_thread(rehearse, MARKUP, render_options)


def kept_in(store: str) -> str:
    """Says whether and where messages outlive the process."""
    if is_in_memory(store):
        return "Nothing is stored: messages are gone when this process ends (gateway.store)."
    return f"Messages are stored in {place_of(store)} (gateway.store)."
