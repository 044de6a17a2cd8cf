"""The form in which one try sends a part, by what earlier tries have given up."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from rejoinder.events import Attachment, NewThread, Part, ReplyContext, Route
from rejoinder.outbound.forms import form_of, in_time
from rejoinder.outbound.operations import Amend, Open, Say

ROUTE, ELSEWHERE, IN_THREAD = Route("fake", "room"), Route("fake", "room", "9"), Route("fake", "room", "7")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
REPLY = Part(ROUTE, "hi", key="k", reply_to="3")
PLAIN = Part(ROUTE, "*hi*", key="k/own", reply_to="3")
PHOTO = Attachment("1", "a.png", "image/png", kind="image")
DOCUMENT = replace(PHOTO, kind="document")
SHOWN = Part(ROUTE, "", key="k", files=(PHOTO,))
OPENING = Part(IN_THREAD, "hi", key="k", opens=NewThread("7"), title="t")


@pytest.mark.parametrize(
    ("part", "plain", "omitted", "place", "form"),
    [
        (REPLY, None, "", None, REPLY),
        (REPLY, PLAIN, "formatting", None, PLAIN),
        (REPLY, None, "formatting", None, Part(ROUTE, "hi", key="k/plain", reply_to="3")),
        (REPLY, None, "target", None, Part(ROUTE, "hi", key="k/alone")),
        (REPLY, PLAIN, "formatting target", None, Part(ROUTE, "*hi*", key="k/own/alone")),
        (REPLY, PLAIN, "message", None, Part(ROUTE, "hi", key="k/again", reply_to="3")),
        (REPLY, PLAIN, "formatting message", None, Part(ROUTE, "*hi*", key="k/own/again", reply_to="3")),
        (SHOWN, None, "kind", None, Part(ROUTE, "", key="k/documents", files=(DOCUMENT,))),
        (OPENING, None, "", None, OPENING),
        (OPENING, None, "thread", None, Part(ROUTE, "hi", key="k/chat", reply_to="7")),
        (OPENING, None, "thread target", None, Part(ROUTE, "hi", key="k/alone/chat")),
        (REPLY, None, "thread", None, REPLY),
        (REPLY, None, "", ELSEWHERE, Part(ELSEWHERE, "hi", key="k")),
        (OPENING, None, "thread", ELSEWHERE, Part(ELSEWHERE, "hi", key="k")),
    ],
)
def test_what_was_given_up_is_left_out(part: Part, plain: Part | None, omitted: str, place: Route | None, form: Part):
    """DE-13, CH-2, DU-4: a form of other bytes has another key."""
    assert form_of(part, plain, omitted.split(), place) == form


@pytest.mark.parametrize("seconds", [-1, 0, 1])
def test_a_reply_context_is_used_until_it_expires(seconds: int):
    """CH-3: in the plain version, too."""
    context = ReplyContext("token", NOW + timedelta(seconds=seconds))
    left = context if seconds > 0 else None
    part, plain = Part(ROUTE, "hi", reply_context=context), Part(ROUTE, "*hi*", reply_context=context)
    now_part, now_plain = Part(ROUTE, "hi", reply_context=left), Part(ROUTE, "*hi*", reply_context=left)
    assert in_time(Say(part, plain), NOW) == Say(now_part, now_plain)
    assert in_time(Amend("5", part), NOW) == Amend("5", now_part)
    assert in_time(Open(part), NOW) == Open(now_part)


def test_without_a_reply_context_it_is_the_same_operation():
    assert in_time(said := Say(REPLY), NOW) is said
