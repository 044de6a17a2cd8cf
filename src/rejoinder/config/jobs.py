"""The records of `[cron.*]` and of heartbeats: turns that begin at set times."""

from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from rejoinder.keys import Interval, Text

if TYPE_CHECKING:
    from rejoinder.config.schema import Settings


class TimedTurn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a scheduled turn speaks, and what it remembers."""

    channel: Text | None = None
    """The channel that the answer goes to; unset: it is stored and logged."""
    chat: Text | None = None
    """The chat there, by the platform's id."""
    thread: Text | None = None
    """A thread or topic of the chat."""
    account: Text | None = None
    """Which of the channel's accounts speaks there; unset: the only one, or the first."""
    session: Text | None = None
    """The session to use, by its key as `rejoinder sessions` lists it. Unset: a new session for each turn."""
    model: Text | None = None
    """The model of these turns; unset: the session's, or the agent's own."""


class CronJob(TimedTurn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A turn at certain times: one of `schedule`, `every` and `at` says when."""

    prompt: Annotated[str, Meta(min_length=1, examples=["Sum up what is new."])]
    """What the agent is told, exactly as written: commands and directives in it are not carried out."""
    schedule: Text | None = None
    """Five fields, minute, hour, day of the month, month, day of the week: `0 9 * * 1-5`."""
    every: Interval | None = None
    """The interval, counted from when the gateway first saw the job: `30m`, `1h30m`, `1d`."""
    at: Text | None = None
    """Once: `2026-12-24 18:00`."""
    zone: str = "UTC"
    """The time zone of `schedule` and `at`, by its IANA name: `Europe/Berlin`."""
    agent: Text | None = None
    """The agent that is asked; unset: the agent of its channel, or the only one there is."""
    missed: Literal["once", "skip"] = "once"
    """What happens to runs that were due while no gateway ran: one turn for all of them (`once`), or nothing
    (`skip`)."""


class HeartbeatSettings(TimedTurn, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Turns in which the agent looks after things by itself. Unset keys are as in `agents.defaults.heartbeat`."""

    every: Interval | None = None
    """How often; unset: `30m`."""
    active_hours: Text | None = None
    """The hours in which heartbeats run, `08:00-22:00`; they may cross midnight. Unset: always."""
    zone: Text | None = None
    """The time zone of `active_hours`, by its IANA name; unset: `UTC`."""
    prompt: Text | None = None
    """What the agent is told; unset: to read HEARTBEAT.md, to do what is due, and to answer HEARTBEAT_OK if nothing
    is."""
    file: Text | None = None
    """The file that says what to do; unset: `HEARTBEAT.md` in the agent's `cwd`, or where the gateway runs. While it
    lists nothing to do, the agent is not asked. An agent of kind `acp` reads the file itself; others get its
    text."""
    ack_max_chars: Annotated[int, Meta(ge=0)] | None = None
    """Text next to HEARTBEAT_OK is not shown if it has at most this many characters; unset: 300."""


class EveryAgent(Struct, frozen=True):
    """Keys that agents of every kind may have."""

    heartbeat: HeartbeatSettings | None = None
    """Regular turns of the agent without a message, to look after things. The table turns them on, even if it is empty:
    `[agents.NAME.heartbeat]`."""


def merged(own: HeartbeatSettings, usual: HeartbeatSettings) -> HeartbeatSettings:
    """An agent's own settings, completed with those of all agents."""
    own_values = {name: getattr(own, name) for name in own.__struct_fields__}
    return HeartbeatSettings(
        **{name: getattr(usual, name) if value is None else value for name, value in own_values.items()}
    )


def agent_of(job: CronJob, settings: "Settings") -> str | None:
    """The agent that is asked, if that is clear: from the job, from its channel, or because there is only one."""
    channel = settings.channels.get(job.channel or "")
    there = channel.common.agent if channel is not None else None
    only = next(iter(settings.agents)) if len(settings.agents) == 1 else None
    return job.agent or there or only
