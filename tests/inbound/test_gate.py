"""IN-12, IN-13: one gate. Auth level x actor x entry, and one row per command."""

from typing import Any

import pytest
from msgspec.structs import replace

from rejoinder.events import Sender
from rejoinder.inbound.commands.registry import BUILT_IN
from rejoinder.inbound.directives.table import DIRECTIVES
from rejoinder.inbound.gate import CARRIES, Actor, Allowed, ChannelGate, Denied, GatedAction, authorise
from tests.inbound.floor import GUEST, OWNER, SENDER, STRANGER, house, says, send

# What each actor may do at most, by typing it.
ACTORS = {
    "owner": "owner",
    "sender": "sender",
    "guest": "anyone",
    "stranger": None,
    "bot": None,
    "name-spoofer": None,
    "ex-owner": "anyone",
}
# What an entry lets through at most, whoever acts.
ENTRIES = {
    "text": "owner",
    "native": "owner",
    "button": "owner",
    "http": None,
    "websocket": "owner",
    "reaction": "sender",
    "transcript": "sender",
    "cron": "sender",
    "edit": None,
    "delete": None,
    "forward": None,
    "quote": None,
    "history": None,
    "agent": None,
}
RANK = {None: -1, "anyone": 0, "sender": 1, "owner": 2}
# A sender who is spoofed by name stays what their id says; an owner who was removed is a guest here.
ROLES: dict[str, Any] = {"name-spoofer": "stranger", "ex-owner": "guest"}


@pytest.mark.parametrize("auth", ["anyone", "sender", "owner"])
@pytest.mark.parametrize("actor", ACTORS)
@pytest.mark.parametrize("entry", ENTRIES)
def test_matrix(auth: Any, actor: str, entry: Any) -> None:
    """IN-12: allowed exactly when both the actor and the entry reach that far."""
    verdict = authorise(Actor(ROLES.get(actor, actor), entry), GatedAction("/x", auth), ChannelGate())
    reaches = min(RANK[ACTORS[actor]], RANK[ENTRIES[entry]]) >= RANK[auth]
    assert isinstance(verdict, Allowed if reaches else Denied)


def test_every_entry_has_a_row() -> None:
    """IN-12: an entry without a row fails here."""
    assert set(ENTRIES) == set(CARRIES)


COMMANDS = {
    "help": "anyone",
    "commands": "anyone",
    "whoami": "anyone",
    "why": "sender",
    "status": "sender",
    "usage": "sender",
    "models": "sender",
    "agents": "sender",
    "new": "sender",
    "reset": "sender",
    "stop": "sender",
    "compact": "sender",
    "session": "sender",
    "skill": "sender",
    "think": "sender",
    "verbose": "sender",
    "reasoning": "sender",
    "model": "sender",
    "queue": "sender",
    "approve": "sender",
    "activation": "owner",
    "send": "owner",
    "elevated": "owner",
    "exec": "owner",
    "allowlist": "owner",
    "invite": "owner",
    "config": "owner",
    "debug": "owner",
    "restart": "owner",
    "bash": "owner",
    "resend": "sender",
    "context": "sender",
    "export-session": "sender",
    "kill": "sender",
    "steer": "sender",
    "subagents": "sender",
    "tts": "sender",
}
# What may only an owner say with a command that others may use too.
OWNER_ARGUMENTS = {"approve": "ABCDEFGH", "session": "bots", "resend": "all"}


def test_every_command_has_a_row() -> None:
    """IN-12: the level of each command, written down twice; a command without a row fails here."""
    assert {command.name: command.auth for command in BUILT_IN} == COMMANDS
    assert {d.name: d.auth for d in DIRECTIVES} == {d.name: COMMANDS[d.name] for d in DIRECTIVES}
    assert {command.name for command in BUILT_IN if command.owner_when} == set(OWNER_ARGUMENTS)


@pytest.mark.parametrize(("name", "auth"), COMMANDS.items())
@pytest.mark.parametrize(("sender", "rank"), [(OWNER, 2), (SENDER, 1), (GUEST, 0), (STRANGER, -1)])
def test_no_command_runs_unauthorised(name: str, auth: str, sender: str, rank: int) -> None:
    """IN-14: whoever may not: no effect, no agent, nothing stored; silence, or one fixed line."""
    done = send(says(f"/{name}", sender), house())
    if rank >= RANK[auth]:
        assert not any("is for the owner" in reply for reply in done.replies)
        return
    if rank == 1:
        assert done.replies == (f"/{name} is for the owner.",)
    elif RANK[auth] > 0:
        assert done.replies == ()
        assert type(done.outcome).__name__ == "Drop"
    assert not [effect for effect in done.effects if type(effect).__name__ != "AskPairing"]
    assert type(done.outcome).__name__ != "Continue"


@pytest.mark.parametrize(("name", "words"), OWNER_ARGUMENTS.items())
def test_some_arguments_are_the_owners(name: str, words: str) -> None:
    """IN-61: approving a pairing is the owner's; a permission request is its asker's."""
    assert send(says(f"/{name} {words}"), house()).replies == (f"/{name} is for the owner.",)


def test_a_name_makes_nobody_an_owner() -> None:
    """IN-12: who calls himself like the owner is still whom his id says."""
    spoofer = Sender(STRANGER, name=OWNER, display_name=f"telegram:{OWNER}")
    done = send(replace(says("hello"), sender=spoofer), house())
    assert done.message.actor.role == "stranger"


def test_who_was_taken_off_the_list_is_no_owner_any_more() -> None:
    """IN-13: the list of now counts."""
    assert send(says("x", OWNER), house()).message.actor.role == "owner"
    assert send(says("x", OWNER), house(owners=())).message.actor.role == "stranger"


def test_a_channel_may_leave_commands_to_owners() -> None:
    """IN-13: `owner_only_commands` raises what a sender could do; what anyone may do stays."""
    rules = house(owner_only_commands=True)
    assert send(says("/status"), rules).replies == ("/status is for the owner.",)
    assert send(says("/think high"), rules).replies == ("/think is for the owner.",)
    assert send(says("/help"), rules).replies
    assert send(says("/status", OWNER), rules).replies[0].startswith("rejoinder")


def test_cron_acts_as_a_sender() -> None:
    """IN-12: a timer may begin a new session, but not restart the gateway."""
    rules = house()
    assert send(says("/new good morning", "cron", entry="cron"), rules).effects
    assert not send(says("/restart", "cron", entry="cron"), rules).effects
