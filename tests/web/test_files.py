"""OD-50, DE-37: files that agents send, on the page of a whole running gateway."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.config import schema
from tests.web.running import Site, running, settings

AGENT = '''
import re
from pathlib import Path

def answer(turn):
    """Puts what it is asked to send where it was told to, and sends it."""
    asked = turn.parts[-1].text.rsplit("\\n", 1)[-1]
    folder = re.search("outbox folder is (.*?): ", turn.system)
    if asked.startswith("told"):
        return " ".join(part.text for part in turn.parts)
    if folder and asked.startswith("send"):
        Path(folder[1], "chart.png").write_bytes(b"\\x89PNG\\r\\n\\x1a\\na picture")
        Path(folder[1], "notes.html").write_bytes(b"<script>alert(1)</script>")
        Path(folder[1], "way").unlink(missing_ok=True)
        Path(folder[1], "way").symlink_to("/etc")
    what, _, words = asked.partition(":")[2].partition("|")
    return f"<actions><send-file {what}/></actions>{words}"
'''

PICTURE = b"\x89PNG\r\n\x1a\na picture"


@pytest.fixture
def made(tmp_path: Path) -> schema.Settings:
    (tmp_path / "sends_files.py").write_text(AGENT)
    agent = schema.ConfiguredAgent("python", {"call": "sends_files:answer", "path": str(tmp_path)})
    granted = schema.DirectivesSettings(allow=("send_file",))
    base = settings(store=f"sqlite:{tmp_path / 'rejoinder.db'}")
    return replace(base, agents={"helper": agent}, directives=granted)


async def sent(page: Any, text: str) -> dict[str, Any]:
    await page.send(type="say", client=text, room="helper~you", text=text)
    while not (frame := await page.told("message"))["message"].get("files"):
        pass
    return frame["message"]


async def downloaded(site: Site, file: dict[str, Any]) -> tuple[bytes, Any]:
    async with site.http.get(site.url + file["url"]) as answer:
        assert answer.status == 200
        return await answer.read(), answer.headers


async def test_a_file_is_a_message_with_its_caption(made: schema.Settings) -> None:
    async with running(made) as site, site.page() as page:
        message = await sent(page, 'send: path="chart.png" caption="**March**"')
        assert (message["author"], message["text"]) == ("helper", "**March**")
        (file,) = message["files"]
        assert (file["name"], file["mime"], file["size"]) == ("chart.png", "image/png", len(PICTURE))
        content, headers = await downloaded(site, file)
        assert content == PICTURE
        assert headers["content-type"] == "image/png"
        assert headers["content-disposition"].startswith("attachment;")


async def test_whatever_it_is_a_browser_saves_it(made: schema.Settings) -> None:
    async with running(made) as site, site.page() as page:
        (file,) = (await sent(page, 'send: path="notes.html"'))["files"]
        content, headers = await downloaded(site, file)
        assert content == b"<script>alert(1)</script>"
        assert headers["content-type"] == "application/octet-stream"
        assert headers["content-disposition"].startswith("attachment;")
        assert "sandbox" in headers["content-security-policy"]
        (file,) = (await sent(page, 'send: path="chart.png" kind="file"'))["files"]
        assert file["mime"] == "application/octet-stream"


async def test_it_outlives_the_process_and_the_file(made: schema.Settings, tmp_path: Path) -> None:
    """The journal keeps what the file held when it was sent."""
    async with running(made) as site, site.page() as page:
        message = await sent(page, 'send: path="chart.png"')
    for file in (tmp_path / "rejoinder.db.outbox").rglob("chart.png"):
        file.unlink()
    async with running(made) as site, site.page() as page:
        await page.send(type="history", client="h", room="helper~you")
        last = (await page.told("page"))["messages"][-1]
        assert (last["id"], last["files"]) == (message["id"], message["files"])
        assert (await downloaded(site, last["files"][0]))[0] == PICTURE


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ('path="../../rejoinder.toml"', "denied ('../../rejoinder.toml' is not in your outbox folder"),
        ('path="/etc/passwd"', "denied ('/etc/passwd' is not in your outbox folder"),
        ('path="way/passwd"', "denied ('way/passwd' cannot be opened"),
        ('path="none.png"', "failed (there is no file 'none.png' in your outbox folder)"),
        ('path="chart.png" channel="fax" chat="1"', "failed (there is no channel 'fax')"),
        ('path="chart.png" cleanup="true"', "cleanup of chart.png: denied (it is not granted here)"),
    ],
)
async def test_what_is_not_sent_is_told_to_the_agent(made: schema.Settings, what: str, told: str) -> None:
    """OD-51: never an error in the chat; the words go out."""
    async with running(made) as site, site.page() as page:
        await page.send(type="say", client="1", room="helper~you", text=f"send: {what}|Here you are.")
        await page.hears("Here you are.")
        await page.send(type="say", client="2", room="helper~you", text="told?")
        while told not in (frame := await page.told("message"))["message"]["text"]:
            assert "not in your" not in frame["message"]["text"]


async def test_nothing_is_sent_without_a_grant(made: schema.Settings, tmp_path: Path) -> None:
    """OD-52: and nobody is told of a folder that there is not."""
    closed = replace(made, directives=schema.DirectivesSettings())
    async with running(closed) as site, site.page() as page:
        await page.send(type="say", client="1", room="helper~you", text='send: path="chart.png"|Done.')
        await page.hears("Done.")
        await page.send(type="say", client="2", room="helper~you", text="told?")
        while "send_file: denied (it is not granted here)" not in (await page.told("message"))["message"]["text"]:
            pass
    assert not (tmp_path / "rejoinder.db.outbox").exists()


async def test_a_transcript_is_a_file_on_the_page(made: schema.Settings) -> None:
    """IN-61: `/export-session`, with what was said in this chat."""
    async with running(made) as site, site.page() as page:
        await sent(page, 'send: path="chart.png" caption="March"|Here it is.')
        message = await sent(page, "/export-session")
        assert (message["author"], message["text"]) == ("", "The transcript of this session.")
        (file,) = message["files"]
        content, headers = await downloaded(site, file)
        assert headers["content-disposition"].startswith("attachment;")
    said = content.decode()
    assert said.count("\n## ") == 2
    assert said.endswith("\n\nHere it is.\n")
    assert "\n\nsend: path=" in said
