"""How an operator is told of a place."""

import pytest

from rejoinder.cli.parts import where
from rejoinder.events import Route


@pytest.mark.parametrize(
    ("route", "said"),
    [
        (Route("telegram", "1"), "telegram 1"),
        (Route("telegram", "1", "7"), "telegram 1 thread 7"),
        (Route("telegram", "1", None, "second"), "telegram/second 1"),
    ],
)
def test_where(route, said):
    assert where(route) == said
