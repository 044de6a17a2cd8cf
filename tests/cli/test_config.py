"""`rejoinder config`: what is in effect, without secrets; exit status 2 and plain words when it is wrong."""

import json
import tomllib

import pytest
from typer.testing import CliRunner

from rejoinder.cli.commands import app
from rejoinder.cli.config import WITHOUT_FILE

GOOD = '[agents.a]\nkind = "openai"\nmodel = "m"\napi_key = "${KEY}"\n[channels.web]\nport = 80\n'
BAD = '[gateway]\nstoer = "x"\n[session]\nscope = "x"\n'


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEY", "canary")
    (tmp_path / "good.toml").write_text(GOOD)
    (tmp_path / "bad.toml").write_text(BAD)


def run(*arguments):
    return CliRunner().invoke(app, ["config", *arguments])


def test_toml():
    """It prints TOML with every default, and no secret."""
    result = run("-c", "good.toml")
    assert result.exit_code == 0
    shown = tomllib.loads(result.stdout)
    assert shown["agents"]["a"]["api_key"] == "${KEY}"
    assert shown["channels"]["web"]["agent"] == "a"
    assert shown["session"]["scope"] == "per-sender"
    assert "canary" not in result.output


def test_json():
    """--json prints the same as one JSON document."""
    result = run("-c", "good.toml", "--json")
    assert json.loads(result.stdout) == tomllib.loads(run("-c", "good.toml").stdout)


def test_the_file_of_this_folder(tmp_path):
    """Without -c it is rejoinder.toml of this folder; without one, the defaults, and it says so."""
    result = run()
    assert result.exit_code == 0
    assert tomllib.loads(result.stdout)["gateway"]["store"] == "sqlite:rejoinder.db"
    assert result.stderr == f"There is no rejoinder.toml here: these are the defaults. {WITHOUT_FILE}\n"
    (tmp_path / "rejoinder.toml").write_text('[gateway]\nstore = "sqlite:mine.db"\n')
    result = run()
    assert tomllib.loads(result.stdout)["gateway"]["store"] == "sqlite:mine.db"
    assert result.stderr == ""


def test_mistakes():
    """A bad configuration is exit status 2, its mistakes on stderr, nothing on stdout."""
    result = run("-c", "bad.toml")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        'rejoinder: bad.toml:2: gateway.stoer: there is no such key; did you mean "store"?',
        'bad.toml:4: session.scope: "x" is not a choice here; it is one of "per-sender", "shared"',
    ]


def test_mistakes_as_json():
    """--json gives programs the mistakes too."""
    result = run("-c", "bad.toml", "--json")
    assert result.exit_code == 2
    first = json.loads(result.stdout)["mistakes"][0]
    assert first == {
        "file": "bad.toml",
        "line": 2,
        "key": "gateway.stoer",
        "sentence": 'there is no such key; did you mean "store"?',
    }


def test_no_such_file():
    """A file that is named has to be there."""
    result = run("-c", "none.toml")
    assert result.exit_code == 2
    assert result.stderr == "rejoinder: none.toml: there is no such file; name the right one with -c\n"


def test_schema():
    """--schema prints the JSON schema, whatever stands in the folder."""
    result = run("--schema", "-c", "none.toml")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
