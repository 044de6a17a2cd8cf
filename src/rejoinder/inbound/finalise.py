"""The first stage: one message, its texts derived once, its sender known, its text read (IN-2 to IN-6)."""

from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import Inbound, ReviseMessage
from rejoinder.inbound.access import admit
from rejoinder.inbound.activation import own_mentions, who_is_addressed
from rejoinder.inbound.commands.native import typed_out
from rejoinder.inbound.directives.tokenise import Vocabulary
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.gate import CARRIES, Actor, Source
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Continue, Drop, Outcome
from rejoinder.inbound.reading import NOTHING_READ, OwnNames, read
from rejoinder.inbound.rooms import members, whose_message
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.inbound.spoken import spoken_command
from rejoinder.inbound.understanding import told_unheard

UNKNOWN_TYPE = "application/octet-stream"


def arrived(inbound: Inbound, facts: Facts) -> InboundMessage:
    """A message before anything is known about it: its sender is not let in, nothing is authorised."""
    return InboundMessage(inbound, facts)


def finalise(message: InboundMessage, session: None, rules: Rules, now: datetime) -> Outcome:
    """Texts, types, sender and wishes of the message, each worked out once."""
    inbound, facts = message.inbound, message.facts
    if inbound.entry == "reaction":
        return Drop("a reaction is not a message")
    if inbound.entry == "delete":
        return Drop("a deleted message is no message", effects=(ReviseMessage(inbound.message_id, None),))
    inbound = typed_out(inbound, rules)
    text, around, source = _texts(inbound)
    if source == "transcript":
        text = spoken_command(text, rules.commands)
    if not text.strip() and not (around or "").strip() and not _carries_something(inbound):
        return Drop("there is nothing in it")
    channel = channel_rules(rules, inbound.channel)
    admission = admit(inbound, facts, channel)
    actor = Actor(admission.role, source, inbound.sender.id)
    agent = whose_message(inbound, channel, facts.answers)
    reading = NOTHING_READ
    if text and CARRIES[source] is not None:
        names = OwnNames(facts.me.name, own_mentions(inbound, facts, channel, agent))
        if channel.is_room:
            names = replace(names, anyone=own_mentions(inbound, facts, channel, *members(inbound, channel), "all"))
        reading = read(text, rules, _known(channel.vocabularies[agent], facts), names, entry=inbound.entry)
    return Continue(
        InboundMessage(
            inbound=_with_types(inbound),
            facts=facts,
            text=text,
            around=around,
            actor=actor,
            refusal=admission.refusal,
            addressed=who_is_addressed(inbound, facts, channel, text),
            reading=reading,
            agents=(agent,),
        ),
        replies=told_unheard(inbound),
    )


def _known(known: Vocabulary, facts: Facts) -> Vocabulary:
    """With the models that the agent says it has."""
    return replace(known, models=replace(known.models, offered=facts.offered)) if facts.offered else known


def _texts(inbound: Inbound) -> tuple[str, str | None, Source]:
    """The sender's own text, the channel's text for the agent if it differs, and the source of the sender's text."""
    source: Source = inbound.entry
    body = inbound.text
    forwarded = inbound.forwarded
    if forwarded is not None and body == forwarded.text:
        body, source = "", "forward"
    elif not body and inbound.transcript is not None and forwarded is None:
        body, source = inbound.transcript, "transcript"
    text = _first(inbound.command_text, inbound.raw_text, body)
    agent_text = _first(inbound.agent_text, text)
    return text, None if agent_text == text else agent_text, source


def _first(*texts: str | None) -> str:
    """The first text that is not None; an empty one counts."""
    for text in texts:
        if text is not None:
            return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return ""


def _carries_something(inbound: Inbound) -> bool:
    return bool(inbound.attachments or inbound.forwarded or inbound.untrusted_context)


def _with_types(inbound: Inbound) -> Inbound:
    if not inbound.attachments or all(attachment.mime for attachment in inbound.attachments):
        return inbound
    typed = (replace(each, mime=each.mime.strip() or UNKNOWN_TYPE) for each in inbound.attachments)
    return replace(inbound, attachments=tuple(typed))
