"""What `rejoinder backup` copies: the store, and the room log of the chat page beside it, as of one moment."""

from pathlib import Path

from rejoinder.channels.web import journal_path
from rejoinder.errors import BadUse
from rejoinder.sqlite_copies import copy_at, remove_database
from rejoinder.store.base import StoreReader
from rejoinder.store.sqlite import SCHEME


def page_of(store: Path) -> Path:
    """Where the chat page of this store is kept: a copy has it under the same name as the original."""
    return Path(journal_path(f"{SCHEME}{store}"))


def page_to_copy(url: str, target: Path) -> Path | None:
    """The chat page of the store, if it has been opened yet."""
    page = Path(journal_path(url))
    if target.resolve() in [page.with_name(page.name + suffix).resolve() for suffix in ("", "-wal", "-shm")]:
        raise BadUse(f"{target} is the chat page of the store itself; name another file for the backup")
    return page if page.exists() and page.stat().st_size else None


async def copy_store(store: StoreReader, page: Path | None, target: Path, *, overwrite: bool) -> Path | None:
    """Returns where the copy of the page is."""
    from rejoinder.channels.web.copying import held  # noqa: PLC0415 - not needed to ask for paths

    copy = page_of(target)
    if page is None:
        await store.backup(target, overwrite=overwrite)
        remove_database(copy)  # left by another backup: it would seem to belong to this one
        return None
    with held(str(page)) as log, copy_at(copy) as written:
        await store.backup(target, overwrite=overwrite, at_this_moment=lambda: log.write_to(written))
        written.put_in_place()
    return copy
