"""A dry run: what each stage would decide about a message, for each of five roles.

The rehearsal's channel admits `owner`, `sender` and `guest`; the guest may not use commands. Its group is on the
allow-list; the stranger writes in another group. The bot is called `bot`.
"""

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal, get_args

from rejoinder.events import Chat, Inbound, Mention, Sender
from rejoinder.inbound import decide
from rejoinder.inbound.commands.command import Command
from rejoinder.inbound.directives.model import Models
from rejoinder.inbound.directives.store import plain, takes_effect
from rejoinder.inbound.facts import Facts, OwnIdentity
from rejoinder.inbound.gate import Role
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import Answer, Continue, Drop, StageResult
from rejoinder.inbound.protected import protected
from rejoinder.inbound.rules import AgentProfile, Rules, make_rules
from rejoinder.inbound.settings import ChannelSettings, CommandsSettings, InboundSettings
from rejoinder.session import Session, session_key

ACTORS: tuple[Role, ...] = get_args(Role)
Place = Literal["direct", "group"]
CHATS: tuple[Place, ...] = get_args(Place)

CHANNEL = "rehearsal"
_MENTION = re.compile(r"(?<![\w@./])@bot(?![\w\-]|\.\w)", re.IGNORECASE)
_NAMES = ("opus", "sonnet", "haiku", "gpt", "gemini")
_MODELS = Models("gpt-x", ("gpt-y",), {name: name for name in _NAMES}, profiles=("work",))


def rehearsal_rules(plugins: Iterable[Command] = ()) -> Rules:
    """A small, plain configuration. `plugins`: the commands of other packages."""
    return make_rules(
        InboundSettings(
            channels={
                CHANNEL: ChannelSettings(
                    agent="agent", allow=("sender", "guest"), allow_groups=("group",), owners=("owner",)
                )
            },
            commands=CommandsSettings(allow_from={CHANNEL: ("sender",)}),
        ),
        agents=(AgentProfile("agent", _MODELS),),
        plugins=plugins,
    )


def rehearse(
    text: str,
    actor: Role,
    chat: Place,
    rules: Rules,
    now: datetime,
    tick: Callable[[], float],
    *,
    mention: bool = False,
    random: bytes = b"",
    version: str = "",
) -> StageResult:
    """What would happen to this text."""
    inbound = Inbound(
        channel=CHANNEL,
        event_id="1",
        message_id="1",
        chat=_chat(actor, chat),
        sender=Sender(actor, name=actor, is_bot=actor == "bot"),
        text=text,
        mentions=_mentions(text, mention),
        sent_at=now,
    )
    facts = Facts(OwnIdentity("bot-id", "bot"), random=random, version=version)

    def find_session(message: InboundMessage) -> Session:
        agent = message.agents[0]
        key = session_key(message.inbound, rules.settings.session, agent)
        return Session(key=key, agent=agent, started=now, touched=now)

    return decide(inbound, facts, find_session, rules, now, tick)


def _chat(actor: Role, kind: Place) -> Chat:
    if kind == "direct":
        return Chat(actor, "direct")
    return Chat("elsewhere" if actor == "stranger" else "group", "group", "the group")


def _mentions(text: str, added: bool) -> tuple[Mention, ...]:
    closed = protected(text)
    typed = {found[0] for found in _MENTION.finditer(text) if found.start() not in closed}
    tokens = sorted(typed) or ([""] if added else [])
    return tuple(Mention("bot-id", token=token) for token in tokens)


def outcome_name(result: StageResult) -> Literal["turn", "answer", "drop"]:
    match result.outcome:
        case Continue():
            return "turn"
        case Answer():
            return "answer"
        case Drop():
            return "drop"


def as_document(result: StageResult) -> dict[str, Any]:
    """The walk as a document for scripts; its keys are stable."""
    outcome = result.outcome
    is_turn = isinstance(outcome, Continue)
    choices = result.message.choices if is_turn else {}
    chosen = {name: value for name, value in choices.items() if takes_effect(name, value)}
    return {
        "outcome": outcome_name(result),
        "reason": None if is_turn else outcome.reason,
        "agent_text": result.message.agent_text if is_turn else None,
        "replies": list(result.replies),
        "directives": result.stored | {name: plain(value) for name, value in chosen.items()},
        "stages": [{"stage": step.stage, "decision": step.decision, "reason": step.reason} for step in result.trace],
    }
