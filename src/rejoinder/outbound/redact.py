"""Removes secrets from what is sent (DE-35).

Rule 1: only known shapes are secrets. A word is not a secret because it is long, and prose about secrets is prose.
Rule 2: the text around a secret stays, so that people see what was removed: `Authorization: Bearer [redacted]`.
Rule 3: each shape is matched in one pass without backtracking: the time is linear in the length of the text.
Rule 4: while a text is growing, the word being written is not shown, because it might become a secret (DE-1).
"""

import re
from collections.abc import Callable
from functools import cache

from msgspec import Struct

REDACTED = "[redacted]"

_PLACEHOLDER = re.compile(r"[$<{*%\[]|your|(?:my|pass|password|pwd|secret|token|example|changeme|x+)\b", re.IGNORECASE)
_UNBROKEN = re.compile(r"[A-Za-z0-9_+/=]{16,}+")
_LONG_WORD = re.compile(r"\S{15}")
KEY_BEGIN = "-----BEGIN "
KEY_END = re.compile(r"-----END [A-Z ]{1,40}-----")
VISIBLE = "".join(map(chr, range(ord("!"), ord("~") + 1)))
"""The characters of secrets."""


def _always(secret: str) -> bool:
    return True


def _is_random(secret: str) -> bool:
    """Whether part of it mixes letters and digits, as no word does."""
    return any(_is_mixed(stretch) for stretch in _UNBROKEN.findall(secret))


def _is_mixed(secret: str) -> bool:
    return any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))


def _is_password(secret: str) -> bool:
    return not _PLACEHOLDER.match(secret)


def _is_chosen(secret: str) -> bool:
    """Whether it is a real password, and not a word in a sentence about passwords or a folder (`PWD=/srv/app2`)."""
    return _is_password(secret) and _is_mixed(secret) and not secret.startswith(("/", "~/", "./", "../"))


class SecretShape(Struct, frozen=True):
    """A kind of secret. The group `secret` of its pattern is removed, or the whole match if there is no such group."""

    name: str
    pattern: str
    """Compiled for the first text with one of its hints, because most processes never see most of these secrets."""
    holds: Callable[[str], bool] = _always
    """A further condition that the secret has to meet."""
    hints: tuple[str, ...] = ("",)
    """Every text with such a secret contains one of these, in upper or lower case; searching for them is many times
    faster."""


def _token(shapes: str) -> str:
    return rf"(?<![A-Za-z0-9_-])(?:{shapes})"


_BREAK = r"(?:\s|\\[nr])"
_BASE64 = r"[A-Za-z0-9+/=]"
_KEY_NAME = r"PRIVATE KEY(?: BLOCK)?-----"
_SECRET_NAME = r"(?<![A-Za-z0-9])[A-Za-z0-9_.-]{0,40}(?:api|access|secret|private|auth)[_-]?(?:key|token)"
_GIVEN = r"[\"']?\s{0,3}[=:]\s{0,3}[\"']?"

SHAPES: tuple[SecretShape, ...] = (
    SecretShape(
        "private key",
        (
            rf"-----BEGIN [A-Z ]{{0,24}}?{_KEY_NAME}{_BREAK}*+(?:[A-Za-z-]++: [^\n]*+{_BREAK}++)*+"
            rf"{_BASE64}{{16,}}+(?:{_BREAK}++{_BASE64}{{16,}}+)*+(?:{_BREAK}++{_BASE64}++)?"
            rf"(?:{_BREAK}*+-----END [A-Z ]{{0,24}}?{_KEY_NAME})?"
        ),
        hints=("-----begin ",),
    ),
    SecretShape("OpenAI, Anthropic and others", _token(r"sk-[A-Za-z0-9_-]{20,}+"), _is_random, hints=("sk-",)),
    SecretShape(
        "GitHub",
        _token(r"gh[opsur]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{22,}+"),
        hints=("gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_"),
    ),
    SecretShape("GitLab", _token(r"glpat-[A-Za-z0-9_.-]{20,}+"), hints=("glpat-",)),
    SecretShape(
        "Slack", _token(r"xox[a-z]-[A-Za-z0-9-]{10,}+|xapp-[0-9]-[A-Za-z0-9-]{10,}+"), _is_mixed, hints=("xox", "xapp-")
    ),
    SecretShape("AWS", _token(r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"), hints=("akia", "asia")),
    SecretShape("Google", _token(r"AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}+"), hints=("aiza", "ya29.")),
    SecretShape(
        "Stripe",
        _token(r"(?:[rs]k|whsec)_(?:(?:live|test)_)?[A-Za-z0-9]{24,}+"),
        _is_mixed,
        hints=("rk_", "sk_", "whsec_"),
    ),
    SecretShape(
        "Hugging Face, npm, PyPI",
        _token(r"(?:hf|npm)_[A-Za-z0-9]{30,}+|pypi-[A-Za-z0-9_-]{50,}+"),
        hints=("hf_", "npm_", "pypi-"),
    ),
    SecretShape(
        "Groq, xAI, Replicate", _token(r"(?:gsk_|xai-|r8_)[A-Za-z0-9]{30,}+"), _is_mixed, hints=("gsk_", "xai-", "r8_")
    ),
    SecretShape("SendGrid", _token(r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,}+"), hints=("sg.",)),
    SecretShape("DigitalOcean", _token(r"do[opr]_v1_[a-f0-9]{64}"), hints=("_v1_",)),
    SecretShape("Telegram", r"(?<![0-9])[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", hints=(":",)),
    SecretShape("Discord", _token(r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+"), hints=(".",)),
    SecretShape("Matrix", _token(r"syt_[A-Za-z0-9+/=]{2,}_[A-Za-z]{20}_[A-Za-z0-9]{6}"), hints=("syt_",)),
    SecretShape(
        "JSON Web Token", _token(r"eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+"), hints=("eyj",)
    ),
    SecretShape(
        "webhook address",
        (
            r"(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks/[0-9]{10,}+)/"
            r"(?P<secret>[A-Za-z0-9_/-]{24,}+)"
        ),
        hints=("hooks.slack.com/services", "/api/webhooks/"),
    ),
    SecretShape(
        "authorization",
        r"(?i)\b(?:bearer|basic)\s{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{20,}+)",
        _is_random,
        hints=("bearer", "basic"),
    ),
    SecretShape(
        "credentials in an address",
        r"(?i)(?<![a-z0-9])[a-z][a-z0-9+.-]{1,15}://[^\s/:@]{0,100}:(?P<secret>[^\s/@]{1,200}+)@",
        _is_password,
        hints=("@",),
    ),
    SecretShape(
        "named key",
        rf"(?i){_SECRET_NAME}{_GIVEN}(?P<secret>[A-Za-z0-9+/=_.~-]{{16,}}+)",
        _is_random,
        hints=("key", "token"),
    ),
    SecretShape(
        "named password",
        (
            r"(?i)(?<![A-Za-z0-9])[A-Za-z0-9_.-]{0,40}(?:password|passwd|pwd|secret|token)[\"']?\s{0,3}=\s{0,3}[\"']?"
            r"(?P<secret>[^\s\"',;&()\[\]{}]{6,}+)"
        ),
        _is_chosen,
        hints=("password", "passwd", "pwd", "secret", "token"),
    ),
)


def redact(text: str) -> str:
    """The text without secrets."""
    if not _may_hold_a_secret(text):
        return text
    folded = text.casefold()
    for shape in SHAPES:
        if any(hint in folded for hint in shape.hints):
            pattern = _compiled(shape.pattern)
            text = pattern.sub(_replacement(shape, pattern), text)
    return text


def _may_hold_a_secret(text: str) -> bool:
    """Whether the text may contain a secret: a password follows a `=`, or a `://` in an address; all other shapes
    contain a long word."""
    return "=" in text or "://" in text or _LONG_WORD.search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _replacement(shape: SecretShape, pattern: re.Pattern[str]) -> Callable[[re.Match[str]], str]:
    def replace(found: re.Match[str]) -> str:
        group = "secret" if "secret" in pattern.groupindex else 0
        if not shape.holds(found[group]):
            return found[0]
        start, end = found.span(group)
        return found.string[found.start() : start] + REDACTED + found.string[end : found.end()]

    return replace
