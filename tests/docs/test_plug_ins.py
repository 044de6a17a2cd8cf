"""The channel and the agent of the pages work as they stand there: as modules of a package that was installed."""

import asyncio
import re
import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import fields

from rejoinder import plugins
from rejoinder.agents.declaration import AgentKind
from rejoinder.app import MEMORY, Gateway
from rejoinder.channels.declaration import ChannelKind
from rejoinder.config.load import read
from rejoinder.testing.patience import PATIENCE
from rejoinder.wiring.opening import open_channels

DOCS = Path(__file__).parents[2] / "docs"
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
CONFIGURATION = re.compile(r"^```toml\n(# of rejoinder.toml, .*?)^```$", re.M | re.S)


def page(name: str, defines: str) -> tuple[str, str]:
    """The module of a page, and the configuration that uses it."""
    text = (DOCS / name).read_text("utf-8")
    (code,) = (code for code in CODE.findall(text) if f"def {defines}" in code)
    (configuration,) = CONFIGURATION.findall(text)
    return code, configuration


def bring(monkeypatch: pytest.MonkeyPatch, **modules: tuple[str, str]) -> None:
    groups: dict[str, dict[str, str]] = {}
    for name, (group, code) in modules.items():
        module = ModuleType(f"my_package_{name}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(code, name, "exec"), vars(module))
        groups[group] = {name: module.__name__}
    monkeypatch.setattr(plugins, "installed", lambda: groups)


@pytest.mark.parametrize(("name", "kind"), [("channels.md", ChannelKind), ("agents.md", AgentKind)])
def test_all_that_a_kind_may_declare_is_told(name, kind):
    """CH-1: another package's kind may declare what ours do, and its author reads the page."""
    rows = re.findall(r"^\| (`[^|]+) \|", (DOCS / name).read_text("utf-8"), re.M)
    told = {field for row in rows for field in re.findall(r"`(\w+)`", row)}
    assert {field.name for field in fields(kind)} <= told


async def test_they_talk_to_each_other(monkeypatch):
    lines, of_channel = page("channels.md", "open_channel")
    echo, of_agent = page("agents.md", "open_agent")
    bring(monkeypatch, lines=("rejoinder.channels", lines), echo=("rejoinder.agents", echo))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings = read(of_channel.replace("7001", str(port)) + of_agent, "rejoinder.toml", {})
    gateway = Gateway(settings, channels=open_channels(settings), store=MEMORY)
    async with asyncio.timeout(PATIENCE), gateway:
        gateway.tasks.start("serve", gateway.serve())
        reader, writer = await _met(port)
        writer.write(b"hello\n")
        assert await reader.readline() == b"You said: hello\n"
        writer.close()


async def _met(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)  # nobody tells when a program listens
