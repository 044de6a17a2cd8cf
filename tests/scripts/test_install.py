"""`scripts/install`, which `make run` begins with."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_an_environment_whose_making_was_interrupted_is_made_again(tmp_path: Path) -> None:
    """Ctrl-C in the first seconds of `make run` leaves an environment without pip, in which nothing could ever be
    installed."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PYTHON": sys.executable}
    missing = str(tmp_path / "nothing there")
    done = subprocess.run(
        [ROOT / "scripts" / "install", venv, missing], cwd=tmp_path, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 1
    assert missing in done.stderr
    assert "No module named pip" not in done.stderr
    assert (
        subprocess.run([venv / "bin" / "python", "-m", "pip", "--version"], stdout=subprocess.DEVNULL).returncode == 0
    )
