"""The JSON schema and the docs are made from the records, and complete."""

import re
import tomllib
from pathlib import Path

import jsonschema
import pytest
from msgspec import Struct

from rejoinder.config import describe
from rejoinder.config.describe import json_schema, markdown_tables, sentences
from rejoinder.config.kinds import INSTALLED
from rejoinder.config.load import read
from rejoinder.config.schema import SECTIONS, AgentDefaults, CommonChannelSettings
from rejoinder.errors import BadConfiguration
from rejoinder.secret import Secret

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "configuration.md"
SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one():
    """It is a schema of draft 2020-12 whose references all lead somewhere."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    references = re.findall(r"'\$ref': '#/\$defs/([\w.]+)'", str(SCHEMA))
    assert set(references) == set(SCHEMA["$defs"])


KINDS = [*INSTALLED.agents.values(), *INSTALLED.channels.values()]


@pytest.mark.parametrize("record", [*SECTIONS.values(), *(kind.settings for kind in KINDS)])
def test_every_key_has_a_sentence(record):
    """Each key says what it is for: in the schema, in the docs, for whoever completes it in an editor."""
    assert set(sentences(record)) == set(record.__struct_fields__)


def test_every_key_of_the_schema_has_a_sentence():
    """Records inside records too, and what kinds add."""
    for name, record in SCHEMA["$defs"].items():
        for key, schema in record.get("properties", {}).items():
            assert schema.get("description"), (name, key)


def test_the_documented_configuration_is_valid():
    """An editor finds nothing wrong with the documented configuration."""
    document = tomllib.loads((HERE / "whole.toml").read_text("utf-8"))
    assert list(VALIDATOR.iter_errors(document)) == []


@pytest.mark.parametrize(
    "text",
    [
        '[channels.work]\nkind = "discord"\ntoken = "x"',
        '[channels.web]\nport = "${PORT}"\nreply_to_mode = { group = "all" }',
        '[agents.a]\nkind = "openai"\nmodel = "m"\nbase_url = "${URL}"',
        '[session]\nreset = { mode = "daily", by_type = { thread = { mode = "idle" } } }',
        "",
    ],
)
def test_what_the_loader_takes_the_schema_takes(text):
    """Editor and gateway agree on what is right."""
    read(text, "x.toml", {"PORT": "80", "URL": "http://x"})
    assert list(VALIDATOR.iter_errors(tomllib.loads(text))) == []


@pytest.mark.parametrize(
    "text",
    [
        "[gatway]",
        "[gateway]\nstoer = 1",
        "[channels.telegram]",
        '[channels.telegram]\ntokn = "x"',
        '[channels.telegram]\ntoken = "x"\ndm = "pairng"',
        '[channels.work]\ntoken = "x"',
        '[agents.a]\nmodel = "m"',
        '[agents.a]\nkind = "opnai"',
        "[session.reset]\nat_hour = 24",
        '[agents.a]\nkind = "openai"\nmodel = "m"\nbase_url = "x"',
    ],
)
def test_what_the_loader_refuses_the_schema_refuses(text):
    """Editor and gateway agree on what is wrong."""
    with pytest.raises(BadConfiguration):
        read(text, "x.toml", {})
    assert list(VALIDATOR.iter_errors(tomllib.loads(text)))


def test_the_schema_holds_no_value_but_defaults():
    """A schema is published: it knows nothing of this machine."""
    assert SCHEMA["properties"]["channels"]["properties"].keys() == INSTALLED.channels.keys()
    assert str(HERE) not in str(SCHEMA)


def test_the_page_has_every_table_up_to_date():
    """docs/configuration.md shows each table once, as the code makes it."""
    shown = re.findall(r"<!-- generated: (\S+) -->\n(.*?)\n<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert dict(shown) == markdown_tables()
    assert len(shown) == len(markdown_tables())


def test_a_table():
    """Keys inside a key come after it, with their way to it."""
    keys = re.findall(r"^\| `(\S+)` ", markdown_tables()["config-messages"], re.MULTILINE)
    assert keys[:3] == ["queue", "queue.mode", "queue.debounce_ms"]
    assert len(keys) == len(set(keys))
    assert "thinking_default" in markdown_tables()["config-agents-defaults"]
    assert set(sentences(AgentDefaults)) == set(AgentDefaults.__struct_fields__)
    assert set(sentences(CommonChannelSettings)) == set(CommonChannelSettings.__struct_fields__)


def test_settings_that_no_file_can_hold_are_named():
    """A package may declare a default that cannot be written down; whoever asks for the schema reads whose it is."""

    class Token(Struct, frozen=True):
        token: Secret = Secret("")

    with pytest.raises(BadConfiguration, match=r"the settings .*Token cannot be described: .*Secret \| None = None"):
        describe._components([*SECTIONS.values(), Token])
