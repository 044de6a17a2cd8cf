"""The first stage: derives the texts of a message, identifies its sender and parses its text, each once (IN-2 to
IN-6)."""

from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import Inbound, ReviseMessage
from rejoinder.inbound.access import admit
from rejoinder.inbound.activation import own_mentions, who_is_addressed
from rejoinder.inbound.commands.native import typed_out
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.gate import CARRIES, Actor, Source
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Continue, Drop, Outcome
from rejoinder.inbound.reading import NOTHING_READ, OwnNames, read
from rejoinder.inbound.rooms import members, whose_message
from rejoinder.inbound.rules import ChannelRules, Rules, channel_rules
from rejoinder.inbound.spoken import spoken_command
from rejoinder.inbound.understanding import unheard_notice

UNKNOWN_TYPE = "application/octet-stream"


def undecided_message(inbound: Inbound, facts: Facts) -> InboundMessage:
    """A message before anything is known about it: its sender is not let in, nothing is authorised."""
    return InboundMessage(inbound, facts)


def finalise(message: InboundMessage, session: None, rules: Rules, now: datetime) -> Outcome:
    """Works out the texts, types, sender and requests of the message, each once."""
    inbound, facts = message.inbound, message.facts
    if inbound.entry == "reaction":
        return Drop("a reaction is not a message")
    if inbound.entry == "delete":
        return Drop("the message was deleted", effects=(ReviseMessage(inbound.message_id, None),))
    if inbound.invoked is not None:
        inbound = typed_out(inbound, rules)
    text, around, source = _texts(inbound)
    if source == "transcript":
        text = spoken_command(text, rules.commands)
    if not text.strip() and not (around or "").strip() and not _carries_something(inbound):
        return Drop("it is empty")
    channel = channel_rules(rules, inbound.channel)
    admission = admit(inbound, facts, channel)
    actor = Actor(admission.role, source, inbound.sender.id)
    agent = whose_message(inbound, channel, facts.answers)
    reading = NOTHING_READ
    if text and CARRIES[source] is not None:
        known = channel.vocabularies[agent]
        if facts.offered:  # with the models that the agent lists
            known = replace(known, models=replace(known.models, offered=facts.offered))
        reading = read(text, rules, known, _own_names(inbound, facts, channel, agent), entry=inbound.entry)
    return Continue(
        InboundMessage(
            inbound=_with_types(inbound) if inbound.attachments else inbound,
            facts=facts,
            text=text,
            framed_text=around,
            actor=actor,
            refusal=admission.refusal,
            addressed=who_is_addressed(inbound, facts, channel, text),
            reading=reading,
            agents=(agent,),
        ),
        replies=unheard_notice(inbound) if inbound.attachments else (),
    )


def _own_names(inbound: Inbound, facts: Facts, channel: ChannelRules, agent: str) -> OwnNames:
    if not inbound.mentions and not channel.is_room:
        return OwnNames(facts.me.name)
    names = OwnNames(facts.me.name, own_mentions(inbound, facts, channel, agent))
    if not channel.is_room:
        return names
    return replace(names, anyone=own_mentions(inbound, facts, channel, *members(inbound, channel), "all"))


def _texts(inbound: Inbound) -> tuple[str, str | None, Source]:
    """The sender's own text, the channel's text for the agent if it differs, and the source of the sender's text."""
    source: Source = inbound.entry
    body = inbound.text
    forwarded = inbound.forwarded
    if forwarded is not None and body == forwarded.text:
        body, source = "", "forward"
    elif not body and inbound.transcript is not None and forwarded is None:
        body, source = inbound.transcript, "transcript"
    if inbound.command_text is not None:
        body = inbound.command_text
    elif inbound.raw_text is not None:
        body = inbound.raw_text
    text, around = _with_newlines(body), inbound.agent_text
    if around is not None:
        around = _with_newlines(around)
    return text, None if around == text else around, source


def _with_newlines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _carries_something(inbound: Inbound) -> bool:
    return bool(inbound.attachments or inbound.forwarded or inbound.untrusted_context)


def _with_types(inbound: Inbound) -> Inbound:
    if all(attachment.mime for attachment in inbound.attachments):
        return inbound
    typed = (replace(each, mime=each.mime.strip() or UNKNOWN_TYPE) for each in inbound.attachments)
    return replace(inbound, attachments=tuple(typed))
