"""What is read aloud of an answer (ME-2): its words, without marks, code, tables and addresses."""

import re
from typing import TYPE_CHECKING

from rejoinder.rendering.markdown import parse
from rejoinder.session import TtsMode

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_READ = 100_000
"""How many characters of an answer are considered; the text read aloud is much shorter."""
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\u00a0]+")
_ENDS = re.compile(r"[.!?\u2026](?=[\s\"')\]]|$)|[\u3002\uff01\uff1f\n]")
_STOPS = ".!?:;,\u2026\u3002\uff01\uff1f"

_VOICE = frozenset(("voice",))
_SHORTEN = (
    "Shorten this text, so that it can be read out to somebody: at most {most} characters, plain sentences, no list, "
    "no code, no address, the same language. Answer with the shorter text alone.\n\n{text}"
)


def is_spoken(mode: TtsMode, *, by_voice: bool, marked: bool) -> bool:
    """Whether an answer is spoken as a whole. `by_voice`: it was requested by voice. `marked`: the agent wants it
    spoken."""
    if mode == "off":
        return False
    return mode == "always" or marked or (mode == "inbound" and by_voice)


def granted_with(mode: TtsMode, granted: frozenset[str]) -> frozenset[str]:
    """The grants; `<voice>` is granted as well if answers may be spoken (OD-52)."""
    return granted | _VOICE if mode != "off" else granted


def shortening_prompt(text: str, most: int) -> str:
    """The prompt for the agent if its answer is too long to be read aloud."""
    return _SHORTEN.format(most=most, text=text)


def speakable(text: str) -> str:
    """The words of a Markdown text; each paragraph ends like a sentence."""
    spoken: list[str] = []
    in_table = 0
    for token in parse(text[:LONGEST_READ]):
        in_table += (token.type == "table_open") - (token.type == "table_close")
        if token.type == "inline" and not in_table and (said := _said(token)):
            spoken.append(said if said[-1] in _STOPS else f"{said}.")
    return "\n".join(spoken)


def _said(token: "Token") -> str:
    pieces: list[str] = []
    for child in token.children or ():
        if child.type == "text":
            pieces.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif child.type == "code_inline" and child.content.isalnum():
            pieces.append(child.content)  # a name in ticks is a word of the sentence
    said = _BLANKS.sub(" ", _ADDRESS.sub("", "".join(pieces))).strip()
    return said if any(character.isalnum() for character in said) else ""


def shortened(text: str, most: int) -> str:
    """The text up to the last sentence that fits; if not even one fits, up to a word."""
    if len(text) <= most:
        return text
    ends = [match.end() for match in _ENDS.finditer(text, 0, most + 1) if match.end() <= most]
    if ends:
        return text[: ends[-1]].rstrip()
    cut = text[: most - 1].rpartition(" ")[0] or text[: most - 1]
    return f"{cut.rstrip(_STOPS)}."
