"""`rejoinder sessions`: lists the conversations, and what is waiting in them."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from rejoinder.cli.options import USUAL_LIMIT, AsJson, File, Limit, most, print_json
from rejoinder.cli.stores import finish, store_to_write

if TYPE_CHECKING:
    from rich.text import Text

    from rejoinder.session import Session
    from rejoinder.store.base import PendingWork


class ListedSession(Struct, frozen=True):
    """One session, with the keys of `--json`."""

    key: str
    agent: str
    place: str
    label: str | None
    started: datetime
    touched: datetime
    model: str | None
    input_tokens: int
    output_tokens: int
    waiting: int
    running_since: datetime | None
    unsent: int
    stuck: int


class SessionPage(Struct, frozen=True):
    gateway: str | None
    total: int
    sessions: tuple[ListedSession, ...]


def list_sessions(limit: Limit = USUAL_LIMIT, as_json: AsJson = False, file: File = None) -> None:
    """List the sessions, the most recently used first, with what is waiting in them."""
    page = finish(_page(file, most(limit)))
    if as_json:
        print_json(page)
    else:
        _show(page, datetime.now(UTC))


async def _page(file: str | None, limit: int) -> SessionPage:
    from rejoinder.store.base import PendingWork

    async with store_to_write(file) as store:  # only this side knows whether a gateway runs
        gateway, total = await store.gateway(), await store.count_sessions()
        kept, pending = await store.sessions(limit), await store.pending_work()
    return SessionPage(
        gateway, total, tuple(_listed(each.session, pending.get(each.session.key, PendingWork())) for each in kept)
    )


def _listed(session: "Session", pending: "PendingWork") -> ListedSession:
    return ListedSession(
        key=session.key,
        agent=session.agent,
        place=session.key.partition(":")[2],
        label=session.label,
        started=session.started,
        touched=session.touched,
        model=session.model,
        input_tokens=session.input_tokens,
        output_tokens=session.output_tokens,
        waiting=pending.waiting,
        running_since=pending.running,
        unsent=pending.unsent,
        stuck=pending.stuck,
    )


def _show(page: SessionPage, now: datetime) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import ago, console, print_table, shown_of
    from rejoinder.unicode_repair import harmless

    out = console()
    if not page.sessions:
        out.print("There is no session yet.")
        return

    def row(each: ListedSession) -> list[Text]:
        place = Text(harmless(each.place))
        if each.label:
            place.append(f"  {harmless(each.label)}", "italic")
        if waits := _waits(each, now, page.gateway is not None):
            place = Text.assemble(place, "\n", waits)
        return [
            Text(ago(each.touched, now), "dim"),
            Text(harmless(each.model or "")),
            Text(_tokens(each), "dim"),
            Text(harmless(each.agent), "bold"),
            place,
        ]

    print_table(out, ["touched", "model", "tokens", "agent", "place, and what waits"], map(row, page.sessions))
    if more := shown_of(len(page.sessions), page.total, "the most recently used first"):
        out.print(f"\n{more}", style="dim")


def _tokens(each: ListedSession) -> str:
    from rejoinder.cli.layout import abbreviated

    if not each.input_tokens and not each.output_tokens:
        return ""
    return f"{abbreviated(each.input_tokens)}+{abbreviated(each.output_tokens)}"


def _waits(each: ListedSession, now: datetime, at_work: bool) -> "Text":
    from rich.text import Text

    from rejoinder.durations import duration_text

    said: list[tuple[str, str]] = []
    if each.running_since is not None:
        since = f"runs {duration_text((now - each.running_since).total_seconds())}"
        said.append((since, "green") if at_work else ("interrupted", "yellow"))
    counts = ((each.waiting, "waiting", ""), (each.unsent, "unsent", ""), (each.stuck, "dead or held", "red"))
    for number, what, colour in counts:
        if number:
            said.append((f"{number:,} {what}", colour))
    return Text(", ").join(Text(*part) for part in said)
