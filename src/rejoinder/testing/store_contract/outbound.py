"""Outgoing parts: in order, each under its key, and never sent twice because of the store."""

from pathlib import Path

from rejoinder.errors import BadUse
from rejoinder.store.base import (
    LATEST,
    YIELDING,
    BuryPart,
    ClaimPart,
    EndRun,
    HoldPart,
    MarkSent,
    MarkUnknown,
    NotBefore,
    PlanParts,
    ResendPart,
    RetryPart,
    StoredPart,
    WithdrawParts,
)
from rejoinder.testing.store_contract.given import HERE, NOW, SOON, THREAD, an_intent, begun, claimed, loses, refused
from rejoinder.testing.store_contract.opened import Opened


class Parts(Opened):
    async def test_what_opened_a_thread_stands_in_it(self, tmp_path: Path) -> None:
        """CH-2: a part whose delivery opened a place is indexed in that place, not in the one it was sent to."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            message = await store.write(MarkSent(await claimed(store), "m1", NOW, "words", place=THREAD))
            assert message is not None
            assert [each.id for each in await store.messages(THREAD)] == ["m1"]
            assert await store.messages(HERE) == ()

    async def test_parts_go_out_in_order_one_at_a_time(self, tmp_path: Path) -> None:
        """DE-3, DE-30: the first unsent part of a conversation is the only one that can be claimed."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1), an_intent(2), an_intent(3, THREAD)), NOW))
            first = await claimed(store)
            assert (first.key, first.state, first.attempts) == ("key-1", "sending", 1)
            assert await store.write(ClaimPart(HERE, NOW)) is None
            assert (await claimed(store, route=THREAD)).key == "key-3"
            await store.write(MarkSent(first, "msg-1", NOW))
            assert (await claimed(store)).key == "key-2"

    async def test_what_nothing_waits_before_can_go_at_once(self, tmp_path: Path) -> None:
        """DU-12: a part is planned and claimed in one step, with its attempt counted; behind others it waits like any
        part."""
        async with self.opened(tmp_path) as store:
            first, second = await store.write(PlanParts((an_intent(1), an_intent(2)), NOW, claims=True))
            assert (first.state, first.attempts, second.state) == ("sending", 1, "planned")
            (third,) = await store.write(PlanParts((an_intent(3),), NOW, claims=True))
            (there,) = await store.write(PlanParts((an_intent(4, THREAD),), NOW, claims=True))
            assert (third.state, there.state) == ("planned", "sending")
            await store.write(MarkSent(first, "msg-1", NOW))
            assert (await claimed(store)).key == "key-2"
            (again,) = await store.write(PlanParts((an_intent(1),), NOW, claims=True))
            assert (again.state, again.receipt) == ("sent", "msg-1")

    async def test_words_overtake_reactions(self, tmp_path: Path) -> None:
        """DE-32: everything but reactions goes first, whether planned earlier or later, and each queue keeps its
        order."""
        async with self.opened(tmp_path) as store:
            marks = an_intent(1, kind=YIELDING), an_intent(2, kind=YIELDING)
            await store.write(PlanParts((*marks, an_intent(3), an_intent(4)), NOW))
            (late,) = await store.write(PlanParts((an_intent(5, kind=YIELDING),), NOW, claims=True))
            assert late.state == "planned"
            for number in (3, 4, 1, 2, 5):
                part = await claimed(store)
                assert part.key == f"key-{number}"
                await store.write(MarkSent(part, None, NOW))

    async def test_nothing_waits_for_a_reaction(self, tmp_path: Path) -> None:
        """DE-32: words go out while a reaction is postponed, unknown or under way; reactions behind it wait for it."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1, kind=YIELDING), an_intent(2, kind=YIELDING)), NOW))
            await store.write(RetryPart(await claimed(store), SOON, "502"))
            (words,) = await store.write(PlanParts((an_intent(3),), NOW, claims=True))
            assert (words.state, words.attempts) == ("sending", 1)
            assert await store.write(ClaimPart(HERE, SOON)) is None
            await store.write(MarkSent(words, "msg-1", NOW))
            assert await store.write(ClaimPart(HERE, NOW)) == NotBefore(SOON)
            unknown = await store.write(MarkUnknown(await claimed(store, now=SOON), "timeout"))
            assert await store.write(ClaimPart(HERE, SOON)) is None
            await store.write(PlanParts((an_intent(4),), NOW))
            assert (await claimed(store)).key == "key-4"
            assert unknown.key == "key-1"

    async def test_the_same_key_is_the_same_part(self, tmp_path: Path) -> None:
        """DU-4: a part that is planned again is the same part, with its receipt; other bytes under its key are
        refused."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            await store.write(MarkSent(await claimed(store), "msg-1", NOW))
            (again,) = await store.write(PlanParts((an_intent(1),), SOON))
            assert (again.state, again.receipt) == ("sent", "msg-1")
            assert await store.write(ClaimPart(HERE, NOW)) is None
            with refused(BadUse, "new key"):
                await store.write(PlanParts((an_intent(1, body=b"other"),), NOW))

    async def test_what_a_try_gave_up_is_known_to_the_next(self, tmp_path: Path) -> None:
        """DE-13: the next try knows what an earlier one gave up, even after a restart, and while it is unknown whether
        the part arrived."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            omitted = ("formatting", "target")
            again = await store.write(RetryPart(await claimed(store), NOW, "400", counted=False, omitted=omitted))
            assert (again.omitted, again.error) == (omitted, "400")
            unknown = await store.write(MarkUnknown(await claimed(store), "timeout"))
            found = await store.part(unknown.id)
            assert found is not None
            assert found.omitted == omitted

    async def test_a_retry_has_identical_bytes(self, tmp_path: Path) -> None:
        """DU-4: the same key has the same bytes, whatever they are; no part overtakes it while it waits."""
        async with self.opened(tmp_path) as store:
            body = bytes(range(256))
            await store.write(PlanParts((an_intent(1, body=body), an_intent(2)), NOW))
            await store.write(RetryPart(await claimed(store), SOON, "502"))
            assert await store.write(ClaimPart(HERE, NOW)) == NotBefore(SOON)
            again = await claimed(store, now=SOON)
            assert (again.key, again.body, again.attempts, again.error) == ("key-1", body, 2, "502")
            limited = await store.write(RetryPart(again, SOON, "429", counted=False))
            assert limited.attempts == 1

    async def test_a_clock_that_was_set_back_keeps_nobody_waiting(self, tmp_path: Path) -> None:
        """DE-32: a retry time too far in the future must be a mistake and is ignored; nearer times hold."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            put_off = await store.write(RetryPart(await claimed(store), NOW, "502"))
            assert isinstance(await store.write(ClaimPart(HERE, NOW - LATEST)), NotBefore)
            again = await store.write(ClaimPart(HERE, NOW - 2 * LATEST))
            assert isinstance(again, StoredPart)
            assert again.id == put_off.id

    async def test_a_part_somebody_else_moved_on_is_lost(self, tmp_path: Path) -> None:
        """DU-11: every transition compares state and generation; a late sender writes nothing."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            stale = await claimed(store)
            await store.write(RetryPart(stale, NOW, "502"))
            fresh = await claimed(store)
            assert fresh.generation > stale.generation
            for verb in (MarkSent(stale, None, NOW), BuryPart(stale, "x"), RetryPart(stale, NOW, "x")):
                await loses(store, verb)
            await store.write(MarkSent(fresh, None, NOW))
            await loses(store, MarkSent(fresh, None, NOW))

    async def test_what_is_unknown_blocks(self, tmp_path: Path) -> None:
        """DU-3: while it is unknown whether a part arrived, the parts after it wait."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1), an_intent(2)), NOW))
            unknown = await store.write(MarkUnknown(await claimed(store), "timeout"))
            assert await store.write(ClaimPart(HERE, SOON)) is None
            held = await store.write(HoldPart(unknown))
            second = await claimed(store, now=SOON)
            assert second.key == "key-2"
            await store.write(MarkSent(second, "msg-2", NOW), ResendPart(held))
            again = await claimed(store, now=SOON)
            assert (again.key, again.body) == (unknown.key, unknown.body)

    async def test_unknown_can_be_confirmed(self, tmp_path: Path) -> None:
        """DU-3: a part that is found on the platform counts as sent, with its receipt."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1),), NOW))
            unknown = await store.write(MarkUnknown(await claimed(store), "timeout"))
            noted = await store.write(MarkSent(unknown, "msg-1", NOW))
            assert noted is not None
            assert noted.handle == "m1"
            (listed,) = await store.messages(HERE)
            assert (listed.id, listed.kind) == ("msg-1", "own")

    async def test_dead_letters_are_listed_and_can_be_sent_again(self, tmp_path: Path) -> None:
        """DE-33: dead letters are listed with the reason; the parts after them go on."""
        async with self.opened(tmp_path) as store:
            await store.write(PlanParts((an_intent(1), an_intent(2)), NOW))
            await store.write(BuryPart(await claimed(store), "403 blocked"))
            (dead,) = await store.parts_in("dead")
            assert dead.error == "403 blocked"
            await store.write(MarkSent(await claimed(store), "msg-2", NOW))
            await store.write(ResendPart(dead))
            assert (await claimed(store)).key == "key-1"

    async def test_withdrawn_parts_are_never_said(self, tmp_path: Path) -> None:
        """IN-70: no part of a stopped turn is sent; a part that is being sent gets its result."""
        async with self.opened(tmp_path) as store:
            run = await begun(store, 1)
            await store.write(PlanParts((an_intent(1), an_intent(2), an_intent(3)), NOW, run))
            sending = await claimed(store)
            assert await store.write(WithdrawParts(run.turn), EndRun(run, "stopped", NOW)) == (2, None)
            await store.write(MarkSent(sending, "msg-1", NOW))
            assert await store.write(ClaimPart(HERE, NOW)) is None
