"""THE wiring: settings -> agents, channels, store, rules, engine."""

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import AsyncExitStack, contextmanager
from datetime import datetime
from functools import partial
from secrets import token_urlsafe
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from rejoinder import plugins
from rejoinder.agents import base as agent_base
from rejoinder.agents.base import Agent, CanClose, TakesTools, ToolSource
from rejoinder.channels import base as channel_base
from rejoinder.channels.base import (
    AcceptsAnywhere,
    Channel,
    FollowsLog,
    HasAccount,
    ShowsLife,
    TellsPlaceTrouble,
    TellsTrouble,
    UsesStore,
)
from rejoinder.channels.base import CanClose as ClosesDown
from rejoinder.config import schema
from rejoinder.config.channels import CommonChannelSettings
from rejoinder.config.live import Taken, taken_over
from rejoinder.errors import BadConfiguration, BadUse, StoreUnavailable
from rejoinder.events import Inbound, Part
from rejoinder.rendering import RenderOptions
from rejoinder.room_log import Kept
from rejoinder.runtime.abilities import learn
from rejoinder.runtime.account_pace import AccountPaces
from rejoinder.runtime.engine import Engine, utc_now
from rejoinder.runtime.gateway import Engines
from rejoinder.runtime.hooks import Hook, Hooks
from rejoinder.runtime.inlet import ChannelInlet
from rejoinder.runtime.intake import InboxIntake
from rejoinder.runtime.live import Live
from rejoinder.runtime.ownership.database_clock import DatabaseClock
from rejoinder.runtime.ownership.held_lease import HeldLease
from rejoinder.runtime.ownership.process import machine_name, process_name
from rejoinder.runtime.place.access import Access
from rejoinder.runtime.place.program_commands import ProgramCommands
from rejoinder.runtime.place.restarting import Restart, Restarting, Reviving
from rejoinder.runtime.place.rights import Rights
from rejoinder.runtime.place.room_log import ChannelLog
from rejoinder.runtime.runs import Runs, until_cancelled
from rejoinder.runtime.services import Services
from rejoinder.runtime.serving import account_of, by_name, listeners
from rejoinder.runtime.session.background import Background, DiscardChannel
from rejoinder.runtime.session.relay import Watcher
from rejoinder.runtime.settings import RuntimeSettings
from rejoinder.runtime.sharing import Sharing
from rejoinder.runtime.slot_pool import SlotPool
from rejoinder.runtime.toolbox import Toolbox
from rejoinder.runtime.upkeep import Upkeep
from rejoinder.runtime.write_batch import WriteBatch
from rejoinder.store.base import Health, KeepHookEvents, Lease, NamedLease, SharedStore, Store
from rejoinder.store.blob_keeper import StoredBlobs
from rejoinder.wiring.opening import open_agents, open_changed_agents, open_channels
from rejoinder.wiring.runtime_settings import runtime_settings, timed_jobs
from rejoinder.wiring.stores import open_store, sharing

if TYPE_CHECKING:
    from rejoinder.runtime.session.job_scheduler import JobScheduler

log = logging.getLogger(__name__)

MEMORY = "sqlite::memory:"
"""A store that keeps nothing beyond the process: for a chat in the terminal, a single reply, and tests."""
GRACE = 20.0
"""Seconds for which agents may go on after the gateway is told to end."""
SENDING = 5.0
"""Seconds for which planned parts are still sent after that; the next process sends the rest."""
PUTTING_AWAY = 15.0
"""Seconds for the whole shutdown beyond the grace; a store that accepts nothing for so long is closed as it is."""
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

Told = signal.Signals | Restart | None
"""What ended a gateway; None: it ended by itself."""
SELF = "you"
"""The person at the terminal, who owns what runs in it."""


class Gateway:
    """One configuration at work. Once entered, `dispatch` takes messages; once left, nothing of it runs on.

    Agents, channels and store are those of the configuration unless others are given; `serving` serves the page.
    `reviving` is given by a caller that starts the gateway again when it ends for a restart.
    """

    store: SharedStore

    def __init__(
        self,
        settings: schema.Settings,
        *,
        agents: Mapping[str, Agent] | None = None,
        channels: Iterable[Channel] | None = None,
        store: str | SharedStore | None = None,
        watcher: Watcher | None = None,
        clock: Callable[[], datetime] = utc_now,
        reviving: Reviving | None = None,
    ) -> None:
        self.agents = dict(agents) if agents is not None else open_agents(settings)
        self._opened = agents is None
        opened = tuple(open_channels(settings) if channels is None else channels)
        self.channels, self.listeners = by_name(opened), listeners(opened)
        if unknown := self.channels.keys() - settings.channels.keys():
            name = min(unknown)
            raise BadConfiguration(
                f"nothing is configured for the channel {name!r}; add [channels.{name}], "
                "or make the settings with rejoinder.app.with_channel"
            )
        self.runs = Runs()
        self.hooks = Hooks()
        for module in plugins.others("hook"):
            for name, hook in module.HOOKS.items():
                self.hooks.on(name, hook)
        learn(self.agents.values(), agent_base)
        learn(opened, channel_base)
        self._configured = settings
        self._tell_over_http()
        self._settings = Live(runtime_settings(settings, self.agents, self.channels))
        self._jobs = Live(timed_jobs(settings))
        self.commands = ProgramCommands()
        """Where the program around it provides what only it can do."""
        self._nowhere = DiscardChannel()
        self.scheduler: JobScheduler | None = None
        self._opens = settings.gateway.store if store is None else store
        self._watcher = watcher or Watcher()
        self._clock = clock
        self._reviving = reviving
        self._restart: Restart | None = None
        self.listening: list[asyncio.Task[None]] = []
        self._ending = False
        self._stack = AsyncExitStack()
        self._upkeep = Runs()  # separate: waiting until `runs` is idle must not wait for it
        self._lent: dict[asyncio.Event, Agent] = {}

    def on(self, name: str, hook: Hook) -> None:
        """Calls an async function with each happening of this name: `message_received`, `message_decided`,
        `session_started`, `session_ended`, `turn_ended`, `reply_started`, `reply_sent`, `delivery_failed`."""
        self.hooks.on(name, hook)

    def _tell_over_http(self) -> None:
        self.hooks.over_http = {name: frozenset(said.events) for name, said in self._configured.hooks.items()}

    @property
    def tools(self) -> Toolbox:
        """The tools of runs under way, for the program that serves them."""
        return self.commands.tools

    def offer_tools(self, source: ToolSource) -> None:
        """Agents that speak MCP are told where the gateway's tools are, from their next session on."""
        self.tools.source = source
        for agent in self.agents.values():
            if isinstance(agent, TakesTools):
                agent.take_tools(source)

    async def _keep_hook_events(self, events: KeepHookEvents) -> None:
        await WriteBatch(events).insist(self.store)

    @property
    def in_effect(self) -> RuntimeSettings:
        """What it runs with now."""
        return self._settings.now

    def rights(self) -> Rights:
        """Who may use which command, for a page that shows what a command would tell."""
        return Rights(self._settings, Access(self._settings, self.store))

    async def dispatch(self, inbound: Inbound) -> None:
        """What a channel calls: returns when the message is safe, not when it is answered."""
        if not hasattr(self, "engines"):
            raise BadUse("the gateway is not open; write `async with Gateway(...) as gateway:`")
        if inbound.channel not in self.channels:
            there = ", ".join(sorted(self.channels)) or "none"
            raise BadUse(f"the gateway has no channel {inbound.channel!r}; there are: {there}")
        await self.intake.accept(inbound)

    async def health(self) -> Health:
        """Whether messages can be kept now; if not, why and what to do (DU-15)."""
        return await self.store.health()

    @property
    def render_options(self) -> tuple[RenderOptions, ...]:
        """How the channels are spoken to."""
        return tuple(facts.delivery.options for facts in self._settings.now.channels.values())

    def listens(self, listener: str) -> bool:
        """Whether this one of `listeners` takes messages now."""
        return self.runs.has(f"channel:{listener}")

    def silent_for(self, listener: str) -> float | None:
        """Seconds since the platform of this one of `listeners` last showed that it hears us (CH-7); None: it does not
        tell, or there was no sign yet."""
        here = self.listeners[listener]
        last = here.last_sign if isinstance(here, ShowsLife) else None
        return None if last is None else max(0.0, monotonic() - last)

    def problem(self, listener: str) -> str:
        """What keeps this one of `listeners` from listening or from sending; empty when everything is fine."""
        name = f"channel:{listener}"
        ended = next((task for task in self.listening if task.get_name() == name and task.done()), None)
        if ended is not None and not ended.cancelled() and (problem := ended.exception()) is not None:
            return str(problem)
        here = self.listeners[listener]
        if isinstance(here, TellsTrouble) and here.trouble:
            return here.trouble
        silent = self.silent_for(listener) if isinstance(here, ShowsLife) else None
        if silent is not None and isinstance(here, ShowsLife) and silent > here.deaf_after:
            return f"nothing has been heard from its platform for {silent:.0f} s; it is being connected again"
        account = account_of(here) if isinstance(here, HasAccount) else None
        refused = next(filter(None, (each.outbox.trouble(here.name, account) for each in self.engines)), "")
        return f"nothing can be sent: {refused}" if refused else ""

    def place_troubles(self, listener: str) -> tuple[str, ...]:
        """What keeps it from single places."""
        here = self.listeners[listener]
        return here.place_troubles if isinstance(here, TellsPlaceTrouble) else ()

    @property
    def kept(self) -> tuple[Part, ...]:
        """What was said in the background and had no place to go."""
        return tuple(self._nowhere.kept)

    async def begin(self, turn: Background) -> None:
        """Begins a turn that no user asked for, as soon as recovery is over."""
        engine = self.engines.of_session(turn.session)
        if engine is None:
            raise BadUse(f"another process holds the shard of {turn.session}")
        await engine.background.begin(turn)

    async def serve(self) -> None:
        """Runs until every channel has ended, by itself or because it was told to, and all they brought is answered."""
        if self.sharing.is_shared:
            await self.sharing.join(self.listeners, self._configured.session, self._upkeep, GRACE, SENDING)
        for engine in self.engines:
            await engine.recover()
        self._wind_up()
        self.listening = listening = [
            self.runs.start(f"channel:{name}", self._listen(name, channel))
            for name, channel in self.listeners.items()
            if not self._ending and (self.sharing.role != "worker" or isinstance(channel, FollowsLog))
        ]
        if self.sharing.role == "worker" and not self._ending:
            listening.append(self.runs.start("work", until_cancelled()))
        for task in listening:
            await self.runs.wait(task)
        await self.runs.idle()
        for task in listening:
            if not task.cancelled() and (problem := task.exception()) is not None:
                raise problem

    async def _listen(self, name: str, channel: Channel) -> None:
        def listen(lease: NamedLease | None) -> Coroutine[Any, Any, None]:
            account = account_of(channel)
            return channel.listen(ChannelInlet(channel.name, account, self.intake, self.store, self.runs, lease))

        if isinstance(channel, AcceptsAnywhere) and channel.accepts_anywhere:
            return await listen(None)
        await self.sharing.duties.do(name, listen, self.runs)

    async def serve_until_told(self, grace: float = GRACE) -> Told:
        """Like `serve`, but a signal in `ENDING` or a restart ends it cleanly, a second signal at once. Returns
        which it was."""
        loop, told = asyncio.get_running_loop(), list[signal.Signals]()

        def end(number: signal.Signals) -> None:
            self.runs.start("drain", self.drain(0 if told else grace))
            if not told and (running := sum(engine.lanes.at_work for engine in self.engines)):
                answers = "An answer is" if running == 1 else f"{running} answers are"
                log.info("%s being finished, for up to %.0f s; a second signal ends it at once", answers, grace)
            told.append(number)

        for number in ENDING:
            loop.add_signal_handler(number, end, number)
        try:
            await self.serve()
        finally:
            for number in ENDING:
                loop.remove_signal_handler(number)
        return told[0] if told else self._restart

    def _begin_restart(self, restart: Restart) -> None:
        self._restart = restart
        log.info("An owner has asked for a restart")
        self.runs.start("drain", self.drain())

    async def drain(self, grace: float = GRACE) -> None:
        """Ends cleanly: takes no further message, gives runs `grace` seconds to end, gives back the rest."""
        self._ending = True
        for engine in self.engines:
            engine.take_no_more()
        for task in (*self.listening, *self._upkeep.named("clock"), *self._upkeep.named("own")):
            await self.runs.cancel(task)
        try:
            async with asyncio.timeout(grace + PUTTING_AWAY):
                await self.engines.drain(grace, SENDING)
        except TimeoutError:  # the store accepts nothing (DU-15), for an unknown time
            await self.store.close()

    async def __aenter__(self) -> Self:
        opens = self._opens
        how = sharing(self._configured.gateway)
        self.store = await asyncio.to_thread(open_store, opens, how) if isinstance(opens, str) else opens
        self._stack.push_async_callback(self.store.close)
        self.hooks.keep = self._keep_hook_events
        restarting = Restarting(self._reviving, self._begin_restart, self._clock())
        by_database = DatabaseClock(self._clock)
        if self.store.lease_seconds is not None:
            self._clock = by_database
        self.blobs = StoredBlobs(self.store, self._clock, lambda: token_urlsafe(18))
        accounts = AccountPaces()
        make = partial(self._make_engine, restarting, accounts, SlotPool())
        moved = accounts.share if self.store.lease_seconds is not None else _ignore
        self.engines = Engines(self.store, process_name(), make, self.runs, moved=moved)
        self.intake = InboxIntake(self.engines, self.store, self._settings, self._clock, self.hooks)
        self._stack.push_async_callback(self.engines.leave)
        self.sharing = Sharing(self.store, self.engines, by_database, accounts)
        if not self.sharing.is_shared:
            for shard in range(self.store.shards):
                if await self.engines.claim(shard) is None:
                    raise StoreUnavailable("taken", str(self._opens))
        self._stack.push_async_callback(self._close_agents)
        for channel in self.listeners.values():
            if isinstance(channel, ClosesDown):
                self._stack.push_async_callback(channel.close)
        self._stack.push_async_callback(self.hooks.close)
        await self._stack.enter_async_context(self.runs)
        for channel in self.listeners.values():
            if isinstance(channel, UsesStore):
                log_of = ChannelLog(channel.name, self.intake.record, self.store, self._clock)
                await channel.use_store(Kept(log_of, self.blobs))
        if not self.sharing.is_shared:
            self.store.on_foreign_change(self.engines.changed)
        await self._stack.enter_async_context(self._upkeep)
        upkeep = Upkeep(self.store, self._clock)
        self._upkeep.start("upkeep", self.sharing.duties.do("upkeep", lambda _: upkeep.run(), self._upkeep))
        return self

    def _make_engine(
        self,
        restarting: Restarting,
        accounts: AccountPaces,
        slots: SlotPool,
        store: Store,
        held_lease: HeldLease[Lease],
        runs: Runs,
    ) -> Engine:
        places = {**self.channels, **self.listeners, self._nowhere.name: self._nowhere}
        services = Services(
            self.agents,
            places,
            store,
            runs,
            self._settings,
            self._clock,
            self.hooks,
            self.blobs,
            self.tools,
            machine_name(self._configured.gateway.machine) if self.sharing.is_shared else "",
            held_lease,
            accounts,
            slots,
        )
        return Engine(services, self._nowhere, restarting, self.commands, self._watcher)

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

    def _wind_up(self) -> None:
        """Starts the clock, if there are jobs for it."""
        if not self._jobs.now or self._ending:
            return
        from rejoinder.wiring.jobs import open_scheduler  # noqa: PLC0415 - only loaded where there are jobs

        of_session = self.engines.of_session
        self.scheduler = open_scheduler(self._jobs, of_session, self.store, self._clock, self.hooks.tell)
        if not self.sharing.is_shared:
            self.store.on_foreign_change(self.scheduler.changed)
        else:
            self.sharing.looks.append(self.scheduler.changed)
        self._upkeep.start("clock", self.scheduler.run())

    async def _close_agents(self) -> None:
        async with AsyncExitStack() as stack:  # when one fails to close, the others still are
            for agent in self.agents.values():
                stack.push_async_callback(_close, agent)

    # --- while it runs ------------------------------------------------------------------------------

    def take_over(self, settings: schema.Settings) -> Taken:
        """Applies what can change, from the next message on; turns under way keep the settings they began with.

        When it raises BadConfiguration, nothing has changed.
        """
        taken = taken_over(self._configured, settings)
        opened = open_changed_agents(self._configured, taken.settings) if self._opened else {}
        learn(opened.values(), agent_base)
        ready = runtime_settings(taken.settings, {**self.agents, **opened}, self.channels)
        jobs = timed_jobs(taken.settings)
        retired = [self.agents[name] for name in opened]
        self.agents.update(opened)
        if self.tools.source is not None:
            self.offer_tools(self.tools.source)
        self._configured = taken.settings
        self._tell_over_http()
        self._settings.become(ready)
        self._jobs.become(jobs)
        if self.scheduler is None and all(engine.is_recovered for engine in self.engines):
            self._wind_up()
        for agent in retired:
            self._upkeep.start(f"retire:{agent.name}", self._retire(agent))
        return taken

    def note_not_in_effect(self, sentence: str) -> None:
        """Notes which part of the configuration is not in effect, and why; `/status` tells owners."""
        self._settings.become(replace(self._settings.now, not_in_effect=sentence))

    @property
    def configured(self) -> schema.Settings:
        """The settings in effect."""
        return self._configured

    @property
    def not_in_effect(self) -> str:
        return self._settings.now.not_in_effect

    @contextmanager
    def lend(self, name: str) -> Generator[Agent]:
        """Lends an agent for work other than chat turns; it is not closed meanwhile."""
        agent, back = self.agents[name], asyncio.Event()
        self._lent[back] = agent
        try:
            yield agent
        finally:
            del self._lent[back]
            back.set()

    async def _retire(self, agent: Agent) -> None:
        """Closes a replaced agent when its turns and loans have ended."""
        try:
            for engine in self.engines:
                for run in engine.turn_runner.turns_of(agent):
                    await run.gone.wait()
            for back in [back for back, lent in self._lent.items() if lent is agent]:
                await back.wait()
        finally:
            await _close(agent)


def _ignore(_: float) -> None:
    """What a process has to itself, it shares with nobody."""


async def _close(agent: Agent) -> None:
    if isinstance(agent, CanClose):
        await agent.close()


def with_channel(settings: schema.Settings, name: str, agent: str, owners: tuple[str, ...]) -> schema.Settings:
    """The settings with this channel and these owners; a channel that is not configured is open to everyone."""
    configured = settings.channels.get(name)
    common = configured.common if configured is not None else CommonChannelSettings(dm="open", groups="open")
    common = replace(common, agent=agent, agents=(), owners=(*common.owners, *owners))
    wired = replace(configured, common=common) if configured is not None else schema.ConfiguredChannel(name, common, {})
    return replace(settings, channels={**settings.channels, name: wired})
