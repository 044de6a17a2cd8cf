"""Work on a whole store while no gateway runs on it: it is copied into another engine, or rearranged after a change of
`session` or of the number of shards (SC-23, SC-25)."""

from collections.abc import Callable

from rejoinder.config.schema import Settings
from rejoinder.errors import BadUse, StoreUnavailable
from rejoinder.events import Inbound
from rejoinder.runtime.settings_agreement import SCOPE
from rejoinder.session import deciding_home
from rejoinder.store.base import PutFact
from rejoinder.store.sql.rooms import put_fact
from rejoinder.store.sql.whole import Copied, CopyDiffers, copy, rehome
from rejoinder.turns.agreement import homes_by
from rejoinder.wiring.stores import open_whole, shown


def copy_store(source: str, target: str, progress: Callable[[str], None]) -> tuple[Copied, ...]:
    if source == target:
        raise BadUse("a store cannot be copied into itself; name two addresses")
    with open_whole(source) as before, open_whole(target, new=True) as after:
        try:
            return copy(before, after, progress)
        except CopyDiffers as why:
            raise StoreUnavailable("corrupt", shown(target), f"the copy is not the same: {why}") from None


def rehome_store(url: str, settings: Settings, shards: int | None) -> tuple[int, int]:
    """Returns how many places have a new home now, and how many shards there are."""

    def home_of(inbound: Inbound) -> str | None:
        known = inbound.channel in settings.channels
        return (deciding_home(inbound, settings.session) or None) if known else None

    with open_whole(url) as store:
        count = store.db.shards if shards is None else shards
        moved = rehome(store, count, home_of)
        for key, value in homes_by(settings.session).items():
            put_fact(store.db, PutFact(SCOPE, key, value.encode()))
        return moved, count
