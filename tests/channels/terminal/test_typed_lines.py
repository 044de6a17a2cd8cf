"""The terminal has two words of its own; everything else is said."""

import pytest

from rejoinder.channels.terminal.typed_lines import EmptyLine, InvalidLine, MessageLine, QuitLine, read_typed

HOW = InvalidLine("write /reply, a message and your words: /reply m2 thank you")


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("hello", MessageLine("hello")),
        ("  hello  ", MessageLine("  hello  ")),
        ("/stop", MessageLine("/stop")),
        ("/think high", MessageLine("/think high")),
        ("/replying m1 x", MessageLine("/replying m1 x")),
        ("see /reply m1 x", MessageLine("see /reply m1 x")),
        ("/reply m1 yes", MessageLine("yes", "m1")),
        ("/reply m2  two\nlines ", MessageLine(" two\nlines ", "m2")),
        ("/reply m9 yes", InvalidLine("there is no message 'm9' to reply to")),
        ("/reply yes", HOW),
        ("/reply m1", HOW),
        ("/reply m1  ", HOW),
        ("/reply", HOW),
        ("/quit", QuitLine()),
        (" /quit ", QuitLine()),
        ("/quit now", MessageLine("/quit now")),
        ("", EmptyLine()),
        (" \t\n", EmptyLine()),
    ],
)
def test_what_a_line_means(line, typed):
    assert read_typed(line, {"m1", "m2"}) == typed
