"""What the agent is told of directives (OD-54): every form it is taught is one that the reader obeys."""

import re

import pytest

from rejoinder import read_reply
from rejoinder.outbound.directives import built_in
from rejoinder.outbound.directives.declaration import Declaration, Registry
from rejoinder.outbound.notice import abilities_notice

REGISTRY = Registry(built_in())
EVERYTHING = {declared.ability for declared in REGISTRY.declarations if declared.ability is not None}
OPTIONAL = re.compile(r" \[[^]]*\]")


def taught(declared: Declaration) -> list[str]:
    """The forms of its line, with something in the place of each ellipsis."""
    granted = {each.name for each in REGISTRY.declarations}
    lines = abilities_notice(REGISTRY, EVERYTHING, granted).partition("What there is here:")[2].splitlines()
    (line,) = [line for line in lines if line.endswith(f": {declared.help}")]
    return [OPTIONAL.sub("", form).replace("...", "true") for form in re.findall("`([^`]*)`", line.partition(": ")[0])]


@pytest.mark.parametrize("declared", REGISTRY.declarations, ids=lambda declared: declared.name)
def test_what_is_taught_is_obeyed(declared: Declaration) -> None:
    """OD-54: an agent that writes a line of the notice as it stands there is understood, and nothing of it is shown."""
    forms = taught(declared)
    assert forms
    for form in forms:
        reading = read_reply(f"{form}\nHello.")
        named = [directive.name for directive in reading.directives]
        assert reading.text == "Hello."
        assert named == [declared.name] or declared.name == "no_reply"


def test_only_what_works_here_is_taught() -> None:
    """OD-54: what the channel cannot do, and what is not granted, is not told of."""
    notice = abilities_notice(REGISTRY, {"react", "send"}, {"handoff"})
    assert "<react" in notice
    assert "<handoff" in notice
    assert "<send-message" not in notice
    assert "[[ephemeral" not in notice
