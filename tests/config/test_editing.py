"""One key of a configuration's text, set or removed: every other byte stays (IN-61)."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.config.editing import holds_secret, with_key, without_key
from rejoinder.config.load import read
from rejoinder.errors import BadUse

FILE = """\
# The gateway of the house.
[messages]   # what is said
response_prefix = "A:"  # before every answer

  [messages.queue]
  cap = 5

[channels.telegram]
token = "${TOKEN}"
allow = [
  "1",  # Ann
  "2",
]
group = { "*" = { require_mention = true } }

# The end.
"""


@pytest.mark.parametrize(
    ("key", "value", "gone", "here"),
    [
        (("messages", "response_prefix"), "B:", 'response_prefix = "A:"', 'response_prefix = "B:"'),
        (("messages", "queue", "cap"), 7, "cap = 5", "cap = 7"),
        (("channels", "telegram", "group", "*", "require_mention"), False, "= true }", "= false }"),
        (("messages", "response_prefix"), "${TOKEN}", 'response_prefix = "A:"', 'response_prefix = "$${TOKEN}"'),
    ],
)
def test_a_value_is_replaced_where_it_stands(key, value, gone, here):
    """IN-61: comments, order and spaces are those of the file."""
    assert with_key(FILE, key, value) == FILE.replace(gone, here)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (("messages", "queue", "mode"), "steer"),
        (("messages", "inbound", "debounce_ms"), 500),
        (("session", "reset", "mode"), "both"),
        (("channels", "telegram", "dm"), "open"),
        (("channels", "telegram", "group", "-100", "require_mention"), False),
        (("channels", "telegram", "allow"), ["1", "3"]),
        (("cron", "a b", "every"), "1h"),
    ],
)
def test_a_new_key_comes_into_its_table(key, value):
    """IN-61: whether the table is there or not; all comments but those of a replaced list stay."""
    text = with_key(FILE, key, value)
    found = tomllib.loads(text)
    for name in key:
        found = found[name]
    assert found == value
    for line in FILE.splitlines():
        assert line in text or "allow" in key or line.startswith("group")
    assert str(value) not in str(tomllib.loads(without_key(text, key)))


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        (("messages", "response_prefix"), 'response_prefix = "A:"  # before every answer\n'),
        (("messages", "queue", "cap"), "  cap = 5\n"),
    ],
)
def test_a_key_is_removed_with_its_line(key, gone):
    assert without_key(FILE, key) == FILE.replace(gone, "")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (("messages", "nothing"), "messages.nothing is not set in the file"),
        (("session", "scope"), "session.scope is not set in the file"),
        (("messages", "response_prefix", "x"), "response_prefix is a value, not a table"),
    ],
)
def test_what_is_not_there_cannot_be_removed(key, said):
    with pytest.raises(BadUse, match=said):
        without_key(FILE, key)


def test_a_value_is_no_table():
    with pytest.raises(BadUse, match="response_prefix is a value, not a table"):
        with_key(FILE, ("messages", "response_prefix", "x"), 1)
    with pytest.raises(BadUse, match="the file is not valid TOML"):
        with_key("[", ("messages", "response_prefix"), 1)


NAMES = st.text("ab.- \"'é", min_size=1, max_size=4)
WORDS = st.text("ab$\"'\\\n{ #é", max_size=6)
TEXTS = st.sampled_from(["", "\n", "# only\n", FILE, FILE.rstrip()])


@given(text=TEXTS, key=st.lists(NAMES, min_size=2, max_size=4), value=st.booleans() | st.integers(-5, 5) | WORDS)
def test_any_key_is_written_and_taken_away_again(text, key, value):
    """IN-61: what comes out is the file with this key, whatever it is called."""
    written = with_key(text, tuple(key), value)
    found = tomllib.loads(written)
    for name in key:
        found = found[name]
    assert found == (value.replace("${", "$${") if isinstance(value, str) else value)
    assert set(tomllib.loads(text)) <= set(tomllib.loads(without_key(written, tuple(key))))


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        (("channels", "telegram", "token"), True),
        (("channels", "telegram"), True),
        (("channels", "telegram", "dm"), False),
        (("channels", "telegram", "group", "*"), False),
        (("channels", "other"), False),
        (("messages", "queue", "cap"), False),
        (("agents", "defaults", "describer"), False),
    ],
)
def test_where_secrets_stand(key, secret):
    assert holds_secret(read(FILE, "f", {"TOKEN": "t"}), key) is secret
