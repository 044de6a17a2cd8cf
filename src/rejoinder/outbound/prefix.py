"""The prefix of a reply, resolved when the reply is sent (DE-5)."""

import re
from collections.abc import Callable

from msgspec import Struct

AUTO = "auto"
"""The agent's name in brackets."""
_VARIABLE = re.compile(r"\{([A-Za-z.]+)\}")
_NOTHING = "\0"
_AROUND_NOTHING = re.compile(r"\[[^\w\[\]]*\0[^\w\[\]]*\]|\([^\w()]*\0[^\w()]*\)|<[^\w<>]*\0[^\w<>]*>")
_BLOCK = re.compile(r"\s*(?:```|~~~|#{1,6}\s|[-*+>|]|[0-9]{1,9}[.)]\s)")


class Speaker(Struct, frozen=True):
    """The agent that answers, and its model."""

    name: str = ""
    model: str = ""
    """The model with its provider: `provider/model`."""
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
    """The text with its prefix, unless it already has it. An unknown variable stays as written."""
    return before_first_word(text, prefix, speaker) + text.lstrip()


def before_first_word(text: str, prefix: str, speaker: Speaker) -> str:
    """What precedes the first word of the text once it has its prefix, including white space of its own."""
    words = text.lstrip()
    space = text[: len(text) - len(words)]
    if prefix == AUTO:
        shown = f"[{speaker.name}]" if speaker.name else ""
    else:
        shown = resolved(prefix, speaker)
    if not shown or not words or words.startswith(shown):
        return space
    # A fence, a list or a heading has to begin on a line of its own.
    return f"{shown}\n\n{space}" if _BLOCK.match(text) else f"{shown} "


def resolved(prefix: str, speaker: Speaker) -> str:
    """The prefix with its variables filled in. Brackets that contain only variables without a value are removed with
    them."""

    def value(found: re.Match[str]) -> str:
        known = _BY_NAME.get(found[1].lower())
        return (known(speaker) or _NOTHING) if known else found[0]

    shown = _VARIABLE.sub(value, prefix)
    if _NOTHING not in shown:
        return shown.strip()
    while (without := _AROUND_NOTHING.sub(_NOTHING, shown)) != shown:
        shown = without
    return re.sub(" {2,}", " ", shown.replace(_NOTHING, "")).strip()
