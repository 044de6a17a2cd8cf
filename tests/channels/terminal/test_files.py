"""ME-10: a terminal shows where a file of the agent is."""

import io

from rejoinder.blobs import whole
from rejoinder.channels.base import OutgoingFile
from rejoinder.channels.terminal.plain import PlainLines
from rejoinder.events import Part, Route


async def test_a_file_is_put_into_a_folder_and_its_path_is_said(tmp_path, monkeypatch):
    """Under its name, and never over another one."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = io.StringIO()
    channel = PlainLines("terminal", "agent", out)
    files = tuple(
        OutgoingFile(id, "plan.txt", "text/plain", 3, "document", lambda each=id: whole(each.encode() * 3))
        for id in ("a", "b")
    )
    await channel.send_files(Part(Route("terminal", "terminal"), "Look"), files)
    first, second = sorted(tmp_path.glob("*/*"), key=lambda path: len(path.name))
    assert (first.name, first.read_bytes()) == ("plan.txt", b"aaa")
    assert (second.name, second.read_bytes()) == ("2-plan.txt", b"bbb")
    assert out.getvalue().splitlines() == ["Look", f"plan.txt (3 bytes): {first}", f"plan.txt (3 bytes): {second}"]
