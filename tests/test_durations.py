"""How long something took, as people say it."""

import pytest

from rejoinder.durations import duration_text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-1, "0 µs"),
        (0.000_041, "41 µs"),
        (0.0124, "12 ms"),
        (1.84, "1.8 s"),
        (185, "3 min 5 s"),
        (3600 * 25, "25 h 0 min"),
    ],
)
def test_durations(seconds, said):
    assert duration_text(seconds) == said
