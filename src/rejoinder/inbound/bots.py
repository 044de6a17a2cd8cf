"""Bots (IN-20 to IN-23): our own messages are never processed again; those of other bots are processed only as
configured.

The message index knows whether another bot is present, and how many turns passed without a human; it counts them with
`count_turn`.
"""

from datetime import date, datetime
from typing import Literal

from msgspec import Struct

from rejoinder.events import Overhear
from rejoinder.inbound.activation import is_named_literally, said_by
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import PASS, Answer, Continue, Drop, Outcome
from rejoinder.inbound.rules import ChannelRules, Rules, channel_rules
from rejoinder.inbound.settings import BotMessages


def own_message(message: InboundMessage, session: None, rules: Rules, now: datetime) -> Outcome:
    """Drops our own messages, which are recognised by our id or by the receipt of the send."""
    inbound, facts = message.inbound, message.facts
    if inbound.sender.is_self or (facts.me.id and inbound.sender.id == facts.me.id and facts.me.is_sure):
        return Drop("our own message, by its sender")
    if facts.sent_by_us:
        return Drop("our own message, by its receipt")
    return PASS


def bot_rules(message: InboundMessage, session: None, rules: Rules, now: datetime) -> Outcome:
    """Lets a bot's message through, keeps it as history, or ends a conversation of bots."""
    inbound = message.inbound
    if not inbound.sender.is_bot:
        return PASS
    if message.refusal is not None:
        return Drop(message.refusal)
    channel = channel_rules(rules, inbound.channel)
    if inbound.entry == "http":
        return _from_program(message, channel)
    policy = bot_policy(channel)
    if policy == "off":
        return _only_heard(message, "messages from bots are not read here (bot_messages = off)")
    if channel.settings.trusted_bots and not channel.trusted_bots.named(inbound.account, (inbound.sender.id,)):
        return _only_heard(message, "this bot is not trusted (trusted_bots)")
    if limit := _limit(message, channel):
        return limit
    if policy == "mentions" and not is_named_literally(message, channel):
        return _only_heard(message, "a bot that does not mention us by name")
    return Continue(reason=f"a bot is let through (bot_messages = {policy})")


def _from_program(message: InboundMessage, channel: ChannelRules) -> Outcome:
    """Handles a message of a program that the operator has allowed in this chat. It may write there without a person
    around, but not without limit: a program that answers our answers is a loop (IN-23)."""
    return _daily_limit(message, channel) or Continue(reason="a program with a token for this chat")


def _only_heard(message: InboundMessage, reason: str) -> Drop:
    """Drops the message. In a group the agent sees it with its next turn, like anything people say to each other
    (IN-32)."""
    return Drop(reason, effects=_heard(message))


def _heard(message: InboundMessage) -> tuple[Overhear, ...]:
    return (Overhear(message.route, said_by(message)),) if message.in_group else ()


def bot_policy(channel: ChannelRules) -> BotMessages:
    """The configured policy; by default `mentions` in a room of our own agents, `off` elsewhere."""
    return channel.settings.bot_messages or ("mentions" if channel.is_room else "off")


def _limit(message: InboundMessage, channel: ChannelRules) -> Answer | Drop | None:
    thread, settings = message.facts.thread, channel.settings
    if full := _daily_limit(message, channel):
        return full
    if thread.bot_turns < settings.bot_turns:
        return None
    reason = f"{thread.bot_turns} turns in a row without a human (limit {settings.bot_turns})"
    if thread.bot_turns_before >= settings.bot_turns or not thread.posted:
        return _only_heard(message, reason)
    notice = f"{settings.bot_turns} bot turns in a row: I am silent until a human writes."
    return Answer((notice,), effects=_heard(message), reason=reason)


def _daily_limit(message: InboundMessage, channel: ChannelRules) -> Drop | None:
    most = channel.settings.bot_turns_per_day
    if message.facts.thread.bot_turns_today <= most:
        return None
    return _only_heard(message, f"{most} bot turns today; an owner has to reset it (/session bots)")


class CountedMessage(Struct, frozen=True):
    """What the index knows about one message, for counting."""

    kind: Literal["human", "bot", "own", "echo", "system"]
    day: date


class BotTurns(Struct, frozen=True):
    """The counts for one thread since an owner's last reset."""

    in_a_row: int = 0
    at_last: int = 0  # `in_a_row` at the last message of another bot
    before: int = 0  # and at the one before that
    today: int = 0
    day: date | None = None


def count_turn(turns: BotTurns, seen: CountedMessage) -> BotTurns:
    """Counts one more message. Only a human ends a row; a pin or a join does not."""
    if seen.kind == "system":
        return turns
    today = turns.today if turns.day == seen.day else 0
    if seen.kind == "echo":  # one of our agents' messages, repeated for the others: it was counted when first sent
        return BotTurns(turns.in_a_row, turns.in_a_row, turns.at_last, today, seen.day)
    if seen.kind == "human":
        return BotTurns(today=today, day=seen.day)
    row = turns.in_a_row + 1
    if seen.kind == "own":
        return BotTurns(row, turns.at_last, turns.before, today + 1, seen.day)
    return BotTurns(row, row, turns.at_last, today + 1, seen.day)
