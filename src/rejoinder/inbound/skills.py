"""Skills (IN-65): a person calls a `SKILL.md` by name, and it becomes a prompt or a tool call."""

import re
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from rejoinder.errors import BadConfiguration
from rejoinder.events import UseTool
from rejoinder.inbound.directives.removal import remove
from rejoinder.inbound.gate import Denied, GatedAction, authorise
from rejoinder.inbound.message import InboundMessage
from rejoinder.inbound.outcome import PASS, Answer, Continue, Outcome
from rejoinder.inbound.refusal import refuse
from rejoinder.inbound.rules import Rules, channel_rules
from rejoinder.session import Session

_NAME = re.compile(r"[a-z0-9][a-z0-9_\-]{0,63}")


class Skill(Struct, frozen=True):
    name: str
    description: str = ""
    instructions: str = ""
    tool: str | None = None  # called with the input, instead of the agent


def read_skill(text: str, folder: str) -> Skill:
    """A `SKILL.md`: `key: value` lines between two `---`, then the instructions."""
    head: dict[str, str] = {}
    body = text
    lines = text.splitlines()
    if lines and lines[0].strip() == "---":
        end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
        if end is None:
            raise BadConfiguration(f"{folder}/SKILL.md: its header begins with --- but does not end; add a --- line")
        for line in lines[1:end]:
            key, colon, value = line.partition(":")
            if colon:
                head[key.strip().lower()] = value.strip().strip("\"'")
        body = "\n".join(lines[end + 1 :])
    name = head.get("name", folder.rpartition("/")[2]).lower()
    if not _NAME.fullmatch(name):
        raise BadConfiguration(
            f"{folder}/SKILL.md: {name!r} cannot be typed as a command; use letters, digits, - and _"
        )
    return Skill(name, head.get("description", ""), body.strip(), head.get("tool") or None)


def skills(message: InboundMessage, session: Session, rules: Rules, now: datetime) -> Outcome:
    """Handles `/skill name input` and `/name input`: they rewrite the prompt, or call the skill's tool."""
    called = message.reading.invocation
    if called is None or not called.is_skill:
        return PASS
    action = GatedAction(f"/{called.name}", "sender")
    verdict = authorise(message.actor, action, channel_rules(rules, message.inbound.channel).gate)
    if isinstance(verdict, Denied):
        return refuse(message, action, verdict.reason)
    # Directives in the input have already been carried out and removed.
    name, given = (
        called.name,
        remove(
            called.rest,
            [(start - called.at, end - called.at) for start, end in message.removed_spans if start >= called.at],
        ),
    )
    if called.command is not None:
        name, given = (*given.split(maxsplit=1), "", "")[:2]
    skill = rules.skills.get(name.lower())
    if skill is None:
        known = ", ".join(sorted(rules.skills)) or "none yet"
        asked = f"There is no skill {name!r}." if name else "Which skill?"
        return Answer((f"{asked} Skills: {known}",), reason="no such skill")
    given = given.strip()
    if skill.tool:
        return Answer((), effects=(UseTool(skill.tool, given),), reason=f"the skill {skill.name} is a tool")
    return Continue(replace(message, prompt=_prompt(skill, given)), reason=f"the skill {skill.name}")


def _prompt(skill: Skill, given: str) -> str:
    parts = [f"Use the skill {skill.name}.", skill.instructions, f"Input:\n{given}" if given else ""]
    return "\n\n".join(part for part in parts if part)
