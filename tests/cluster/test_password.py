"""The password of the database is shown nowhere (SC-22)."""

import asyncio
import os
import sys
from pathlib import Path

import aiohttp
import pytest

from rejoinder.testing.patience import PATIENCE, until
from rejoinder.testing.ports import free_port
from tests.postgres import Server, a_database

CANARY = "hunter2-canary"
PROGRAM = "from rejoinder.cli import main; main()"
CONFIG = """
[gateway]
store = "{url}"

[agents.tour]
kind = "tour"

[channels.web]
port = {port}
"""
COMMANDS = (
    ("doctor",),
    ("doctor", "--json"),
    ("config",),
    ("sessions",),
    ("dead",),
    ("backup", "copy.db"),
    ("store", "rehome"),
    ("run",),
    ("worker",),
)
PATHS = ("/health", "/ready", "/metrics", "/console", "/api/sessions", "/v1/models")


async def start(folder: Path, url: str, port: int, *command: str) -> asyncio.subprocess.Process:
    (folder / "rejoinder.toml").write_text(CONFIG.format(url=url, port=port))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "dev", "-W", "default", "-c", PROGRAM, *command),
        cwd=folder,
        env={**os.environ, "DB_PASSWORD": CANARY},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )


@pytest.mark.parametrize("said", [CANARY, "${DB_PASSWORD}"], ids=["in the file", "from the environment"])
async def test_while_it_serves(tmp_path: Path, postgres: Server, said: str) -> None:
    """In the log, on standard output, on no page; also when the server ends all its connections."""
    url, port = a_database(postgres, "four_shards"), free_port()
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"
    async with asyncio.timeout(2 * PATIENCE), aiohttp.ClientSession() as http:
        process = await start(tmp_path, url.replace("owner@", f"owner:{said}@"), port, "run")
        shown: list[str] = []

        async def is_up() -> bool:
            try:
                async with http.get(f"http://127.0.0.1:{port}/ready") as answer:
                    shown.append(await answer.text())
                    return answer.status == 200
            except aiohttp.ClientError:
                return False

        try:
            await until(is_up)
            postgres.execute(ended.format(url.rpartition("/")[2]))
            for path in PATHS:
                async with http.get(f"http://127.0.0.1:{port}{path}") as answer:
                    shown.append(await answer.text())
            await until(is_up)
        finally:
            process.terminate()
            told, _ = await process.communicate()
    assert "Messages are stored in postgresql://owner@" in " ".join(told.decode().split())
    assert CANARY not in told.decode() + "".join(shown)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
async def test_when_the_server_cannot_be_reached(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Every command names the store without it, and gives no traceback. Who serves goes on trying."""
    url = f"postgresql://owner:{CANARY}@127.0.0.1:{free_port()}/chat?connect_timeout=2"
    async with asyncio.timeout(2 * PATIENCE):
        process = await start(tmp_path, url, free_port(), *command)
        assert process.stdout is not None
        told = b""
        while b"127.0.0.1" not in told and (line := await process.stdout.readline()):
            told += line
        if process.returncode is None and command[0] in ("run", "worker"):
            process.terminate()
        rest, _ = await process.communicate()
    text = (told + rest).decode()
    assert "@127.0.0.1" in "".join(text.split())
    assert CANARY not in text
    assert "Traceback" not in text
