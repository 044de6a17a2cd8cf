"""The terminal has two words of its own; everything else is said."""

import pytest

from rejoinder.channels.terminal.typed import Leave, Misread, Nothing, SaidLine, read_typed

HOW = Misread("write /reply, a message and your words: /reply m2 thank you")


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("hello", SaidLine("hello")),
        ("  hello  ", SaidLine("  hello  ")),
        ("/stop", SaidLine("/stop")),
        ("/think high", SaidLine("/think high")),
        ("/replying m1 x", SaidLine("/replying m1 x")),
        ("see /reply m1 x", SaidLine("see /reply m1 x")),
        ("/reply m1 yes", SaidLine("yes", "m1")),
        ("/reply m2  two\nlines ", SaidLine(" two\nlines ", "m2")),
        ("/reply m9 yes", Misread("there is no message 'm9' to reply to")),
        ("/reply yes", HOW),
        ("/reply m1", HOW),
        ("/reply m1  ", HOW),
        ("/reply", HOW),
        ("/quit", Leave()),
        (" /quit ", Leave()),
        ("/quit now", SaidLine("/quit now")),
        ("", Nothing()),
        (" \t\n", Nothing()),
    ],
)
def test_what_a_line_means(line, typed):
    assert read_typed(line, {"m1", "m2"}) == typed
