"""A question of `rejoinder init`, as channels and kinds of agent declare theirs."""

from typing import Literal

from msgspec import Struct


class SetupQuestion(Struct, frozen=True, kw_only=True):
    """The answer is a key of the section."""

    key: str
    question: str
    default: str | float = ""
    takes: Literal["text", "address", "number"] = "text"
    """An address is checked as soon as it is typed. A number may have a fraction only if the setting takes one."""
    least: float = 0
    most: float = 2**63 - 1
    """For a number."""
    optional: bool = False
    """Whether the key is left out if the answer is the default."""
    listed: bool = False
    """Whether the key takes a list of texts; the answer is then its only item."""


def asks_api_root(api: str, platform: str, default: str) -> SetupQuestion:
    """Asks for another address than the platform's, for tests and proxies."""
    question = f"Address of the {api} (Enter: {platform}'s own)"
    return SetupQuestion(key="api_root", question=question, default=default, takes="address", optional=True)
