"""IN-10, IN-13: entries of lists name ids, and nobody else."""

from typing import Any

import pytest

from rejoinder.config.floors import inbound_settings
from rejoinder.config.kinds import channel_kind
from rejoinder.config.load import read as read_settings
from rejoinder.errors import BadConfiguration
from rejoinder.events import Sender
from rejoinder.identity import ANYBODY
from rejoinder.inbound.ids import ListedChannel, candidates, read_ids
from rejoinder.inbound.rules import AgentProfile, make_rules
from rejoinder.inbound.settings import ChannelSettings, CommandsSettings, ElevatedSettings, InboundSettings

WHATSAPP = "\n".join(f'{key} = "x"' for key in ("phone_number_id", "access_token", "app_secret", "verify_token"))
CHANNELS = {"telegram", "discord", "matrix", "web"}


def read(entry: str, channel: str = "telegram", **more: Any) -> Any:
    return read_ids(
        (entry,),
        ListedChannel(channel, channel, channel_kind(channel).identity),
        channels=CHANNELS,
        where="list",
        **more,
    )


@pytest.mark.parametrize(
    ("entry", "channel", "account", "id", "named"),
    [
        ("123", "telegram", "default", "123", True),
        ("123", "telegram", "default", "1234", False),
        ("telegram:123", "telegram", "any", "123", True),
        ("telegram:main:123", "telegram", "main", "123", True),
        ("telegram:main:123", "telegram", "other", "123", False),
        ("@anna:example.org", "matrix", "default", "@anna:example.org", True),
        ("matrix:@anna:example.org", "matrix", "default", "@anna:example.org", True),
        ("matrix:work:@anna:example.org", "matrix", "work", "@anna:example.org", True),
        ("matrix:work:@anna:example.org", "matrix", "home", "@anna:example.org", False),
        ("wire:123", "web", "default", "123", False),
        ("wire:123", "web", "default", "wire:123", True),
    ],
)
def test_an_entry_names_one_id(entry: str, channel: str, account: str, id: str, named: bool) -> None:
    """IN-10: id, `channel:id`, `channel:account:id`. IN-13: an unknown prefix never widens an entry."""
    assert read(entry, channel).named(account, (id,)) is named


@pytest.mark.parametrize(
    ("entry", "channel"),
    [
        ("@anna", "telegram"),
        ("Anna", "telegram"),
        ("Anna Smith", "web"),
        ("@anna", "web"),
        ("anna#1234", "discord"),
        ("telegram:@anna", "telegram"),
        ("wire:123", "telegram"),
        ("anna", "matrix"),
        ("", "web"),
    ],
)
def test_a_name_is_refused_with_advice(entry: str, channel: str) -> None:
    """IN-10: a display name or @username is rejected, and the error says what to use instead."""
    with pytest.raises(BadConfiguration, match=r"list\[0\].*is not an id.*whoami"):
        read(entry, channel)


def test_an_entry_of_another_channel_is_refused() -> None:
    """It would never match; the error says where it belongs."""
    with pytest.raises(BadConfiguration, match=r"move it to channels\.discord"):
        read("discord:80351110224678912")


def test_a_shared_list_says_which_channel_it_means() -> None:
    """IN-13: the same number is somebody else on another platform."""
    assert read("telegram:123", shared=True).named("default", ("123",))
    assert not read("discord:123", shared=True).named("default", ("123",))
    with pytest.raises(BadConfiguration, match="channel:id"):
        read("123", shared=True)


@pytest.mark.parametrize(
    "settings",
    [
        InboundSettings(channels={"telegram": ChannelSettings(allow=("*",))}),
        InboundSettings(channels={"telegram": ChannelSettings(owners=("*",))}),
        InboundSettings(channels={"telegram": ChannelSettings()}, commands=CommandsSettings(owner_allow_from=("*",))),
        InboundSettings(
            channels={"telegram": ChannelSettings()},
            commands=CommandsSettings(elevated=ElevatedSettings(allow_from=("*",))),
        ),
    ],
)
def test_a_star_names_nobody(settings: InboundSettings) -> None:
    """IN-13: `*` would make everybody an owner; it is refused where it stands for people."""
    with pytest.raises(BadConfiguration, match=r"is not an id|does not say on which channel"):
        make_rules(settings)


def test_a_channel_is_called_by_its_name_or_its_kind() -> None:
    """IN-10: a second Slack channel is still Slack."""
    settings = InboundSettings(
        channels={"work": ChannelSettings(allow=("slack:U045VRZFT", "work:U0AAAAAAA", "U0BBBBBBB"))},
        kinds={"work": "slack"},
        commands=CommandsSettings(owner_allow_from=("slack:U0CCCCCCC",)),
    )
    channel = make_rules(settings).channels["work"]
    assert channel.allow.anywhere == {"U045VRZFT", "U0AAAAAAA", "U0BBBBBBB"}
    assert channel.owners.anywhere == {"U0CCCCCCC"}
    with pytest.raises(BadConfiguration, match="letters and digits"):
        make_rules(
            InboundSettings(
                channels={"work": ChannelSettings(allow=("anna",))},
                kinds={"work": "slack"},
                identities={"work": channel_kind("slack").identity},
            )
        )


def test_a_phone_number_is_the_identity_whatever_the_channel_is_called() -> None:
    """IN-13: what comes first is said by the kind of the channel, not by the name an operator gave it."""
    text = '[agents.a]\nkind = "tour"\n[channels.wa]\nkind = "whatsapp"\n' + WHATSAPP
    rules = make_rules(inbound_settings(read_settings(text, "x.toml", {})), [AgentProfile("a")])
    sender = Sender("lid:7", phone="+491")
    assert candidates(rules.channels["wa"].place.identity, sender) == ("+491", "lid:7")


def test_candidates_come_in_the_channels_order() -> None:
    """IN-13: sender id, phone number, from address; a number first where it is the identity."""
    sender = Sender("lid:7", phone="+491", address="a@b")
    assert candidates(ANYBODY, sender) == ("lid:7", "+491", "a@b")
    assert candidates(channel_kind("whatsapp").identity, sender) == ("+491", "lid:7", "a@b")
    assert candidates(ANYBODY, Sender("", phone="+491")) == ("+491",)
    assert candidates(ANYBODY, Sender("")) == ()


def test_a_list_for_no_channel_is_refused() -> None:
    """A mistyped channel would silently let nobody command."""
    settings = InboundSettings(
        channels={"telegram": ChannelSettings()}, commands=CommandsSettings(allow_from={"telegarm": ("1",)})
    )
    with pytest.raises(BadConfiguration, match="telegarm"):
        make_rules(settings)
