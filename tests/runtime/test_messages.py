"""The handles of a conversation (OD-22)."""

from rejoinder.runtime.messages import Messages


def test_handles_count_in_the_order_of_appearance():
    messages = Messages()
    assert [messages.add(id, id) for id in ("900", "$abc", "900")] == ["m1", "m2", "m1"]
    assert messages.find("m2") == messages.find("$abc") == "$abc"
    assert messages.handle("$abc") == "m2"
    assert messages.text("$abc") == "$abc"
    assert messages.find("m3") is None
    assert messages.find("") is None


def test_a_platform_whose_ids_are_handles_keeps_them():
    """What people read beside a message is what directives call it, whoever's message was noted first."""
    messages = Messages()
    assert [messages.add(id, "") for id in ("m1", "m3", "m2")] == ["m1", "m3", "m2"]
    assert messages.find("m2") == "m2"


def test_what_was_taken_back_cannot_be_pointed_at():
    messages = Messages()
    messages.add("a", "")
    messages.forget("a")
    assert messages.find("m1") is messages.find("a") is None
    assert messages.add("b", "") == "m2"


def test_the_oldest_are_forgotten():
    messages = Messages(remembered=2)
    for id in ("a", "b", "c"):
        messages.add(id, "")
    assert messages.find("m1") is messages.find("a") is None
    assert messages.find("m3") == "c"
