"""This floor's tables as Markdown, for the docs: generated from the code, so the two cannot disagree."""

from typing import get_args

from rejoinder.inbound import BEFORE_SESSION, WITH_SESSION
from rejoinder.inbound.commands.registry import BUILT_IN
from rejoinder.inbound.directives import exec, queue
from rejoinder.inbound.directives.levels import ALSO_DEFAULT, DEFAULT, LEVELS, level_names
from rejoinder.inbound.directives.table import DIRECTIVES
from rejoinder.inbound.gate import CARRIES, MAY, Role
from rejoinder.inbound.stop_words import STOP_WORDS
from rejoinder.tables import table


def stages() -> str:
    """The stages in order, each with its docstring."""
    early = [[f"`{stage.__name__}`", "no", _first_line(stage)] for stage in BEFORE_SESSION]
    late = [[f"`{stage.__name__}`", "yes", _first_line(stage)] for stage in WITH_SESSION]
    return table(("stage", "knows the session", "decides"), (*early, *late))


def commands() -> str:
    """The commands that work."""
    rows = [
        [
            f"`{command.usage}`",
            ", ".join(f"`/{name}`" for name in command.aliases),
            command.auth,
            command.help,
        ]
        for command in BUILT_IN
    ]
    return table(("command", "also", "who", "does"), rows)


def directives() -> str:
    """The inline directives."""
    rows = [
        [
            ", ".join(f"`/{name}`" for name in (each.name, *each.names, *((each.letter,) if each.letter else ()))),
            each.auth,
            f"`{each.options}`" if each.options else "",
            each.help,
        ]
        for each in DIRECTIVES
    ]
    return table(("write", "who", "argument", "means"), rows)


def levels() -> str:
    """Every level with its other spellings."""
    rows = [(f"/{name}", level, words[level]) for name, words in LEVELS.items() for level in level_names(name)]
    rows.append(("any of these", DEFAULT, ALSO_DEFAULT))
    rows += [("/queue", mode, others) for mode, others in queue.ALSO_MODES.items()]
    rows += [("/queue", f"drop={drop}", others) for drop, others in queue.ALSO_DROPS.items()]
    for option, others in exec.ALSO.items():
        for value in dict.fromkeys(others.values()):
            words = tuple(word for word, meant in others.items() if meant == value)
            rows.append(("/exec", f"{option}={value}", words))
    said = [[name if " " in name else f"`{name}`", f"`{level}`", _code(words)] for name, level, words in rows]
    return table(("directive", "level", "also written"), said)


def _code(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def who_may() -> str:
    """What each role may do."""
    roles: tuple[Role, ...] = get_args(Role)
    rows = [[auth, *("yes" if role in allowed else "no" for role in roles)] for auth, allowed in MAY.items()]
    return table(("a command for", *roles), rows)


def what_entries_carry() -> str:
    """How much authority a message has, by the way it came in."""
    return table(("came in as", "at most"), [[source, carried or "nothing"] for source, carried in CARRIES.items()])


def stop_words() -> str:
    """The words that stop a run, by language."""
    return table(("language", "words"), [[code, ", ".join(words)] for code, words in STOP_WORDS.items()])


def _first_line(stage: object) -> str:
    return (stage.__doc__ or "").partition("\n")[0]
