"""What tests need and nobody here wrote: a browser, agents from npm, a program of the system."""

import os
from typing import NoReturn

import pytest


def missing(peer: str) -> NoReturn:
    """On a developer's machine the test is skipped; where `CI=true`, a promise nobody could test is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{peer} (CI=true: what is missing fails)", pytrace=False)
    pytest.skip(peer)
