"""A store engine is found by the scheme of its address: ours by its folder, another package's by its entry point."""

import subprocess
import sys
from types import ModuleType

import pytest
from msgspec.structs import replace

from rejoinder import plugins
from rejoinder.config.kinds import shared_stores
from rejoinder.config.load import load, read
from rejoinder.errors import BadConfiguration
from rejoinder.programs.event_loop import fast_loop
from rejoinder.programs.serving import kept_in
from rejoinder.store import sqlite
from rejoinder.store.declaration import StoreKind
from rejoinder.wiring.stores import open_for_operator, open_reader, open_store, outbox_beside


def theirs(url: str) -> str:
    return "sqlite:" + url.partition(":")[2]


KIND = StoreKind(
    open=lambda url: sqlite.STORE.open(theirs(url)),
    read=lambda url: sqlite.STORE.read(theirs(url)),
    operate=lambda url: sqlite.STORE.operate(theirs(url)),
)


@pytest.fixture
def module(monkeypatch):
    """An engine called `shelves` of somebody else's, which keeps everything in SQLite anyway."""
    module = ModuleType("their_store")
    module.STORE = KIND
    monkeypatch.setitem(sys.modules, "their_store", module)
    monkeypatch.setattr(plugins, "installed", lambda: {"rejoinder.stores": {"shelves": "their_store"}})
    return module


def configured(tmp_path, lines):
    file = tmp_path / "rejoinder.toml"
    file.write_text(f"[gateway]\n{lines}\n")
    return load(str(file), {}).gateway.store


@pytest.mark.usefixtures("module")
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


def test_it_says_where_it_is(module, tmp_path, monkeypatch):
    """What is relative to the configuration's folder, what has files beside it, and what is gone with the process."""
    assert configured(tmp_path, 'store = "shelves:a"') == "shelves:a", "it has not said that this is a file"
    assert outbox_beside("shelves:a") is None
    assert kept_in("shelves:a") == "Messages are stored in shelves:a (gateway.store)."
    module.STORE = replace(KIND, in_file=True, watches_sockets=True)
    monkeypatch.chdir("/")
    url = f"shelves:{tmp_path}/a"
    assert configured(tmp_path, 'store = "shelves:a"') == url
    assert outbox_beside(url) == tmp_path / "a.outbox"
    assert kept_in(url) == f"Messages are stored in {tmp_path}/a (gateway.store)."
    assert kept_in("shelves::memory:").startswith("Nothing is stored")
    assert fast_loop(url) is None


def test_it_says_whether_it_is_shared(module, tmp_path):
    """Only of such a store can shards and leases be chosen; the error names those that can."""
    lines = 'store = "shelves:a"\nshards = 4\nlease_seconds = 9.0'
    with pytest.raises(BadConfiguration) as refused:
        configured(tmp_path, lines)
    first, second = refused.value.mistakes
    assert first.sentence == (
        "a shelves store serves one gateway and has one; processes share a store such as postgresql:..."
    )
    assert second.sentence == "a shelves store serves one gateway, which holds it until it ends and needs no lease"
    module.STORE = replace(KIND, share=lambda url, how: KIND.open(url))
    assert configured(tmp_path, lines) == "shelves:a"
    assert shared_stores() == "postgresql:... or shelves:..."


def test_it_says_what_has_to_be_installed(module):
    """Its packages are imported with the first store that it opens."""

    def opened(url):
        raise ModuleNotFoundError("No module named 'psycopg'")

    module.STORE = replace(KIND, read=opened, extra="postgres")
    expected = r"^the store 'shelves' needs the extra 'postgres'; it is not installed: .* -m pip install .*psycopg"
    with pytest.raises(BadConfiguration, match=expected):
        open_reader("shelves:a")


def test_a_configuration_is_read_without_the_engine(tmp_path):
    """A command that opens no store starts as fast as before, and needs no driver."""
    for store, absent in (("sqlite:a.db", "sqlite3"), ("postgresql://h/d", "psycopg")):
        (tmp_path / "rejoinder.toml").write_text(f'[gateway]\nstore = "{store}"\n')
        program = "import sys; from rejoinder.config.load import load; load(sys.argv[1], {})"
        asked = f"{program}; print({absent!r} in sys.modules)"
        command = [sys.executable, "-c", asked, str(tmp_path / "rejoinder.toml")]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "False"


@pytest.mark.parametrize("url", ["mysql://root:hunter2@db/x", "nothing:x"])
def test_an_engine_that_is_not_there(url):
    """The error names what there is, and no password."""
    with pytest.raises(BadConfiguration, match=f"there are: {', '.join(plugins.names('store'))}") as refused:
        open_store(url)
    assert "hunter2" not in str(refused.value)
