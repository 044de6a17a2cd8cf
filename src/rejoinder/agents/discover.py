"""Which agent answers when none was chosen: a program on PATH, else a key in the environment, else the last resort.

Pure: the declarations, the installed programs and the environment go in, the choice and a sentence about it come out.
"""

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct, structs

from rejoinder.agents.declaration import AgentKind, AgentOffer, ApiKeyVariable, Program
from rejoinder.secret import Secret
from rejoinder.setup import SetupQuestion

TO_CHOOSE = "To choose another, write an [agents.NAME] section into rejoinder.toml."

Declared = Mapping[str, AgentKind]
"""All kinds of agents, by name."""


class DiscoveredAgent(Struct, frozen=True):
    """`name`, `kind` and `settings` as in an [agents.NAME] section; `sentence` is for the person who started us."""

    name: str
    kind: str
    settings: Struct
    sentence: str


def programs(kinds: Declared) -> Iterator[tuple[str, Program]]:
    """Every program that may be an agent, with its kind, the best first."""
    return ((name, program) for name, kind in kinds.items() for program in kind.programs)


def keys(kinds: Declared) -> Iterator[tuple[str, ApiKeyVariable]]:
    """Every variable that may hold a key, with its kind, the best first."""
    return ((name, key) for name, kind in kinds.items() for key in kind.keys)


def discover(
    kinds: Declared, installed: Collection[str], environment: Mapping[str, str], missing: Mapping[str, str] = {}
) -> DiscoveredAgent:
    """`installed`: names of programs on PATH. `missing`: the command that installs what a kind needs, if it is
    missing."""
    found = next(((kind, each) for kind, each in programs(kinds) if each.command[0] in installed), None)
    if found is not None and found[0] not in missing:
        return _with_program(kinds, *found, environment)
    key = next(((kind, each) for kind, each in keys(kinds) if environment.get(each.variable)), None)
    choice = _last_resort(kinds) if key is None else _with_key(kinds, *key, environment)
    if found is None:
        return choice
    kind, program = found
    told = f"{program.title} is on your PATH; to answer with it, run: {missing[kind]}"
    return structs.replace(choice, sentence=f"{choice.sentence} {told}")


def _name(title: str) -> str:
    """Its name in the chat."""
    return title.lower().replace(" ", "-")


def _with_program(kinds: Declared, kind: str, program: Program, environment: Mapping[str, str]) -> DiscoveredAgent:
    because = f"because {program.command[0]} is on your PATH"
    settings = kinds[kind].settings(command=program.command, pass_env=_keys_of(program, environment))
    return DiscoveredAgent(
        _name(program.title), kind, settings, f"Answering with {program.title}, {because}. {TO_CHOOSE}"
    )


def _keys_of(program: Program, environment: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in program.keys if environment.get(name))


def _with_key(kinds: Declared, kind: str, key: ApiKeyVariable, environment: Mapping[str, str]) -> DiscoveredAgent:
    base_url = environment.get(key.variable.replace("_API_KEY", "_BASE_URL")) or key.base_url
    because = f"because {key.variable} is in your environment"
    model, *fallbacks = key.models
    api_key = Secret(environment[key.variable], f"${{{key.variable}}}")
    settings = kinds[kind].settings(base_url=base_url, model=model, fallbacks=tuple(fallbacks), api_key=api_key)
    return DiscoveredAgent(
        _name(key.title), kind, settings, f"Answering with {model} of {key.title}, {because}. {TO_CHOOSE}"
    )


def _last_resort(kinds: Declared) -> DiscoveredAgent:
    name = next(name for name, kind in kinds.items() if kind.last_resort)
    variables = " or ".join(key.variable for _, key in keys(kinds) if key.well_known)
    _, program = next(programs(kinds))
    instead = f"Install an agent (for instance {program.command[0]}) or set {variables}."
    return DiscoveredAgent(
        name,
        name,
        kinds[name].settings(),
        f"Answering with the built-in {name}: no agent and no API key was found. {instead} {TO_CHOOSE}",
    )


# --- for a person who chooses ------------------------------------------------------------------------


def offers(
    kinds: Declared, installed: Collection[str], environment: Mapping[str, str], missing: Collection[str] = ()
) -> tuple[AgentOffer, ...]:
    """All choices: first those that work as they are, then those that still need a key or an address."""
    found = [
        _offer_of_program(kind, each, environment)
        for kind, each in programs(kinds)
        if kind not in missing and each.command[0] in installed
    ]
    there = {each.variable for _, each in keys(kinds) if environment.get(each.variable)}
    ready = [_offer_of_key(kind, each, "is set") for kind, each in keys(kinds) if each.variable in there]
    others = [
        _offer_of_key(kind, each, "is not set yet")
        for kind, each in keys(kinds)
        if each.well_known and each.variable not in there
    ]
    own = [
        structs.replace(offer, section={"kind": name, **offer.section})
        for name, kind in kinds.items()
        for offer in kind.offers
    ]
    whole, asking = [each for each in own if not each.asks], [each for each in own if each.asks]
    return (*found, *ready, *whole, *others, *asking)


def _offer_of_program(kind: str, program: Program, environment: Mapping[str, str]) -> AgentOffer:
    section = {"kind": kind, "command": [*program.command], "pass_env": [*_keys_of(program, environment)]}
    return AgentOffer(f"{program.title} ({program.command[0]} is on your PATH)", section)


def _offer_of_key(kind: str, key: ApiKeyVariable, state: str) -> AgentOffer:
    model = key.models[0]
    section = {"kind": kind, "base_url": key.base_url, "api_key": f"${{{key.variable}}}"}
    asks = (SetupQuestion(key="model", question="Its model", default=model),)
    return AgentOffer(f"{model} of {key.title} ({key.variable} {state})", section, asks)
