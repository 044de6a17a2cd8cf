"""Writes down what became of the scenes with real agents, where `AGENTS_TABLE` names the file: `make test-agents` does.

docs/agents.md shows it, by `scripts/docs.py`.
"""

import json
import os
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.agents.real_agents import version_of

SCENES = "test_real_agents_in_chats"
_passed: dict[str, dict[str, Any]] = {}
"""By agent and scene."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    module, params = item.nodeid.partition("::")[0], getattr(item, "callspec", None)
    if Path(module).stem != SCENES or params is None or (report.when == "teardown" and report.passed):
        return report
    seen = _passed.setdefault(params.params["scene"], {})
    scene = f"{getattr(item, 'originalname', item.name)} {params.params.get('word', '')}".strip()
    seen[scene] = seen.get(scene, True) and report.passed
    seen |= dict(item.user_properties)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = os.environ.get("AGENTS_TABLE")
    if not file or not _passed:
        return
    from tests.agents.test_real_agents_in_chats import ALL  # only where its tests ran

    written = Path(file)
    before = json.loads(written.read_text())["agents"] if written.exists() else []
    agents = {(each["package"], each["version"]): each for each in before}
    for name, seen in _passed.items():  # scenes that were run alone take the place of what was written of them
        real, version = ALL[name], version_of(ALL[name])
        known = agents.get((real.package, version), {"scenes": {}})["scenes"]
        agents = {key: each for key, each in agents.items() if key[0] != real.package}
        scenes = dict(sorted({**known, **seen}.items()))
        row = {"package": real.package, "registry": real.registry, "version": version, "scenes": scenes}
        agents[real.package, version] = row
    ran = {"ran": f"{datetime.now(UTC):%Y-%m-%d}", "agents": [agents[key] for key in sorted(agents)]}
    written.write_text(json.dumps(ran, indent=1) + "\n")
