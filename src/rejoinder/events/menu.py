"""The entries of a platform's own menu of commands (CH-9)."""

from msgspec import Struct


class MenuOption(Struct, frozen=True):
    """One option of a command. A platform that can show choices offers them. `rest`: any words, with blanks."""

    name: str
    help: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    rest: bool = False
    suggests: bool = False
    """Whether `Inlet.suggest` knows values that match what was typed so far."""


class MenuCommand(Struct, frozen=True):
    """One command of the platform's own menu (CH-9)."""

    name: str
    help: str
    options: tuple[MenuOption, ...] = ()
    private: bool = False
    """Whether its answer is for the person alone, if the platform can show it that way."""
    aliases: tuple[str, ...] = ()
