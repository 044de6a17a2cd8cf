"""`rejoinder dead`: parts of answers that were given up or never confirmed, sent again or dropped (DE-33).

Below them are quarantined things (DU-2): turns (`t12`) and messages (`e34`) can be run again; sessions and unreadable
rows can only be looked at.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from rejoinder.cli.options import ALL, USUAL_LIMIT, AsJson, File, Limit, most, print_json
from rejoinder.cli.parts import ShownPart, shown, what, where
from rejoinder.cli.stores import finish, store_to_read, store_to_write, who_acts
from rejoinder.errors import BadUse, RejoinderError, Superseded, Unreadable

if TYPE_CHECKING:
    from rich.text import Text

    from rejoinder.store.base import OperatorStore, PartState, Quarantined, StoredPart, Verb

LISTED: "tuple[PartState, ...]" = ("dead", "held")
PREFIXES = {"turn": "t", "message": "e"}
"""The ids of quarantined things begin with these letters, to distinguish them from the ids of parts."""
AT_ONCE = 200
"""Parts changed in one write; the gateway waits for each write."""


class ShownQuarantined(Struct, frozen=True):
    """Something that is quarantined, as the store describes it."""

    kind: str
    id: str
    where: str
    at: datetime
    why: str
    retry: str
    """The id to give to `--retry`; empty: it cannot be run again."""


class DeadPage(Struct, frozen=True):
    total: int
    parts: tuple[ShownPart, ...]
    quarantined: tuple[ShownQuarantined, ...]


class DeadChange(Struct, frozen=True):
    """The changes and the parts they were made to, with the keys of `--json`."""

    resent: tuple[int, ...]
    dropped: tuple[int, ...]
    perhaps_twice: tuple[int, ...]
    """Those of the parts sent again that may have arrived before."""
    rerun: tuple[str, ...]
    """Turns and messages taken out of quarantine."""
    missed: int
    """Parts that another process has changed meanwhile."""
    gateway: str | None


def dead_letters(
    retry: Annotated[
        list[str] | None,
        typer.Option("--retry", metavar="ID|all", help="Send or run it again; may be given several times."),
    ] = None,
    drop: Annotated[
        list[int] | None, typer.Option("--drop", metavar="ID", help="Never send it; may be given several times.")
    ] = None,
    limit: Limit = USUAL_LIMIT,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """List what was not delivered (dead), never confirmed (held) or quarantined; send or run it again, or drop it."""
    if retry or drop:
        done = finish(_change(file, retry or [], drop or []))
    else:
        done = finish(_page(file, most(limit)))
    if as_json:
        print_json(done)
    elif isinstance(done, DeadPage):
        _show(done, datetime.now(UTC))
    else:
        _tell(done)


# --- listed -------------------------------------------------------------------------------------


async def _page(file: str | None, limit: int) -> DeadPage:
    async with store_to_read(file) as store:
        parts = await store.parts_in(*LISTED, limit=limit, latest_first=True)
        quarantined = [
            ShownQuarantined(each.kind, each.id, each.where, each.at, each.reason, _reference(each))
            for each in await store.quarantined(limit)
        ]
        return DeadPage(await store.count_parts(*LISTED), tuple(map(shown, parts)), tuple(quarantined))


def _reference(each: "Quarantined") -> str:
    return f"{PREFIXES[each.kind]}{each.number}" if each.number else ""


def _show(page: DeadPage, now: datetime) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import ago, console, print_table, shown_of, worded
    from rejoinder.unicode_repair import harmless, one_line

    out = console()
    if not page.parts:
        if not page.quarantined:
            out.print("Nothing is dead, held or quarantined: every message was delivered, or is on its way.")
        return _show_quarantined(page, now)

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
    _show_quarantined(page, now)


def _show_quarantined(page: DeadPage, now: datetime) -> None:
    from rich.text import Text

    from rejoinder.cli.layout import ago, console, one_line, print_table
    from rejoinder.unicode_repair import harmless

    if not page.quarantined:
        return
    out = console()
    out.print("\nQuarantined:")

    def row(each: ShownQuarantined) -> "list[Text]":
        return [
            Text(each.retry or "–", "bold"),
            Text(f"{each.kind} {harmless(each.id)}"),
            Text(harmless(each.where)),
            Text(ago(each.at, now), "dim"),
            Text(one_line(each.why)),
        ]

    print_table(out, ["id", "what", "where", "since", "why"], map(row, page.quarantined))
    if out.is_terminal and any(each.retry for each in page.quarantined):
        out.print("\nRun again: rejoinder dead --retry ID.", style="dim")


# --- changed ------------------------------------------------------------------------------------


async def _change(file: str | None, retry: Sequence[str], drop: Sequence[int]) -> DeadChange:
    from rejoinder.store.base import DropPart, ResendPart

    async with store_to_write(file) as store:
        numbers, references = _sorted(retry)
        again = await store.parts_in(*LISTED, limit=ALL) if "all" in retry else await _named(store, numbers)
        never = await _named(store, drop)
        if both := {part.id for part in again} & {part.id for part in never}:
            raise BadUse(f"part {min(both)} cannot be sent again and dropped at once")
        rerun = await _rerun(store, None if "all" in retry else references)
        dropped = await _write(store, never, DropPart)
        resent = await _write(store, again, ResendPart)
        return DeadChange(
            resent=tuple(part.id for part in resent),
            dropped=tuple(part.id for part in dropped),
            perhaps_twice=tuple(part.id for part in resent if part.state == "held"),
            rerun=rerun,
            missed=len(again) + len(never) - len(resent) - len(dropped),
            gateway=await store.gateway(),
        )


def _tell(done: DeadChange) -> None:
    said = [
        f"{what}: {_counted(parts)}."
        for what, parts in (("Dropped", done.dropped), ("To be sent again", done.resent))
        if parts
    ]
    if done.missed:
        said.append(
            "Somebody else was faster: " + ("nothing was changed." if not said else "the rest was left as it is.")
        )
    if done.perhaps_twice:
        named = ", ".join(map(str, done.perhaps_twice[:10]))
        said.append(f"{named} may have arrived already: people may see it twice.")
    if done.rerun:
        said.append(f"To be run again: {', '.join(done.rerun)}.")
    if done.resent or done.rerun:
        verb = "sends" if not done.rerun else "runs" if not done.resent else "sends and runs"
        said.append(who_acts(done.gateway, f"{verb} {'it' if len(done.resent) + len(done.rerun) == 1 else 'them'}"))
    print(" ".join(said) or "Nothing is dead, held or quarantined.")


def _sorted(wanted: Sequence[str]) -> tuple[list[int], list[str]]:
    """The numbers of parts, and the names of what is quarantined."""
    references = [each for each in wanted if each != "all" and each[:1] in PREFIXES.values()]
    numbers = [each for each in wanted if each != "all" and each not in references]
    for each in (*numbers, *(reference[1:] for reference in references)):
        if not each.isascii() or not each.isdigit():
            raise BadUse(f"--retry takes an id that `rejoinder dead` lists, such as 7, t7 or e7, or all; not {each!r}")
    return [int(each) for each in numbers], references


async def _rerun(store: "OperatorStore", wanted: Sequence[str] | None) -> tuple[str, ...]:
    """None: all things that can be run again."""
    from rejoinder.store.base import RequestEventRerun, RequestTurnRerun

    listed = {_reference(each): each for each in await store.quarantined(ALL) if each.number}
    for each in wanted or ():
        if each not in listed:
            raise RejoinderError(f"nothing quarantined has the id {each}; `rejoinder dead` lists what is")
    done: list[str] = []
    for reference in listed if wanted is None else dict.fromkeys(wanted):
        each = listed[reference]
        try:
            await store.write(RequestTurnRerun(each.number) if each.kind == "turn" else RequestEventRerun(each.number))
        except Superseded:
            continue
        except Unreadable as problem:
            if wanted is not None:
                raise RejoinderError(f"{reference} cannot be run again: {problem}") from None
            continue
        done.append(reference)
    return tuple(done)


async def _named(store: "OperatorStore", ids: Sequence[int]) -> "tuple[StoredPart, ...]":
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
    store: "OperatorStore", parts: "Sequence[StoredPart]", verb: "Callable[[StoredPart], Verb[Any]]"
) -> "list[StoredPart]":
    """Returns the parts that were changed; a part that another process has changed meanwhile is left alone."""
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
