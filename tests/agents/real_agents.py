"""Agents that nobody here wrote: how each is installed, and how it is told where our model server is."""

import fcntl
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tests.peers import missing

ROOT = Path(__file__).parents[2]
NO_NPM = 69


class RealAgent(Struct, frozen=True):
    package: str
    program: str
    """Where the package has its program; a pattern, for there is one for each platform."""
    arguments: tuple[str, ...]
    configure: Callable[[Path, str], dict[str, str]]
    """Writes what it needs into its home and gives its environment; told its home and our address."""
    registry: Literal["npm", "pypi"] = "npm"


def _codex(home: Path, url: str) -> dict[str, str]:
    (home / "config.toml").write_text(
        f"""
        model = "gpt-5.4"
        model_provider = "here"
        [model_providers.here]
        name = "here"
        base_url = "{url}"
        wire_api = "responses"
        env_key = "MODEL_KEY"
        request_max_retries = 0
        stream_max_retries = 0
        """
    )
    return {"HOME": str(home), "CODEX_HOME": str(home), "MODEL_KEY": "sk-here"}


def _opencode(home: Path, url: str) -> dict[str, str]:
    models = {"echo": {"name": "echo"}, "other": {"name": "other"}}
    options = {"baseURL": url, "apiKey": "sk-here"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "here", "options": options, "models": models}
    settings = {
        "model": "here/echo",
        "small_model": "here/echo",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"here": provider},
        "permission": {"bash": "ask"},
    }
    (home / "opencode.json").write_text(json.dumps(settings))
    places = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    return {
        **dict.fromkeys(places, str(home)),
        "OPENCODE_CONFIG": str(home / "opencode.json"),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _hermes(home: Path, url: str) -> dict[str, str]:
    (home / "config.yaml").write_text(
        f"model: {{provider: custom, default: echo, base_url: '{url}', api_key: sk-here, context_length: 100000}}"
    )
    return {"HOME": str(home), "HERMES_HOME": str(home)}


CODEX = RealAgent("@zed-industries/codex-acp", "@zed-industries/codex-acp-*/bin/codex-acp*", (), _codex)
OPENCODE = RealAgent("opencode-ai", ".bin/opencode", ("acp",), _opencode)
HERMES = RealAgent("hermes-agent[acp]", "bin/hermes-acp", (), _hermes, registry="pypi")


def installed(agent: RealAgent) -> tuple[str, ...]:
    """Its command; installs it when it is not there yet, and skips the test only where there is no npm.

    A program is there before its package is installed whole: only the stamp says so, and one process installs.
    """
    place = Path(sys.prefix) / "agents" / agent.package
    place.mkdir(parents=True, exist_ok=True)
    stamp = place / "installed"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            (_from_pypi if agent.registry == "pypi" else _from_npm)(agent.package, place)
            stamp.touch()
    folder = place if agent.registry == "pypi" else place / "node_modules"
    return (str(next(folder.glob(agent.program))), *agent.arguments)


def _from_npm(package: str, _: Path) -> None:
    command = [str(ROOT / "scripts" / "agents"), sys.prefix, package]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if result.returncode == NO_NPM:
        missing(result.stderr.strip())
    assert result.returncode == 0, result.stderr


def _from_pypi(package: str, place: Path) -> None:
    """A Python environment of its own: what an agent needs has nothing to do with what we need."""
    for command in ([sys.executable, "-m", "venv", place], [place / "bin/python", "-m", "pip", "install", package]):
        result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert result.returncode == 0, result.stderr
