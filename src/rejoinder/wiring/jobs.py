"""Makes the scheduled jobs from the configuration, and the scheduler that fires them."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from rejoinder.channels.base import DEFAULT_ACCOUNT
from rejoinder.config import schema
from rejoinder.config.jobs import CronJob, TimedTurn, agent_of, merged
from rejoinder.config.kinds import agent_kind
from rejoinder.errors import BadConfiguration
from rejoinder.events import Route
from rejoinder.media.notes import read_notes
from rejoinder.runtime.engine import Engine
from rejoinder.runtime.hooks import TellHooks
from rejoinder.runtime.live import Live
from rejoinder.runtime.session.job_scheduler import JobHome, JobScheduler
from rejoinder.session import job_key
from rejoinder.store.base import SharedStore
from rejoinder.turns import heartbeat
from rejoinder.turns.expression import BadExpression
from rejoinder.turns.hours import read_hours
from rejoinder.turns.job import Heartbeat, Job
from rejoinder.turns.schedule import read_schedule


def open_scheduler(
    jobs: Live[tuple[Job, ...]],
    engine_of: Callable[[str], Engine | None],
    store: SharedStore,
    clock: Callable[[], datetime],
    tell: TellHooks,
) -> JobScheduler:
    """`engine_of`: returns the engine of a session, if this process has it."""

    def home(session: str) -> JobHome | None:
        engine = engine_of(session)
        if engine is None or not engine.is_recovered:
            return None
        return JobHome(engine.store, engine.lanes, engine.background.begin)

    return JobScheduler(jobs, store, home, clock, read_notes, tell, is_shared=store.lease_seconds is not None)


def jobs_of(settings: schema.Settings) -> tuple[Job, ...]:
    """All jobs, heartbeats last."""
    jobs = [_job(name, job, settings) for name, job in settings.cron.items()]
    beats = [
        _heartbeat(name, agent, settings) for name, agent in settings.agents.items() if agent.heartbeat is not None
    ]
    return (*jobs, *beats)


def _job(name: str, configured: CronJob, settings: schema.Settings) -> Job:
    written = configured.schedule or configured.every or configured.at or ""
    try:
        zone = ZoneInfo(configured.zone)
        schedule = read_schedule(
            zone, cron=configured.schedule or "", every=configured.every or "", at=configured.at or ""
        )
    except (BadExpression, OSError, ValueError) as wrong:  # settings that were not read from a file are unchecked
        raise BadConfiguration(f"cron.{name}: {wrong}") from None
    agent = agent_of(configured, settings) or next(iter(settings.agents), "")
    return Job(
        name=name,
        written=written if configured.every else f"{written} {configured.zone}",
        schedule=schedule,
        agent=agent,
        prompt=configured.prompt,
        session=configured.session or job_key(agent, name),
        new_session=configured.session is None,
        target=_target(configured),
        model=configured.model,
        missed=configured.missed,
    )


def _target(turn: TimedTurn) -> Route | None:
    if turn.channel is None or turn.chat is None:
        return None
    return Route(turn.channel, turn.chat, turn.thread, turn.account or DEFAULT_ACCOUNT)


def _heartbeat(agent: str, configured: schema.ConfiguredAgent, settings: schema.Settings) -> Job:
    assert configured.heartbeat is not None, "an agent without them has no such job"
    turn, name = merged(configured.heartbeat, settings.agent_defaults.heartbeat), heartbeat.heartbeat_of(agent)
    every = turn.every or heartbeat.EVERY
    folder = Path(getattr(configured.settings, "cwd", ".")).expanduser()
    try:
        return Job(
            name=name,
            written=every,
            schedule=read_schedule(ZoneInfo("UTC"), every=every),
            agent=agent,
            prompt=turn.prompt or heartbeat.PROMPT,
            session=turn.session or job_key(agent, name),
            new_session=turn.session is None,
            target=_target(turn),
            model=turn.model,
            heartbeat=Heartbeat(
                hours=read_hours(turn.active_hours) if turn.active_hours is not None else None,
                zone=ZoneInfo(turn.zone or "UTC"),
                notes=str(folder / (turn.file or heartbeat.NOTES)),
                reads_notes=agent_kind(configured.kind).reads_files,
            ),
        )
    except (BadExpression, OSError, ValueError) as wrong:
        raise BadConfiguration(f"agents.{agent}.heartbeat: {wrong}") from None
