"""IN-33: turns are counted by group and by person, for one day."""

from datetime import date

from rejoinder.events import Chat, Inbound, Sender
from rejoinder.runtime.tally import Tally

TODAY, TOMORROW = date(2030, 1, 1), date(2030, 1, 2)


def said(chat: str, sender: str, thread: str | None = None) -> Inbound:
    return Inbound("fake", "1", "1", Chat(chat, "group"), Sender(sender), "x", thread=thread)


def test_by_group_and_by_person_until_the_day_ends():
    tally = Tally()
    for each in (said("lab", "ann"), said("lab", "bob", "t1"), said("den", "ann")):
        tally.add(each, TODAY)
    assert (tally.of_group(said("lab", "ann"), TODAY), tally.of_sender(said("lab", "ann"), TODAY)) == (2, 1)
    assert tally.of_group(said("lab", "ann"), TOMORROW) == 0
