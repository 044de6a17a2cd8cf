"""SC-3: no call is made for a shard that was lost while the operation waited for something else."""

import pytest

from rejoinder.blobs import Blob
from rejoinder.channels.base import Delivered, FileLimits, Rejected
from rejoinder.errors import LeaseLost
from rejoinder.events import Attachment, Part, Route
from rejoinder.outbound.operations import Amend, React, Remove, Say
from rejoinder.runtime.outbox.performing import StoreAndFiles, perform
from rejoinder.runtime.ownership.held_lease import HeldLease
from rejoinder.store.base import Lease

ROUTE = Route("fake", "room", "5")


class Losing:
    """Store, files and channel in one: the lease is lost during the first wait, whatever it is for."""

    name = "fake"
    file_limits = FileLimits(1000)

    def __init__(self) -> None:
        self.held = HeldLease(Lease(0, "this process", 1))
        self.calls: list[str] = []

    async def message(self, *_: object) -> None:
        self.held.lose()

    async def parts_under(self, *_: object) -> tuple[()]:
        return ()

    async def find(self, *_: object) -> Blob:
        self.held.lose()
        return Blob("b1", "plan.txt", "text/plain", 4)

    def read(self, *_: object) -> None: ...

    async def send(self, *_: object) -> Delivered:
        self.calls.append("send")
        return Delivered("9")

    async def send_files(self, *_: object) -> Delivered:
        self.calls.append("send_files")
        return Delivered("9")

    async def edit(self, *_: object) -> Delivered:
        self.calls.append("edit")
        return Delivered("9")

    async def react(self, *_: object, **__: object) -> Delivered:
        self.calls.append("react")
        return Delivered("9")

    async def delete(self, *_: object) -> Rejected:
        self.calls.append("delete")
        self.held.lose()
        return Rejected("not here")


async def carried_out(operation, route):
    there = Losing()
    with pytest.raises(LeaseLost):
        await perform(operation, there, route, frozenset(), StoreAndFiles(there, there, there.held.check))
    return there.calls


@pytest.mark.parametrize(
    "operation", [Amend("5", Part(ROUTE, "hi")), React("5", "👀"), Remove("5")], ids=lambda each: type(each).__name__
)
async def test_not_after_it_was_looked_up_where_the_message_stands(operation):
    assert await carried_out(operation, ROUTE) == []


async def test_not_after_its_files_were_looked_up():
    assert await carried_out(Say(Part(ROUTE, "hi", files=(Attachment("b1", "plan.txt"),))), ROUTE) == []


async def test_what_could_not_be_deleted_is_not_overwritten_then():
    assert await carried_out(Remove("5"), Route("fake", "room")) == ["delete"]
