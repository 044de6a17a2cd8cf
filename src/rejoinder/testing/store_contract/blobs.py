"""Files that rows refer to: complete or absent, counted, and removed when no row refers to them (SC-14)."""

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count
from pathlib import Path

from rejoinder.blobs import CHUNK, Blob, Quota, QuotaReached, Upload, read_whole, whole
from rejoinder.errors import Superseded
from rejoinder.store.base import (
    AddChunk,
    BeginBlob,
    ClaimPart,
    DropBlob,
    EndBlob,
    EndRun,
    MarkSent,
    NameBlobs,
    PartIntent,
    PlanParts,
    Retention,
    Store,
    StoredPart,
    Sweep,
)
from rejoinder.store.blob_keeper import StoredBlobs
from rejoinder.testing.store_contract.given import HERE, NOW, an_intent, begun, refused
from rejoinder.testing.store_contract.opened import Opened

DAY = timedelta(days=1)


def blobs_of(store: Store) -> StoredBlobs:
    numbers = count(1)
    return StoredBlobs(store, lambda: NOW, lambda: f"blob-{next(numbers)}-of-{id(numbers)}")


async def swept(store: Store, after: timedelta) -> None:
    keep = Retention(ended_before=NOW + after - timedelta(days=30))
    while await store.write(Sweep(keep, NOW + after)):
        continue


async def breaks_off(content: bytes) -> AsyncIterator[bytes]:
    yield content
    raise ConnectionResetError


class BlobsKept(Opened):
    async def test_a_file_is_read_as_it_was_kept(self, tmp_path: Path) -> None:
        """SC-14: a file is read in chunks of one size, however its bytes came, and can be found by its key, too."""
        content = bytes(range(256)) * (CHUNK // 128) + b"the rest"
        async with self.opened(tmp_path) as store:
            blobs = blobs_of(store)
            kept = await blobs.keep(Upload(name="a.bin", mime="application/x-a", key="part-1/file"), whole(content))
            assert (kept.name, kept.mime, kept.size) == ("a.bin", "application/x-a", len(content))
            assert await blobs.find(kept.id) == kept == await blobs.find_key("part-1/file")
            assert [len(chunk) async for chunk in blobs.read(kept.id)] == [CHUNK, CHUNK, len(b"the rest")]
            assert await read_whole(blobs, kept.id, len(content)) == content
            assert await read_whole(blobs, kept.id, len(content) - 1) is None
            assert await blobs.find("another") is None is await blobs.find_key("another")

    async def test_only_the_first_content_is_kept_under_a_key(self, tmp_path: Path) -> None:
        """DU-4: a key always has the same bytes, even if two writers stored it at once."""
        async with self.opened(tmp_path) as store:
            blobs = blobs_of(store)
            first = await blobs.keep(Upload(key="k"), whole(b"first"))
            assert await blobs.keep(Upload(key="k"), whole(b"second")) == first
            await store.write(BeginBlob("beside", Upload(key="k"), NOW))
            await store.write(AddChunk("beside", 0, b"third", 5, None, NOW))
            assert await store.write(EndBlob("beside", 5, "k")) == first
            assert await store.blob("beside") is None
            assert await read_whole(blobs, first.id, 99) == b"first"

    async def test_a_file_is_there_when_it_is_whole(self, tmp_path: Path) -> None:
        """SC-14: a file that is still being stored, or was broken off, can be neither read nor referred to."""
        async with self.opened(tmp_path) as store:
            await store.write(BeginBlob("half", Upload(), NOW))
            await store.write(AddChunk("half", 0, b"half", 4, None, NOW))
            assert await store.blob("half") is None is await store.chunk("half", 0)
            with refused(Superseded):
                await store.write(NameBlobs("row", ("half",), NOW))
            await store.write(DropBlob("half"))
            with refused(Superseded):
                await store.write(AddChunk("half", 1, b"more", 8, None, NOW))
            try:
                await blobs_of(store).keep(Upload(key="broken"), breaks_off(bytes(CHUNK + 1)))
            except ConnectionResetError:
                assert await store.blob_under("broken") is None
            else:
                raise AssertionError("the fault of the sender was swallowed")

    async def test_a_quota_holds_for_one_and_for_all(self, tmp_path: Path) -> None:
        """SC-14: the quota counts announced and actual sizes; files without an owner are not counted."""
        quota = Quota(owner=100, all=150)

        def upload(owner: str, announced: int = 0) -> Upload:
            return Upload(owner=owner, announced=announced, quota=quota)

        async with self.opened(tmp_path) as store:
            blobs = blobs_of(store)
            await blobs.keep(Upload(), whole(bytes(1000)))
            await blobs.keep(upload("ada"), whole(bytes(60)))
            for owner, announced, size in (("ada", 41, 0), ("ada", 0, 41), ("bob", 91, 0), ("bob", 0, 91)):
                with refused(QuotaReached, "one person" if owner == "ada" else "all people"):
                    await blobs.keep(upload(owner, announced), whole(bytes(size)))
            await blobs.keep(upload("ada"), whole(bytes(40)))  # a refused file takes no room
            await blobs.keep(upload("bob", 1000 - 950), whole(bytes(50)))

    async def test_what_nobody_names_is_removed_after_a_day(self, tmp_path: Path) -> None:
        """SC-14: a file that no row names is removed after a day, an unfinished one an hour after its last chunk."""
        async with self.opened(tmp_path) as store:
            blobs = blobs_of(store)
            named, unnamed, freed = [await blobs.keep(Upload(name=n), whole(b"x")) for n in ("named", "un", "freed")]
            await store.write(BeginBlob("unfinished", Upload(), NOW))
            await store.write(NameBlobs("row-1", (named.id, freed.id), NOW))
            await store.write(NameBlobs("row-2", (named.id,), NOW))
            await store.write(NameBlobs("row-2", (), NOW))
            await swept(store, timedelta(minutes=59))
            await store.write(AddChunk("unfinished", 0, b"more", 4, None, NOW))
            await swept(store, timedelta(minutes=61))
            with refused(Superseded):
                await store.write(AddChunk("unfinished", 1, b"more", 8, None, NOW))
            await swept(store, DAY - timedelta(minutes=1))
            assert await store.blob(unnamed.id) == unnamed
            await store.write(NameBlobs("row-1", (named.id,), NOW + DAY))
            await swept(store, DAY + timedelta(minutes=1))
            assert await store.blob(unnamed.id) is None is await store.chunk(unnamed.id, 0)
            assert await store.blob(freed.id) == freed
            await swept(store, 2 * DAY + timedelta(minutes=1))
            assert await store.blob(freed.id) is None
            assert await store.blob(named.id) == named

    async def test_a_part_keeps_its_files_for_as_long_as_it_is_kept(self, tmp_path: Path) -> None:
        """SC-14, DU-4: a part is planned with complete files, or not at all."""
        async with self.opened(tmp_path) as store:
            file = await blobs_of(store).keep(Upload(), whole(b"x"))

            def plan(number: int, *blobs: str) -> PartIntent:
                return PartIntent(f"key-{number}", HERE, b"", blobs=blobs)

            with refused(Superseded):
                await store.write(PlanParts((plan(1, "nothing"),), NOW))
            assert await store.count_parts("planned") == 0
            run = await begun(store, 1)
            (part,) = await store.write(PlanParts((plan(1, file.id),), NOW, run, final=True))
            assert (await store.write(PlanParts((plan(1, file.id),), NOW, run)))[0].id == part.id
            await swept(store, 3 * DAY)
            assert isinstance(await store.blob(file.id), Blob)
            await store.write(PlanParts((an_intent(2),), NOW), EndRun(run, "answered", NOW))
            sending = await store.write(ClaimPart(HERE, NOW))
            assert isinstance(sending, StoredPart)
            await store.write(MarkSent(sending, "1", NOW))
            await swept(store, timedelta(days=60))  # the turn is removed, and a day later the file
            await swept(store, timedelta(days=62))
            assert await store.blob(file.id) is None
