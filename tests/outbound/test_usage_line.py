"""The line under an answer that says what it used."""

import pytest

from rejoinder.outbound.usage_line import usage_line


@pytest.mark.parametrize(
    ("detail", "context", "model", "line"),
    [
        (None, 9, "m", ""),
        ("off", 9, "m", ""),
        ("tokens", 9, "m", "_3 tokens in, 4 out_"),
        ("full", 9, "m", "_3 tokens in, 4 out; context 9; m_"),
        ("full", 0, "m", "_3 tokens in, 4 out; m_"),
        ("full", 0, None, "_3 tokens in, 4 out_"),
    ],
)
def test_what_was_asked_for_is_said_where_it_is_known(detail, context, model, line):
    """TU-29."""
    assert usage_line(detail, 3, 4, context, model) == line
