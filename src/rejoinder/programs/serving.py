"""What `rejoinder run` does: the gateway with all its channels, and the pages where there is a web channel."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec.structs import replace

import rejoinder
from rejoinder.agents.base import Agent, Failed
from rejoinder.agents.base import Usage as Spent
from rejoinder.app import MEMORY, SELF, Gateway, Told
from rejoinder.blobs import Quota
from rejoinder.channels.web import Settings as WebSettings
from rejoinder.channels.web import open_channel
from rejoinder.config import schema
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.kinds import channel_kind
from rejoinder.errors import BadUse
from rejoinder.events import ChangeInvitations, Chat, Inbound, PromptImage, Sender
from rejoinder.garbage import settle_memory
from rejoinder.outbound.rehearsal import MARKUP, PROSE, rehearse
from rejoinder.programs import config_writing, debug_settings
from rejoinder.programs.agent_choice import absent_programs
from rejoinder.programs.invitations import Invitations, public_address
from rejoinder.programs.reloading import Reloading, SettingsSource
from rejoinder.rendering import RenderOptions
from rejoinder.runtime.place.restarting import Reviving
from rejoinder.runtime.runs import Runs
from rejoinder.runtime.serving import account_of
from rejoinder.runtime.session.completions import CompletionMessage, complete
from rejoinder.runtime.sharing import ProcessRole
from rejoinder.store.base import (
    DropPart,
    KeptSubagent,
    PairingRequest,
    PairSender,
    PauseJob,
    ResendPart,
    SharedStore,
    Store,
    StoredPart,
    WantEvent,
    WantJob,
    WantTurn,
)
from rejoinder.wiring.opening import menu, open_channels
from rejoinder.wiring.stores import open_store_when_ready, sharing, shown

if TYPE_CHECKING:
    from rejoinder.channels.web.channel import WebChannel
    from rejoinder.programs.tools import ServedTools

Say = Callable[[str], None]

EVERYWHERE = ("0.0.0.0", "::")
"""Hosts that stand for all addresses of a machine, and are not addresses themselves."""
REHEARSED_AFTER = 2.0
"""Seconds of serving before the gateway prepares what only some replies need."""
HOOKS_LOOKED_FOR = 2.0
"""Seconds between two looks whether a hook has been configured."""


# --- the configuration with its page ----------------------------------------------------------------


def with_page(settings: schema.Settings, port: int | None = None) -> schema.Settings:
    """The channels that `run` serves: without any, the page with all agents. Everyone who may open the page owns it."""
    served = {name: said for name, said in settings.channels.items() if channel_kind(said.kind).opened_by != "command"}
    if not served:
        names = tuple(settings.agents)
        common = CommonChannelSettings(dm="open", groups="open", require_mention=False)
        common = replace(common, agents=names) if len(names) > 1 else replace(common, agent=next(iter(names), None))
        page = schema.ConfiguredChannel("web", common, WebSettings())
        served = {"web": page}
    channels = {name: _owned(said, port) if said.kind == "web" else said for name, said in served.items()}
    return replace(settings, channels=channels)


def _owned(said: schema.ConfiguredChannel, port: int | None) -> schema.ConfiguredChannel:
    common = replace(said.common, owners=(*said.common.owners, SELF))
    section = said.settings if port is None else replace(said.settings, port=port)
    return replace(said, common=common, settings=section)


def _members(said: schema.ConfiguredChannel, settings: schema.Settings) -> tuple[str, ...]:
    """The agents on the page."""
    return said.common.agents or ((said.common.agent,) if said.common.agent else tuple(settings.agents)[:1])


# --- at work ----------------------------------------------------------------------------------------


SHARED = "set gateway.store to postgresql://... (docs/scale.md)"
Play = Callable[[Gateway, "WebChannel"], Coroutine[Any, Any, None]]
"""Something that happens on the page by itself."""


async def serve(
    settings: schema.Settings,
    say: Say,
    *,
    beginning: Iterable[str] = (),
    new_token: bool = False,
    agents: Mapping[str, Agent] | None = None,
    play: Play | None = None,
    source: SettingsSource | None = None,
    reviving: Reviving | None = None,
    role: ProcessRole = "all",
) -> Told:
    """Runs until every channel has ended, or a signal or a restart ends it cleanly; returns which of these.

    `beginning`: what is said first, once nothing can keep the gateway from starting any more. `agents`: opened
    elsewhere, used instead of those of the settings. `source`: where the settings came from; it is watched for changes.
    `reviving`: as for `Gateway`. `role`: what this process does, beside others on the same store (SC-24).
    """
    page = next(((name, said) for name, said in settings.channels.items() if said.kind == "web"), None)
    async with AsyncExitStack() as stack:
        listening: socket.socket | None = None
        channels = open_channels(settings)
        # First: a second gateway is refused here.
        store = await open_store_when_ready(settings.gateway.store, sharing(settings.gateway))
        stack.push_async_callback(store.close)
        _refuse_alone(role, store, settings)
        web: WebChannel | None = None
        facts: WebSettings | None = None
        if page is not None:
            web, facts = _page_channel(*page, settings)
            channels.insert(0, web)
            if role != "worker":
                from rejoinder.channels.web.port import bind  # noqa: PLC0415 - only loaded for a page

                listening = stack.enter_context(bind(facts.host, facts.port))
        only = replace(settings, channels={channel.name: settings.channels[channel.name] for channel in channels})
        gateway = await stack.enter_async_context(
            Gateway(only, agents=agents, channels=channels, store=store, reviving=reviving)
        )
        gateway.sharing.role = _possible_role(role, settings, say) if gateway.sharing.is_shared else role
        tasks = await stack.enter_async_context(Runs())
        for sentence in (*beginning, kept_in(settings.gateway.store)):
            say(sentence)
        if web is not None and facts is not None and listening is not None:
            await _open_pages(stack, tasks, gateway, only, web, facts, listening, say, new_token)
            if play is not None:
                tasks.start("play", play(gateway, web))
        tasks.start("hooks over HTTP", _tell_programs(gateway, tasks))
        rehearse(PROSE, gateway.render_options)
        settle_memory()
        tasks.start("rehearsal", _rehearse_later(gateway.render_options))
        if source is not None:
            tasks.start("reloading", Reloading(gateway, source).run())
            debug_settings.attach(gateway, source)
            config_writing.attach(gateway, source)
        return await gateway.serve_until_told()


def _possible_role(role: ProcessRole, settings: schema.Settings, say: Say) -> ProcessRole:
    """Who cannot start every agent claims no chat: it might be one for that agent (SC-7)."""
    absent = [] if role == "front" else absent_programs(settings)
    if absent and role == "worker":
        raise BadUse(f"a worker needs the programs of all agents; {absent[0]}")
    if absent:
        say("This process listens and serves pages, and leaves all chats to those that have every agent.")
        return "front"
    return role


def _refuse_alone(role: ProcessRole, store: SharedStore, settings: schema.Settings) -> None:
    if role != "all" and store.lease_seconds is None:
        raise BadUse(
            f"a {role} shares its store with others, and {shown(settings.gateway.store)} serves one process; {SHARED}"
        )


def _page_channel(
    name: str, said: schema.ConfiguredChannel, settings: schema.Settings
) -> "tuple[WebChannel, WebSettings]":
    facts, here = cast(WebSettings, said.settings), _members(said, settings)
    web = open_channel(name, facts, here, said.common.wake if len(here) > 1 else "lead")
    web.menu = menu(settings)
    return web, facts


async def _tell_programs(gateway: Gateway, tasks: Runs) -> None:
    """Loads what it needs when there is a hook, now or later."""
    while not gateway.configured.hooks:  # noqa: ASYNC110 - a file that is read again tells nobody
        await asyncio.sleep(HOOKS_LOOKED_FOR)
    from rejoinder.programs.outgoing import WebhookSender  # noqa: PLC0415 - only loaded for hooks

    await WebhookSender(gateway, tasks.start).run()


async def _rehearse_later(render_options: tuple[RenderOptions, ...]) -> None:
    """Leaves the first seconds to messages that came while no gateway ran, and by its thread the loop to later ones."""
    await asyncio.sleep(REHEARSED_AFTER)
    await asyncio.to_thread(rehearse, MARKUP, render_options)


def kept_in(store: str) -> str:
    """Says whether and where messages outlive the process."""
    if store == MEMORY:
        return "Nothing is kept: what is said is gone with this process (gateway.store)."
    return f"What is said is kept in {shown(store).removeprefix('sqlite:')} (gateway.store)."


async def _open_pages(
    stack: AsyncExitStack,
    tasks: Runs,
    gateway: Gateway,
    settings: schema.Settings,
    web: "WebChannel",
    facts: WebSettings,
    listening: socket.socket,
    say: Say,
    new_token: bool,
) -> None:
    from rejoinder.web.login import Login  # noqa: PLC0415 - as above
    from rejoinder.web.server import Pages, address  # noqa: PLC0415

    kept, told = await _token(web, facts, new_token)
    login = Login(kept, await web.journal.invited())
    where = address(listening)
    invitations = Invitations(web, public_address(facts, listening) if login.needed else None)
    await invitations.begin()
    gateway.commands.provide(ChangeInvitations, invitations.command)
    services = _page_services(gateway, settings, web, tasks, invitations, where)
    quota = Quota(facts.person_files_mb << 20, facts.files_mb << 20)
    pages = Pages(services, login, facts.hosts, proxies=facts.trusted_proxies, quota=quota)
    invitations.changed = pages.refresh_logins
    for name, hook in pages.hooks.items():
        gateway.on(name, cast(Any, hook))
    serving = tasks.start("pages", pages.serve(listening))
    stack.push_async_callback(tasks.wait, serving)
    stack.callback(pages.stop)
    tasks.start("figures", pages.flow.measure())
    if login.needed:
        tasks.start("logins", pages.know_logins())
    await pages.up.wait()
    say(f"The chat is at {where}")
    say(f"The console is at {where}/console")
    if facts.host in EVERYWHERE:
        say("Other machines reach both by the address of this one, at the same port.")
    if told is not None:
        say(f"Log in with this token, which is not shown again: {told}")
        say(f"or once by {where}/login?token={told}")
    elif kept is not None:
        say("Log in with your token. `rejoinder run --new-token` makes another one.")


async def _token(web: "WebChannel", facts: WebSettings, new: bool) -> tuple[str | None, str | None]:
    """The hash to check the owner's logins against, and the token itself if it was made just now."""
    from rejoinder.channels.web.logins import hashed, is_hash, new_token  # noqa: PLC0415 - as above

    for key, sentence in facts.problems():  # settings that were not read from a file have not been checked
        raise BadUse(f"channels.{web.name}.{key[0]}: {sentence}")
    if facts.token is not None:
        return hashed(facts.token.reveal()), None
    if not facts.is_exposed:
        return None, None
    kept = None if new else await web.journal.token()
    if kept is not None and is_hash(kept):
        return kept, None
    token = new_token()
    kept = hashed(token)
    await web.journal.keep_token(kept)
    return kept, token


def _page_services(
    gateway: Gateway, settings: schema.Settings, web: "WebChannel", tasks: Runs, invitations: Invitations, address: str
) -> Any:
    from rejoinder.channels.web.nouns import Room  # noqa: PLC0415 - as above
    from rejoinder.programs.incoming import Incoming  # noqa: PLC0415
    from rejoinder.web.services import ApiMessage, ChannelState, PageServices, TokenUsage, Unanswered  # noqa: PLC0415

    store: Store = gateway.store
    rights = gateway.rights()

    def channels() -> tuple[ChannelState, ...]:
        return tuple(
            ChannelState(
                name,
                settings.channels[each.name].kind,
                gateway.listens(name),
                gateway.problem(name),
                gateway.silent_for(name),
                gateway.place_troubles(name),
            )
            for name, each in gateway.listeners.items()
        )

    async def answer(agent: str, asked: tuple[ApiMessage, ...]) -> AsyncGenerator[str | TokenUsage]:
        with gateway.lend(agent) as lent:
            now = gateway.in_effect
            most = now.max_answer_chars(agent)
            said = complete(lent, tuple(map(line, asked)), now.silence, now.directives, most)
            async with aclosing(said):
                async for piece in said:
                    match piece:
                        case Failed(sentence=sentence, detail=detail):
                            raise Unanswered(sentence, detail)
                        case Spent(input_tokens=taken, output_tokens=given):
                            yield TokenUsage(taken, given)
                        case str():
                            yield piece

    def line(asked: ApiMessage) -> CompletionMessage:
        role = cast(Literal["system", "user", "assistant"], asked.role)
        return CompletionMessage(role, asked.text, tuple(PromptImage(kind, data) for kind, data in asked.images))

    async def resend(part: StoredPart) -> None:
        await store.write(ResendPart(part))
        gateway.engines.changed()

    async def drop(part: StoredPart) -> None:
        await store.write(DropPart(part))

    async def rerun(verb: WantEvent | WantTurn) -> None:
        await store.write(verb)
        gateway.engines.changed()

    async def change_job(verb: WantJob | PauseJob) -> None:
        await store.write(verb)
        if gateway.scheduler is not None:
            gateway.scheduler.changed()

    async def approve(code: str) -> PairingRequest | None:
        request = await store.write(PairSender(code, datetime.now(UTC)))
        gateway.engines.changed()
        return request

    def doing(session: str) -> tuple[tuple[str, ...], str]:
        found = (engine.subagents.doing(session) for engine in gateway.engines)
        return next(filter(any, found), ((), ""))

    async def sees_subagent(person: str, room: Room, subagent: KeptSubagent) -> bool:
        chat, thread = Chat(room.id, room.kind, room.title, room.agents), subagent.route.thread
        asks = Inbound(web.name, "", "", chat, Sender(person), thread=thread)
        return await rights.may_see_subagent(asks, subagent)

    return PageServices(
        channel=web,
        agents=tuple(gateway.agents),
        version=rejoinder.__version__,
        store=store,
        health=gateway.health,
        channels=channels,
        complete=answer,
        resend=resend,
        drop=drop,
        rerun=rerun,
        change_job=change_job,
        not_in_effect=lambda: gateway.not_in_effect,
        approve=approve,
        start=tasks.start,
        programs=Incoming(gateway, web),
        sees_subagent=sees_subagent,
        doing=doing,
        tools=_tools(gateway, address),
        hooks=lambda: tuple(gateway.configured.hooks),
        invitations=invitations,
        accounts=tuple((each.name, account_of(each)) for each in gateway.listeners.values()),
    )


def _tools(gateway: Gateway, address: str) -> "ServedTools | None":
    """The gateway's tools for agents, which are told of them; None where the package for them is missing."""
    if find_spec("mcp") is None:
        return None
    from rejoinder.programs.tools import ServedTools  # noqa: PLC0415 - as above

    tools = ServedTools(gateway.tools, address)
    gateway.offer_tools(tools)
    return tools
