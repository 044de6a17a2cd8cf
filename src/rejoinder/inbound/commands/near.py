"""Recognises a text that is almost a command (IN-60): `/staus` alone, unless it is the name of something else.

Rule 1: one extra, missing or wrong letter, or two swapped neighbours, is one mistake. A name of seven letters or more
may have two. Names of one or two letters are close to everything, so they are never suggested.
Rule 2: the sender is only asked about commands that they may use.
"""

import re
from typing import TYPE_CHECKING

from rejoinder.inbound.gate import Auth, Denied, GatedAction, authorise
from rejoinder.inbound.rules import Rules, channel_rules

if TYPE_CHECKING:
    from rejoinder.inbound.message import InboundMessage

_TYPED = re.compile(r"/([A-Za-z][\w\-]*)(?:@([\w.\-]+))?:?")
_SHORTEST = 3
_LONG = 7
_LONGEST = 32
_FAR = 200  # a mention and a command fit into this many characters
_AFTER_A_NAME = " \t\n,:"
_SENT_BY_PLATFORMS = frozenset({"start"})  # Telegram sends it for everybody who opens the chat


def nearest(message: "InboundMessage", rules: Rules) -> tuple[str, tuple[str, ...]] | None:
    """What was typed, and the command or commands closest to it."""
    if "/" not in message.text[:_FAR] or not rules.settings.commands.text or message.actor.source == "native":
        return None
    typed = None if message.brings_files else _TYPED.fullmatch(_bare(message))
    if typed is None or len(name := typed[1].lower()) > _LONGEST:
        return None
    if typed[2] and typed[2].lower() != message.facts.me.name.lower():
        return None
    if any(name in theirs for theirs in (_SENT_BY_PLATFORMS, message.facts.announced, rules.skills, _names(rules))):
        return None
    near = [(off, each) for each in _offered(message, rules) if (off := mistakes(name, each)) <= _allowed(each)]
    best = min((off for off, _ in near), default=0)
    return (f"/{name}", tuple(f"/{each}" for off, each in near if off == best)) if near else None


def _bare(message: "InboundMessage") -> str:
    """The text without our own name around it; empty if it is too long to be a command's name."""
    text = message.text if len(message.text) <= 2 * _FAR else ""
    for name in message.names_of_ours:
        text = text.replace(name, " ")
    return text.lstrip(_AFTER_A_NAME).rstrip()


def _names(rules: Rules) -> set[str]:
    return {*rules.commands, *(trigger.removeprefix("/") for trigger in rules.triggers)}


def _offered(message: "InboundMessage", rules: Rules) -> list[str]:
    """The names of commands that this sender may use."""
    gate = channel_rules(rules, message.inbound.channel).gate
    commands = rules.commands
    auths: dict[str, Auth] = {name: command.auth for name, command in commands.items()}
    auths |= {trigger[1:]: "sender" for trigger in rules.triggers if trigger.startswith("/")}
    may = (
        n for n, auth in auths.items() if not isinstance(authorise(message.actor, GatedAction(n, auth), gate), Denied)
    )
    return [name for name in may if len(name) >= _SHORTEST]


def _allowed(name: str) -> int:
    return 2 if len(name) >= _LONG else 1


def mistakes(typed: str, meant: str) -> int:
    """How many letters are extra, missing, wrong or swapped with their neighbour; 3 stands for more than two."""
    if abs(len(typed) - len(meant)) > 2:
        return 3
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for i, letter in enumerate(typed, 1):
        two_before, before, row = before, row, [i]
        for j, other in enumerate(meant, 1):
            cost = min(row[j - 1] + 1, before[j] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == meant[j - 2] and typed[i - 2] == other:
                cost = min(cost, two_before[j - 2] + 1)
            row.append(cost)
    return min(row[-1], 3)
