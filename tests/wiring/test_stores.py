"""A store engine is found by the scheme of its address: ours by its folder, another package's by its entry point."""

import sys
from types import ModuleType

import pytest

from rejoinder import plugins
from rejoinder.config.load import read
from rejoinder.errors import BadConfiguration
from rejoinder.store import sqlite
from rejoinder.store.declaration import StoreKind
from rejoinder.wiring.stores import open_for_operator, open_reader, open_store


def theirs(url: str) -> str:
    return "sqlite:" + url.partition(":")[2]


@pytest.fixture
def shelves(monkeypatch):
    """An engine called `shelves` of somebody else's, which keeps everything in SQLite anyway."""
    module = ModuleType("their_store")
    kind = sqlite.STORE
    module.STORE = StoreKind(
        lambda url: kind.open(theirs(url)), lambda url: kind.read(theirs(url)), lambda url: kind.operate(theirs(url))
    )
    monkeypatch.setitem(sys.modules, "their_store", module)
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.stores": {"shelves": "their_store"}})


@pytest.mark.usefixtures("shelves")
async def test_an_engine_of_another_package_is_configured_and_opened(tmp_path):
    url = f"shelves:{tmp_path}/a.db"
    assert read(f'[gateway]\nstore = "{url}"', "rejoinder.toml", {}).gateway.store == url
    store = open_store(url)
    try:
        for other in (open_reader(url), open_for_operator(url)):
            assert await other.count_sessions() == 0
            await other.close()
    finally:
        await store.close()


@pytest.mark.parametrize("url", ["mysql://root:hunter2@db/x", "nothing:x"])
def test_an_engine_that_is_not_there(url):
    """The error names what there is, and no password."""
    with pytest.raises(BadConfiguration, match=f"there are: {', '.join(plugins.names('store'))}") as refused:
        open_store(url)
    assert "hunter2" not in str(refused.value)
