"""Whether a message in a group is for us (IN-22, IN-30 to IN-33), and whom it wakes in a room (IN-25)."""

import re
from datetime import datetime

from msgspec.structs import replace

from rejoinder.events import Chat, EarlierMessage, Inbound, Overhear
from rejoinder.inbound.access import control_action
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.gate import Allowed, authorise
from rejoinder.inbound.message import Addressed, InboundMessage
from rejoinder.inbound.outcome import Continue, Drop, Outcome
from rejoinder.inbound.rooms import members, named_in, names_everybody, who_is_named, who_wakes, words_for
from rejoinder.inbound.rules import ChannelRules, Rules, channel_rules
from rejoinder.inbound.settings import GroupSettings
from rejoinder.session import Session

DIRECT = Continue(reason="a direct chat")
_EVERY_GROUP = GroupSettings()
# Invisible characters must not hide a name from a pattern.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def activation(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    """Direct messages pass. In a group the message has to be for us; other messages are kept as history."""
    channel = channel_rules(rules, message.inbound.channel)
    if not message.in_group:
        return DIRECT if not channel.is_room else _in_room(message, channel)
    group = group_settings(channel, message.inbound.chat)
    if group.mode == "off":
        return Drop("this group is off")
    if (over := _over_limit(message, group)) and not _answers_itself(message):
        return Drop(over)
    if (wish := control_action(message, rules)) is not None:
        verdict = authorise(message.actor, wish, channel.gate)
        if isinstance(verdict, Allowed):
            heard = replace(message, listening=True) if group.mode == "listen" else None
            return Continue(heard, reason="a command needs no mention")
        if message.addressed == "none":
            return Drop(verdict.reason)
    if message.inbound.invoked is not None:
        return Continue(reason="chosen from our own menu")
    if group.mode == "listen":
        return Continue(replace(message, listening=True), reason="this group is in listen mode")
    if channel.is_room:
        return _in_room(message, channel)
    why = why_awake(message, session, channel, group)
    if why is None:
        return Drop("nobody mentioned us", effects=(Overhear(message.route, said_by(message)),))
    return Continue(reason=why)


def why_awake(message: InboundMessage, session: Session, channel: ChannelRules, group: GroupSettings) -> str | None:
    """Why the message is for us, by `/activation` > `require_mention = false` > `user_messages`; None if it is not."""
    if message.addressed != "none":
        return f"addressed by {message.addressed}"
    if message.inbound.sender.is_bot:
        return "a bot was let through"
    if session.activation == "always":
        return "/activation always"
    if session.activation == "mention":
        return None
    if not requires_mention(channel, group):
        return "require_mention = false"
    return _involved(message, channel)


def _involved(message: InboundMessage, channel: ChannelRules) -> str | None:
    mode, thread = channel.settings.user_messages, message.facts.thread
    if message.inbound.thread is None or mode == "mentions" or not (thread.owned or thread.posted):
        return None
    if mode == "multibot-mentions" and (thread.other_bot or _names_somebody_else(message)):
        return None
    return f"a thread we take part in (user_messages = {mode})"


def _names_somebody_else(message: InboundMessage) -> bool:
    """Whether the text mentions another person or bot by the platform's own means, but not us: then it is for them
    (IN-30)."""
    if not message.facts.resolves_mentions or message.addressed == "mention":
        return False
    return any(mention.kind == "user" and mention.token for mention in message.inbound.mentions)


def _in_room(message: InboundMessage, channel: ChannelRules) -> Outcome:
    agents = members(message.inbound, channel)
    awake = who_wakes(message.inbound, agents, channel.settings.wake, message.facts.answers)
    if not awake:
        heard = Overhear(message.route, said_by(message))
        return Drop("it names none of the agents (wake = mentions)", effects=(heard,))
    addressed = _how_meant(message, awake)
    return Continue(replace(message, agents=awake, addressed=addressed), reason=f"wakes {', '.join(awake)}")


def _how_meant(message: InboundMessage, awake: tuple[str, ...]) -> Addressed:
    """How the message addresses us. In a room, a person's reply that wakes one agent addresses that agent, as a reply
    to us does elsewhere."""
    if message.addressed != "none" or message.inbound.sender.is_bot:
        return message.addressed
    return "reply" if message.inbound.reply_to is not None and len(awake) == 1 else "none"


def group_settings(channel: ChannelRules, group: Chat) -> GroupSettings:
    """A group's own settings, or else those of `*`."""
    groups = channel.settings.group
    return groups.get(group.id) or groups.get(group.former) or groups.get("*") or _EVERY_GROUP


def requires_mention(channel: ChannelRules, group: GroupSettings) -> bool:
    return channel.settings.require_mention if group.require_mention is None else group.require_mention


def _answers_itself(message: InboundMessage) -> bool:
    """Whether the message is a command that needs no agent, and so costs no turn."""
    reading = message.reading
    called = reading.invocation
    holds_nothing_else = (reading.alone or reading.only) and reading.reset is None
    return holds_nothing_else or (called is not None and called.is_answered)


def _over_limit(message: InboundMessage, group: GroupSettings) -> str | None:
    facts = message.facts
    if group.daily_limit is not None and facts.group_turns_today >= group.daily_limit:
        return f"this group has had its {group.daily_limit} turns for today"
    if group.daily_limit_per_user is not None and facts.sender_turns_today >= group.daily_limit_per_user:
        return f"this sender has had {group.daily_limit_per_user} turns today"
    return None


# --- mentions -----------------------------------------------------------------------------------


def who_is_addressed(inbound: Inbound, facts: Facts, channel: ChannelRules, text: str) -> Addressed:
    """How the message addresses us: by a mention, a human's reply, or a configured pattern."""
    if inbound.chat.kind == "direct" or inbound.entry == "cron":
        return "direct"
    ours = {facts.me.id, *channel.settings.mention_roles}
    if any(mention.id in ours for mention in inbound.mentions):
        return "mention"
    if channel.is_room and not inbound.sender.is_bot and _names_ours(inbound, channel):
        return "mention"
    if inbound.mentions and facts.resolves_mentions:
        return "none"
    replied = facts.replies_to_us or (inbound.reply_to is not None and inbound.reply_to.author_id == facts.me.id != "")
    if replied and not inbound.sender.is_bot:
        return "reply"
    if channel.mentions is not None and channel.mentions(_INVISIBLE.sub("", text)):
        return "pattern"
    return "none"


def _names_ours(inbound: Inbound, channel: ChannelRules) -> bool:
    return names_everybody(inbound) or bool(who_is_named(inbound, members(inbound, channel)))


def own_mentions(inbound: Inbound, facts: Facts, channel: ChannelRules, *agents: str) -> tuple[str, ...]:
    """The words of the text that are only our name, longest first; in a room also those that name one of `agents`."""
    ours = {facts.me.id, *channel.settings.mention_roles}
    tokens = {mention.token for mention in inbound.mentions if mention.token and mention.id in ours}
    if channel.is_room:
        tokens |= words_for(inbound.text, *agents)
    return tuple(sorted(tokens, key=len, reverse=True))


def is_named_literally(message: InboundMessage, channel: ChannelRules) -> bool:
    """Whether the text itself mentions us or one of our agents; the mention that a reply implies does not count."""
    if channel.is_room and named_in(message.text, channel.names):
        return True
    ours = {message.facts.me.id, *channel.names}
    return any(
        mention.id in ours and mention.token and mention.token in message.text for mention in message.inbound.mentions
    )


def said_by(message: InboundMessage) -> EarlierMessage:
    """The message as an entry of the history."""
    inbound = message.inbound
    return EarlierMessage(
        message_id=inbound.message_id,
        author_id=inbound.sender.id,
        author_name=inbound.sender.shown_name,
        text=message.text or inbound.besides_text,
        is_bot=inbound.sender.is_bot,
    )
