"""`rejoinder store`: copies a store into another engine, or puts its homes in order after a change of what shares a
session (SC-23, SC-25)."""

import os
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from rejoinder.cli.options import AsJson, File, configuration, print_json
from rejoinder.cli.stores import store_url
from rejoinder.errors import BadUse

if TYPE_CHECKING:
    from rejoinder.store.sql.whole import Copied


class StoreCopy(Struct, frozen=True):
    """The result of a copy, with the keys of `--json`."""

    source: str
    target: str
    rows: dict[str, int]


class Rehomed(Struct, frozen=True):
    """The chats whose home has changed, with the keys of `--json`."""

    places: int
    shards: int


def store(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="copy FROM TO | rehome", help="The store to copy and the new one, each as in gateway.store."
        ),
    ],
    shards: Annotated[
        int | None, typer.Option("--shards", min=1, max=4096, help="With rehome: the new number of shards.")
    ] = None,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """Copy a store into a new one of any engine; or `rehome` it, after a change of `session` or of the shards."""
    match words:
        case ["copy", source, target] if shards is None:
            _copy(source, target, as_json)
        case ["rehome"]:
            _rehome(file, shards, as_json)
        case _:
            raise BadUse("write rejoinder store copy FROM TO, or rejoinder store rehome [--shards NUMBER]")


def _copy(source: str, target: str, as_json: bool) -> None:
    from rich.console import Console

    from rejoinder.programs.store_moves import copy_store
    from rejoinder.wiring.stores import shown

    with Console(stderr=True).status("Copying ...") as status:  # animated on a terminal, otherwise silent
        copied = copy_store(source, target, lambda told: status.update(f"Copying: {told}"))
    if as_json:
        print_json(StoreCopy(shown(source), shown(target), {each.table: each.rows for each in copied}))
        return
    _show(copied)
    print(f"{shown(target)} has the same rows as {shown(source)}. Name it in gateway.store, and keep the old one.")


def _show(copied: "tuple[Copied, ...]") -> None:
    kept = [each for each in copied if each.rows]
    width = max((len(each.table) for each in kept), default=0)
    for each in kept:
        print(f"{each.table:{width}}  {each.rows:,}")


def _rehome(file: str | None, shards: int | None, as_json: bool) -> None:
    from rejoinder.config.load import load
    from rejoinder.config.schema import Settings
    from rejoinder.programs.store_moves import rehome_store

    found = configuration(file)
    settings = Settings() if found is None else load(found, os.environ)
    places, count = rehome_store(store_url(file), settings, shards)
    if as_json:
        print_json(Rehomed(places, count))
    else:
        print(f"{places} chats have a new home now; {count} shards. Start the gateways with this configuration.")
