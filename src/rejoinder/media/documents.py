"""Turns documents into text and makes pictures smaller, each in its own process with limits (ME-11, ME-12).

The gateway itself never opens a person's file: if a parser crashes, only its own process ends.
"""

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

import msgspec
from msgspec import Struct

from rejoinder.errors import NotUnderstood, TookTooLong
from rejoinder.media.program import run
from rejoinder.media.settings import DocumentSettings
from rejoinder.media_services import DocumentKind, DocumentText
from rejoinder.unicode_repair import repair_text

AT_ONCE = 2
"""How many processes run at a time: each may need all of its memory."""
MOST_ANSWERED = 8 << 20
MOST_PICTURE = 20 << 20
WORKER = "rejoinder.media.document_worker"


class _WorkerResult(Struct, frozen=True):
    text: str = ""
    note: str = ""
    why: str = ""


_decoder = msgspec.json.Decoder(_WorkerResult)


class DocumentReader:
    def __init__(self, settings: DocumentSettings) -> None:
        self.max_bytes = settings.max_bytes
        self.max_side = settings.max_picture_side
        self.at_once = asyncio.Semaphore(AT_ONCE)
        self._processes = asyncio.Semaphore(AT_ONCE)
        self._settings = settings

    async def read(self, kind: DocumentKind, name: str, content: bytes) -> DocumentText:
        folder = _folder()
        try:
            await asyncio.to_thread((folder / "document").write_bytes, content)
            result = await self._ask(kind, name, folder, self._settings.max_chars)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        return DocumentText(repair_text(result.text), result.note)

    async def scale(self, name: str, content: bytes) -> tuple[str, bytes]:
        folder = _folder()
        try:
            await asyncio.to_thread((folder / "document").write_bytes, content)
            result = await self._ask("picture", name, folder, self.max_side)
            return result.note, await asyncio.to_thread(_picture, folder / "out")
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _ask(self, kind: str, name: str, folder: Path, most: int) -> _WorkerResult:
        settings = self._settings
        command = [sys.executable, "-I", "-m", WORKER, kind, "document", str(settings.memory_mb)]
        command += [str(int(settings.timeout_s) + 1), str(most)]
        try:
            async with self._processes:
                ran = await run(command, folder, seconds=settings.timeout_s, most=MOST_ANSWERED)
            result = _decoder.decode(ran.output)
        except TookTooLong:
            raise
        except (NotUnderstood, msgspec.DecodeError) as problem:
            detail = problem.detail if isinstance(problem, NotUnderstood) else str(problem)
            raise NotUnderstood("reading it failed", f"{name!r}: {detail}") from None
        if result.why:
            raise NotUnderstood(result.why, f"{name!r}: {result.why} {ran.errors!r}")
        return result


def _folder() -> Path:
    """Makes the folder outside a thread: a caller that is cancelled meanwhile would not know what to remove."""
    return Path(tempfile.mkdtemp(prefix="rejoinder-document-"))


def _picture(path: Path) -> bytes:
    if path.stat().st_size > MOST_PICTURE:
        raise NotUnderstood("it is too large, even scaled down")
    return path.read_bytes()
