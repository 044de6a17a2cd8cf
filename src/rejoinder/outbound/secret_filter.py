"""Decides how much of a growing text can already be shown, so that no secret is ever seen in part (DE-1, DE-35).

Rule 1: shown text stays: the pieces that come out, joined, are the final text, however the input was cut.
Rule 2: only a word that may become a secret is held until it ends; plain words are shown letter by letter.
Rule 3: nothing is held for ever: a word or a key longer than any secret is passed on.
"""

import re

from rejoinder.outbound.redact import KEY_BEGIN, KEY_END, VISIBLE, redact

_LONGEST_WORD, _LONGEST_KEY = 4096, 16_384
_LOOK_BACK = 128  # no shape begins further before its secret than this
_HARMLESS = re.compile(r"[\"'(*_\[]*([A-Z]?[a-z']{0,14})[.,;:!?\"')*_\]]*")
_GIVES = re.compile(r"(?:bearer|basic|[=:][\"']?)\s{0,3}\Z", re.IGNORECASE)
_LONGEST_GIVING = len("bearer") + 3
_LAST_GIVING = "rRcC=:\"'"  # what that ends in, before its blanks
_HEADS = (
    *("sk-", "sk_", "rk_", "gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_", "glpat-", "xapp-"),
    *("xox", "ya29", "whsec_", "hf_", "npm_", "pypi-", "syt_", "ey"),
)
_BEGINNINGS = frozenset(head[:size] for head in _HEADS for size in range(1, len(head) + 1))


class SecretFilter:
    """Takes the text as it comes and returns what may be shown; `finish` takes the last piece and returns the rest."""

    __slots__ = ("_held", "_tail")

    def __init__(self) -> None:
        self._tail = ""  # the end of what was shown
        self._held = ""

    def feed(self, piece: str) -> str:
        self._held = held = self._held + piece
        start = len(held.rstrip(VISIBLE))
        if "-----" in held and (key := held.rfind(KEY_BEGIN)) >= 0:
            end = KEY_END.search(held, key)
            if end is None:
                return self._show(self._before_key())
            start = max(start, end.end())
        if start == len(held) or self._is_harmless(held, start) or len(held) - start > _LONGEST_WORD:
            start = len(held)
        return self._show(start)

    def end_word(self) -> str:
        """The next text begins a new line, so the held word is complete."""
        return self._show(self._before_key())

    def finish(self, piece: str = "") -> str:
        self._held += piece
        return self._show(len(self._held))

    def _before_key(self) -> int:
        """Where an unfinished key begins; the end of the held text if there is none or it is too long."""
        held = self._held
        key = held.rfind(KEY_BEGIN)
        if key < 0 or len(held) - key >= _LONGEST_KEY or KEY_END.search(held, key):
            return len(held)
        return key

    def _is_harmless(self, held: str, start: int) -> bool:
        """Whether the word that begins there, or began in the text already shown, is certainly no secret."""
        before = self._tail[-32:] + held[:start] if start < 32 else held[start - 32 : start]
        settled = before if start else before.rstrip(VISIBLE)
        word = _HARMLESS.fullmatch(before[len(settled) :] + held[start:])
        return word is not None and word[1] not in _BEGINNINGS and not _gives(settled[-_LONGEST_GIVING:])

    def _show(self, end: int) -> str:
        if not end:
            return ""
        new, self._held = self._held[:end], self._held[end:]
        tail = self._tail
        shown = clean = redact(tail + new)
        if tail:
            shown = clean[len(tail) :] if clean.startswith(tail) else clean[_common(clean, tail) :]
        self._tail = _last_words(tail + shown)
        return shown


def _gives(before: str) -> bool:
    """Whether these words announce a secret."""
    return before.rstrip()[-1:] in _LAST_GIVING and _GIVES.search(before) is not None


def _common(one: str, other: str) -> int:
    """The length of their common prefix. They differ if a secret began in the text already shown."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _last_words(text: str) -> str:
    if len(text) <= 2 * _LOOK_BACK:
        return text
    blank = text.find(" ", len(text) - 2 * _LOOK_BACK, len(text) - _LOOK_BACK)
    return text[blank:] if blank >= 0 else text[-_LOOK_BACK:]
