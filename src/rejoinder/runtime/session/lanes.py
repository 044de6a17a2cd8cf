"""The lanes of all sessions: found by session or by the place they work for, drained and watched together."""

import asyncio
from contextlib import suppress
from time import monotonic

from rejoinder.crashpoint import crashpoint
from rejoinder.events import Route
from rejoinder.runtime.services import Services
from rejoinder.runtime.session.lane import SessionLane
from rejoinder.runtime.session.run import Run
from rejoinder.runtime.session.run_driver import LaneDeps, RunDriver, RunJournal, TurnRunner
from rejoinder.runtime.session.slots import Slots
from rejoinder.runtime.session.turn_inputs import GrantedTurn, TurnInput
from rejoinder.turns import backlog
from rejoinder.turns.lane import Lane, start_of
from rejoinder.turns.modes import QueueSettings
from rejoinder.turns.run_state import ENDING
from rejoinder.turns.run_timeout import RunTimeouts
from rejoinder.turns.signals import Start

MOMENT = 0.25
"""Seconds in which the last words of a run are normally delivered and its end is recorded."""


class Lanes:
    """The lanes that have something to do or to remember."""

    def __init__(self, services: Services, runner: TurnRunner, journal: RunJournal, slots: Slots) -> None:
        self._deps = LaneDeps(
            runner,
            journal,
            services.tasks,
            slots,
            services.settings,
            self._watch,
            self._rest,
            lambda: self._draining,
        )
        self._slots = slots
        self._settings = services.settings
        self._look: asyncio.TimerHandle | None = None
        self._draining = False
        self._lanes: dict[str, SessionLane] = {}
        self._keys_at: dict[Route, set[str]] = {}

    def start_of(self, key: str, agent: str, settings: QueueSettings, message: backlog.QueuedMessage) -> Start | None:
        """The turn this message would start at once; None if it would have to wait, for its turn or for a slot."""
        if self._draining or not self._slots.has_room(agent):
            return None
        lane = self._lanes.get(key)
        return start_of(Lane(settings), message) if lane is None else lane.start_of(message, settings)

    def arrive(
        self,
        key: str,
        agent: str,
        settings: QueueSettings,
        turn_input: TurnInput,
        message: backlog.QueuedMessage,
        granted: GrantedTurn | None = None,
    ) -> None:
        inbound = turn_input.message.inbound
        said_at = (inbound.own_route,) if inbound.opens is not None else ()
        self.lane(key, agent, settings, message.route, *said_at).arrive((turn_input,), message, granted)

    def lane(self, key: str, agent: str, settings: QueueSettings, *routes: Route) -> SessionLane:
        """The lane of this session, ready for messages of these places."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = SessionLane(key, agent, settings, self._deps)
        else:
            lane.apply_settings(settings)
        for route in routes:
            self._keys_at.setdefault(route, set()).add(key)
            lane.routes.add(route)
        return lane

    def ending(self, key: str) -> Run | None:
        """The run that has said its last words but not ended yet."""
        lane = self._lanes.get(key)
        if lane is None or lane.run is None or lane.run.state.stage < ENDING:
            return None
        return lane.run

    @staticmethod
    async def end_of(run: Run) -> None:
        """Waits until a run that is `ending` has ended, so that a user who replies to its last words finds it ended.

        A run whose last words take longer than `MOMENT` to deliver still counts as running.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(MOMENT):
                await run.ended.wait()

    @property
    def at_work(self) -> int:
        """The number of runs that have a slot."""
        return sum(lane.is_at_work for lane in self._lanes.values())

    @property
    def running(self) -> list[Run]:
        """All runs, whether at work or waiting for a slot."""
        runs = (lane.run for lane in self._lanes.values())
        return [run for run in runs if run is not None and not run.ended.is_set()]

    def stop_starting(self) -> None:
        self._draining = True

    async def drain(self, grace: float) -> None:
        """Begins nothing more and gives back the runs that wait for a slot. Runs at work have `grace` seconds to end
        before they are given back too."""
        self.stop_starting()
        crashpoint("K24")
        await self._give_back([lane for lane in self._lanes.values() if not lane.is_at_work])
        try:
            async with asyncio.timeout(grace):
                for run in self.running:
                    await run.ended.wait()
        except TimeoutError:
            await self._give_back(list(self._lanes.values()))
        if self._look is not None:
            self._look.cancel()

    @staticmethod
    async def _give_back(lanes: list[SessionLane]) -> None:
        await asyncio.gather(*(lane.drain() for lane in lanes))

    def apply_settings(self, key: str, settings: QueueSettings) -> None:
        """The queue settings of this session have changed."""
        if lane := self._lanes.get(key):
            lane.apply_settings(settings)

    def get(self, key: str) -> SessionLane | None:
        return self._lanes.get(key)

    def at(self, route: Route) -> list[SessionLane]:
        """The lanes in which a message of this place runs or waits."""
        if (keys := self._keys_at.get(route)) is None:
            return []
        lanes = (self._lanes.get(key) for key in keys)
        return [lane for lane in lanes if lane is not None and lane.is_at(route)]

    @staticmethod
    async def stop(lanes: list[SessionLane], before: int | None = None) -> None:
        """Stops all lanes at once, so that in a room the user waits only for the slowest agent and not for each in
        turn. `before`: messages that came after this event stay in their queues."""
        for run in [lane.stop(before) for lane in lanes]:
            if run is not None:
                await run.ended.wait()

    async def forget(self, key: str) -> None:
        """A new session starts: ends the run of the old session and drops what waited there; the new session is not
        told."""
        if lane := self._lanes.pop(key, None):
            await self.stop([lane])

    def _watch(self, limits: RunTimeouts) -> None:
        """Sets the one timer that serves all runs. It always fires before a run that begins now can time out."""
        soon = asyncio.get_running_loop().time() + min(limits.idle_timeout_s, limits.hard_timeout_s)
        if self._look is not None and self._look.when() > soon:  # the limits have become shorter
            self._look.cancel()
            self._look = None
        if self._look is None:
            self._look_after_leases()

    def _look_after_leases(self) -> None:
        now = monotonic()
        held = [until for lane in self._lanes.values() if (until := lane.times_out_at(now)) is not None]
        self._look = None
        if held:
            limits = self._settings.now.run_timeouts
            soon = min(min(held) - now, limits.idle_timeout_s, limits.hard_timeout_s)
            self._look = asyncio.get_running_loop().call_later(soon, self._look_after_leases)

    def _rest(self, lane: RunDriver) -> None:
        """Removes a lane that has nothing to do and nothing to remember."""
        if self._lanes.get(lane.key) is lane:
            del self._lanes[lane.key]
        for route in lane.routes:
            keys = self._keys_at.get(route, set())
            keys.discard(lane.key)
            if not keys:
                self._keys_at.pop(route, None)
