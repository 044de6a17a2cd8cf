"""Made `rejoinder.db` and `rejoinder.db.web.db` here, once, with the last version that kept the page beside the store.

Run in a checkout of that version (ed19366c): `python make.py FOLDER`. It talks to a real gateway over its real page;
the last words are put into the log after the gateway has ended, as a kill -9 between log and inbox leaves them.
"""

import asyncio
import sqlite3
import sys
from pathlib import Path

from rejoinder.channels.web.keeper import Keeper

from rejoinder.channels.web.journal import RoomJournal
from rejoinder.channels.web.logins import hashed
from rejoinder.events import Attachment, Part, Route
from tests.web.running import running, settings


async def main(folder: Path) -> None:
    store = folder / "rejoinder.db"
    script = ("Hello Ada.", "In the thread.", "To the picture.", "To the words.", "To the edit.")
    made = settings(script, agents=("helper", "coder"), store=f"sqlite:{store}", token=None)
    async with running(made) as site, site.page("Ada") as page:
        await page.send(type="say", client="c1", room="helper~ada", text="Hello, Grüße, 漢字")
        first = await page.hears("Hello Ada.")
        await page.send(type="react", client="c2", message=first, emoji="👍")
        await page.told("done", client="c2")
        await page.send(type="say", client="c3", room="helper~ada", text="Under it", thread=first)
        await page.hears("In the thread.")
        status, file = await site.post(
            "/files?name=cat.txt", data=b"meow " * 60_000, headers={"content-type": "text/plain", "x-rejoinder": "1"}
        )
        assert status == 201, file
        status, unnamed = await site.post(
            "/files?name=unnamed.txt", data=b"nobody names it", headers={"x-rejoinder": "1"}
        )
        assert status == 201, unnamed
        await page.send(type="say", client="c4", room="helper~ada", text="A picture", files=[file["id"]])
        await page.hears("To the picture.")
        await page.send(type="make_room", client="c5", title="Garden", agents=["helper"])
        await page.told("done", client="c5")
        await page.send(type="say", client="c6", room="helper~ada", text="Wrong words")
        wrong = (await page.told("done", client="c6"))["id"]
        await page.hears("To the words.")
        await page.send(type="edit", client="c7", message=wrong, text="Right words")
        await page.told("done", client="c7")
        read = max(frame.get("seq", 0) for frame in page.frames)
        await page.send(type="read", room="helper~ada", seq=read)
        await page.told("read")
    keeper = Keeper(f"{store}.web.db", "web", ("helper", "coder"), now=lambda: 1_790_000_000_000)
    await keeper.change(RoomJournal.keep_token, hashed("the owner's token"))
    await keeper.change(RoomJournal.keep_address, "https://chat.example.org")
    await keeper.change(RoomJournal.invite, "Bob")
    kept = await keeper.change(RoomJournal.keep_sent_file, "key-of-a-file", "report.md", "text/markdown", b"# Report\n")
    part = Part(
        Route("web", "helper~ada"), "The report", key="key-of-a-part", author="helper", files=(Attachment(kept.id),)
    )
    await keeper.change_then(lambda journal: journal.send(part, growing=False), lambda _: None)
    await keeper.change(RoomJournal.say, "ada", "c8", "helper~ada", "Said before the end", None, None, ())
    keeper.close()
    for each in (store, Path(f"{store}.web.db")):
        db = sqlite3.connect(each)
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("VACUUM")
        db.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
