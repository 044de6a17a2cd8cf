"""Albums: what waits, for how long, and what does not."""

import msgspec

from rejoinder.channels.telegram.albums import AlbumSorter, gather
from rejoinder.channels.telegram.wire import Update
from tests.channels.telegram.recorded import update

FIRST, SECOND = (msgspec.structs.replace(update(f"album_{n}"), update_id=n) for n in (1, 2))
SAME_CHAT = msgspec.structs.replace(update("document"), update_id=4)
OTHER_CHAT = msgspec.structs.replace(update("mention_by_name"), update_id=5)


def numbers(updates: tuple[Update, ...]) -> list[int]:
    return [each.update_id for each in updates]


def test_an_album_waits_and_so_does_what_follows_it():
    """IN-76: one order in a chat; other chats go on."""
    sorted = AlbumSorter(0.5, 3.0).sort([FIRST, SECOND, SAME_CHAT, OTHER_CHAT], now=0.0)
    assert numbers(sorted.waiting) == [1, 2, 4]
    assert numbers(sorted.ready) == [5]


def test_quiet_ends_the_wait():
    patience = AlbumSorter(0.5, 3.0)
    patience.sort([FIRST], now=0.0)
    assert numbers(patience.sort([FIRST, SECOND], now=0.4).waiting) == [1, 2], "it grew"
    assert numbers(patience.sort([FIRST, SECOND], now=0.8).waiting) == [1, 2], "not quiet for long enough"
    assert numbers(patience.sort([FIRST, SECOND, SAME_CHAT], now=0.9).ready) == [1, 2, 4]


def test_no_album_is_waited_for_for_ever():
    patience = AlbumSorter(quiet=10.0, longest=3.0)
    patience.sort([FIRST], now=0.0)
    assert numbers(patience.sort([FIRST, SECOND], now=3.0).ready) == [1, 2]


def test_a_whole_album_need_not_wait():
    """There are never more than ten."""
    ten = [msgspec.structs.replace(FIRST, update_id=number) for number in range(10)]
    assert not AlbumSorter().sort(ten, now=0.0).waiting


def test_members_stand_together_where_the_first_stood():
    assert [numbers(members) for members in gather([FIRST, OTHER_CHAT, SECOND, SAME_CHAT])] == [[1, 2], [5], [4]]
