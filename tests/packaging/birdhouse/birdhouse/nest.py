"""A store engine of another name: `nest:FILE` is kept in SQLite."""

from rejoinder.store.declaration import StoreKind
from rejoinder.store.sqlite import STORE as SQLITE


def _beneath(url: str) -> str:
    return "sqlite:" + url.partition(":")[2]


STORE = StoreKind(
    open=lambda url: SQLITE.open(_beneath(url)),
    read=lambda url: SQLITE.read(_beneath(url)),
    operate=lambda url: SQLITE.operate(_beneath(url)),
    in_file=True,
)
