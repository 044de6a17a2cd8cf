"""A gateway as people run it: `rejoinder run` on a file, in a process that can be killed."""

import asyncio
import io
import json
import os
import signal
import sqlite3
import struct
import sys
import wave
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from rejoinder.cli.dead import DeadPage
from rejoinder.cli.parts import ShownPart
from rejoinder.crashpoint import ONCE, VARIABLE
from rejoinder.errors import StoreUnavailable
from rejoinder.store.base import RowCounts, StoredPart
from rejoinder.testing.patience import PATIENCE, until
from rejoinder.wiring.stores import open_reader

PROGRAM = """
from rejoinder.cli import main
from rejoinder.runtime.session import slots
slots.STABLE_AFTER = {stable_after}
main()
"""
REJOINDER = (sys.executable, "-c", "from rejoinder.cli import main; main()")
STABLE_SOON = 1.0
"""For trials in which a turn that is held back is left in peace until it has ended (`is_unsuspected`)."""
CONFIG = """
[gateway]
store = "{store}"
{gateway}

[agents.answer]
kind = "python"
call = "agent:answer"
path = "{folder}"

[agents.give]
kind = "python"
call = "agent:give"
path = "{folder}"

[agents.share]
kind = "python"
call = "agent:share"
path = "{folder}"

[agents.brief]
kind = "python"
call = "agent:brief"
path = "{folder}"

[agents.take]
kind = "python"
call = "agent:take"
path = "{folder}"

[agents.change]
kind = "python"
call = "agent:change"
path = "{folder}"

[channels.{channel}]
{here}
agents = {agents}
bot_turns = 100
dm = "open"
groups = "open"
require_mention = {require_mention}
on_unknown = "{on_unknown}"
{streaming}

[messages.queue]
mode = "{mode}"
debounce_ms = {debounce_ms}

[directives]
allow = ["handoff", "send_file"]
"""
UNFINISHED = ("planned", "sending", "unknown", "retry")


def beep(seconds: float = 0.3) -> bytes:
    """A sound that is not silent, as what speaks in these trials says it."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16_000)
        wavelength = 40
        samples = [9000 if at % wavelength < wavelength // 2 else -9000 for at in range(int(seconds * 16_000))]
        out.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return file.getvalue()


class Machine:
    """Where gateways come and go; the file of the store stays."""

    def __init__(
        self,
        folder: Path,
        channel: str,
        here: str,
        *,
        on_unknown: str,
        mode: str,
        debounce_ms: int,
        agents: Sequence[str] = ("answer",),
        drafts: bool = True,
        speaks_for: Sequence[str] = (),
        require_mention: bool = False,
        stable_after: float = STABLE_SOON,
        store: str = "sqlite:rejoinder.db",
        gateway: str = "",
    ) -> None:
        """`gateway`: more lines of that section. `speaks_for`: answers are spoken, and these people may use commands.
        `stable_after`: seconds for which a process holds back what two have died with alone (DU-2)."""
        self.folder = folder
        self._program = (sys.executable, "-c", PROGRAM.format(stable_after=stable_after))
        config = CONFIG.format(
            folder=Path(__file__).parent,
            store=store,
            gateway=gateway,
            channel=channel,
            here=here,
            agents=list(agents),
            on_unknown=on_unknown,
            mode=mode,
            debounce_ms=debounce_ms,
            require_mention=str(require_mention).lower(),
            streaming=("" if drafts else 'streaming = "off"\n') + ('tts = "always"' if speaks_for else ""),
        )
        if speaks_for:
            tone = folder / "tone.wav"
            tone.write_bytes(beep())
            config += f"\n[commands]\nallow_from = {{ {channel} = {json.dumps(list(speaks_for))} }}\n"
            config += f'\n[media.text_to_speech]\ncommand = ["cp", "{tone}", "{{file}}"]\n'
        (folder / "rejoinder.toml").write_text(config)
        self.url = f"sqlite:{folder / 'rejoinder.db'}" if store.startswith("sqlite:") else store
        self._process: asyncio.subprocess.Process | None = None
        self._arming = folder.absolute() / "armed"

    async def start(self, crash_at: str = "", command: Sequence[str] = ("run",), *, once_armed: bool = False) -> None:
        """`once_armed`: it dies there at a pass that comes after `arm`."""
        environment = {**os.environ, VARIABLE: crash_at, ONCE: str(self._arming) if once_armed else ""}
        with (self.folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._program, *command, cwd=self.folder, env=environment, stdout=log, stderr=log
            )

    def arm(self) -> None:
        self._arming.touch()

    @property
    def is_started(self) -> bool:
        return self._process is not None

    @property
    def status(self) -> int | None:
        """None: it runs."""
        return None if self._process is None else self._process.returncode

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def ended(self) -> int:
        assert self._process is not None
        return await self._process.wait()

    async def terminate(self) -> int:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
        return await self._process.wait()

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    async def says(self, words: str, seconds: float = PATIENCE) -> None:
        """Waits until its log holds these words."""
        await until(lambda: words in self.log, repr(words), seconds)

    async def has_part(self, state: str) -> None:
        """Waits until a part of its outbox is in this state."""

        async def looks() -> bool:
            census = await self.census()
            return census is not None and bool(census.parts.get(state))

        await until(looks, f"a part in state {state}")

    def grow_old(self, days: int) -> None:
        """So much time passes for all that is in the store; nobody runs on it meanwhile."""
        earlier = days * 86_400 * 1_000_000
        with closing(sqlite3.connect(self.folder / "rejoinder.db")) as db, db:
            for table, column in (("inbox", "accepted"), ("turn", "opened"), ("turn", "closed"), ("part", "planned")):
                db.execute(f"UPDATE {table} SET {column} = {column} - ?", (earlier,))

    # --- its store, beside it -----------------------------------------------------------------------

    async def census(self) -> RowCounts | None:
        """None before there is a store."""
        try:
            reader = open_reader(self.url)
        except StoreUnavailable:
            return None
        try:
            return await reader.count_rows()
        except StoreUnavailable:
            return None
        finally:
            await reader.close()

    async def under_way(self) -> list[StoredPart]:
        """What was being sent when the process died: at most one message in each conversation."""
        try:
            reader = open_reader(self.url)
        except StoreUnavailable:
            return []
        try:
            parts = await reader.parts_in("sending")
            assert len({part.route for part in parts}) == len(parts), "two parts of one conversation were under way"
            return list(parts)
        except StoreUnavailable:
            return []
        finally:
            await reader.close()

    def is_unsuspected(self) -> bool:
        """No turn that is open was alone under way in two crashes: a third would be taken for its fault (DU-2)."""
        with closing(sqlite3.connect(self.folder / "rejoinder.db")) as db, suppress(sqlite3.OperationalError):
            return db.execute("SELECT 1 FROM turn WHERE state = 'open' AND alone > 1").fetchone() is None
        return True

    async def is_done(self, messages: int) -> bool:
        """So many messages have come in, and everything has come to its end."""
        census = await self.census()
        if census is None or sum(census.events.values()) < messages:
            return False
        unfinished = sum(census.parts.get(state, 0) for state in UNFINISHED)
        waiting = census.events.get("new", 0) + census.inputs.get("waiting", 0)
        turns = census.turns.get("open", 0) + census.turns.get("answered", 0)
        return not (unfinished or waiting or turns or census.runs)

    async def unconfirmed(self) -> tuple[ShownPart, ...]:
        """What `rejoinder dead` lists; it is asked only where there is something."""
        census = await self.census()
        if census is None or not census.parts.keys() & {"held", "dead"}:
            return ()
        return msgspec.json.decode(await self.operator("dead", "--json"), type=DeadPage).parts

    async def operator(self, *command: str) -> bytes:
        """What a command says that an operator gives beside the gateway."""
        process = await asyncio.create_subprocess_exec(
            *REJOINDER, *command, cwd=self.folder, stdout=asyncio.subprocess.PIPE
        )
        said, _ = await process.communicate()
        return said

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")
