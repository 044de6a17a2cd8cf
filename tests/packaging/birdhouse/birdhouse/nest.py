"""A store engine of another name: `nest:FILE` is kept in SQLite, and `nest:air` nowhere."""

from pathlib import Path

from rejoinder.store.declaration import StoreKind
from rejoinder.store.sqlite import STORE as SQLITE

AIR = "nest:air"


def _beneath(url: str) -> str:
    return "sqlite::memory:" if url == AIR else "sqlite:" + url.partition(":")[2]


def _file(url: str) -> Path | None:
    return None if url == AIR else Path(url.partition(":")[2])


def _from_folder(url: str, folder: Path) -> str:
    return url if url == AIR else f"nest:{folder / url.partition(':')[2]}"


STORE = StoreKind(
    open=lambda url: SQLITE.open(_beneath(url)),
    read=lambda url: SQLITE.read(_beneath(url)),
    operate=lambda url: SQLITE.operate(_beneath(url)),
    file=_file,
    from_folder=_from_folder,
    in_memory=lambda url: url == AIR,
)
