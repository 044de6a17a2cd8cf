"""How long to wait before a platform that does not answer is asked again (DE-32)."""

import random

MOST_DOUBLINGS = 16


def pause_after(failures: int, first: float, longest: float) -> float:
    """Seconds, after so many failures in a row. A random part spreads them, so that not all bots come back at once."""
    return min(longest, first * 2 ** min(failures - 1, MOST_DOUBLINGS)) * random.uniform(0.5, 1.0)
