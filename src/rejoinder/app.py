"""Builds a gateway from settings: agents, channels, store, rules, engine."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack
from datetime import datetime
from functools import partial
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct
from msgspec.structs import replace

from rejoinder import plugins
from rejoinder.agents.base import Agent, ToolSource
from rejoinder.blobs import Blobs
from rejoinder.channels import base as channel_base
from rejoinder.channels.base import CanClose, Channel, ListensEverywhere, UsesStore
from rejoinder.config import schema
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.live import AppliedSettings, apply_changes
from rejoinder.errors import BadConfiguration, BadUse, StoreUnavailable
from rejoinder.events import Inbound, Part
from rejoinder.rendering import RenderOptions
from rejoinder.room_log import ChannelStorage
from rejoinder.runtime.abilities import learn
from rejoinder.runtime.cluster_member import ClusterMember, ProcessRole
from rejoinder.runtime.engine import Engine, utc_now
from rejoinder.runtime.foreign_calls import close_foreign, guarded
from rejoinder.runtime.gateway import Engines
from rejoinder.runtime.hooks import Hook, Hooks
from rejoinder.runtime.inlet import ChannelInlet
from rejoinder.runtime.intake import InboxIntake
from rejoinder.runtime.listening import Listening
from rejoinder.runtime.live import Live
from rejoinder.runtime.ownership.database_clock import DatabaseClock
from rejoinder.runtime.ownership.held_lease import HeldLease
from rejoinder.runtime.ownership.process import machine_name, process_name
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.program_commands import ProgramCommands
from rejoinder.runtime.place.restarting import Restart, RestartCheck, Restarting
from rejoinder.runtime.place.rights import Rights
from rejoinder.runtime.place.room import ProcessControl
from rejoinder.runtime.place.room_log import ChannelLog
from rejoinder.runtime.restart_turns import ask_all
from rejoinder.runtime.services import ProcessServices, Services
from rejoinder.runtime.serving import account_of, by_name, listeners
from rejoinder.runtime.session.background import Background, DiscardChannel
from rejoinder.runtime.session.relay import Watcher
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.tasks import Tasks
from rejoinder.runtime.toolbox import Toolbox
from rejoinder.runtime.upkeep import Upkeep
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import Health, Lease, NamedLease, PutHookEvents, SharedStore, Store
from rejoinder.store.blob_keeper import StoredBlobs
from rejoinder.wiring.agent_pool import AgentPool
from rejoinder.wiring.opening import open_channels
from rejoinder.wiring.runtime_settings import runtime_settings, timed_jobs
from rejoinder.wiring.stores import opened_by, opening, share_options

if TYPE_CHECKING:
    from rejoinder.runtime.session.job_scheduler import JobScheduler

log = logging.getLogger(__name__)

MEMORY = "sqlite::memory:"
"""A store that keeps nothing beyond the process: for a chat in the terminal, a single reply, and tests."""
GRACE = 20.0
"""Seconds for which agents may continue after the gateway is told to stop."""
PUTTING_AWAY = 15.0
"""Seconds for the whole shutdown beyond the grace period; after that, a store that accepts no writes is closed
anyway."""
AFTER_SHUTDOWN = 5.0
"""Seconds for tasks that still run after the shutdown; they have been cancelled, and their work has been given back."""
SELF = "you"
"""The id of the person at the terminal, who is an owner."""


class OpenGateway(Struct, frozen=True):
    """The parts that a gateway gets when it is opened; they can still be inspected after it is closed."""

    store: SharedStore
    process: ProcessServices
    """Its clock is the database's if several processes share the database (SC-6)."""
    engines: Engines
    intake: InboxIntake
    listening: Listening
    cluster_member: ClusterMember


class Gateway:
    """A running configuration. `dispatch` takes messages once the gateway is entered; nothing keeps running once it is
    left.

    Agents, channels and store come from the configuration unless others are given; `serving` serves the page.
    `restart_check` is given by a caller that starts the gateway again when it ends for a restart.
    """

    def __init__(
        self,
        settings: schema.Settings,
        *,
        agents: Mapping[str, Agent] | None = None,
        channels: Iterable[Channel] | None = None,
        store: str | SharedStore | None = None,
        watcher: Watcher | None = None,
        clock: Callable[[], datetime] = utc_now,
        restart_check: RestartCheck | None = None,
    ) -> None:
        self._pool = AgentPool(settings, agents)
        self.agents: Mapping[str, Agent] = self._pool.agents
        opened = tuple(open_channels(settings) if channels is None else channels)
        self.channels, self.listeners = by_name(opened), listeners(opened)
        if unknown := self.channels.keys() - settings.channels.keys():
            name = min(unknown)
            raise BadConfiguration(
                f"nothing is configured for the channel {name!r}; add [channels.{name}], "
                "or make the settings with rejoinder.app.with_channel"
            )
        self.tasks = Tasks()
        self.hooks = Hooks(_told_over_http(settings), self._put_hook_events, clock=self.now)
        for module in plugins.others("hook"):
            for name, hook in module.HOOKS.items():
                self.hooks.on(name, hook)
        learn(opened, channel_base)
        self._configured = settings
        self._settings = Live(runtime_settings(settings, self.agents, self.channels))
        self._jobs = Live(timed_jobs(settings))
        self.commands = ProgramCommands()
        """Here the surrounding program registers the commands that only it can carry out."""
        self._nowhere = DiscardChannel()
        self.scheduler: JobScheduler | None = None
        self._opens = settings.gateway.store if store is None else store
        self._watcher = watcher or Watcher()
        self._clock = clock
        self._restart_check = restart_check
        self.restart: Restart | None = None
        """The restart an owner has asked for, if there is one."""
        self._ending = False
        self._serving: asyncio.Timeout | None = None
        self._ends_at: float | None = None
        self._open: OpenGateway | None = None
        self._stack = AsyncExitStack()
        self._upkeep = Tasks()  # separate: waiting until `runs` is idle must not wait for it

    def on(self, name: str, hook: Hook) -> None:
        """Registers an async function that is called for each event of this name: `message_received`,
        `message_decided`, `session_started`, `session_ended`, `turn_ended`, `reply_started`, `reply_sent`,
        `delivery_failed`."""
        self.hooks.on(name, hook)

    # --- available while it is open -------------------------------------------------------------------

    @property
    def _opened(self) -> OpenGateway:
        if self._open is None:
            raise BadUse("the gateway is not open; write `async with Gateway(...) as gateway:`")
        return self._open

    @property
    def store(self) -> SharedStore:
        return self._opened.store

    @property
    def blobs(self) -> Blobs:
        return self._opened.process.blobs

    @property
    def engines(self) -> Engines:
        return self._opened.engines

    @property
    def intake(self) -> InboxIntake:
        return self._opened.intake

    @property
    def listening(self) -> Listening:
        return self._opened.listening

    @property
    def cluster_member(self) -> ClusterMember:
        return self._opened.cluster_member

    def now(self) -> datetime:
        """The time by the database's clock if several processes share the database (SC-6)."""
        return self._opened.process.clock()

    # --- for programs ---------------------------------------------------------------------------------

    @property
    def tools(self) -> Toolbox:
        """The tools of current runs, for the program that serves them."""
        return self.commands.tools

    def offer_tools(self, source: ToolSource) -> None:
        """Agents that speak MCP are told where the gateway's tools are, from their next session on."""
        self.tools.serve_from(source)
        self._pool.offer_tools(source)

    async def _put_hook_events(self, events: PutHookEvents) -> None:
        await WriteBatch(events).insist(self.store)

    @property
    def in_effect(self) -> RuntimeSettings:
        """The settings in effect now."""
        return self._settings.now

    def rights(self) -> Rights:
        """Who may use which command, for a page that shows the same as a command would."""
        return Rights(self._settings, Access(self._settings, self.store))

    async def dispatch(self, inbound: Inbound) -> None:
        """Channels call this; it returns when the message is safe, not when it is answered."""
        intake = self.intake
        if inbound.channel not in self.channels:
            there = ", ".join(sorted(self.channels)) or "none"
            raise BadUse(f"the gateway has no channel {inbound.channel!r}; there are: {there}")
        await intake.accept(inbound)

    async def health(self) -> Health:
        """Whether messages can be kept now; if not, why and what to do (DU-15)."""
        return await self.store.health()

    @property
    def render_options(self) -> tuple[RenderOptions, ...]:
        """The render options of the channels."""
        return tuple(facts.delivery.options for facts in self._settings.now.channels.values())

    @property
    def kept(self) -> tuple[Part, ...]:
        """Background answers that had no place to go."""
        return tuple(self._nowhere.kept)

    async def begin(self, turn: Background) -> None:
        """Begins a turn that no user asked for, as soon as recovery is over."""
        engine = self.engines.of_session(turn.session)
        if engine is None:
            raise BadUse(f"another process holds the shard of {turn.session}")
        await engine.background.begin(turn)

    async def serve(self, role: ProcessRole = "all") -> None:
        """Runs until every channel has ended, by itself or on request, and all their messages are answered.
        `role`: what this process does, beside others on the same store (SC-24)."""
        if self.cluster_member.is_shared:
            await self.cluster_member.join(role, self.listeners, self._configured.session, self._upkeep, GRACE)
            if self._restart_check is not None:
                self.cluster_member.restart_in_turn(self._restart_check, self._begin_restart, self._upkeep)
        for engine in self.engines:
            await engine.recover()
        if not self._ending:
            self._start_clock()
            self.listening.start(self._listen, is_worker=role == "worker")
        try:
            async with asyncio.timeout_at(self._ends_at) as self._serving:
                await self.listening.until_ended()
                await self.tasks.idle()
        except TimeoutError:
            if still := self.tasks.names():
                log.warning("Still running although the gateway ends, so it was cancelled: %s", still)
        finally:
            self._serving = None
        self.listening.raise_failure()

    async def _listen(self, name: str, channel: Channel) -> None:
        def listen(lease: NamedLease | None) -> Coroutine[Any, Any, None]:
            account = account_of(channel)
            inlet = ChannelInlet(channel.name, account, self.intake, self.store, self.tasks, lease)
            return guarded(channel.listen(inlet))

        if isinstance(channel, ListensEverywhere) and channel.listens_everywhere:
            return await listen(None)
        await self.cluster_member.duties.do(name, listen, self.tasks)

    def _begin_restart(self, restart: Restart) -> None:
        self.restart = restart
        log.info("An owner has asked for a restart")
        self.tasks.start("drain", self.drain())

    async def drain(self, grace: float = GRACE) -> None:
        """Ends cleanly: takes no further message, gives runs `grace` seconds to end, gives back the rest."""
        self._ending = True
        for engine in self.engines:
            engine.stop_accepting()
        for task in (*self.listening.tasks, *self._upkeep.named("clock"), *self._upkeep.named("own")):
            await self.tasks.cancel(task)
        try:
            async with asyncio.timeout(grace + PUTTING_AWAY):
                await self.engines.drain(grace)
        except TimeoutError:  # the store accepts no writes (DU-15), and nobody knows for how long
            await self.store.close()
        if self._ends_at is None:
            self._ends_at = asyncio.get_running_loop().time() + AFTER_SHUTDOWN
            if self._serving is not None:
                self._serving.reschedule(self._ends_at)

    async def __aenter__(self) -> Self:
        try:
            await self._begin_all()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def _begin_all(self) -> None:
        store = await self._open_store()
        self._stack.push_async_callback(store.close)
        self._open = here = self._built_on(store)
        self._stack.push_async_callback(here.engines.leave)
        if not here.cluster_member.is_shared:
            for shard in range(store.shards):
                if await here.engines.claim(shard) is None:
                    raise StoreUnavailable("taken", self._opens if isinstance(self._opens, str) else "that was given")
        self._stack.push_async_callback(self._pool.close)
        for channel in self.listeners.values():
            if isinstance(channel, CanClose):
                self._stack.push_async_callback(close_foreign, channel.name, channel.close)
        self._stack.push_async_callback(self.hooks.close)
        await self._stack.enter_async_context(self.tasks)
        for channel in self.listeners.values():
            if isinstance(channel, UsesStore):
                log_of = ChannelLog(channel.name, here.intake.record, store, here.process.clock)
                await channel.use_store(ChannelStorage(log_of, here.process.blobs))
        if not here.cluster_member.is_shared:
            here.cluster_member.follow()
        await self._stack.enter_async_context(self._upkeep)
        upkeep = Upkeep(store, here.process.clock)
        self._upkeep.start("upkeep", here.cluster_member.duties.do("upkeep", lambda _: upkeep.run(), self._upkeep))

    async def _open_store(self) -> SharedStore:
        opens = self._opens
        if not isinstance(opens, str):
            return opens
        return await opened_by(opening(opens, share_options(self._configured.gateway)))

    def _built_on(self, store: SharedStore) -> OpenGateway:
        is_shared = store.lease_seconds is not None
        by_database = DatabaseClock(self._clock)
        clock = by_database if is_shared else self._clock
        ask = partial(ask_all, store) if is_shared else None
        restarting = Restarting(self._restart_check, self._begin_restart, self._clock(), ask)
        process = ProcessServices(
            agents=self.agents,
            channels={**self.channels, **self.listeners, self._nowhere.name: self._nowhere},
            settings=self._settings,
            clock=clock,
            hooks=self.hooks,
            blobs=StoredBlobs(store, clock, lambda: token_urlsafe(18)),
            tools=self.tools,
            machine=machine_name(self._configured.gateway.machine) if is_shared else "",
            shards=store.shards,
        )
        moved = process.accounts.share if is_shared else _ignore
        make = partial(self._make_engine, process, ProcessControl(restarting, self.commands))
        engines = Engines(store, process_name(), make, self.tasks, moved=moved)
        return OpenGateway(
            store=store,
            process=process,
            engines=engines,
            intake=InboxIntake(engines, store, self._settings, clock, self.hooks),
            listening=Listening(self.listeners, self.tasks, engines.refusal),
            cluster_member=ClusterMember(store, engines, by_database, process.accounts),
        )

    def _make_engine(
        self,
        process: ProcessServices,
        control: ProcessControl,
        store: Store,
        held_lease: HeldLease[Lease],
        tasks: Tasks,
    ) -> Engine:
        return Engine(Services.of_engine(process, store, held_lease, tasks), self._nowhere, control, self._watcher)

    @property
    def engine(self) -> Engine:
        """The engine of a gateway that has its store to itself."""
        engine = self.engines.of(0)
        if engine is None:
            raise BadUse("this gateway does not hold the shard 0")
        return engine

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.drain(grace=0)
        finally:
            await self._stack.aclose()

    def _start_clock(self) -> None:
        """Starts the clock if there are jobs."""
        if not self._jobs.now:
            return
        from rejoinder.wiring.jobs import open_scheduler  # noqa: PLC0415 - only loaded where there are jobs

        here = self._opened
        of_session = here.engines.of_session
        self.scheduler = open_scheduler(self._jobs, of_session, here.store, here.process.clock, self.hooks.tell)
        here.cluster_member.tell(self.scheduler.changed)
        self._upkeep.start("clock", self.scheduler.run())

    # --- while it runs ------------------------------------------------------------------------------

    def reconfigure(self, settings: schema.Settings) -> AppliedSettings:
        """Applies what can change, from the next message on; turns under way keep the settings they began with.

        When it raises BadConfiguration, nothing has changed.
        """
        taken = apply_changes(self._configured, settings)
        opened = self._pool.open_changed(self._configured, taken.settings)
        ready = runtime_settings(taken.settings, {**self.agents, **opened}, self.channels)
        jobs = timed_jobs(taken.settings)
        replaced = self._pool.replace(opened)
        if self.tools.source is not None:
            self.offer_tools(self.tools.source)
        self._configured = taken.settings
        self.hooks.over_http.replace(_told_over_http(taken.settings))
        self._settings.replace(ready)
        self._jobs.replace(jobs)
        if self.scheduler is None and not self._ending and all(engine.is_recovered for engine in self.engines):
            self._start_clock()
        for agent in replaced:
            self._upkeep.start(f"retire:{agent.name}", self._pool.retire(agent, self.engines))
        return taken

    def note_not_in_effect(self, sentence: str) -> None:
        """Notes which part of the configuration is not in effect, and why; `/status` tells owners."""
        self._settings.replace(replace(self._settings.now, not_in_effect=sentence))

    @property
    def configured(self) -> schema.Settings:
        """The settings in effect."""
        return self._configured

    @property
    def not_in_effect(self) -> str:
        return self._settings.now.not_in_effect

    def lend(self, name: str) -> AbstractContextManager[Agent]:
        """Lends an agent for work other than chat turns; until the block ends it is not closed."""
        return self._pool.lend(name)


def _told_over_http(settings: schema.Settings) -> Mapping[str, frozenset[str]]:
    """The names of the events that each HTTP hook wants."""
    return {name: frozenset(said.events) for name, said in settings.hooks.items()}


def _ignore(_: float) -> None:
    """Used where no other process shares the store."""


def with_channel(settings: schema.Settings, name: str, agent: str, owners: tuple[str, ...]) -> schema.Settings:
    """The settings with this channel and these owners; a channel that is not configured is open to everyone."""
    configured = settings.channels.get(name)
    common = configured.common if configured is not None else CommonChannelSettings(dm="open", groups="open")
    common = replace(common, agent=agent, agents=(), owners=(*common.owners, *owners))
    wired = replace(configured, common=common) if configured is not None else schema.ConfiguredChannel(name, common, {})
    return replace(settings, channels={**settings.channels, name: wired})
