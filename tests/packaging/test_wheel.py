"""Without a clone: the wheel, in an empty environment, in a folder that has nothing to do with the checkout."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest

from rejoinder.testing.patience import PATIENCE
from tests.peers import missing

ROOT = Path(__file__).parents[2]
OFFLINE = ("Connection", "Temporary failure in name resolution", "Network is unreachable")
pytestmark = pytest.mark.xdist_group("wheel")  # built and installed once


def pip(python: str | Path, *arguments: str | Path) -> None:
    command = [python, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and any(words in done.stderr for words in OFFLINE):
        missing("no package index can be reached")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs of an environment are that has the wheel and what it needs, and no more."""
    venv = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    pip(venv / "bin" / "python", "install", "--no-compile", wheel)
    return venv / "bin"


def outside(programs: Path, home: Path) -> dict[str, str]:
    """The environment of a person who has nothing but this."""
    return {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(home), "PYTHONUNBUFFERED": "1", "LANG": "C.UTF-8"}


def test_it_has_everything_the_checkout_has(wheel: Path):
    """The pages and the store's migrations, too."""
    there = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*") if path.is_file()}
    wanted = {name for name in there if "__pycache__" not in name}
    assert wanted == {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}


@contextmanager
def serving(programs: Path, folder: Path) -> Iterator[str]:
    """`rejoinder run` as it stands, with a port that is free; its address."""
    (folder / "rejoinder.toml").write_text("[channels.web]\nport = 0\n")
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    command = [programs / "rejoinder", "run"]
    with subprocess.Popen(command, cwd=folder, env=outside(programs, folder), text=True, **both) as program:
        watch = threading.Timer(PATIENCE, program.kill)
        watch.start()
        try:
            assert program.stdout is not None
            said: list[str] = []
            for line in program.stdout:
                said.append(line)
                if line.startswith("The console is at "):
                    break
            else:
                pytest.fail("".join(said))
            yield next(line for line in said if line.startswith("The chat is at ")).split()[-1]
            program.send_signal(signal.SIGTERM)
            assert program.wait(PATIENCE) == 128 + signal.SIGTERM
        finally:
            watch.cancel()
            program.kill()


def test_it_serves_the_page_and_answers(programs: Path, tmp_path: Path):
    """Two commands, nothing else: install and run."""
    with serving(programs, tmp_path) as address:
        with urllib.request.urlopen(f"{address}/", timeout=PATIENCE) as page:
            assert b"<title>rejoinder</title>" in page.read()
        with urllib.request.urlopen(f"{address}/console", timeout=PATIENCE) as page:
            assert page.status == 200
        question = {"model": "tour", "messages": [{"role": "user", "content": "hello"}]}
        request = urllib.request.Request(
            f"{address}/v1/chat/completions", json.dumps(question).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            said = json.load(answer)["choices"][0]["message"]["content"]
    assert "I am **tour**" in said
    assert sorted(each.name for each in tmp_path.iterdir() if not each.name.startswith(".")) == [
        "rejoinder.db",
        "rejoinder.db.lock",
        "rejoinder.toml",
    ]


ACP = '[agents.coder]\nkind = "acp"\ncommand = ["codex-acp"]\n[channels.web]\nport = 0\n'
BOT = '[agents.guide]\nkind = "tour"\n[channels.{}]\nagent = "guide"\n{}\n'


@pytest.mark.parametrize(
    ("configured", "needs", "package"),
    [
        (ACP, "agent 'coder' is of kind 'acp', which needs the extra 'acp'", "agent-client-protocol"),
        (
            BOT.format("discord", 'token = "MTIz.abc.def"'),
            "the channel 'discord' needs the extra 'discord'",
            "discord-py",
        ),
        (
            BOT.format("slack", 'app_token = "xapp-1-a"\nbot_token = "xoxb-1"'),
            "the channel 'slack' needs the extra 'slack'",
            "slack-sdk",
        ),
    ],
    ids=["acp", "discord", "slack"],
)
def test_an_extra_that_is_missing_is_named_with_its_command(
    programs: Path, tmp_path: Path, configured: str, needs: str, package: str
):
    """The command can be pasted as it is: it names this environment and the package."""
    (tmp_path / "rejoinder.toml").write_text(configured)
    command = [programs / "rejoinder", "run"]
    done = subprocess.run(
        command, cwd=tmp_path, env=outside(programs, tmp_path), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{needs}; it is not installed: {programs / 'python'} -m pip install '{package}>=" in done.stderr
    assert os.linesep.join(done.stderr.splitlines()[1:]) == "", "one sentence"
