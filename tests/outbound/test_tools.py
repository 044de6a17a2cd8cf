"""How a tool is shown."""

import pytest

from rejoinder.outbound.tools import AddLine, ToolLines, display_for, tool_name, work_shown


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


@pytest.mark.parametrize(
    ("happens", "shown"),
    [
        (["start 1 Read"], ["🔧 Read"]),
        (["start 1 Read", "start 2 Read", "start 3 Read", "end"], ["🔧 Read ×3"]),
        (["start 1 Read", "start 2 Read", "start 3 List"], ["🔧 Read ×2", "🔧 List"]),
        (["start 1 Read", "end", "start 2 Read"], ["🔧 Read", "🔧 Read"]),
        (["start 1 Tool", "rename 1 List"], ["🔧 Tool List"]),
        (["start 1 Tool", "rename 1 List", "start 2 List", "end"], ["🔧 Tool List ×2"]),
        (["start 1 Read", "rename 1 Read"], ["🔧 Read"]),
        (["start 1 Tool", "rename 2 List"], ["🔧 Tool"]),
        (["start 1 Tool", "end", "rename 1 List"], ["🔧 Tool"]),
        (["start 1 Tool", "start 2 Tool", "rename 1 List"], ["🔧 Tool"]),
        (["rename 1 List", "end"], []),
    ],
)
def test_the_lines_of_tools(happens, shown):
    """DE-23: equal ones in a row share a line; a better title is added while nothing has followed."""
    lines: list[str] = []
    tools = ToolLines("full", group=False)
    for each in happens:
        what, *more = each.split()
        changes = (
            tools.end() if what == "end" else tools.rename(*more) if what == "rename" else tools.start(*more, "read")
        )
        for change in changes:
            if isinstance(change, AddLine):
                lines.append(change.text)
            else:
                lines[-1] = lines[-1].removesuffix("_") + change.text
    assert [line.strip("_") for line in lines] == shown


def test_a_better_title_tells_no_more_than_the_kind_where_only_that_is_shown():
    """DE-23."""
    tools = ToolLines("compact", group=True)
    assert tools.start("1", "Shell", "execute") == (AddLine("_🔧 execute_"),)
    assert tools.rename("1", "rm -rf /") == ()
