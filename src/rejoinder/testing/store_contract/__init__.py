"""The promises that every store keeps, as tests to inherit:

    class TestMyStore(StoreContract):
        def open(self, folder: Path) -> SharedStore:
            return open_my_store(folder / "store")

        def operator(self, folder: Path) -> OperatorStore:
            return open_my_store_for_operator(folder / "store")

Every call of `open` with the same folder opens the same store again, as after a crash. A store that ends with
its process says `survives = False`. Leases run out while the tests wait, or in `let_leases_run_out`.
The tests are coroutines: pytest-asyncio with `asyncio_mode = "auto"`.
"""

from rejoinder.testing.store_contract.blobs import BlobsKept
from rejoinder.testing.store_contract.home_requests import HomeRequestsKept
from rejoinder.testing.store_contract.hook_events import HookEventsKept
from rejoinder.testing.store_contract.inbound import Events
from rejoinder.testing.store_contract.jobs import Jobs
from rejoinder.testing.store_contract.leases import Leases
from rejoinder.testing.store_contract.memory import Memory
from rejoinder.testing.store_contract.operator import Operator
from rejoinder.testing.store_contract.outbound import Parts
from rejoinder.testing.store_contract.questions import QuestionsKept
from rejoinder.testing.store_contract.rooms import Rooms
from rejoinder.testing.store_contract.subagents import SubagentsKept
from rejoinder.testing.store_contract.turns import Turns
from rejoinder.testing.store_contract.whole_store import WholeStoreBehaviour


class StoreContract(
    Events,
    Turns,
    Parts,
    Memory,
    Jobs,
    BlobsKept,
    SubagentsKept,
    QuestionsKept,
    HomeRequestsKept,
    HookEventsKept,
    Rooms,
    Operator,
    Leases,
    WholeStoreBehaviour,
):
    """Inherit it in a test class; `open` returns the store to test."""
