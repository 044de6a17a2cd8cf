"""The channels to serve if none is configured: each kind that declares this, with the settings of an empty section."""

from contextlib import suppress

from rejoinder.config.kinds import INSTALLED, Kinds
from rejoinder.config.reading import SectionReader
from rejoinder.config.schema import CommonChannelSettings, ConfiguredChannel
from rejoinder.errors import BadConfiguration


def default_channels(kinds: Kinds = INSTALLED) -> dict[str, ConfiguredChannel]:
    """Each under the name of its kind. A kind that cannot be loaded, or needs a key, is left out: nobody asked for
    it."""
    channels: dict[str, ConfiguredChannel] = {}
    for name in kinds.channels:
        with suppress(BadConfiguration):
            if (kind := kinds.channels[name]).by_default:
                reader = SectionReader("", {})
                settings, common = reader.records({}, ("channels", name), kind.settings, CommonChannelSettings)
                if not reader.mistakes:
                    channels[name] = ConfiguredChannel(name, common, settings)
    return channels
