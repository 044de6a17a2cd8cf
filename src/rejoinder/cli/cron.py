"""`rejoinder cron`: lists the scheduled jobs; the operator can run, pause or resume one (TU-27)."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from msgspec import Struct

from rejoinder.cli.options import AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read, store_to_write, who_acts
from rejoinder.errors import BadUse, RejoinderError, Superseded

if TYPE_CHECKING:
    from rejoinder.store.base import PauseJob, RequestJobRun, StoredJob

Action = Literal["run", "pause", "resume"]
ONE_DAY, NO_TIME = timedelta(days=1), timedelta()
ACTIONS: dict[str, Action] = {"run": "run", "pause": "pause", "resume": "resume"}


class ShownJob(Struct, frozen=True):
    """One job, with the keys of `--json`."""

    name: str
    schedule: str
    paused: bool
    state: str | None
    """The state of its last turn: `waiting`, `running`, `over` or `quarantined`."""
    next: datetime | None
    needs_schedule: bool
    """Whether it was resumed and the gateway has not computed its next tick yet."""
    fired: datetime | None
    outcome: str | None
    detail: str
    passed: datetime | None
    """The time of a tick that passed without a turn."""
    reason: str
    """Why it passed."""


class JobChange(Struct, frozen=True):
    """The request, its job, and the gateway that carries it out, with the keys of `--json`."""

    job: str
    asked: Action
    gateway: str | None


def cron(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[run|pause|resume NAME]", help="What to do, and the name of the job."),
    ] = None,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """List the scheduled jobs with their last and next run; run one now, pause it or resume it."""
    match words or []:
        case []:
            _show(finish(_jobs(file)), as_json)
        case [word, name] if word in ACTIONS:
            _tell(finish(_ask(file, ACTIONS[word], name)), as_json)
        case [word] if word in ACTIONS:
            raise BadUse(f"which job? `rejoinder cron` lists them, `rejoinder cron {word} NAME` names one")
        case _:
            raise BadUse("it is `rejoinder cron`, or `rejoinder cron` with run, pause or resume and the name of a job")


# --- listed -------------------------------------------------------------------------------------


async def _jobs(file: str | None) -> tuple[ShownJob, ...]:
    async with store_to_read(file) as store:
        return tuple(_shown(job) for job in await store.jobs() if job.schedule)


def _shown(job: "StoredJob") -> ShownJob:
    return ShownJob(
        name=job.name,
        schedule=job.schedule,
        paused=job.paused,
        state=job.state,
        next=None if job.paused else job.due,
        needs_schedule=job.needs_schedule,
        fired=job.fired,
        outcome=job.outcome,
        detail=job.detail,
        passed=job.passed,
        reason=job.reason,
    )


def _show(jobs: tuple[ShownJob, ...], as_json: bool) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import console, print_table
    from rejoinder.unicode_repair import harmless

    if as_json:
        print_json({"jobs": jobs})
        return
    out, now = console(), datetime.now(UTC)
    if not jobs:
        out.print("There are no scheduled jobs: configure a [cron.NAME] or a heartbeat, and start the gateway.")
        return

    def row(job: ShownJob) -> list[Text]:
        return [
            Text(harmless(job.name), "bold"),
            Text(harmless(job.schedule)),
            Text(_next(job, now), "yellow" if job.paused else ""),
            Text(harmless(_last(job, now)), "dim"),
        ]

    print_table(out, ["job", "when", "next", "last"], map(row, jobs))
    if out.is_terminal:
        out.print("\nRun one now: rejoinder cron run NAME. `pause` and `resume` work the same way.", style="dim")


def _next(job: ShownJob, now: datetime) -> str:
    from rejoinder.durations import duration_text

    if job.paused:
        return "paused"
    if job.next is None:
        return "once a gateway runs" if job.needs_schedule else "no further run"
    left = job.next - now
    if left < ONE_DAY:
        return f"in {duration_text(left.total_seconds())}" if left > NO_TIME else "due"
    return f"{job.next.astimezone():%Y-%m-%d %H:%M}"


def _last(job: ShownJob, now: datetime) -> str:
    """The last tick that was fired, or the last that passed without a turn, whichever is later."""
    from rejoinder.cli.layout import ago, one_line

    if job.passed is not None and (job.fired is None or job.passed > job.fired):
        return f"skipped {ago(job.passed, now)}: {one_line(job.reason)}"
    if job.fired is None:
        return ""
    became = job.outcome or job.state or "over"
    detail = f": {one_line(job.detail)}" if job.detail else ""
    return f"{became} {ago(job.fired, now)}{detail}"


# --- asked for ----------------------------------------------------------------------------------


async def _ask(file: str | None, action: Action, name: str) -> JobChange:
    async with store_to_write(file) as store:
        known = {job.name for job in await store.jobs() if job.schedule}
        if name not in known:
            there = f"there are: {', '.join(sorted(known))}" if known else "no gateway with jobs has run on this store"
            raise RejoinderError(f"there is no job {name!r}; {there}")
        try:
            await store.write(_verb(action, name))
        except Superseded:
            raise RejoinderError(f"the job {name!r} was just removed from the configuration") from None
        return JobChange(name, action, await store.gateway())


def _verb(action: Action, name: str) -> "RequestJobRun | PauseJob":
    from rejoinder.store.base import PauseJob, RequestJobRun

    return RequestJobRun(name) if action == "run" else PauseJob(name, action == "pause")


def _tell(done: JobChange, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    does = {"run": "runs it", "pause": "pauses it", "resume": "resumes it"}[done.asked]
    said = {"run": "runs now", "pause": "is paused", "resume": "is resumed"}[done.asked]
    print(f"{done.job} {said}. {who_acts(done.gateway, does)}")
