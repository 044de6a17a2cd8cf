"""What a platform's own menu of commands is made of (CH-9)."""

from msgspec import Struct


class MenuOption(Struct, frozen=True):
    """One option of a command. A platform that has choices of its own offers these; `rest`: any words, with blanks."""

    name: str
    help: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    rest: bool = False
    suggests: bool = False
    """`Inlet.suggest` knows values that fit what was typed so far."""


class MenuCommand(Struct, frozen=True):
    """One command of the platform's own menu (CH-9)."""

    name: str
    help: str
    options: tuple[MenuOption, ...] = ()
    private: bool = False
    """Its answer is for the person alone, where the platform can show it so."""
    aliases: tuple[str, ...] = ()
