"""Finds mistakes in scheduled jobs: unreadable times, with the place in the text, and unknown names."""

from collections.abc import Iterator
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from rejoinder.config.jobs import HeartbeatSettings, TimedTurn, agent_of
from rejoinder.config.positions import Path
from rejoinder.config.schema import Settings
from rejoinder.config.wording import did_you_mean, listed, shown
from rejoinder.turns.expression import BadExpression, read_expression
from rejoinder.turns.hours import read_hours
from rejoinder.turns.schedule import read_interval, read_moment

Complaint = tuple[Path, str]
WHEN = ("schedule", "every", "at")


class JobNames(NamedTuple):
    agents: frozenset[str]
    channels: frozenset[str]
    served: frozenset[str]


def check_jobs(settings: Settings, names: JobNames) -> Iterator[Complaint]:
    zones = available_timezones()
    for name, job in settings.cron.items():
        here: Path = ("cron", name)
        keys = [key for key in WHEN if getattr(job, key) is not None]
        if not keys:
            yield here, f'it does not say when; add one of {listed(WHEN)}, for example schedule = "0 9 * * 1-5"'
        for key in keys[1:]:
            yield (*here, key), f"there is {keys[0]} already; a job has one of {listed(WHEN)}"
        yield from _zone((*here, "zone"), job.zone, zones)
        for key in keys:
            yield from _time((*here, key), getattr(job, key), job.zone if job.zone in zones else "UTC")
        yield from _place(here, job, names)
        agent = agent_of(job, settings)
        if job.agent is not None and job.agent not in names.agents:
            yield (*here, "agent"), _nobody("agent", job.agent, names.agents)
        elif agent is None and len(names.agents) > 1:
            yield (*here, "agent"), f"there are several agents; say which is asked: {listed(sorted(names.agents))}"
        yield from _session(here, job, agent)
    yield from _heartbeat(("agents", "defaults", "heartbeat"), settings.agent_defaults.heartbeat, None, names, zones)
    for name, agent in settings.agents.items():
        if agent.heartbeat is not None:
            yield from _heartbeat(("agents", name, "heartbeat"), agent.heartbeat, name, names, zones)


def _heartbeat(
    here: Path, heartbeat: HeartbeatSettings, agent: str | None, names: JobNames, zones: set[str]
) -> Iterator[Complaint]:
    if heartbeat.every is not None:
        yield from _time((*here, "every"), heartbeat.every, "UTC")
    if heartbeat.zone is not None:
        yield from _zone((*here, "zone"), heartbeat.zone, zones)
    if heartbeat.active_hours is not None:
        try:
            read_hours(heartbeat.active_hours)
        except BadExpression as wrong:
            yield (*here, "active_hours"), _misread(heartbeat.active_hours, wrong)
    yield from _place(here, heartbeat, names)
    if agent is None and heartbeat.session is not None:
        yield (*here, "session"), "a session belongs to one agent; name it in the heartbeat of that agent"
    else:
        yield from _session(here, heartbeat, agent)


def _time(path: Path, text: str, zone: str) -> Iterator[Complaint]:
    try:
        match path[-1]:
            case "schedule":
                read_expression(text)
            case "every":
                read_interval(text)
            case _:
                read_moment(text, ZoneInfo(zone))
    except BadExpression as wrong:
        yield path, _misread(text, wrong)


def _misread(text: str, wrong: BadExpression) -> str:
    place = "" if wrong.at is None else f", character {wrong.at + 1}"
    return f"{shown(text)}{place}: {wrong}"


def _zone(path: Path, zone: str, zones: set[str]) -> Iterator[Complaint]:
    if zone not in zones:
        example = 'it is a name such as "Europe/Berlin" or "UTC"'
        yield path, f"there is no time zone {shown(zone)}; {did_you_mean(zone, zones, example)}"


def _place(here: Path, turn: TimedTurn, names: JobNames) -> Iterator[Complaint]:
    if turn.channel is not None and turn.channel not in names.channels:
        yield (*here, "channel"), _nobody("channel", turn.channel, names.channels)
    elif turn.channel is not None and turn.channel not in names.served:
        yield (*here, "channel"), f"this channel is not configured; add a section [channels.{turn.channel}]"
    if turn.channel is not None and turn.chat is None:
        yield (*here, "chat"), "which chat of the channel is meant? Add chat, by the platform's id"
    if turn.chat is not None and turn.channel is None:
        yield (*here, "channel"), "the chat of which channel? Add channel"
    if turn.thread is not None and turn.chat is None:
        yield (*here, "thread"), "a thread belongs to a chat; add chat"
    if turn.account is not None and turn.channel is None:
        yield (*here, "account"), "an account belongs to a channel; add channel and chat"


def _session(here: Path, turn: TimedTurn, agent: str | None) -> Iterator[Complaint]:
    if turn.session is not None and agent is not None and turn.session.partition(":")[0] != agent:
        begin = f"the keys of its sessions begin with {shown(f'{agent}:')}; `rejoinder sessions` lists them"
        yield (*here, "session"), f"this is not a session of {agent}: {begin}"


def _nobody(what: str, name: str, known: frozenset[str]) -> str:
    there = f"there are: {listed(sorted(known))}" if known else f"add a section [{what}s.{name}]"
    return f"there is no {what} {shown(name)}; {did_you_mean(name, known, there)}"
