"""All commands, from the topic files and the table of directives. Help, menus and docs are generated from here."""

from collections.abc import Iterable, Mapping

from rejoinder.errors import BadConfiguration
from rejoinder.events import MenuCommand, MenuOption
from rejoinder.inbound.commands import access, help, operate, session, speech, status, subagents
from rejoinder.inbound.commands.command import Arg, Command
from rejoinder.inbound.directives.levels import LEVELS, level_options
from rejoinder.inbound.directives.table import DIRECTIVES, InlineDirective


def _levels() -> tuple[Command, ...]:
    return tuple(
        Command(
            directive.name,
            directive.help,
            "levels",
            auth=directive.auth,
            args=(_value(directive),),
            aliases=(*directive.names, *((directive.letter,) if directive.letter else ())),
            stage="inline_directives",
        )
        for directive in DIRECTIVES
        if directive.name != "status"
    )


def _value(directive: InlineDirective) -> Arg:
    choices = level_options(directive.name) if directive.name in LEVELS else ()
    suggests = "models" if directive.name == "model" else ""
    return Arg("value", choices, rest=True, told="" if choices else directive.options, suggests=suggests)


BUILT_IN: tuple[Command, ...] = (
    *help.COMMANDS,
    *status.COMMANDS,
    *session.COMMANDS,
    *speech.COMMANDS,
    *subagents.COMMANDS,
    *_levels(),
    *access.COMMANDS,
    *operate.COMMANDS,
)
"""The topics in the order of menus and docs; a test makes sure that no topic file is missing."""
INLINE: dict[str, str] = {
    name: command.name for command in BUILT_IN if command.inline for name in (command.name, *command.aliases)
}


def commands_by_name(plugins: Iterable[Command] = ()) -> Mapping[str, Command]:
    """Every name and alias with its command. A plug-in cannot use a name that is already in use (IN-65)."""
    commands: dict[str, Command] = {}
    for command in (*BUILT_IN, *plugins):
        for name in (command.name.lower(), *map(str.lower, command.aliases)):
            if name in commands:
                raise BadConfiguration(
                    f"two commands are called /{name}: {commands[name].name!r} and {command.name!r}; "
                    "a plug-in has to choose another name"
                )
            commands[name] = command
    return commands


def native_menu(plugins: Iterable[Command] = ()) -> tuple[MenuCommand, ...]:
    """Each command that a platform's own menu shows, with its options (CH-9)."""
    shown = (each for each in (*BUILT_IN, *plugins) if each.scope != "text")
    return tuple(map(_offered, shown))


def _offered(command: Command) -> MenuCommand:
    return MenuCommand(
        command.name,
        command.help,
        tuple(map(_option, command.args)),
        private=command.private,
        aliases=command.aliases,
    )


def _option(arg: Arg) -> MenuOption:
    about = arg.told or ", ".join(arg.choices) or arg.name
    return MenuOption(arg.name, about, arg.choices, arg.required, arg.rest, suggests=bool(arg.suggests))
