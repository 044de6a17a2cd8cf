"""The table of platforms agrees with the specification, with the directives and with the channels."""

from typing import get_args

import pytest

from rejoinder.channels.base import Limits
from rejoinder.channels.platforms import PLATFORMS, platform
from rejoinder.channels.telegram.bot import TelegramBot
from rejoinder.channels.terminal.screen import Screen
from rejoinder.channels.web.channel import WebChannel
from rejoinder.errors import BadUse
from rejoinder.events import Ability, ReactionStyle
from rejoinder.outbound.directives import default_registry

DECLARED = {declared.ability for declared in default_registry().declarations if declared.ability}


def test_abilities_are_those_that_directives_need() -> None:
    """OD-72: a platform can what a directive may ask for, no more and no less; both spell it alike."""
    assert set(get_args(Ability)) == DECLARED
    assert set().union(*(known.can for known in PLATFORMS.values())) == DECLARED


@pytest.mark.parametrize("known", PLATFORMS.values(), ids=list(PLATFORMS))
def test_each_row_is_well_formed(known) -> None:
    """Every platform can at least send, is found by its name, and has one of the emoji styles."""
    assert platform(known.name) is known
    assert "send" in known.can <= DECLARED
    assert known.reactions in get_args(ReactionStyle)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("discord", Limits(2000)),
        ("slack", Limits(4000)),
        ("telegram", Limits(4096, "utf16")),
        ("whatsapp", Limits(4096)),
        ("signal", Limits(2000)),
        ("web", Limits(None)),
        ("terminal", Limits(None)),
    ],
)
def test_limits(name: str, limits: Limits) -> None:
    """DE-10: each in the platform's own unit."""
    assert platform(name).limits == limits


def test_a_matrix_event_has_room_around_the_text() -> None:
    """DE-10: 65 536 bytes are the whole event, not its text."""
    limits = platform("matrix").limits
    assert limits.unit == "bytes"
    assert limits.length is not None
    assert 32_768 < limits.length < 65_536 - 1024


@pytest.mark.parametrize(
    ("name", "can", "cannot"),
    [
        ("terminal", "reply react", "files voice"),
        ("telegram", "reply react silent previews", "ephemeral"),
        ("discord", "reply react silent threads", "ephemeral"),
        ("slack", "reply react ephemeral", "silent"),
        ("matrix", "reply react files", "ephemeral"),
    ],
)
def test_what_platforms_are_known_for(name: str, can: str, cannot: str) -> None:
    """The rows that people rely on, said a second time: `ephemeral` is Slack's, `silent` Discord's and Telegram's."""
    assert set(can.split()) <= platform(name).can
    assert not set(cannot.split()) & platform(name).can


@pytest.mark.parametrize(("name", "channel"), [("web", WebChannel), ("telegram", TelegramBot), ("terminal", Screen)])
def test_a_channel_that_is_here_does_what_its_row_says(name: str, channel: type) -> None:
    """OD-72: no more and no less than the channel can be asked for; nothing here speaks, so none has a voice."""
    can = platform(name).can
    assert ("react" in can) == hasattr(channel, "react")
    assert ("files" in can) == hasattr(channel, "keep_file")
    assert "voice" not in can


def test_emoji_styles() -> None:
    """OD-71: Telegram has its set, Slack its names, the others take any emoji."""
    assert {name: known.reactions for name, known in PLATFORMS.items() if known.reactions != "unicode"} == {
        "telegram": "telegram",
        "slack": "slack",
    }


def test_an_unknown_platform_is_told_what_there_is() -> None:
    """The error is the help."""
    with pytest.raises(BadUse) as raised:
        platform("discrod")
    assert str(raised.value) == (
        "no platform called 'discrod'; did you mean discord? "
        "there are: discord, matrix, signal, slack, telegram, terminal, web, whatsapp"
    )
