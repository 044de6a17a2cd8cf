"""A short way to ask the inbound floor what it would do."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from rejoinder.inbound.dry_run import as_document, rehearsal_rules, rehearse
from rejoinder.inbound.rules import Rules

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def rehearsal() -> Rules:
    return rehearsal_rules()


@pytest.fixture(scope="session")
def ask(rehearsal: Rules) -> Ask:
    """The dry run: `ask("/think high", "guest", "group", mention=True)`."""

    def asked(text: str, actor: Any = "owner", chat: Any = "direct", *, mention: bool = False) -> dict[str, Any]:
        walk = rehearse(text, actor, chat, rehearsal, NOW, lambda: 0.0, mention=mention, random=bytes(range(16)))
        return as_document(walk)

    return asked
