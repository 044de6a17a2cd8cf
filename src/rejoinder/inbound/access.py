"""Who may talk (IN-10, IN-11): people and groups by id, everybody if the channel is open, strangers by pairing."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, get_args

from msgspec import Struct

from rejoinder.events import AskPairing, Inbound
from rejoinder.inbound.commands.command import read_arguments
from rejoinder.inbound.directives.table import BY_NAME
from rejoinder.inbound.directives.tokenise import Token
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.gate import Auth, Denied, GatedAction, Role, authorise
from rejoinder.inbound.ids import Ids, candidates, read_ids
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Answer, Continue, Drop, Outcome
from rejoinder.inbound.pairing import VALID_FOR, StayQuiet, answer_stranger
from rejoinder.inbound.revisions import revision_of
from rejoinder.inbound.rules import ChannelRules, Rules, channel_rules

STRICTNESS: Final[dict[Auth, int]] = {auth: strictness for strictness, auth in enumerate(get_args(Auth))}
ADMITTED: Final = {role: Continue(reason=f"let in as {role}") for role in get_args(Role)}


class Admission(Struct, frozen=True):
    """The sender's role for the gate, and why they are not let in; None if they are."""

    role: Role
    refusal: str | None = None


def edited_allow(channel: str, edits: Iterable[tuple[str, bool]], rules: Rules) -> Ids | None:
    """The allow list with the owners' edits (entries, and whether they are listed); None if there are no edits."""
    edits = tuple(edits)
    if not edits:
        return None
    allow = channel_rules(rules, channel).allow
    for entry, listed in edits:
        ids = ids_of_entry(channel, entry, rules)
        allow = allow | ids if listed else allow - ids
    return allow


def ids_of_entry(channel: str, entry: str, rules: Rules) -> Ids:
    """The ids that an entry of the allow list names."""
    return read_ids((entry,), channel_rules(rules, channel).place, channels=rules.channels, where="allow")


def admit(inbound: Inbound, facts: Facts, channel: ChannelRules) -> Admission:
    """Decides from ids and configuration alone; names and texts are never considered."""
    if inbound.sender.is_bot:
        # A program's token names the chats it may write in.
        return Admission("bot", None if inbound.entry == "http" else _group_refusal(inbound, channel))
    if inbound.entry == "cron":
        return Admission("owner")
    ids = candidates(channel.place.identity, inbound.sender)
    account = inbound.account
    owner = channel.owners.named(account, ids)
    allow = channel.allow if facts.allow is None else facts.allow
    named = owner or facts.paired or allow.named(account, ids)
    direct = inbound.chat.kind == "direct"
    refusal = _direct_refusal(named, channel) if direct else _group_refusal(inbound, channel)
    if owner:
        return Admission("owner", refusal)
    if refusal is not None:
        return Admission("stranger", refusal)
    commands = named if channel.commanders is None else channel.commanders.named(account, ids)
    return Admission("sender" if commands else "guest")


def _direct_refusal(named: bool, channel: ChannelRules) -> str | None:
    match channel.settings.dm:
        case "off":
            return "direct chats are off on this channel"
        case "allowlist" if not named:
            return "this sender is not on the allow-list"
        case "pairing" if not named:
            return "this sender is not paired"
        case _:
            return None


def _group_refusal(inbound: Inbound, channel: ChannelRules) -> str | None:
    if inbound.chat.kind == "direct":
        return None
    match channel.settings.groups:
        case "off":
            return "groups are off on this channel"
        case "allowlist" if not channel.allow_groups.named(inbound.account, (inbound.chat.id, inbound.chat.former)):
            return "this group is not on the allow-list"
        case _:
            return None


def access(message: InboundMessage, session: None, rules: Rules, now: datetime) -> Outcome:
    """Lets the sender in, drops the message, or tells a stranger a pairing code. A stranger's text goes no further."""
    if message.refusal is None:
        admitted = ADMITTED[message.actor.role]
        return admitted if message.inbound.entry != "edit" else revision_of(message) or admitted
    inbound = message.inbound
    channel = channel_rules(rules, inbound.channel)
    if channel.settings.dm != "pairing" or message.in_group:
        return Drop(message.refusal)
    if (wish := control_action(message, rules)) is not None:
        verdict = authorise(message.actor, wish, channel.gate)
        if wish.auth != "anyone" and isinstance(verdict, Denied):
            return Drop(verdict.reason)
    answer = answer_stranger(message.facts.pairing, inbound.sender.id, now, message.facts.random)
    if isinstance(answer, StayQuiet):
        return Drop(answer.reason)
    return Answer(
        (f"I do not know you yet. Ask the owner to approve this pairing code: {answer.code} (valid for an hour).",),
        effects=(
            AskPairing(
                channel=inbound.channel,
                account=inbound.account,
                sender=inbound.sender.id,
                code=answer.code,
                asked=answer.asked,
                expires=answer.asked + VALID_FOR,
            ),
        ),
        reason=message.refusal,
    )


def control_action(message: InboundMessage, rules: Rules) -> GatedAction | None:
    """The requested action, if the whole message is a control command."""
    reading = message.reading
    if reading.stop == "command":
        return GatedAction("/stop", "sender")
    if reading.reset and (reading.reset.closes is None or reading.only):
        return GatedAction(reading.reset.trigger, "sender")
    actions: list[GatedAction] = []
    if called := reading.invocation:
        auth = "sender"
        if (command := called.command) is not None:
            auth = command.auth_for(read_arguments(command, called.line), in_group=message.in_group)
        actions.append(GatedAction(f"/{called.name}", auth))
    if reading.alone or reading.only:
        actions += [_action_of(token, rules, in_group=message.in_group) for token in reading.tokens]
    return max(actions, key=lambda action: STRICTNESS[action.auth], default=None)


def _action_of(token: Token, rules: Rules, *, in_group: bool) -> GatedAction:
    match token.kind:
        case "directive":
            auth = BY_NAME[token.name].auth
        case "command":
            command = rules.commands[token.name]
            auth = command.auth_for(read_arguments(command, token.value), in_group=in_group)
        case "reset" | "stop":
            auth = "sender"
    return GatedAction(f"/{token.name}", auth)
