"""`/metrics`: what is counted, and what is there now."""

from types import SimpleNamespace

from prometheus_client.parser import text_string_to_metric_families

from rejoinder.store.base import PART_STATES, Deployment, ProcessState, RowCounts
from rejoinder.web.metrics import Metrics


class Store:
    def __init__(self, *parts):
        self._parts = iter(parts)

    async def deployment(self):
        return Deployment(64, 4, 2.5, (self.front, self.worker))

    front = ProcessState("a:1", False, 0, ("telegram",), 8.0, 0, 0.0)
    worker = ProcessState("b:2", True, 60, (), 7.0, 1, 2.5)

    async def count_rows(self):
        return RowCounts({}, {}, {}, next(self._parts), 0)


def house(store):
    return SimpleNamespace(
        channel=SimpleNamespace(hub=SimpleNamespace(connections=(), dropped=0)), channels=lambda: (), store=store
    )


async def rows(metrics, house):
    families = text_string_to_metric_families((await metrics.text(house)).decode())
    (found,) = (family for family in families if family.name == "rejoinder_store_rows")
    return {each.labels["state"]: each.value for each in found.samples if each.labels["table"] == "parts"}


async def test_every_state_is_there_and_none_stays_behind():
    """An alarm on dead letters begins at none, and ends when they were sent again."""
    metrics, at = Metrics(), house(Store({"dead": 2, "sent": 1}, {"sent": 3}))
    assert await rows(metrics, at) == {**dict.fromkeys(PART_STATES, 0), "dead": 2, "sent": 1}
    assert await rows(metrics, at) == {**dict.fromkeys(PART_STATES, 0), "sent": 3}


async def test_processes_shards_leases_and_lag_are_told():
    """SC-24: and a process that has ended is told no longer."""
    metrics, store = Metrics(), Store({}, {})
    told = (await metrics.text(house(store))).decode().splitlines()
    assert 'rejoinder_processes{role="front"} 1.0' in told
    assert 'rejoinder_shards{process="b:2"} 60.0' in told
    assert 'rejoinder_lease_seconds{process="a:1"} 8.0' in told
    assert {"rejoinder_shards_unowned 4.0", "rejoinder_lag_seconds 2.5"} <= {*told}
    store.worker = ProcessState("c:3", True, 60, (), 7.0, 1, 2.5)
    assert "b:2" not in (await metrics.text(house(store))).decode()
