"""Spoken commands."""

import pytest

from rejoinder.inbound.spoken import spoken_command

COMMANDS = {"status", "think", "new"}


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        ("Slash status.", "/status"),
        ("slash, status", "/status"),
        ("Forward slash new, tell me a joke.", "/new tell me a joke"),
        ("slash think high", "/think high"),
        ("slash fiction is fun", "slash fiction is fun"),
        ("status", "status"),
        ("the slash status", "the slash status"),
        ("/status", "/status"),
    ],
)
def test_a_command_is_spoken_with_the_word_slash(heard, meant):
    """DE-36: a spoken command works, and talk of slashes is talk."""
    assert spoken_command(heard, COMMANDS) == meant
