"""DE-37: out of which folder a file is sent, and what is never sent."""

import os
import socket
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.errors import FileRefused
from rejoinder.media.files import Folders, OpenFile, WorkFolder

LIMIT = 100
SECRET = b"the operator's"
PICTURE = b"\x89PNG\r\n\x1a\n and more"


def whole(file: OpenFile) -> bytes:
    pieces = list(iter(lambda: file.read(7), b""))
    file.close()
    return b"".join(pieces)


@pytest.fixture
def folder(tmp_path: Path) -> WorkFolder:
    """A session's folder with everything an agent might put there, and a secret beside it."""
    (tmp_path / "secret.txt").write_bytes(SECRET)
    folder = Folders(tmp_path / "outbox")("helper:web:default:direct:you")
    here = Path(folder.path)
    (here / "chart.png").write_bytes(PICTURE)
    (here / "in").mkdir()
    (here / "in" / "plan.txt").write_bytes(b"a plan")
    (here / "full.bin").write_bytes(b"x" * LIMIT)
    (here / "big.bin").write_bytes(b"x" * (LIMIT + 1))
    (here / "empty").write_bytes(b"")
    (here / "link.txt").symlink_to(tmp_path / "secret.txt")
    (here / "way").symlink_to(tmp_path)
    (here / "inside").symlink_to(here / "in")
    (here / "hard.txt").hardlink_to(tmp_path / "secret.txt")
    (here / "environ").symlink_to("/proc/self/environ")
    (here / "self").symlink_to("/proc/self")
    os.mkfifo(here / "pipe")
    with socket.socket(socket.AF_UNIX) as listening, chdir(here):  # its path may not be long
        listening.bind("socket")
    return folder


@pytest.mark.parametrize(
    ("path", "name", "mime", "content"),
    [
        ("chart.png", "chart.png", "image/png", PICTURE),
        ("./chart.png", "chart.png", "image/png", PICTURE),
        ("in/plan.txt", "plan.txt", "text/plain", b"a plan"),
        ("in//plan.txt", "plan.txt", "text/plain", b"a plan"),
        ("full.bin", "full.bin", "application/octet-stream", b"x" * LIMIT),
        ("{folder}/chart.png", "chart.png", "image/png", PICTURE),
    ],
)
def test_what_is_sent(folder: WorkFolder, path: str, name: str, mime: str, content: bytes) -> None:
    """Named from the folder on, or from the root on."""
    file = folder.open(path.format(folder=folder.path), LIMIT)
    assert (file.name, file.mime, file.size) == (name, mime, len(content))
    assert whole(file) == content


@pytest.mark.parametrize(
    ("path", "denied", "why"),
    [
        ("../../secret.txt", True, "is not in your outbox folder"),
        ("in/../../../secret.txt", True, "is not in your outbox folder"),
        ("in/../chart.png", True, "is not in your outbox folder"),
        ("/etc/passwd", True, "is not in your outbox folder"),
        ("{folder}/../../secret.txt", True, "is not in your outbox folder"),
        ("{folder}-of-another/secret.txt", True, "is not in your outbox folder"),
        ("link.txt", True, "is a link"),
        ("way/secret.txt", True, "cannot be opened"),
        ("inside/plan.txt", True, "cannot be opened"),
        ("hard.txt", True, "has another name elsewhere"),
        ("pipe", True, "is not a regular file"),
        ("socket", True, "cannot be opened"),
        ("/proc/self/environ", True, "is not in your outbox folder"),
        ("environ", True, "is a link"),
        ("self/environ", True, "cannot be opened"),
        ("in", True, "is not a regular file"),
        ("chart.png/x", True, "cannot be opened"),
        ("chart\0.png", True, "is not a file name"),
        ("x" * 5000, True, "cannot be opened"),
        (".", False, "is not a file"),
        ("none.txt", False, "there is no file"),
        ("none/plan.txt", False, "there is no file"),
        ("big.bin", False, "is larger than the 100 bytes"),
        ("empty", False, "is empty"),
    ],
)
def test_what_is_refused(folder: WorkFolder, path: str, denied: bool, why: str) -> None:
    """No way out, no link, nothing that is no file, nothing too large; the reason is for the agent."""
    with pytest.raises(FileRefused, match=why) as refused:
        folder.open(path.format(folder=folder.path), LIMIT)
    assert refused.value.denied == denied


@given(st.lists(st.sampled_from(["..", ".", "", "in", "way", "link.txt", "secret.txt", "/"]), max_size=6))
def test_no_path_leads_to_the_secret(tmp_path_factory: pytest.TempPathFactory, steps: list[str]) -> None:
    root = tmp_path_factory.getbasetemp() / "paths"
    folder = Folders(root / "outbox")("s")
    if not (root / "secret.txt").exists():
        (root / "secret.txt").write_bytes(SECRET)
        (Path(folder.path) / "way").symlink_to(root)
        (Path(folder.path) / "link.txt").symlink_to(root / "secret.txt")
        (Path(folder.path) / "in").mkdir()
    with pytest.raises(FileRefused):
        folder.open("/".join(steps), LIMIT)


def test_a_file_is_taken_away_and_nothing_outside(folder: WorkFolder, tmp_path: Path) -> None:
    folder.remove("in/plan.txt")
    assert not (Path(folder.path) / "in" / "plan.txt").exists()
    folder.remove("link.txt")  # the link, not what it points to
    for path in ("../../secret.txt", "way/secret.txt"):
        with pytest.raises(FileRefused):
            folder.remove(path)
    assert (tmp_path / "secret.txt").read_bytes() == SECRET


def test_sessions_have_folders_of_their_own(tmp_path: Path) -> None:
    """Also where their names differ only in what a file system cannot write."""
    folders = Folders(tmp_path)
    paths = {folders(session).path for session in ("a:b", "a/b", "a-b", "../a", "é", "x" * 300)}
    assert len(paths) == 6
    assert {Path(path).parent for path in paths} == {tmp_path}
    assert all(Path(path).stat().st_mode & 0o777 == 0o700 for path in paths)


def test_folders_of_a_store_that_keeps_nothing_are_gone_with_it() -> None:
    folders = Folders(None)
    path = Path(folders("s").path)
    assert path.is_dir()
    del folders
    assert not path.parent.exists()


@pytest.mark.parametrize("change", [b"another", b"longer than it was"])
def test_what_changes_while_it_is_read_is_refused(folder: WorkFolder, change: bytes) -> None:
    """DE-37: half of it would be old; what merely vanishes was opened, and is sent."""
    plan = Path(folder.path) / "in" / "plan.txt"
    plan.write_bytes(b"a plan!")
    file = folder.open("in/plan.txt", LIMIT)
    file.read(3)
    plan.write_bytes(change)
    os.utime(plan, ns=(1, 1))
    with pytest.raises(FileRefused, match="changed while it was read"):
        whole(file)
    file = folder.open("in/plan.txt", LIMIT)
    plan.unlink()
    assert whole(file) == change


def test_what_is_put_in_its_place_meanwhile_is_not_sent(folder: WorkFolder, tmp_path: Path) -> None:
    """DE-37: the file that was opened and checked is the one that is sent."""
    file = folder.open("chart.png", LIMIT)
    chart = Path(folder.path) / "chart.png"
    chart.unlink()
    chart.symlink_to(tmp_path / "secret.txt")
    assert whole(file) == PICTURE


def test_a_folder_that_becomes_a_link_on_the_way_leads_nowhere(
    folder: WorkFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DE-37: between the opening of a folder and that of a file in it."""
    (tmp_path / "plan.txt").write_bytes(SECRET)
    inner, opens = Path(folder.path) / "in", os.open

    def swaps(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        opened = opens(path, flags, mode, dir_fd=dir_fd)
        if path == "in":
            inner.rename(inner.with_name("moved"))
            inner.symlink_to(tmp_path)
        return opened

    monkeypatch.setattr("rejoinder.media.files.os.open", swaps)
    assert whole(folder.open("in/plan.txt", LIMIT)) == b"a plan"


def test_an_outbox_that_is_gone_or_was_made_a_link_is_not_entered(folder: WorkFolder, tmp_path: Path) -> None:
    """DE-37: the agent is told so."""
    here = Path(folder.path)
    here.rename(here.with_name("moved"))
    for _ in range(2):
        with pytest.raises(FileRefused, match=r"your outbox folder .* cannot be opened"):
            folder.open("secret.txt", LIMIT)
        with pytest.raises(FileRefused, match=r"your outbox folder .* cannot be opened"):
            folder.remove("secret.txt")
        if not here.is_symlink():
            here.symlink_to(tmp_path)
    assert (tmp_path / "secret.txt").exists()


def test_what_grows_beyond_the_limit_is_refused(folder: WorkFolder) -> None:
    growing = Path(folder.path) / "growing.bin"
    growing.write_bytes(b"x")
    file = folder.open("growing.bin", LIMIT)
    growing.write_bytes(b"x" * 10 * LIMIT)
    with pytest.raises(FileRefused, match="is larger than"):
        whole(file)
