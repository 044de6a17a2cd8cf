"""The records of `[cron.*]` and of heartbeats: turns that the clock begins."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.keys import Interval, Text

if TYPE_CHECKING:
    from rejoinder.config.schema import Settings


class TimedTurn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a turn of the clock is said, and what it remembers."""

    channel: Text | None = None
    """The channel its words go to; unset: they are kept and logged."""
    chat: Text | None = None
    """The chat there, by the platform's id."""
    thread: Text | None = None
    """A thread or topic of the chat."""
    account: Text | None = None
    """Which of the channel's accounts speaks there; unset: the only one, or the first."""
    session: Text | None = None
    """The session it goes on in, by its key as `rejoinder sessions` lists it. Unset: one of its own, which is new
    with each turn."""
    model: Text | None = None
    """The model of these turns; unset: the session's, or the agent's own."""


class CronJob(TimedTurn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A turn at certain times: one of `schedule`, `every` and `at` says when."""

    prompt: Annotated[str, Meta(min_length=1, examples=["Sum up what is new."])]
    """What the agent is told. It is given to it as it stands: commands and directives are not looked for in it."""
    schedule: Text | None = None
    """Five fields, minute, hour, day of the month, month, day of the week: `0 9 * * 1-5`."""
    every: Interval | None = None
    """So often, counted from when the gateway first saw the job: `30m`, `1h30m`, `1d`."""
    at: Text | None = None
    """Once: `2026-12-24 18:00`."""
    zone: str = "UTC"
    """The time zone of `schedule` and `at`, by its IANA name: `Europe/Berlin`."""
    agent: Text | None = None
    """Who is asked; unset: the agent of its channel, or the only one there is."""
    missed: Literal["once", "skip"] = "once"
    """What becomes of ticks while no gateway ran: one turn for all of them, or nothing."""


class HeartbeatSettings(TimedTurn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns the agent has for itself, to look after things. Unset keys are as in `agents.defaults.heartbeat`."""

    every: Interval | None = None
    """How often; unset: `30m`."""
    active_hours: Text | None = None
    """The hours in which it has them, `08:00-22:00`, also over midnight; unset: always."""
    zone: Text | None = None
    """The time zone of `active_hours`, by its IANA name; unset: `UTC`."""
    prompt: Text | None = None
    """What the agent is told; unset: to read HEARTBEAT.md, to do what is due, and else to answer HEARTBEAT_OK."""
    file: Text | None = None
    """The file that says what is to be done; unset: `HEARTBEAT.md` in the agent's `cwd`, or where the gateway runs.
    While it asks for nothing the agent is not woken. An agent of kind `acp` reads it itself, others are told it."""
    ack_max_chars: Annotated[int, Meta(ge=0)] | None = None
    """How long the text besides HEARTBEAT_OK may be that is not shown; unset: 300."""


class EveryAgent(Struct, frozen=True):
    """What every agent may have, whatever its kind."""

    heartbeat: HeartbeatSettings | None = None
    """Turns the agent has for itself, to look after things. Where the table is, if only as `[agents.NAME.heartbeat]`
    with nothing below, the agent has them."""


def merged(own: HeartbeatSettings, usual: HeartbeatSettings) -> HeartbeatSettings:
    """An agent's own settings, and those of all agents where it has none."""
    said = {name: getattr(own, name) for name in own.__struct_fields__}
    return HeartbeatSettings(**{name: getattr(usual, name) if value is None else value for name, value in said.items()})


def agent_of(job: CronJob, settings: "Settings") -> str | None:
    """The agent that is asked, if that is clear: from the job, from its channel, or because there is only one."""
    channel = settings.channels.get(job.channel or "")
    there = channel.common.agent if channel is not None else None
    only = next(iter(settings.agents)) if len(settings.agents) == 1 else None
    return job.agent or there or only
