"""A channel, some people, and a short way to send a message through the stages."""

from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from rejoinder.events import Chat, Inbound, Mention, Sender
from rejoinder.inbound import decide
from rejoinder.inbound.directives.model import Models
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.outcome import StageResult
from rejoinder.inbound.rules import AgentProfile, Rules, make_rules
from rejoinder.inbound.settings import ChannelSettings, CommandsSettings, InboundSettings
from rejoinder.session import Session

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
OWNER, SENDER, GUEST, STRANGER = "1", "2", "3", "4"
GROUP = "-100"
US = OwnIdentity("999", "ourbot")
FACTS = Facts(US, random=bytes(range(16)), version="0")
AT_US = (Mention("999", token="@ourbot"),)
AGENT = AgentProfile("helper", Models("gpt-x", ("gpt-y",), {"smart": "openai/gpt-x-large"}))


def house(*agents: AgentProfile, commands: dict[str, Any] | None = None, **channel: Any) -> Rules:
    """Rules for a Telegram channel with an owner, a sender, a guest and one group."""
    said = {"allow": (SENDER, GUEST), "allow_groups": (GROUP,), "owners": (OWNER,), **channel}
    allowed = {"allow_from": {"telegram": (SENDER,)}, **(commands or {})}
    return make_rules(
        InboundSettings(channels={"telegram": ChannelSettings(**said)}, commands=CommandsSettings(**allowed)),
        agents or (AGENT,),
    )


def says(text: str, sender: str = SENDER, *, group: bool = False, **more: Any) -> Inbound:
    chat = Chat(GROUP, "group", "The group") if group else Chat(sender)
    said = {
        "channel": "telegram",
        "event_id": "e1",
        "message_id": "m1",
        "chat": chat,
        "sender": Sender(sender),
    }
    return Inbound(**{**said, "text": text, **more})


def session(**fields: Any) -> Session:
    return Session(**{"key": "helper:telegram", "agent": "helper", "started": NOW, "touched": NOW, **fields})


def send(
    inbound: Inbound,
    rules: Rules,
    facts: Facts = FACTS,
    of: Session | None = None,
    now: datetime = NOW,
    **known: Any,
) -> StageResult:
    """The walk of a message; `known` are facts that differ."""
    facts = replace(facts, **known) if known else facts
    return decide(inbound, facts, lambda message: of or session(), rules, now, lambda: 0.0)


def outcome(walk: StageResult) -> str:
    return {"Continue": "turn", "Answer": "answer", "Drop": "drop"}[type(walk.outcome).__name__]


def last(walk: StageResult) -> tuple[str, str | None]:
    """The stage that had the last word, and its reason."""
    return walk.trace[-1].stage, walk.trace[-1].reason
