"""Every mistake is a sentence with its line and key; nothing but BadConfiguration ever comes out."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rejoinder import plugins
from rejoinder.config.kinds import INSTALLED
from rejoinder.config.load import load, read
from rejoinder.config.schema import SECTIONS, AgentDefaults, CommonChannelSettings
from rejoinder.config.show import as_toml
from rejoinder.config.syntax import IN_PLAIN_WORDS
from rejoinder.errors import BadConfiguration

HERE = Path(__file__).parent
ENVIRONMENT = {"TELEGRAM_TOKEN": "canary", "EMPTY": ""}


def table() -> list[tuple[str, str]]:
    written = (HERE / "wrong.txt").read_text("utf-8")
    for kind in ("agent", "channel"):
        written = written.replace(f"<every {kind} kind>", ", ".join(f'"{name}"' for name in plugins.names(kind)))
    rows = written.replace("<every store>", ", ".join(plugins.names("store"))).split("====\n")[1:]
    return [(text, said.strip("\n")) for text, said in (row.split("\n----\n") for row in rows)]


def mistakes(text: str, environment=ENVIRONMENT) -> str:
    with pytest.raises(BadConfiguration) as raised:
        read(text, "rejoinder.toml", environment)
    return str(raised.value)


@pytest.mark.parametrize(("text", "said"), table())
def test_the_words(text, said):
    """Errors say what, where and what to do, all of them at once; no value of the environment is in them."""
    expected = "\n".join(f"rejoinder.toml:{line}" for line in said.split("\n"))
    assert mistakes(text) == expected
    assert "canary" not in expected


def test_the_table_is_long_enough():
    """A table that lost its rows would pass too."""
    assert len(table()) > 100


@pytest.mark.parametrize("text", ['a = "\x01"', "a = 12 #\x01"])
def test_control_characters(text):
    """A control character, which nobody sees, is named by its place."""
    assert mistakes(text).endswith("there is a control character here; remove it")


def test_no_complaint_of_the_standard_library_is_passed_on():
    """Where the table of plain words does not know a complaint, it would be shown as it is: it knows all."""
    source = Path(tomllib.__file__).with_name("_parser.py").read_text("utf-8")
    known = [start.split("'")[0].split('"')[0].split("{")[0] for start, _ in IN_PLAIN_WORDS]
    complaints = [
        line.split('"')[1].split("{")[0]
        for line in source.split("\n")
        if ("suffixed_err(" in line or "TOMLDecodeError(" in line) and line.count('"') >= 2
    ]
    assert len(complaints) >= 10
    assert [c for c in complaints if c and not any(k and c.startswith(k) for k in known)] == []


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "a = " + "9" * 5000, "a." * 3000 + "a = 1"])
def test_texts_that_break_parsers(text):
    """Depth and length that the interpreter refuses are answered in words too."""
    assert "Traceback" not in mistakes(text)


# --- files --------------------------------------------------------------------------------------


def file_mistake(path: str) -> str:
    with pytest.raises(BadConfiguration) as raised:
        load(path, {})
    return str(raised.value)


def test_no_file(tmp_path):
    """A missing file is one sentence."""
    path = str(tmp_path / "none.toml")
    assert file_mistake(path) == f"{path}: there is no such file; name the right one with -c"


def test_a_folder(tmp_path):
    """A folder in place of the file is one sentence."""
    path = str(tmp_path)
    assert file_mistake(path) == f"{path}: this is a folder; name the file in it, such as {path}/rejoinder.toml"


def test_not_utf8(tmp_path):
    """A file that is not UTF-8 is one sentence, with the line."""
    path = tmp_path / "latin.toml"
    path.write_bytes(b"# fine\n[gateway]\nstore = 'sqlite:caf\xe9'\n")
    assert file_mistake(str(path)) == f"{path}:3: this file is not UTF-8 text; save it as UTF-8"


def test_unreadable(tmp_path, monkeypatch):
    """A file one may not read is one sentence."""
    path = tmp_path / "mine.toml"
    path.write_text("")
    if os.geteuid() == 0:  # root may read everything, so the refusal is played

        def refuse(self):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_bytes", refuse)
    path.chmod(0)
    assert file_mistake(str(path)) == f"{path}: no permission to read this file; change its owner or its permissions"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "/dev/null/x"])
def test_strange_paths(path):
    """Whatever is wrong with the path, it is one sentence."""
    assert file_mistake(path).startswith(f"{path}: ")
    assert "\n" not in file_mistake(path)


def test_a_byte_order_mark_is_fine(tmp_path):
    """Some editors put a mark before the text: it is not a mistake of the person."""
    path = tmp_path / "marked.toml"
    path.write_bytes(b"\xef\xbb\xbf[gateway]\n")
    assert load(str(path), {}).gateway.store == f"sqlite:{tmp_path / 'rejoinder.db'}"


# --- anything at all ----------------------------------------------------------------------------

PIECES = (HERE / "whole.toml").read_text("utf-8").split()
texts = st.text() | st.lists(st.sampled_from([*PIECES, *"\n\n\n[]{}=,.#\\'\""]), max_size=40).map(" ".join)


def read_or_refuse(text: str) -> str:
    try:
        read(text, "rejoinder.toml", ENVIRONMENT)
    except BadConfiguration as error:
        return str(error)
    return ""


@given(texts)
@example("[agents]\ndefaults = 1")
@example("[channels.telegram.kind]")
@example('[agents.a]\nkind = "${NOPE}"')
def test_any_text(text):
    """Whatever stands in the file, it is read or refused in words, and no secret is shown."""
    assert "canary" not in read_or_refuse(text)


KINDS = [*INSTALLED.agents.values(), *INSTALLED.channels.values()]
RECORDS = [*SECTIONS.values(), *(kind.settings for kind in KINDS), CommonChannelSettings, AgentDefaults]
FIELDS = sorted({field for record in RECORDS for field in record.__struct_fields__})
keys = st.sampled_from([*SECTIONS, "agents", "channels", "defaults", "kind", *INSTALLED.channels, *FIELDS])
values = st.recursive(
    st.sampled_from(["tour", "openai", "telegram", "*", "@a", "telegram:1", "daily", "${TELEGRAM_TOKEN}", "${X}", ""])
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(keys, st.dictionaries(keys, st.dictionaries(keys, values, max_size=4) | values, max_size=4)))
def test_any_values_under_known_keys(document):
    """Any value under any key is read or refused in words: each mistake names a key and a line."""
    said = read_or_refuse(as_toml(document))
    assert "canary" not in said
    for line in filter(None, said.split("\n")):
        file, number, key, sentence = line.split(":", 3)
        assert file == "rejoinder.toml"
        assert number.isdigit()
        assert key.strip()
        assert sentence.strip()
