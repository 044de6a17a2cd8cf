"""Which facts are looked up for which message."""

import pytest

from rejoinder.inbound.needs import needs_of


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("hello", set()),
        ("either/or", {"trace"}),
        ("/stop", {"trace"}),
        ("/Status", {"parts", "trace"}),
        ("@bot /status please", {"parts", "trace"}),
        ("/model gpt", {"models", "trace"}),
        ("/models", {"models", "trace"}),
        ("hello /think high", {"levels", "trace"}),
        ("/t high", {"levels", "trace"}),
        ("/table", {"trace"}),
    ],
)
def test_what_a_message_needs(text: str, needs: set[str]) -> None:
    """DE-33, IN-59: only what a command can ask for is looked up, and that always."""
    assert needs_of(text) == needs
