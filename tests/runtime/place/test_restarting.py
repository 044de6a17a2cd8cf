"""Whether a restart that was asked for is to be, and what is said instead."""

from datetime import UTC, datetime, timedelta

import pytest

from rejoinder.errors import BadConfiguration
from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime.place.restarting import (
    DONE_ALREADY,
    EMBEDDED,
    REMEMBERED,
    Restart,
    RestartCheck,
    Restarting,
    named,
)
from rejoinder.store.base import InboxEvent

BEGAN = datetime(2030, 1, 2, 3, 4, 5, 600_000, tzinfo=UTC)


def asked(seconds: float, event: str = "e1") -> InboxEvent:
    """So many seconds after the gateway began."""
    inbound = Inbound("fake", event, "m1", Chat("room"), Sender("ann"), "/restart")
    return InboxEvent(1, inbound, BEGAN + timedelta(seconds=seconds))


FIRST, SECOND = named(asked(0).inbound), named(asked(0, "e2 \n\0\ud83d").inbound)


def fine() -> None:
    """Nothing is in its way."""


@pytest.mark.parametrize(
    ("event", "obeyed", "then"),
    [
        (asked(5), (), (FIRST,)),
        (asked(5, "e2 \n\0\ud83d"), (FIRST,), (FIRST, SECOND)),
        (asked(-1), (), None),
        (asked(5), (FIRST,), None),
        (asked(5), ("x", FIRST, "y"), None),
    ],
)
async def test_what_was_asked_of_the_gateway_before_this_one_is_done(event, obeyed, then):
    """No loop: also where nothing is kept, and the platform tells of the command once more."""
    ended = []
    performed = await Restarting(RestartCheck(fine, obeyed), ended.append, BEGAN).perform(event)
    performed.then()
    assert (performed.says, ended) == ((None, [Restart(then)]) if then else (DONE_ALREADY, []))


def test_a_name_is_a_word():
    """It is handed on in the environment."""
    assert SECOND.isalnum()


async def test_only_the_latest_are_remembered():
    ended = []
    obeyed = tuple(str(number) for number in range(REMEMBERED))
    (await Restarting(RestartCheck(fine, obeyed), ended.append, BEGAN).perform(asked(5))).then()
    assert ended == [Restart((*obeyed[1:], FIRST))]


async def test_who_would_not_come_up_again_goes_on():
    def check():
        raise BadConfiguration("rejoinder.toml:3: there is no such key")

    ended = []
    performed = await Restarting(RestartCheck(check), ended.append, BEGAN).perform(asked(5))
    performed.then()
    assert performed.says == "Not restarted, because it would not start: rejoinder.toml:3: there is no such key"
    assert ended == []


async def test_who_is_embedded_says_so():
    assert (await Restarting(None, lambda restart: None, BEGAN).perform(asked(5))).says == EMBEDDED
