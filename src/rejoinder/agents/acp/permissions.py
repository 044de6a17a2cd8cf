"""May the agent use this tool? Pure: the policy, the tool and the options offered go in, an answer comes out.

The list is checked first: it names tools that are allowed without a question. An entry is a kind of tool (`read`) or a
kind and a pattern for its title (`execute:git status*`). Titles come from the agent, so an entry with a title
is a convenience, not a security boundary; that is the agent's own sandbox.
"""

from fnmatch import fnmatchcase
from typing import Literal

from rejoinder.agents.base import Grant
from rejoinder.events import Strictness

Policy = Literal["ask", "allow", "deny"]
Options = tuple[tuple[str, str, str], ...]
"""(id, name, kind) of each option an agent offers, as in the protocol."""
_PLACES = {"allow_once": 0, "reject_once": 2, "reject_always": 3}


def decide(policy: Policy, allowed: tuple[str, ...], kind: str, title: str, strict: Strictness | None = None) -> Policy:
    if strict == "ask" or strict == "deny":
        return strict
    if strict == "list" and policy == "allow":
        policy = "ask"
    for entry in allowed:
        wanted, _, pattern = entry.partition(":")
        if wanted in (kind, "*") and (not pattern or fnmatchcase(title, pattern)):
            return "allow"
    return policy


def grants(kind: str) -> Grant:
    """The effect of an option of this kind."""
    return "always" if kind == "allow_always" else "once" if kind.startswith("allow") else "no"


def ordered(options: Options) -> Options:
    """ "Once" before "always" (TU-34): people take what comes first. Otherwise as the agent has them."""
    return tuple(sorted(options, key=lambda option: _PLACES.get(option[2], 1)))


def granted(options: Options) -> str | None:
    """Allows once if that is offered: the agent would remember an `always` by itself, beyond our control."""
    return _first(options, "allow_once") or _first(options, "allow_always")


def denied(options: Options) -> str | None:
    return _first(options, "reject_once") or _first(options, "reject_always")


def chosen(options: Options, answer: str | None) -> str | None:
    """The option a person named, by its name, id or kind. No answer, or one that names no option, denies; another
    word that begins with `allow` grants."""
    if answer is not None:
        said = answer.strip().casefold()
        for id, name, kind in options:
            if said in (id.casefold(), name.strip().casefold(), kind, kind.replace("_", "-")):
                return id
        if said.startswith("allow"):
            return granted(options)
    return denied(options)


def _first(options: Options, kind: str) -> str | None:
    return next((id for id, _, its_kind in options if its_kind == kind), None)
