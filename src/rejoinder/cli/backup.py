"""`rejoinder backup`: a consistent copy of the store and its chat page while the gateway runs (DU-14)."""

from pathlib import Path
from typing import Annotated

import typer

from rejoinder.cli.options import AsJson, File, print_json
from rejoinder.cli.stores import finish, store_to_read, store_url
from rejoinder.errors import BadUse


def back_up(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes.")],
    force: Annotated[bool, typer.Option("--force", help="Put it in the place of a file that is there.")] = False,
    as_json: AsJson = False,
    file: File = None,
) -> None:
    """Copy the store, and the chat page beside it, as they are at this moment; everything goes on meanwhile."""
    from rejoinder.programs.backups import page_of

    if not target.absolute().parent.is_dir():
        raise BadUse(f"there is no folder {target.parent} for the backup; make it first")
    for each in (target, page_of(target)):
        if each.is_dir():
            raise BadUse(f"{each} is a folder; name a file for the backup")
        if each.exists() and not force:
            raise BadUse(f"{each} exists already; name another file for the backup, or say --force")
    page = finish(_copy(file, target, force))
    size = target.stat().st_size
    size_of_page = page.stat().st_size if page is not None else None
    if as_json:
        beside = None if page is None else {"file": str(page), "bytes": size_of_page}
        print_json({"file": str(target), "bytes": size, "page": beside})
    elif page is None:
        print(f"{target}: {size:,} bytes. To go back to it, put it in the place of the store.")
    else:
        print(f"{target}: {size:,} bytes, with the chat page in {page}: {size_of_page:,} bytes.")
        print("To go back to them, put both in the place of the store's.")


async def _copy(file: str | None, target: Path, force: bool) -> Path | None:
    from rich.console import Console

    from rejoinder.programs.backups import copy_store, page_to_copy

    page = page_to_copy(store_url(file), target)
    async with store_to_read(file) as store:
        with Console(stderr=True).status(f"Copying to {target} ..."):  # animated on a terminal, silent elsewhere
            return await copy_store(store, page, target, overwrite=force)
