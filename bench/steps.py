"""How many steps one warm Telegram message takes through the gateway, from the platform's update to the receipt.

Counts calls of our own code (not of `testing`, not of libraries), the files they are in, how often the next call is in
another file, and what the store carries out. Steps are no aim in themselves: a reader who follows a message takes them.
"""

import asyncio
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from types import FrameType
from typing import Any

import rejoinder
from bench.one_chat import CONFIG, Course
from bench.timing import print_table
from rejoinder.app import Gateway
from rejoinder.config.load import load
from rejoinder.store.sqlite.connection import Connection
from rejoinder.testing import FakePlatform
from rejoinder.testing.platform.telegram.world import TOKEN

OURS = str(Path(rejoinder.__file__).parent)
NOT_OURS = str(Path(OURS) / "testing")
WARM, MEASURED, TIMED = 20, 15, 200


class Steps:
    """Watches the thread it is entered in; commits are made in another one, and counted by `Statements`."""

    def __init__(self) -> None:
        self.calls = self.changes = 0
        self.files: set[str] = set()
        self.functions: set[Any] = set()
        self._last = ""

    def __enter__(self) -> "Steps":
        sys.setprofile(self._saw)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _saw(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(OURS) or file.startswith(NOT_OURS):
            return
        self.calls += 1
        self.functions.add(frame.f_code)
        self.files.add(file)
        self.changes += file != self._last
        self._last = file


class Statements:
    """Counts what the store has its database carry out."""

    def __init__(self) -> None:
        self.statements = self.commits = 0
        Connection.execute = self._counted(Connection.execute)  # type: ignore[method-assign]
        Connection.change = self._counted(Connection.change)  # type: ignore[method-assign]

    def _counted(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        def counted(db: Connection, sql: str, *arguments: Any) -> Any:
            kind = sql.split(maxsplit=1)[0]
            self.commits += kind == "COMMIT"
            self.statements += kind not in ("BEGIN", "COMMIT", "ROLLBACK")
            return execute(db, sql, *arguments)

        return counted


async def measure(folder: Path) -> list[list[str]]:
    async with FakePlatform("telegram") as platform:
        file = folder / "rejoinder.toml"
        file.write_text(CONFIG.format(store=f"sqlite:{folder}/bench.db", token=TOKEN, api=platform.url), "utf-8")
        counted = Statements()
        async with Gateway(load(str(file), {})) as gateway:
            serving = asyncio.ensure_future(gateway.serve())
            course = Course(platform, gateway)
            await course.warm_up(WARM)
            found: list[tuple[int, ...]] = []
            for _ in range(MEASURED):
                statements, commits = counted.statements, counted.commits
                with Steps() as steps:
                    await course.ask()
                done = (counted.statements - statements, counted.commits - commits)
                found.append((len(steps.files), len(steps.functions), steps.calls, steps.changes, *done))
            began = process_time()
            for _ in range(TIMED):
                await course.ask()
            cpu = (process_time() - began) / TIMED
            await gateway.drain(0)
            await serving
    middle = [f"{median(each):.0f}" for each in zip(*found, strict=True)]
    return [[*middle, f"{cpu * 1000:.2f} ms"]]


def run() -> None:
    head = ["files", "functions", "calls", "changes of file", "SQL statements", "commits", "CPU, platform included"]
    with tempfile.TemporaryDirectory() as folder:
        print_table("One warm Telegram message, step by step", head, asyncio.run(measure(Path(folder))))
