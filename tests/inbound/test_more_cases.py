"""A harvest of sentences of the specification: who says what, where, under which configuration, and what follows.

`dry` cases go through the dry run as people use it; `configured` ones differ from the house below in settings, facts,
session or message; `sessions` say which two messages meet in one session; `mistakes` are refused at the start.
A case states only what its sentence says.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict, replace

from rejoinder.config.kinds import identity_on
from rejoinder.errors import BadConfiguration
from rejoinder.events import Inbound
from rejoinder.inbound import decide
from rejoinder.inbound.dry_run import as_document
from rejoinder.inbound.facts import Facts
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import StageResult
from rejoinder.inbound.rules import AgentProfile, Rules, make_rules
from rejoinder.inbound.settings import InboundSettings
from rejoinder.inbound.skills import Skill
from rejoinder.session import Session, SessionSettings, session_key
from tests.inbound.floor import GROUP, GUEST, NOW, OWNER, SENDER, STRANGER

Case = dict[str, Any]
CASES: dict[str, list[Case]] = json.loads(
    (Path(__file__).parent.parent / "data" / "inbound_more.json").read_text("utf-8")
)
IDS = {"owner": OWNER, "sender": SENDER, "guest": GUEST, "stranger": STRANGER, "bot": "50"}
HOUSE = {
    "channels": {"telegram": {"allow": [SENDER, GUEST], "allow_groups": [GROUP], "owners": [OWNER]}},
    "commands": {"allow_from": {"telegram": [SENDER]}},
}
HELPER = {
    "name": "helper",
    "models": {"default": "gpt-x", "fallbacks": ["gpt-y"], "aliases": {"smart": "openai/gpt-x-large"}},
}
SESSION = {"key": "helper:telegram", "started": NOW.isoformat(), "touched": NOW.isoformat()}


def named(group: str) -> Any:
    cases = CASES[group]
    return pytest.mark.parametrize("case", cases, ids=[f"{case['ref']}-{number}" for number, case in enumerate(cases)])


@named("dry")
def test_dry(ask: Any, case: Case) -> None:
    """The number of the case: outcome, what the agent reads, which directives take effect."""
    answer = ask(case["text"], case["as"], case["chat"], mention=case.get("mention", False))
    assert answer["outcome"] == case["outcome"], answer["reason"]
    assert answer["directives"] == case.get("directives", answer["directives"])
    assert answer["agent_text"] == case.get("agent_text", answer["agent_text"])


@named("configured")
def test_configured(case: Case) -> None:
    """The number of the case: besides, what is said, stored, done, and who is woken."""
    walk = walked(case)
    session = {} if walk.session is None else msgspec.to_builtins(asdict(walk.session))
    found = {
        **as_document(walk),
        "effects": [msgspec.to_builtins(effect)["type"] for effect in walk.effects],
        "wakes": list(walk.message.agents),
        "listening": walk.message.listening,
        "mimes": [file.mime for file in walk.message.inbound.attachments],
        "events": len(session.get("system_events", ())),
        "stored": {key: session.get(key) for key in case.get("stored", ())},
        "count": len(walk.replies),
    }
    expected = {key: value for key, value in case.items() if key in found}
    assert {key: found[key] for key in expected} == expected, found["reason"]
    said = "\n".join(walk.replies)
    assert [words for words in case.get("says", ()) if words not in said] == []
    assert [words for words in case.get("unsaid", ()) if words in said] == []
    assert [effect for effect in case.get("never", ()) if effect in found["effects"]] == []


def walked(case: Case) -> StageResult:
    """The walk of a case through the house as it is and what it changes."""
    rules = rules_of(*(json.dumps(case.get(key)) for key in ("config", "agents", "skills")))
    sender, text = IDS[case["as"]], case["text"]
    token = "@ourbot" if "@ourbot" in text else ""
    said = {
        "channel": "telegram",
        "event_id": "e1",
        "message_id": "m1",
        "text": text,
        "chat": {"id": sender} if case["chat"] == "direct" else {"id": GROUP, "kind": case["chat"]},
        "sender": {"id": sender, "is_bot": case["as"] == "bot"},
        "mentions": [{"id": "999", "token": token}] if case.get("mention") else [],
    }
    inbound = msgspec.convert({**said, **case.get("inbound", {})}, Inbound)
    facts = msgspec.convert({"me": {"id": "999", "name": "ourbot"}, **case.get("facts", {})}, Facts)

    def find(message: InboundMessage) -> Session:
        return msgspec.convert({**SESSION, "agent": message.agents[0], **case.get("of", {})}, Session)

    return decide(inbound, replace(facts, random=bytes(range(16))), find, rules, NOW, lambda: 0.0)


@cache
def rules_of(config: str, agents: str, skills: str) -> Rules:
    settings = msgspec.convert(merged(HOUSE, json.loads(config) or {}), InboundSettings)
    identities = {name: identity_on(settings.kinds.get(name, name)) for name in settings.channels}
    settings = replace(settings, identities=identities)
    profiles = msgspec.convert(json.loads(agents) or [HELPER], list[AgentProfile])
    return make_rules(settings, profiles, skills=msgspec.convert(json.loads(skills) or [], list[Skill]))


def merged(old: Case, new: Case) -> Case:
    """Tables are merged, but for the list of who may command: there what is said replaces what was."""
    both = old.keys() & new.keys() - {"allow_from"}
    return {**old, **new, **{key: merged(old[key], new[key]) for key in both if isinstance(new[key], dict)}}


@named("sessions")
def test_sessions(case: Case) -> None:
    """IN-40: whether two messages belong to one session."""
    settings = msgspec.convert(case.get("session", {}), SessionSettings)
    base = {"channel": "telegram", "event_id": "e1", "message_id": "m1"}
    agents = case.get("agents", ["helper", "helper"])
    one, other = (
        session_key(msgspec.convert({**base, **case[which]}, Inbound), settings, agent)
        for which, agent in zip(("one", "other"), agents, strict=True)
    )
    assert (one == other) is case["same"]


@named("mistakes")
def test_mistakes(case: Case) -> None:
    """The number of the case: refused before anything starts, with what to do."""
    with pytest.raises(BadConfiguration) as refused:
        rules_of(*(json.dumps(case.get(key)) for key in ("config", "agents", "skills")))
    assert case["error"] in str(refused.value)
