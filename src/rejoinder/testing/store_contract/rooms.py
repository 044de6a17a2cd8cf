"""A log of rooms: numbers without a gap, changes that are fenced, and everything as a person may see it (SC-14)."""

from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from rejoinder.blobs import Upload, whole
from rejoinder.errors import Superseded
from rejoinder.room_log import Changes, Fact, Find, LogState, Mark, OnceRequest, Replies, RoomEntry, RoomEvent, RoomRow
from rejoinder.store.base import Accept, OpenLog, PutFact, RecordChanges, Store
from rejoinder.testing.store_contract.blobs import blobs_of, swept
from rejoinder.testing.store_contract.given import NOW, an_inbound, refused
from rejoinder.testing.store_contract.opened import Opened

LOG = "page"


def an_entry(id: str, **more: object) -> RoomEntry:
    given = {"room": "lobby", "author": "ada", "at": NOW, "body": b"body of " + id.encode(), "text": f"text {id}"}
    return RoomEntry(id=id, **{**given, **more})  # pyright: ignore[reportArgumentType] - each caller names its fields


def posted(*entries: RoomEntry) -> Changes:
    return Changes(events=tuple(RoomEvent(body=b"posted", audience=each.audience, change=each) for each in entries))


async def recorded(store: Store, changes: Changes) -> int:
    await store.write(OpenLog(LOG, "id"))
    return await store.write(RecordChanges(LOG, changes, NOW))


async def found(store: Store, **wanted: object) -> list[str]:
    return [each.id for each in (await store.log_find(LOG, Find(**wanted))).entries]  # pyright: ignore[reportArgumentType]


class Rooms(Opened):
    async def test_events_are_numbered_in_order_without_a_gap(self, tmp_path: Path) -> None:
        """SC-14: there is no gap even after a failed write; a log keeps its id and its numbers."""
        async with self.opened(tmp_path) as store:
            assert await store.log_state(LOG) is None
            assert await store.write(OpenLog(LOG, "first")) == LogState("first", 0)
            assert await recorded(store, posted(an_entry("a"), an_entry("b"))) == 1
            with refused(Superseded):
                await recorded(store, posted(an_entry("c"), an_entry("a")))
            assert await recorded(store, posted(an_entry("d"))) == 3
            assert await store.write(OpenLog(LOG, "second")) == LogState("first", 3)
            assert [event.seq for event in await store.log_events(LOG, 1, 10)] == [2, 3]
            assert await store.log_entry(LOG, "c") is None
            await store.write(OpenLog("another", "x"))
            assert await store.log_entry("another", "a") is None
            assert await store.logs() == ("another", LOG)

    async def test_an_entry_is_written_over_the_version_that_was_read(self, tmp_path: Path) -> None:
        """SC-14: of two who change the same message, one has to read it again."""
        async with self.opened(tmp_path) as store:
            await recorded(store, posted(an_entry("a", key="part-1", thread="t", answers="q", private=True)))
            kept = await store.log_entry(LOG, "a")
            assert kept is not None
            assert kept == an_entry("a", key="part-1", thread="t", answers="q", private=True, version=1, seq=1)
            assert await store.log_entry_under(LOG, "part-1") == kept
            await recorded(store, posted(replace(kept, body=b"new", text="new", state="growing")))
            with refused(Superseded):
                await recorded(store, posted(replace(kept, body=b"other")))
            changed = await store.log_entry(LOG, "a")
            assert changed == replace(kept, body=b"new", text="new", state="growing", version=2)
            assert await store.log_growing(LOG) == (changed,)

    async def test_a_key_and_a_request_are_taken_once(self, tmp_path: Path) -> None:
        """DU-4: if a key or request was taken before, nothing of the write takes effect."""
        once = OnceRequest("done", "ada 1", b"a")
        async with self.opened(tmp_path) as store:
            await recorded(store, posted(an_entry("a", key="k")))
            with refused(Superseded):
                await recorded(store, posted(an_entry("b", key="k")))
            await recorded(store, Changes(once=once, facts=(Fact("people", "ada", b"Ada"),)))
            assert await store.fact(f"{LOG}/done", "ada 1") == b"a"
            again = Changes(once=replace(once, result=b"b"), facts=(Fact("people", "ada", b"Bob"),))
            with refused(Superseded):
                await store.write(Accept((an_inbound(1),), NOW), RecordChanges(LOG, again, NOW))
            assert await store.facts(f"{LOG}/people") == {"ada": b"Ada"}
            assert not (await store.recover(NOW)).events

    async def test_a_message_and_what_the_log_says_of_it_are_one(self, tmp_path: Path) -> None:
        """DU-1: `on_result` is called with the message; both are durable, or neither is."""
        told: list[object] = []
        async with self.opened(tmp_path) as store:
            await store.write(OpenLog(LOG, "id"))
            accept = Accept((an_inbound(1),), NOW)
            events, first = await store.write(
                accept, RecordChanges(LOG, posted(an_entry("a")), NOW), on_result=told.extend
            )
            assert first == 1
            assert told == list(events)
        if self.survives:
            async with self.opened(tmp_path) as store:
                assert [event.id for event in (await store.recover(NOW)).events] == [events[0].id]
                assert await store.log_entry(LOG, "a") is not None

    async def test_entries_are_found_as_a_person_may_see_them(self, tmp_path: Path) -> None:
        """SC-14: entries are found by room, thread, words, author, what they answer, before and after; deleted ones
        never are."""
        entries = (
            an_entry("a", text="100% grüße"),
            an_entry("b", author="helper", answers="a", text="100 grüße"),
            an_entry("c", audience="bob", private=True),
            an_entry("d", thread="a", counted=False),
            an_entry("e", thread="a", state="growing", author="helper"),
            an_entry("f", state="deleted"),
            an_entry("g", room="garden"),
        )
        async with self.opened(tmp_path) as store:
            await recorded(store, posted(*entries))
            assert await found(store) == ["g", "e", "d", "b", "a"]
            assert await found(store, person="bob", room="lobby", thread="") == ["c", "b", "a"]
            assert await found(store, everything=True, room="lobby", thread="") == ["c", "b", "a"]
            assert await found(store, words=("100%",)) == ["a"]
            assert await found(store, words=("100", "grü")) == ["b", "a"]
            assert await found(store, authors=("helper", "x"), thread="a") == ["e"]
            assert await found(store, answers="a") == ["b"]
            assert await found(store, thread="a", plain=True) == []
            assert await found(store, before=5, after=1) == ["d", "b"]
            assert await found(store, after=1, oldest_first=True, limit=2) == ["b", "d"]
            page = await store.log_find(LOG, Find(limit=2))
            assert ([each.id for each in page.entries], page.more) == (["g", "e"], True)
            page = await store.log_find(LOG, Find(bytes=1))
            assert ([each.id for each in page.entries], page.more) == (["g"], True)

    async def test_an_overview_has_rooms_marks_and_what_was_missed(self, tmp_path: Path) -> None:
        """SC-14: an overview is of one moment; marks never go back, and own or private messages do not count as
        unread."""
        later = NOW + timedelta(minutes=1)
        rooms = (RoomRow("lobby", None, b"Lobby"), RoomRow("hers", "ada", b"Hers"), RoomRow("his", "bob", b"His"))
        async with self.opened(tmp_path) as store:
            await recorded(store, Changes(events=tuple(RoomEvent(body=b"room", change=room) for room in rooms)))
            assert await store.log_room(LOG, "hers") == rooms[1]
            said = (an_entry("a", author="bob"), an_entry("b"), an_entry("c", author="bob", thread="a", at=later))
            await recorded(store, posted(*said, an_entry("d", author="bob", audience="bob")))
            mark = RoomEvent(body=b"read", audience="ada", change=Mark("ada", "lobby", 4))
            await recorded(store, Changes(events=(mark,)))
            with refused(Superseded):
                await recorded(store, Changes(events=(replace(mark, change=Mark("ada", "lobby", 3)),)))
            assert (await store.log_mark(LOG, "ada", "lobby"), await store.log_mark(LOG, "bob", "lobby")) == (4, 0)
            seen = await store.log_overview(LOG, "ada", 5, 10)
            assert seen.state.seq == 8
            assert [(view.row.id, view.read, view.unread) for view in seen.rooms] == [("lobby", 4, 1), ("hers", 0, 0)]
            assert seen.rooms[0].latest is not None
            assert seen.rooms[0].latest.id == "b"
            assert [event.seq for event in seen.missed or ()] == [6, 8]
            assert (await store.log_overview(LOG, "ada", 1, 3)).missed is None
            assert (await store.log_overview(LOG, "ada", None, 3)).missed is None
            assert await store.log_replies(LOG, ("a", "b"), "ada") == {"a": Replies(1, later)}

    async def test_an_entry_keeps_its_files(self, tmp_path: Path) -> None:
        """SC-14: files are kept as long as an entry names them."""
        async with self.opened(tmp_path) as store:
            file = await blobs_of(store).keep(Upload(), whole(b"x"))
            with refused(Superseded):
                await recorded(store, posted(an_entry("a", blobs=("nothing",))))
            await recorded(store, posted(an_entry("a", blobs=(file.id,))))
            await swept(store, timedelta(days=3))
            kept = await store.log_entry(LOG, "a")
            assert kept is not None
            assert kept.blobs == (file.id,)
            await recorded(store, posted(replace(kept, state="deleted", blobs=())))
            await swept(store, timedelta(days=3))
            assert await store.blob(file.id) is None

    async def test_facts_are_kept_by_scope_and_key(self, tmp_path: Path) -> None:
        """SC-14: facts may also be written by another program beside a gateway."""
        async with self.opened(tmp_path) as store:
            for scope, key, body in (("a", "1", b"x"), ("a", "2", b"y"), ("b", "1", b"z"), ("a", "1", b"new")):
                await store.write(PutFact(scope, key, body))
            assert await store.facts("a") == {"1": b"new", "2": b"y"}
            await store.write(PutFact("a", "1", None))
            assert await store.fact("a", "1") is None
            assert await store.fact("b", "1") == b"z"
            if self.survives:
                operator = self.operator(tmp_path)
                await operator.write(PutFact("b", "1", b"beside"))
                await operator.close()
                assert await store.fact("b", "1") == b"beside"
