"""DU-5: what is remembered is bounded."""

from rejoinder.bounded import Bounded


def test_the_oldest_is_forgotten_for_one_too_many() -> None:
    """Writing a key again leaves its age; renewing it makes it the youngest."""
    kept: Bounded[str, int] = Bounded(2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    kept["c"] = 4
    assert kept == {"b": 2, "c": 4}
    kept.renew("b", 5)
    kept["d"] = 6
    assert kept == {"b": 5, "d": 6}
