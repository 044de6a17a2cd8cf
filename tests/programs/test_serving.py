"""What begins side by side when a gateway starts."""

import asyncio
import threading

import pytest

from rejoinder import Gateway
from rejoinder.config.schema import GatewaySettings, Settings
from rejoinder.errors import BadConfiguration
from rejoinder.programs import serving
from rejoinder.testing.patience import until
from rejoinder.wiring import stores
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


@pytest.mark.parametrize("by", ["serve", "Gateway"])
async def test_a_start_that_is_called_off_leaves_the_store_to_the_next_one(tmp_path, monkeypatch, by):
    """Also while a thread is opening it."""
    begun, goes_on, opened = threading.Event(), threading.Event(), []

    def slowly(*address):
        begun.set()
        goes_on.wait()
        opened.append(open_store(*address))
        return opened[0]

    monkeypatch.setattr(stores, "open_store", slowly)
    settings = Settings(gateway=GatewaySettings(store=f"sqlite:{tmp_path / 'kept.db'}"))
    opening = (
        Gateway(settings, agents={}, channels=()).__aenter__() if by == "Gateway" else serving.serve(settings, print)
    )
    start = asyncio.create_task(opening)
    await until(begun.is_set)
    start.cancel()
    asyncio.get_running_loop().call_soon(goes_on.set)
    with pytest.raises(asyncio.CancelledError):
        await start
    await until(lambda: opened)
    assert (await opened[0].health()).fault == "closed"
