"""Helps to word mistakes: the nearest name, a list of choices, a key as one would type it."""

import difflib
import json
import re
from collections.abc import Iterable
from urllib.parse import unquote

from rejoinder.config.positions import Path
from rejoinder.secret import FromEnvironment

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PASSWORD = re.compile(r"(://[^/?#\s:@]*:)\S*@")
_ARGUMENT = re.compile(r"(?<=[?&])([^=&#\s]*)=[^&#\s]*")
_SECRET_ARGUMENTS = frozenset({"password", "passwd", "sslpassword", "token", "key", "api_key", "secret"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def dotted(path: Path) -> str:
    """The key as one would type it: `channels.telegram.allow[2]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _BARE.fullmatch(part) else quoted(part))
    return text


def quoted(text: str) -> str:
    """The text as TOML writes it: with JSON's escapes, and an escape for DEL, which TOML does not allow bare."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; `requireMention` is `require_mention`."""
    names = {name.casefold(): name for name in known}
    plain = _CAMEL.sub("_", word).replace("-", "_").casefold()
    for spelling in (word.casefold(), plain, plain.replace("_", "-")):
        if close := difflib.get_close_matches(spelling[:80], names, n=1, cutoff=0.7):
            return names[close[0]]
    return None


def listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean "token"?`, or what to say when nothing is near."""
    near = nearest(word, known)
    return f"did you mean {quoted(near)}?" if near else otherwise


def shown(text: str) -> str:
    """A text of the configuration in the form for an error message: shortened, without values of the environment and
    without passwords."""
    written = text.written if isinstance(text, FromEnvironment) else text
    hidden = without_password(written)
    return quoted(hidden if len(hidden) <= 60 else f"{hidden[:60]}...")


def without_password(text: str) -> str:
    """An address without its password."""
    return _ARGUMENT.sub(_hidden, _PASSWORD.sub(r"\1***@", text))


def _hidden(argument: re.Match[str]) -> str:
    """Decodes a name: it may be written with `%70` and the like, which means the same."""
    is_secret = unquote(argument[1]).lower() in _SECRET_ARGUMENTS
    return f"{argument[1]}=***" if is_secret else argument[0]
