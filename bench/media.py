"""How long others wait while somebody sends files that nobody should send: bombs, endless documents, huge pictures.

One chat asks every few milliseconds and is answered at once; meanwhile each bad file comes in from another chat. It
prints the longest answer time of the first chat, without and with the files, and by how much the memory grew.
"""

import asyncio
import resource
from time import perf_counter

from bench.timing import Bars, duration, print_table
from rejoinder.app import MEMORY, Gateway, with_channel
from rejoinder.config.load import read
from rejoinder.events import Attachment
from rejoinder.testing import FakeMessenger, ScriptedAgent
from tests.media.documents import bad_files

ASKED, ASKED_AMONG = 40, 120
"""Questions alone, and while the files come in: as long as the longest of them is read."""
PAUSE = 0.02
LONGEST = 1.0
"""Seconds, on a machine that does nothing else."""
MOST_MEMORY = 150
"""MB of the gateway itself."""
SETTINGS = "[agents.scripted]\nkind = 'tour'\n[media.documents]\ntimeout_s = 3\n[messages.queue]\ndebounce_ms = 0\n"


class Holding(FakeMessenger):
    def __init__(self) -> None:
        super().__init__()
        self.contents: dict[str, bytes] = {}

    async def fetch(self, file: Attachment, limit: int) -> bytes | None:
        content = self.contents[file.id]
        return None if not content or len(content) > limit else content


class Seeing(ScriptedAgent):
    sees_images = True


async def _asks(channel: Holding, label: str, times: int) -> float:
    """The longest time from a question to its answer."""
    longest = 0.0
    for number in range(times):
        count, began = len([each for each in channel.parts if each.route.chat == "anns"]), perf_counter()
        await channel.says(f"{label} {number}", sender="ann", chat="anns")
        await channel.until(lambda count=count: len([e for e in channel.parts if e.route.chat == "anns"]) > count)
        longest = max(longest, perf_counter() - began)
        await asyncio.sleep(PAUSE)
    return longest


async def _measure() -> tuple[float, float, float]:
    bad, channel = bad_files(), Holding()
    agent = Seeing(*["Seen."] * 1000)
    settings = with_channel(read(SETTINGS, "bench", {}), channel.name, agent.name, ("ann", "bob"))
    async with Gateway(settings, agents={agent.name: agent}, channels=[channel], store=MEMORY) as gateway:
        serving = asyncio.ensure_future(gateway.serve())
        await channel.until(lambda: channel.listens)
        alone = await _asks(channel, "alone", ASKED)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for index, (name, size, content) in enumerate(bad.values()):
            channel.contents[name] = content
            mime = "image/png" if name.endswith("png") else "application/octet-stream"
            await channel.says(
                "look", sender="bob", chat=f"b{index}", attachments=(Attachment(name, name, mime, size),)
            )
        among = await _asks(channel, "among", ASKED_AMONG)
        await channel.until(lambda: len([e for e in channel.parts if e.route.chat.startswith("b")]) == len(bad))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    return alone, among, grown


def run() -> None:
    alone, among, grown = asyncio.run(_measure())
    rows = [
        ("longest answer of another chat, alone", duration(alone)),
        ("the same while bad files come in", duration(among)),
        ("memory of the gateway grew by", f"{grown:.0f} MB"),
    ]
    print_table("bad files", ("figure", "is"), rows)
    bars = Bars()
    bars.verdict("an answer among bad files, and memory", (among, LONGEST), (grown, MOST_MEMORY))
    bars.settle()
