"""Agents that nobody here wrote: how each is installed, and how it is told where our model server is."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from tests.peers import program_from_npm, python_with


class RealAgent(Struct, frozen=True):
    package: str
    program: str
    """Where the package has its program; a pattern, for there is one for each platform."""
    arguments: tuple[str, ...]
    configure: Callable[[Path, str], dict[str, str]]
    """Writes what it needs into its home and gives its environment; told its home and our address."""
    registry: Literal["npm", "pypi"] = "npm"
    python: str = ""
    """The version of Python it asks for; empty: ours will do."""
    tool: tuple[str, str] = ("bash", '{"command": "touch made.txt", "description": "make it"}')
    """How its model would call its shell, so that it asks for permission."""


def _codex(home: Path, url: str) -> dict[str, str]:
    (home / "config.toml").write_text(
        f"""
        model = "gpt-5.4"
        model_provider = "here"
        approval_policy = "untrusted"
        sandbox_mode = "danger-full-access"
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


def _claude(home: Path, url: str) -> dict[str, str]:
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url.removesuffix("/v1"),
        "ANTHROPIC_API_KEY": "sk-here",
        "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _gemini(home: Path, url: str) -> dict[str, str]:
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
        "model": {"name": "gemini-2.5-flash"},
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    return {
        "HOME": str(home),
        "GEMINI_API_KEY": "here",
        "GOOGLE_GEMINI_BASE_URL": url.removesuffix("/v1"),
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _qwen(home: Path, url: str) -> dict[str, str]:
    folder = home / ".qwen"
    folder.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True},
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    return {"HOME": str(home), "OPENAI_API_KEY": "sk-here", "OPENAI_BASE_URL": url, "OPENAI_MODEL": "echo"}


def _vibe(home: Path, url: str) -> dict[str, str]:
    (home / "config.toml").write_text(
        f"""
        active_model = "echo"
        enable_update_checks = false
        enable_auto_update = false
        enable_telemetry = false
        [[providers]]
        name = "here"
        api_base = "{url}"
        api_key_env_var = "MODEL_KEY"
        backend = "generic"
        [[models]]
        name = "echo"
        provider = "here"
        alias = "echo"
        supports_images = true
        """
    )
    return {"HOME": str(home), "VIBE_HOME": str(home), "MODEL_KEY": "sk-here"}


_BASH = ("Bash", '{"command": "touch made.txt", "description": "make it"}')
_SHELL = ("run_shell_command", '{"command": "touch made.txt", "is_background": false, "description": "make it"}')
CLAUDE = RealAgent("@agentclientprotocol/claude-agent-acp", ".bin/claude-agent-acp", (), _claude, tool=_BASH)
OLDER_CLAUDE = RealAgent("@zed-industries/claude-agent-acp", ".bin/claude-agent-acp", (), _claude, tool=_BASH)
GEMINI = RealAgent("@google/gemini-cli", ".bin/gemini", ("--acp",), _gemini, tool=_SHELL)
QWEN = RealAgent("@qwen-code/qwen-code", ".bin/qwen", ("--acp",), _qwen, tool=_SHELL)
CODEX = RealAgent(
    "@zed-industries/codex-acp",
    "@zed-industries/codex-acp-*/bin/codex-acp*",
    (),
    _codex,
    tool=("exec_command", '{"cmd": "touch made.txt"}'),
)
OPENCODE = RealAgent("opencode-ai", ".bin/opencode", ("acp",), _opencode)
HERMES = RealAgent(
    "hermes-agent[acp]",
    "bin/hermes-acp",
    (),
    _hermes,
    registry="pypi",
    tool=("terminal", '{"command": "rm -rf made"}'),
)
VIBE = RealAgent(
    "mistral-vibe",
    "bin/vibe-acp",
    (),
    _vibe,
    registry="pypi",
    python="3.12",
    tool=("bash", '{"command": "touch made.txt"}'),
)


def installed(agent: RealAgent) -> tuple[str, ...]:
    """Its command; installs it when it is not there yet, and skips the test only where there is no npm."""
    if agent.registry == "npm":
        return (str(program_from_npm(agent.package, agent.program)), *agent.arguments)
    place = python_with(agent.package, python=agent.python).parents[1]
    return (str(next(place.glob(agent.program))), *agent.arguments)


def version_of(agent: RealAgent) -> str:
    """Which version of it is installed."""
    if agent.registry == "npm":
        place = Path(sys.prefix) / "agents" / agent.package / "node_modules" / agent.package
        return json.loads((place / "package.json").read_text())["version"]
    place = python_with(agent.package, python=agent.python).parents[1]
    name = agent.package.partition("[")[0].replace("-", "_")
    return next(place.glob(f"lib/python*/site-packages/{name}-*.dist-info")).stem.rpartition("-")[2]
