"""The files in deploy/ are as their programs want them. Nothing here builds an image or starts a cluster."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from rejoinder.config.load import load

DEPLOY = Path(__file__).parents[2] / "deploy"
BIN = Path(sys.executable).parent


def resources() -> dict[str, Any]:
    return {each["kind"]: each for each in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}


@pytest.mark.parametrize("kind", sorted(resources()))
def test_kubernetes_takes_it(kind: str) -> None:
    import kubernetes_validate

    kubernetes_validate.validate(resources()[kind], "1.31", strict=True)


def test_the_probes_ask_what_the_gateway_answers() -> None:
    """A database that is away is no reason to restart, only to send nobody there."""
    (container,) = resources()["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/health"
    assert container["readinessProbe"]["httpGet"]["path"] == "/ready"
    labels = resources()["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert resources()["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert resources()["Service"]["spec"]["selector"] == labels


def test_the_dockerfile_has_no_known_mistake() -> None:
    done = subprocess.run([BIN / "hadolint", DEPLOY / "Dockerfile"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_extras_it_installs_exist() -> None:
    declared = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = (DEPLOY / "Dockerfile").read_text().partition("'.[")[2].partition("]'")[0].split(",")
    assert "postgres" in wanted
    assert set(wanted) <= set(declared)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="only a machine run by systemd can say")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    program = tmp_path / "rejoinder"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "rejoinder.service"
    text = (DEPLOY / "rejoinder.service").read_text()
    unit.write_text(text.replace("/srv/rejoinder/.venv/bin/rejoinder", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    ours = [line for line in done.stderr.splitlines() if "rejoinder.service" in line]
    assert (done.returncode, ours) == (0, [])


def test_the_configuration_can_be_read() -> None:
    named = {"OPENAI_API_KEY": "k", "REJOINDER_TOKEN": "a-token-that-is-long-enough-for-anybody"}
    settings = load(str(DEPLOY / "rejoinder.toml"), {**os.environ, **named})
    assert settings.gateway.store.startswith("postgresql://")


def test_the_readme_tells_of_every_example_what_is_untested() -> None:
    """A table row for each file: what is checked, and what is not."""
    rows = [line for line in (DEPLOY / "README.md").read_text().splitlines() if line.startswith("| [")]
    named = {row.partition("[")[2].partition("]")[0] for row in rows}
    assert named == {file.name for file in DEPLOY.iterdir()} - {"README.md"}
    assert all(row.count("|") == 5 and row.split("|")[4].strip() for row in rows)
