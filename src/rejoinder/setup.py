"""A question of `rejoinder init`, as channels and kinds of agent declare theirs."""

from typing import Literal

from msgspec import Struct


class SetupQuestion(Struct, frozen=True, kw_only=True):
    """The answer is a key of the section."""

    key: str
    question: str
    default: str | float = ""
    takes: Literal["text", "address", "number"] = "text"
    """An address is looked at as soon as it is typed. A number has a fraction only where the setting takes one."""
    least: float = 0
    most: float = 2**63 - 1
    """For a number."""
    optional: bool = False
    """Whether the key is left out where the answer is the default."""
    listed: bool = False
    """Whether the key takes a list of texts, of which the answer is the only one."""


def asks_api_root(api: str, platform: str, default: str) -> SetupQuestion:
    """Tests and proxies stand at another address than the platform."""
    question = f"Address of the {api} (Enter: {platform}'s own)"
    return SetupQuestion(key="api_root", question=question, default=default, takes="address", optional=True)
