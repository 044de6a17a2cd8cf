"""What channels declare agrees with the specification, with the directives and with the channels themselves (CH-1)."""

from pathlib import Path
from typing import get_args

import pytest

from rejoinder import channels, plugins
from rejoinder.channels.base import Limits
from rejoinder.channels.slack.bot import SlackApp
from rejoinder.channels.slack.emoji import REACTIONS as SLACK
from rejoinder.channels.telegram.bot import TelegramBot
from rejoinder.channels.telegram.emoji import REACTIONS as TELEGRAM
from rejoinder.channels.terminal.screen import Screen
from rejoinder.channels.web.channel import WebChannel
from rejoinder.config.kinds import channel_kind
from rejoinder.errors import BadConfiguration
from rejoinder.events import Ability
from rejoinder.outbound.directives import default_registry
from rejoinder.rendering.emoji import ANY_EMOJI

NAMES = plugins.names("channel")
ASKED_FOR = {declared.ability for declared in default_registry().declarations if declared.ability}


def test_a_folder_is_all_it_takes() -> None:
    """CH-1: every folder with a declaration is a channel, and there is no list of them."""
    declared = Path(channels.__file__).parent.glob("*/__init__.py")
    assert [path.parent.name for path in sorted(declared) if "\nCHANNEL = " in path.read_text()] == NAMES
    assert len(NAMES) > 7


def test_abilities_are_those_that_directives_need() -> None:
    """OD-72: a platform can what a directive may ask for, no more and no less; both spell it alike."""
    assert set(get_args(Ability)) == ASKED_FOR
    assert set().union(*(channel_kind(name).can for name in NAMES)) == ASKED_FOR


@pytest.mark.parametrize("name", NAMES)
def test_every_platform_can_at_least_send(name: str) -> None:
    assert "send" in channel_kind(name).can <= ASKED_FOR


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("discord", Limits(2000, "utf16")),
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
    assert channel_kind(name).limits == limits


def test_a_matrix_event_has_room_around_the_text() -> None:
    """DE-10: 65 536 bytes are the whole event, not its text."""
    limits = channel_kind("matrix").limits
    assert limits.unit == "bytes"
    assert limits.length is not None
    assert 32_768 < limits.length < 65_536 - 1024


@pytest.mark.parametrize(
    ("name", "can", "cannot"),
    [
        ("terminal", "reply react files", "voice"),
        ("telegram", "reply react files silent previews", "ephemeral"),
        ("discord", "reply react files voice silent threads ephemeral", ""),
        ("slack", "reply react ephemeral threads", "silent"),
        ("matrix", "reply react files", "ephemeral"),
    ],
)
def test_what_platforms_are_known_for(name: str, can: str, cannot: str) -> None:
    """What people rely on, said a second time: `silent` is Discord's and Telegram's."""
    assert set(can.split()) <= channel_kind(name).can
    assert not set(cannot.split()) & channel_kind(name).can


HERE = [("web", WebChannel), ("slack", SlackApp), ("telegram", TelegramBot), ("terminal", Screen)]


@pytest.mark.parametrize(("name", "channel"), HERE)
def test_a_channel_that_is_here_does_what_it_declares(name: str, channel: type) -> None:
    """OD-72: no more and no less than the channel can be asked for; a voice note is a file."""
    kind = channel_kind(name)
    assert kind.limits == channel.limits  # type: ignore[attr-defined]
    assert ("react" in kind.can) == hasattr(channel, "react")
    assert ("files" in kind.can) == hasattr(channel, "send_files")
    assert kind.files == getattr(channel, "file_limits", None)
    assert "voice" not in kind.can or "files" in kind.can


@pytest.mark.parametrize(("name", "channel"), HERE)
def test_the_delivery_class_is_what_the_channel_can_prove(name: str, channel: type) -> None:
    """DU-3: who declares a key or a look back has it; who has neither is blind."""
    proven = (
        "native key"
        if hasattr(channel, "deduplicates_by_key")
        else "read back"
        if hasattr(channel, "find")
        else "blind"
    )
    assert channel_kind(name).delivery == proven


def test_reaction_names() -> None:
    """OD-71: Telegram has its set, Slack its names, the others take any emoji."""
    named = {name: channel_kind(name).reactions for name in NAMES}
    assert {name: style for name, style in named.items() if style != ANY_EMOJI} == {
        "telegram": TELEGRAM,
        "slack": SLACK,
    }


def test_an_unknown_channel_is_told_what_there_is() -> None:
    """The error is the help."""
    with pytest.raises(BadConfiguration) as raised:
        channel_kind("discrod")
    assert str(raised.value) == f"no channel called 'discrod'; did you mean discord? there are: {', '.join(NAMES)}"
