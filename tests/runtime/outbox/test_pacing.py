"""When the next call may be made."""

import asyncio

from rejoinder.outbound.budget import Rate
from rejoinder.runtime.account_pace import (
    FIRST_REFUSAL,
    LONGEST_REFUSAL,
    TRY_SECONDS,
    AccountPace,
    AccountPaces,
    AccountStanding,
)
from rejoinder.runtime.outbox.pacing import ConversationPace
from rejoinder.testing import FakeMessenger
from tests.crash.virtual_time import VirtualTime

HOUR = 3600.0


def test_a_refused_account_is_tried_by_one_at_a_time():
    """DE-32: 401: the whole account pauses, longer each time; several refusals at once are one."""

    async def main() -> list[int]:
        account = AccountPace(FakeMessenger(), None, None)
        one, other, waits = ConversationPace(account, "one"), ConversationPace(account, "other"), []
        refused = [round(account.refuse("401"), 1) for _ in range(2)]
        assert refused == [FIRST_REFUSAL] * 2
        for _ in range(5):
            await asyncio.sleep(one.seconds_to_wait("final"))
            assert other.has_room("final")
            account.try_again()
            assert 0.0 < other.seconds_to_wait("final") <= TRY_SECONDS
            waits.append(round(account.refuse("401")))
        account.accept()
        assert one.has_room("final")
        assert account.trouble == ""
        return waits

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        assert runner.run(main()) == [10, 20, 40, LONGEST_REFUSAL, LONGEST_REFUSAL]


def test_frames_of_one_chat_share_their_rate_and_hold_up_no_answer():
    """DE-32: where a platform counts edits among messages, a draft leaves it room for the answer, in all its topics."""

    async def main() -> None:
        account = AccountPace(FakeMessenger(), None, None)
        one, topic, elsewhere = (
            ConversationPace(account, chat, Rate(2, 1 / HOUR)) for chat in ("group", "group", "other")
        )
        for pace in (one, topic):
            assert pace.seconds_to_frame() == 0.0
            pace.spend_frame()
        assert 0.0 < one.seconds_to_frame() <= HOUR
        assert 0.0 < topic.seconds_to_frame() <= HOUR
        assert elsewhere.seconds_to_frame() == 0.0
        assert one.has_room("final")
        await asyncio.sleep(HOUR)
        assert one.seconds_to_frame() == 0.0
        assert ConversationPace(account, "group").seconds_to_frame() == 0.0  # where nothing is said of frames

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())


def test_a_process_takes_its_part_of_an_account():
    """SC-13: what it gains is filled as time passes, so what the last owner has spent is not spent again."""

    async def main() -> None:
        accounts = AccountPaces()
        accounts.share(0.0)
        account = accounts.of(
            "fake", "default", lambda changed: AccountPace(FakeMessenger(), Rate(10, 0.4), None, changed)
        )
        pace = ConversationPace(account, "chat")
        accounts.share(0.5)
        assert account.rate == Rate(5, 0.2)
        assert pace.seconds_to_wait("final") > 1
        await asyncio.sleep(60)
        accounts.share(1.0)
        for _ in range(5):
            assert pace.has_room("final")
            pace.spend()
        assert not pace.has_room("final")

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())


def test_a_refusal_ends_for_all_when_one_finds_its_end():
    """SC-16, DE-32: what another process has found keeps this one from calling until that one says that it is over;
    what this process has found itself is over when it finds so itself."""

    async def main() -> None:
        accounts = AccountPaces()
        accounts.share(0.5)
        account = accounts.of("fake", "default", lambda changed: AccountPace(FakeMessenger(), None, None, changed))
        pace = ConversationPace(account, "chat")
        accounts.hear({("fake", "default"): AccountStanding(HOUR, "Unauthorized")})
        assert account.trouble == "Unauthorized"
        assert pace.seconds_to_wait("final") > HOUR - 1
        accounts.hear({})
        assert (account.trouble, pace.seconds_to_wait("final")) == ("", 0.0)
        account.refuse("Unauthorized")
        accounts.hear({})
        assert account.trouble == "Unauthorized"
        assert pace.seconds_to_wait("final") > 0.0
        account.accept()
        assert pace.seconds_to_wait("final") == 0.0

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())


def test_others_are_told_of_an_account_that_was_there_first():
    """SC-16: also if it was used before the process began to share; who shares with nobody has nobody to tell."""

    async def main() -> None:
        accounts = AccountPaces()
        account = accounts.of("fake", "default", lambda changed: AccountPace(FakeMessenger(), None, None, changed))
        account.refuse("Unauthorized")
        assert not accounts.take_changed()
        accounts.share(0.5)
        account.refuse("Unauthorized")
        assert [*accounts.take_changed()] == [("fake", "default")]
        assert not accounts.take_changed()

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())


def test_what_is_reserved_is_counted_once():
    """DE-32: who is about to call has taken its place; a call that is not made is given back."""

    async def main() -> None:
        account = AccountPace(FakeMessenger(), Rate(2, 0.1), Rate(2, 0.1))
        one, other = ConversationPace(account, "one"), ConversationPace(account, "other")
        with one.reserved():
            assert other.has_room("final")
            with other.reserved():
                assert not one.has_room("final")
                other.spend()
            assert not one.has_room("final")
        assert one.has_room("final")
        one.spend()
        assert not other.has_room("final")

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        runner.run(main())
