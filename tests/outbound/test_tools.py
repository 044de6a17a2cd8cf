"""How a tool is shown."""

import pytest

from rejoinder.outbound.tools import display_for, tool_name, work_shown


@pytest.mark.parametrize(
    ("configured", "group", "trusted", "display"),
    [
        (None, False, True, "full"),
        (None, True, True, "compact"),
        (None, False, False, "compact"),
        ("full", False, False, "compact"),
        ("full", True, False, "compact"),
        ("full", True, True, "full"),
        ("compact", False, True, "compact"),
        ("none", False, True, "none"),
        ("none", True, False, "none"),
    ],
)
def test_who_is_not_on_the_list_sees_no_more_than_the_kind(configured, group, trusted, display):
    """DE-23: full, compact, none; in groups compact by default."""
    assert display_for(configured, group=group, trusted=trusted) == display


@pytest.mark.parametrize(
    ("kind", "display", "group", "name"),
    [
        ("read", "full", False, "Read notes.txt"),
        ("read", "compact", False, "read"),
        ("read", "full", True, "Read notes.txt"),
        ("execute", "full", False, "Read notes.txt"),
        ("execute", "full", True, "execute"),
        ("other", "full", True, "other"),
    ],
)
def test_no_command_line_in_a_group(kind, display, group, name):
    """DE-23: where anybody may read along it is the kind, whatever is configured; a title is one line."""
    assert tool_name("Read\n notes.txt", kind, display, group=group) == name


@pytest.mark.parametrize(
    ("verbose", "configured", "group", "trusted", "shown"),
    [
        ("on", None, False, True, ("full", False)),
        ("full", None, False, True, ("full", True)),
        ("full", None, False, False, ("compact", False)),
        ("full", "compact", False, True, ("compact", False)),
        ("full", "full", True, True, ("full", False)),
        ("off", "full", False, True, ("none", False)),
    ],
)
def test_output_is_shown_in_full_and_to_one_who_may_alone(verbose, configured, group, trusted, shown):
    """IN-59, DE-23."""
    assert work_shown(verbose, configured, group=group, trusted=trusted) == shown


@pytest.mark.parametrize("verbose", ["off", "on", "full"])
@pytest.mark.parametrize(("place", "shown"), [("log", ("full", True)), ("nowhere", ("none", False))])
def test_a_log_has_all_of_the_work_and_nobody_follows_a_heartbeat(verbose, place, shown):
    """IN-59: whatever is configured for chats."""
    assert work_shown(verbose, "compact", place=place, group=True, trusted=False) == shown
