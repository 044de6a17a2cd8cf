"""`${VAR}` in the texts of a configuration; `$${` is a plain `${`."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from rejoinder.config.positions import Path
from rejoinder.config.wording import nearest
from rejoinder.secret import FromEnvironment

_REFERENCE = re.compile(r"\$\$\{|\$\{([^}]*)\}?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class NotFilledIn:
    """Takes the place of a text that could not be filled in; the mistake is already noted."""


def fill_in(value: Any, environment: Mapping[str, str], wrong: Callable[[Path, str], None], path: Path = ()) -> Any:
    """The same values with each `${VAR}` replaced; `wrong` is called, with the key, for each that cannot be."""
    match value:
        case str() if "${" in value:
            return _filled(value, environment, lambda sentence: wrong(path, sentence))
        case dict():
            items = cast("dict[str, Any]", value)
            return {key: fill_in(item, environment, wrong, (*path, key)) for key, item in items.items()}
        case list():
            elements = cast("list[Any]", value)
            return [fill_in(item, environment, wrong, (*path, index)) for index, item in enumerate(elements)]
        case _:
            return value


def _filled(text: str, environment: Mapping[str, str], wrong: Callable[[str], None]) -> str | NotFilledIn:
    missing = False
    used = False

    def replacement(reference: re.Match[str]) -> str:
        nonlocal missing, used
        name = reference[1]
        if name is None:
            return "${"
        if not _NAME.fullmatch(name) or not reference[0].endswith("}"):
            missing = True
            wrong("${ } needs the name of an environment variable, as in ${MY_TOKEN}; write $${ for a plain ${")
            return ""
        if name not in environment:
            missing = True
            near = nearest(name, environment)
            wrong(
                f"the environment variable {name} is not set; "
                + (f"did you mean {near}?" if near else "set it before starting rejoinder")
            )
            return ""
        used = True
        return environment[name]

    filled = _REFERENCE.sub(replacement, text)
    if missing:
        return NotFilledIn()
    if not used:
        return filled
    from_environment = FromEnvironment(filled)
    from_environment.written = text
    return from_environment
