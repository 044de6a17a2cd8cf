"""How long others wait while somebody sends files that nobody should send: bombs, endless documents, huge pictures,
recordings of hours.

One chat asks every few milliseconds and is answered at once; meanwhile each bad file comes in from another chat, one
after the other. It prints the longest answer time of the first chat alone and for each file, and how the memory grew.
"""

import asyncio
import resource
from collections.abc import Callable
from time import perf_counter

from bench.timing import Bars, duration, print_table
from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.config.load import read
from rejoinder.events import Attachment
from rejoinder.testing import FakeMessenger, ScriptedAgent
from tests.media.documents import bad_files
from tests.media.sounds import bad_sounds

ASKED = 40
"""Questions alone, and at least while each file comes in."""
PAUSE = 0.02
LONGEST = 1.0
"""Seconds, on a machine that does nothing else."""
MOST_MEMORY = 150
"""MB of the gateway itself."""
SETTINGS = """
[agents.scripted]
kind = 'tour'
[media.documents]
timeout_s = 3
[media.speech_to_text]
command = ["printf", "never asked", "{file}"]
[messages.queue]
debounce_ms = 0
"""


class Holding(FakeMessenger):
    def __init__(self) -> None:
        super().__init__()
        self.contents: dict[str, bytes] = {}

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        content = self.contents[file.id]
        return None if not content or len(content) > limit else content


class Seeing(ScriptedAgent):
    sees_images = True


def _files(channel: Holding) -> dict[str, Attachment]:
    """Each by what is wrong with it; the channel holds its content."""
    files: dict[str, Attachment] = {}
    for what, (name, size, content) in bad_files().items():
        channel.contents[name] = content
        mime = "image/png" if name.endswith("png") else "application/octet-stream"
        files[what] = Attachment(name, name, mime, size)
    for what, (name, content, _) in bad_sounds().items():
        channel.contents[name] = content
        files[f"{what} (a voice note)"] = Attachment(name, name, "audio/ogg", None, kind="voice")
    return files


async def _asks(channel: Holding, label: str, times: int, done: Callable[[], bool] = lambda: True) -> float:
    """The longest time from a question to its answer, of so many and until it is done."""
    longest, number = 0.0, 0
    while number < times or not done():
        count, began = len([each for each in channel.parts if each.route.chat == "anns"]), perf_counter()
        await channel.says(f"{label} {number}", sender="ann", chat="anns")
        await channel.until(lambda count=count: len([e for e in channel.parts if e.route.chat == "anns"]) > count)
        longest, number = max(longest, perf_counter() - began), number + 1
        await asyncio.sleep(PAUSE)
    return longest


async def _measure() -> tuple[dict[str, float], float]:
    channel = Holding()
    files, agent = _files(channel), Seeing(*["Seen."] * 10_000)
    settings = with_channel(read(SETTINGS, "bench", {}), channel.name, agent.name, ("ann", "bob"))
    async with Gateway(settings, agents={agent.name: agent}, channels=[channel], store=MEMORY) as gateway:
        serving = asyncio.ensure_future(gateway.serve())
        await channel.until(lambda: channel.listens)
        longest = {"alone": await _asks(channel, "alone", ASKED)}
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for index, (what, file) in enumerate(files.items()):
            await channel.says("look", sender="bob", chat=f"b{index}", attachments=(file,))

            def answered(chat: str = f"b{index}") -> bool:
                return any(each.route.chat == chat and each.text == "Seen." for each in channel.parts)

            longest[what] = await _asks(channel, what, ASKED, answered)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    return longest, grown


def run() -> None:
    longest, grown = asyncio.run(_measure())
    rows = [(what, duration(seconds)) for what, seconds in longest.items()]
    print_table("bad files", ("while this comes in", "longest answer of another chat"), rows)
    print_table("memory", ("figure", "is"), [("memory of the gateway grew by", f"{grown:.0f} MB")])
    bars = Bars()
    bars.verdict("an answer among bad files, and memory", (max(longest.values()), LONGEST), (grown, MOST_MEMORY))
    bars.settle()
