"""Slash commands, buttons and menus: a choice becomes a message, and our commands become a menu (CH-26). Pure.

Discord waits three seconds for an acknowledgement; the token of an interaction is then valid for fifteen minutes.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from rejoinder.channels.discord.parse import BotIdentity, EventPlace, sender_of
from rejoinder.channels.discord.payloads import CHOOSE, EPHEMERAL
from rejoinder.channels.discord.places import moment
from rejoinder.channels.discord.wire import AUTOCOMPLETE, COMMAND, COMPONENT, Interaction, Pressed, User
from rejoinder.events import Inbound, Invoked, MenuCommand, MenuOption, Quote, ReplyContext

TOKEN_SECONDS = 14.5 * 60
"""Discord's fifteen minutes, less the time that a slow call takes."""
ANSWER, DEFERRED, DEFERRED_UPDATE, CHOICES = 4, 5, 6, 8
TEXT_OPTION = 3
MOST_COMMANDS, MOST_CHOICES, LONGEST_CHOICE, LONGEST_HELP = 100, 25, 100, 100
BUSY = "I cannot take this at the moment, because I could not store it. Please try again in a minute."
APPLICATION, KIND = "application", "kind"

_NAME = re.compile(r"[-_a-z0-9]{1,32}")


def parse_interaction(interaction: Interaction, where: EventPlace, me: BotIdentity) -> Inbound | None:
    """A command as it would be typed, or the words of a button; None for anything else."""
    data, person = interaction.data or Pressed(), _person(interaction)
    if person is None or interaction.type not in (COMMAND, COMPONENT, AUTOCOMPLETE):
        return None
    invoked = None if interaction.type == COMPONENT else _invoked(data)
    shown = interaction.message
    return Inbound(
        channel=me.channel,
        event_id=f"interaction:{interaction.id}",
        message_id=f"interaction:{interaction.id}",
        chat=where.chat,
        sender=sender_of(person, interaction.member),
        text=_words(data) if invoked is None else " ".join((f"/{invoked.name}", *invoked.options.values())),
        entry="button" if invoked is None else "native",
        thread=where.thread,
        reply_to=Quote(shown.id, me.id, me.name, shown.content or "") if shown is not None else None,
        invoked=invoked,
        reply_context=_context(interaction),
        sent_at=datetime.fromtimestamp(moment(interaction.id), UTC),
    )


def _person(interaction: Interaction) -> User | None:
    return interaction.user or (interaction.member.user if interaction.member is not None else None)


def _words(data: Pressed) -> str:
    return (data.values or [""])[0] if data.custom_id == CHOOSE else data.custom_id


def _invoked(data: Pressed) -> Invoked:
    return Invoked(data.name, {option.name: str(option.value) for option in data.options or () if option.value})


def _context(interaction: Interaction) -> ReplyContext:
    expires = datetime.fromtimestamp(moment(interaction.id) + TOKEN_SECONDS, UTC)
    kind = "command" if interaction.type == COMMAND else "button"
    return ReplyContext(interaction.token, expires, True, {APPLICATION: interaction.application_id, KIND: kind})


def focused(interaction: Interaction) -> str:
    """The option whose value is being typed."""
    options = interaction.data.options if interaction.data is not None else None
    return next((option.name for option in options or () if option.focused), "")


# --- the acknowledgement --------------------------------------------------------------------------


def heard(interaction: Interaction, private: Iterable[str]) -> dict[str, Any]:
    """Says that the interaction was received and an answer may follow. `private`: commands whose answer only the person
    may see."""
    if interaction.type == COMPONENT:
        return {"type": DEFERRED_UPDATE}
    name = interaction.data.name if interaction.data is not None else ""
    return {"type": DEFERRED, "data": {"flags": EPHEMERAL if name in private else 0}}


def busy() -> dict[str, Any]:
    return {"type": ANSWER, "data": {"content": BUSY, "flags": EPHEMERAL}}


def suggested(values: Iterable[str]) -> dict[str, Any]:
    fitting = [value for value in dict.fromkeys(values) if 0 < len(value) <= LONGEST_CHOICE][:MOST_CHOICES]
    return {"type": CHOICES, "data": {"choices": [{"name": value, "value": value} for value in fitting]}}


# --- the menu -------------------------------------------------------------------------------------


def commands(menu: Iterable[MenuCommand]) -> list[dict[str, Any]]:
    """The commands that Discord allows in a menu; the others can still be typed."""
    fitting = {command.name: command for command in menu if _NAME.fullmatch(command.name) and command.help}
    return [_command(command) for command in list(fitting.values())[:MOST_COMMANDS]]


def _command(command: MenuCommand) -> dict[str, Any]:
    options = sorted(command.options, key=lambda option: not option.required)  # Discord wants these first
    described: dict[str, Any] = {"name": command.name, "type": 1, "description": command.help[:LONGEST_HELP]}
    return {**described, "options": [_option(option) for option in options if _NAME.fullmatch(option.name)]}


def _option(option: MenuOption) -> dict[str, Any]:
    about = (option.help or option.name)[:LONGEST_HELP]
    written: dict[str, Any] = {"type": TEXT_OPTION, "name": option.name, "description": about}
    written["required"] = option.required
    choices = [choice for choice in option.choices if 0 < len(choice) <= LONGEST_CHOICE]
    if option.suggests:
        written["autocomplete"] = True
    elif choices and len(choices) <= MOST_CHOICES:
        written["choices"] = [{"name": choice, "value": choice} for choice in choices]
    return written
