"""What begins side by side when a gateway starts."""

import pytest

from rejoinder.config.schema import GatewaySettings, Settings
from rejoinder.errors import BadConfiguration
from rejoinder.programs import serving
from rejoinder.wiring.stores import open_store


async def test_a_channel_that_cannot_be_opened_leaves_the_store_to_the_next_start(tmp_path, monkeypatch):
    """Its store was opened beside it, and would be refused to everyone as long as this process lives."""

    def refuse(_):
        raise BadConfiguration("no such bot")

    monkeypatch.setattr(serving, "open_channels", refuse)
    url = f"sqlite:{tmp_path / 'kept.db'}"
    with pytest.raises(BadConfiguration, match="no such bot"):
        await serving.serve(Settings(gateway=GatewaySettings(store=url)), print)
    await open_store(url).close()
