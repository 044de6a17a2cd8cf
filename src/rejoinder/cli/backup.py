"""`rejoinder backup`: a consistent copy of the store while the gateway runs (DU-14)."""

from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.options import AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read
from rejoinder.errors import BadUse


def back_up(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """Copy the store, including the chat page, as it is at this moment; the gateway goes on meanwhile."""
    if not target.absolute().parent.is_dir():
        raise BadUse(f"there is no folder {target.parent} for the backup; make it first")
    if target.is_dir():
        raise BadUse(f"{target} is a folder; name a file for the backup")
    finish(_copy(file, target, force))
    size = target.stat().st_size
    if as_json:
        print_json({"file": str(target), "bytes": size})
    else:
        print(f"{target}: {size:,} bytes. To restore it, replace the store with it.")


async def _copy(file: str | None, target: Path, force: bool) -> None:
    from rich.console import Console

    async with store_to_read(file) as store:
        with Console(stderr=True).status(f"Copying to {target} ..."):  # animated on a terminal, otherwise silent
            await store.backup(target, overwrite=force)
