"""The prefix of a reply, resolved when it is sent (DE-5)."""

import re
from collections.abc import Callable

from msgspec import Struct

AUTO = "auto"
"""The agent's name in brackets."""
_VARIABLE = re.compile(r"\{([A-Za-z.]+)\}")
_BLOCK = re.compile(r"\s*(?:```|~~~|#{1,6}\s|[-*+>|]|[0-9]{1,9}[.)]\s)")


class Speaker(Struct, frozen=True):
    """The agent that answers, and its model."""

    name: str = ""
    model: str = ""
    """With its provider: `provider/model`."""
    thinking: str = ""


VARIABLES: dict[str, Callable[[Speaker], str]] = {
    "model": lambda speaker: speaker.model.rpartition("/")[2],
    "modelFull": lambda speaker: speaker.model,
    "provider": lambda speaker: speaker.model.rpartition("/")[0].partition("/")[0],
    "thinkingLevel": lambda speaker: speaker.thinking,
    "identity.name": lambda speaker: speaker.name,
}
_BY_NAME = {name.lower(): value for name, value in VARIABLES.items()}


def prefixed(text: str, prefix: str, speaker: Speaker) -> str:
    """The text with its prefix, unless it already has it; an unknown variable stays as it was written."""
    if prefix == AUTO:
        shown = f"[{speaker.name}]" if speaker.name else ""
    else:
        shown = _VARIABLE.sub(lambda found: _resolved(found, speaker), prefix).strip()
    if not shown or not text.strip() or text.lstrip().startswith(shown):
        return text
    # A fence, a list or a heading must begin its own line.
    return f"{shown}\n\n{text}" if _BLOCK.match(text) else f"{shown} {text.lstrip()}"


def _resolved(found: re.Match[str], speaker: Speaker) -> str:
    value = _BY_NAME.get(found[1].lower())
    return value(speaker) if value else found[0]
