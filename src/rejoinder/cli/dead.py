"""`rejoinder dead`: parts of answers that were given up or never confirmed, sent again or dropped (DE-33).

Below them are the messages, turns and sessions that were put aside; those can only be looked at.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from rejoinder.cli.options import ALL, USUAL_LIMIT, AsJson, File, Limit, most, print_json
from rejoinder.cli.parts import ShownPart, shown, what, where
from rejoinder.cli.stores import finish, store_to_read, store_to_write, who_acts
from rejoinder.errors import BadUse, RejoinderError, Superseded

if TYPE_CHECKING:
    from rich.text import Text

    from rejoinder.store.base import PartState, StoreBeside, StoredPart, Verb

LISTED: "tuple[PartState, ...]" = ("dead", "held")
AT_ONCE = 200
"""Parts in one write: the gateway waits while it lasts."""


class ShownAside(Struct, frozen=True):
    """Something that was put aside, as the store describes it."""

    kind: str
    id: str
    where: str
    at: datetime
    why: str


class Page(Struct, frozen=True):
    total: int
    parts: tuple[ShownPart, ...]
    put_aside: tuple[ShownAside, ...]


class Changed(Struct, frozen=True):
    """What was done to which parts, with the keys of `--json`."""

    resent: tuple[int, ...]
    dropped: tuple[int, ...]
    perhaps_twice: tuple[int, ...]
    """Of those sent again: the parts that may have arrived before."""
    missed: int
    """Parts that another writer moved on meanwhile."""
    gateway: str | None


def dead_letters(
    retry: Annotated[
        list[str] | None,
        typer.Option("--retry", metavar="ID|all", help="Send it again; may be given several times."),
    ] = None,
    drop: Annotated[
        list[int] | None, typer.Option("--drop", metavar="ID", help="Never send it; may be given several times.")
    ] = None,
    limit: Limit = USUAL_LIMIT,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """List what was not delivered (dead), never confirmed (held) or put aside; send it again, or drop it."""
    if retry or drop:
        done = finish(_change(file, retry or [], drop or []))
    else:
        done = finish(_page(file, most(limit)))
    if as_json:
        print_json(done)
    elif isinstance(done, Page):
        _show(done, datetime.now(UTC))
    else:
        _tell(done)


# --- listed -------------------------------------------------------------------------------------


async def _page(file: str | None, limit: int) -> Page:
    async with store_to_read(file) as store:
        parts = await store.parts_in(*LISTED, limit=limit, latest_first=True)
        aside = [ShownAside(each.kind, each.id, each.where, each.at, each.why) for each in await store.put_aside(limit)]
        return Page(await store.count_parts(*LISTED), tuple(map(shown, parts)), tuple(aside))


def _show(page: Page, now: datetime) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import ago, console, print_table, shown_of, worded
    from rejoinder.letters import harmless, one_line

    out = console()
    if not page.parts:
        out.print("Nothing is dead or held: all that was to be said has been said, or is on its way.")
        return _show_put_aside(page, now)

    def row(part: ShownPart) -> "list[Text]":
        why = Text(one_line(part.why) or "never confirmed; it may have arrived")
        return [
            Text(str(part.id), "bold"),
            worded(part.state),
            Text(harmless(where(part))),
            Text(str(part.attempts), "dim"),
            Text(ago(part.planned, now), "dim"),
            Text.assemble(why, "\n", what(part, 120)),
        ]

    heads = ["id", "state", "where", "tries", "planned", "why, what"]
    print_table(out, heads, map(row, page.parts), ("id", "tries"))
    more = shown_of(len(page.parts), page.total, "the latest first")
    advice = "Send again: rejoinder dead --retry ID (or all). Give up: rejoinder dead --drop ID."
    if out.is_terminal:
        out.print("\n" + " ".join(filter(None, (more, advice))), style="dim")
    elif more:
        out.print(more)
    _show_put_aside(page, now)


def _show_put_aside(page: Page, now: datetime) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import ago, console, one_line, print_table
    from rejoinder.letters import harmless

    if not page.put_aside:
        return
    out = console()
    out.print("\nPut aside, for it was tried too often or cannot be read:")

    def row(aside: ShownAside) -> "list[Text]":
        return [
            Text(aside.kind),
            Text(harmless(aside.id), "bold"),
            Text(harmless(aside.where)),
            Text(ago(aside.at, now), "dim"),
            Text(one_line(aside.why) or "tried too often"),
        ]

    print_table(out, ["what", "id", "where", "since", "why"], map(row, page.put_aside))


# --- changed ------------------------------------------------------------------------------------


async def _change(file: str | None, retry: Sequence[str], drop: Sequence[int]) -> Changed:
    from rejoinder.store.base import DropPart, ResendPart

    async with store_to_write(file) as store:
        again = await _chosen(store, retry)
        never = await _named(store, drop)
        if both := {part.id for part in again} & {part.id for part in never}:
            raise BadUse(f"part {min(both)} cannot be sent again and dropped at once")
        dropped = await _write(store, never, DropPart)
        resent = await _write(store, again, ResendPart)
        return Changed(
            resent=tuple(part.id for part in resent),
            dropped=tuple(part.id for part in dropped),
            perhaps_twice=tuple(part.id for part in resent if part.state == "held"),
            missed=len(again) + len(never) - len(resent) - len(dropped),
            gateway=await store.gateway(),
        )


def _tell(done: Changed) -> None:
    said = [
        f"{what}: {_counted(parts)}."
        for what, parts in (("Dropped", done.dropped), ("To be sent again", done.resent))
        if parts
    ]
    if done.missed:
        said.append("Somebody else was faster: " + ("nothing was changed." if not said else "the others were left."))
    if done.perhaps_twice:
        named = ", ".join(map(str, done.perhaps_twice[:10]))
        said.append(f"{named} may have arrived before: people may see it twice.")
    if done.resent:
        said.append(who_acts(done.gateway, "sends " + ("it" if len(done.resent) == 1 else "them")))
    print(" ".join(said) or "Nothing is dead or held.")


async def _chosen(store: "StoreBeside", wanted: Sequence[str]) -> "tuple[StoredPart, ...]":
    if "all" in wanted:
        return await store.parts_in(*LISTED, limit=ALL)
    for each in wanted:
        if not each.isascii() or not each.isdigit():
            raise BadUse(f"--retry takes the id of a part, or all; {each!r} is neither")
    return await _named(store, [int(each) for each in wanted])


async def _named(store: "StoreBeside", ids: Sequence[int]) -> "tuple[StoredPart, ...]":
    parts: list[StoredPart] = []
    for id in dict.fromkeys(ids):
        part = await store.part(id) if id < 1 << 63 else None
        if part is None:
            raise RejoinderError(f"there is no part {id}; `rejoinder dead` lists those that are dead or held")
        if part.state not in LISTED:
            raise RejoinderError(f"part {id} is {part.state}, not dead or held; it was left as it is")
        parts.append(part)
    return tuple(parts)


async def _write(
    store: "StoreBeside", parts: "Sequence[StoredPart]", verb: "Callable[[StoredPart], Verb[Any]]"
) -> "list[StoredPart]":
    """Returns the parts that were changed; a part that another writer has moved on meanwhile is left alone."""
    done: list[StoredPart] = []
    for at in range(0, len(parts), AT_ONCE):
        several = parts[at : at + AT_ONCE]
        try:
            await store.write(*map(verb, several))
            done += several
        except Superseded:
            if len(several) > 1:
                for each in several:
                    done += await _write(store, [each], verb)
    return done


def _counted(parts: Sequence[int]) -> str:
    from rejoinder.cli.layout import counted

    return f"part {parts[0]}" if len(parts) == 1 else counted(len(parts), "part")
