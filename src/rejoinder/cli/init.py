"""`rejoinder init`: asks a few questions, verifies each answer if it can, and writes a `rejoinder.toml`.

Rule 1: a key or token is never written to the file, only `${VARIABLE}`, and the user is told which variable to set.
Rule 2: the section is verified exactly as it would run: it is read and checked as `rejoinder doctor` does it.
"""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli import INTERRUPTED
from rejoinder.cli.folders import must_be_writable
from rejoinder.cli.options import File
from rejoinder.cli.yes_or_no import ask_yes_or_no
from rejoinder.errors import BadUse, RejoinderError

if TYPE_CHECKING:
    from rejoinder.channels.declaration import Setup
    from rejoinder.cli.addresses import Found
    from rejoinder.setup import SetupQuestion

VARIABLE = re.compile(r"\$\{(\w+)\}")


class Secrets(dict[str, str]):
    """The values that were typed for verification, by variable; they are not kept."""

    def __init__(self) -> None:
        super().__init__()
        self.doubted: set[str] = set()
        """The variables whose values did not work: they are asked for again, and Enter tries the same value once
        more."""


def make_configuration(
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
    manifest: Annotated[
        str | None,
        typer.Option(
            "--manifest", metavar="KIND", help="Print the app manifest of a kind of channel, and ask nothing."
        ),
    ] = None,
    slack_manifest: Annotated[bool, typer.Option("--slack-manifest", help="The same as --manifest slack.")] = False,
    file: File = None,
) -> None:
    """Ask a few questions and write rejoinder.toml."""
    if manifest is not None or slack_manifest:
        return _print_manifest("slack" if manifest is None else manifest)
    from rejoinder.config.load import FILE

    target = Path(file or FILE)
    if target.exists() and not force:
        raise BadUse(f"{target} exists already; change it by hand, name another one with -c, or use --force")
    if not target.absolute().parent.is_dir():
        raise BadUse(f"there is no folder {target.parent} for {target.name}; make it first")
    must_be_writable(target.absolute().parent, "go to another folder, or name a file elsewhere with -c")
    try:
        sections = _sections()
    except typer.Abort as ended:
        print()
        unwritten = f"stopped before the last question, so {target} is not written"
        if not isinstance(ended.__context__, KeyboardInterrupt):
            raise RejoinderError(unwritten) from None
        print(f"rejoinder: {unwritten}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    try:
        target.write_text(_written(sections), "utf-8")
    except OSError as problem:
        raise BadUse(f"{target} cannot be written ({problem.strerror}); name another file with -c") from None
    print(f"\n{target} is written.")
    for variable in dict.fromkeys(VARIABLE.findall(_written(sections))):
        if not os.environ.get(variable):
            print(f"Set {variable} in the environment before you start: export {variable}=...")
    this = "" if str(target) == FILE else f" -c {shlex.quote(str(target))}"
    print(f"Start it with `rejoinder run{this}`; `rejoinder doctor{this}` checks it.")


def _print_manifest(kind: str) -> None:
    import json

    from rejoinder import plugins
    from rejoinder.config.kinds import channel_kind, channel_kinds

    manifest = channel_kind(kind).manifest if plugins.exists("channel", kind) else None
    if not manifest:
        there = ", ".join(name for name, each in channel_kinds().items() if each.manifest)
        raise BadUse(f"no kind of channel called {kind!r} has a manifest; there are: {there}")
    print(json.dumps(manifest, indent=2))


# --- the questions --------------------------------------------------------------------------------


def _sections() -> dict[str, dict[str, Any]]:
    given = Secrets()
    sections = {"agents.helper": _agent(given)}
    for kind, setup in _setups():
        if ask_yes_or_no(setup.offer, default=setup.offered):
            sections[f"channels.{kind}"] = _channel(f"channels.{kind}", setup, given)
    return _with_voice(sections, given)


def _agent(given: Secrets) -> dict[str, Any]:
    from rejoinder.programs.agent_choice import offered

    offers = offered()
    while True:
        print("Who answers?")
        for number, offer in enumerate(offers, 1):
            print(f"  {number}  {offer.title}")
        offer = offers[_number("Number", 1, 1, len(offers)) - 1]
        section = dict(offer.section)
        found = _answers("agents.helper", section, offer.asks)
        if found == "kept" or (found == "answers" and _is_fine("agents.helper", section, given)):
            return section


def _setups() -> list[tuple[str, "Setup"]]:
    """What each channel declares for `init`; channels that are served by default come first."""
    from rejoinder.config.kinds import channel_kinds

    setups = [(name, kind.setup) for name, kind in channel_kinds().items() if kind.setup is not None]
    return sorted(setups, key=lambda each: not each[1].offered)


def _channel(name: str, setup: "Setup", given: Secrets) -> dict[str, Any]:
    if setup.steps:
        print(setup.steps)
    section = dict(setup.section)
    found = _answered(name, section, setup.asks)
    while setup.verified and found == "answers" and not _is_fine(name, section, given):
        has_address = any(ask.takes == "address" and ask.key in section for ask in setup.asks)
        if has_address or not VARIABLE.search(_written({name: section})):
            found = _answered(name, section, setup.asks)
    _answered(name, section, setup.asks_then)
    if setup.advice:
        print(setup.advice)
    return {**section, **setup.adds}


def _with_voice(sections: dict[str, dict[str, Any]], given: Secrets) -> dict[str, dict[str, Any]]:
    """The same sections, with those for voice if the person wants it."""
    from rejoinder.media.voice_setup import CHANNEL, voice_offers

    offers = voice_offers()
    while True:
        print("Hear voice messages, and answer them by voice?")
        for number, offer in enumerate(offers, 1):
            print(f"  {number}  {offer.title}")
        chosen = offers[_number("Number", 1, 1, len(offers)) - 1].sections
        if not chosen:
            return sections
        if _are_fine(chosen, given):
            spoken = {
                name: {**said, **CHANNEL} if name.startswith("channels.") else said for name, said in sections.items()
            }
            return {**spoken, **chosen}


def _answered(name: str, section: dict[str, Any], asks: "tuple[SetupQuestion, ...]") -> "Found":
    """Like `_answers`, but begins again with the first question if the person drops an address."""
    while (found := _answers(name, section, asks)) == "dropped":
        pass
    return found


def _answers(name: str, section: dict[str, Any], asks: "tuple[SetupQuestion, ...]") -> "Found":
    """Puts the answers into the section and returns what was found at the addresses. Once the person drops one, no more
    questions are asked."""
    found: Found = "answers"
    for ask in asks:
        answer: str | float
        match ask.takes:
            case "address":
                answer, found = _address(name, section, ask)
            case "number":
                answer = _decimal(name, section, ask)
            case "text":
                answer = _text(name, section, ask)
        if found == "dropped":
            return found
        section.pop(ask.key, None)
        if not ask.optional or answer != ask.default:
            section[ask.key] = [str(answer)] if ask.listed else answer
    return found


def _address(name: str, section: Mapping[str, Any], ask: "SetupQuestion") -> "tuple[str, Found]":
    """Asks for an address; returns it and what was found there."""
    from rejoinder.cli.addresses import ask_address

    def misspelled(said: str) -> str | None:
        return _mistake({name: {**section, ask.key: said}}, f"{name}.{ask.key}")

    return ask_address(f"  {ask.question}", str(section.get(ask.key, ask.default)) or None, misspelled)


def _text(name: str, section: Mapping[str, Any], ask: "SetupQuestion") -> str:
    """Asks until the answer can be the value of its key; Enter leaves out an optional key."""
    default = str(ask.default)
    while True:
        said = str(typer.prompt(f"  {ask.question}", default=default, show_default=bool(default))).strip()
        if not said and not ask.optional:
            print("  This cannot be left empty.")
            continue
        key = f"{name}.{ask.key}[0]" if ask.listed else f"{name}.{ask.key}"
        value = [said] if ask.listed else said
        if said == default or (wrong := _mistake({name: {**section, ask.key: value}}, key)) is None:
            return said
        print(f"  That does not work: {wrong}")


def _decimal(name: str, section: Mapping[str, Any], ask: "SetupQuestion") -> float:
    """A number for a key, with a fraction if the key accepts one."""
    key = f"{name}.{ask.key}[0]" if ask.listed else f"{name}.{ask.key}"
    while True:
        said = str(typer.prompt(f"  {ask.question}", default=str(ask.default or 0))).strip()
        number = _as_number(said)
        if number is None or not ask.least <= number <= ask.most:
            print(f"  Enter a number from {ask.least} to {ask.most}.")
            continue
        value = [str(number)] if ask.listed else number
        if number == ask.default or (wrong := _mistake({name: {**section, ask.key: value}}, key)) is None:
            return number
        print(f"  That does not work: {wrong}")


def _as_number(said: str) -> float | None:
    if re.fullmatch("-?[0-9]+", said):
        return int(said)
    return float(said) if re.fullmatch(r"-?[0-9]*\.[0-9]+", said) else None


def _number(question: str, default: int, least: int, most: int) -> int:
    while True:
        said: str = typer.prompt(question, default=str(default))
        if said.strip().isdecimal() and least <= int(said) <= most:
            return int(said)
        print(f"  Enter a whole number from {least} to {most}.")


# --- verified -------------------------------------------------------------------------------------


def _is_fine(name: str, section: Mapping[str, Any], given: Secrets) -> bool:
    return _are_fine({name: section}, given)


def _are_fine(sections: Mapping[str, Mapping[str, Any]], given: Secrets) -> bool:
    """Whether the sections work, or the user wants to keep them anyway."""
    from rejoinder.cli.errors import run

    written = _written(sections)
    for variable in dict.fromkeys(VARIABLE.findall(written)):
        _ask_secret(variable, given)
        if not given.get(variable) and not os.environ.get(variable):
            print(f"  {variable} is not set here, so nothing could be verified.")
            return True
    wrong = run(_look(written, {**os.environ, **given}))
    if wrong is None:
        return True
    print(f"  That does not work: {wrong}")
    given.doubted.update(VARIABLE.findall(written))
    return ask_yes_or_no("  Keep it anyway?", default=False)


def _ask_secret(variable: str, given: Secrets) -> None:
    before = given.get(variable) or os.environ.get(variable) or ""
    if before and variable not in given.doubted:
        return
    given.doubted.discard(variable)
    unset = f"  {variable} is not set. Its value, to verify it (it is not kept; empty: later)"
    again = f"  Another value of {variable}, or Enter to try the same again"
    said = typer.prompt(again if before else unset, default="", show_default=False, hide_input=sys.stdin.isatty())
    given[variable] = said.strip() or before


def _mistake(sections: Mapping[str, Mapping[str, Any]], key: str) -> str | None:
    """What is wrong with the value of this key; mistakes in other keys do not count."""
    from rejoinder.config.load import FILE, read
    from rejoinder.errors import BadConfiguration

    try:
        read(_written(sections), FILE, os.environ)
    except BadConfiguration as mistakes:
        return next((each.sentence for each in mistakes.mistakes if each.key == key), None)
    return None


async def _look(text: str, environment: Mapping[str, str]) -> str | None:
    """What is wrong with the agents and channels of this configuration; None when everything is fine."""
    from rich.console import Console

    from rejoinder.config.load import FILE, read
    from rejoinder.errors import BadConfiguration
    from rejoinder.programs.doctor import edges

    try:
        settings = read(text, FILE, environment)
    except BadConfiguration as mistakes:
        return "; ".join(f"{each.key}: {each.sentence}" for each in mistakes.mistakes)
    with Console(stderr=True).status("Looking ..."):
        findings = [each async for each in edges(settings)]
    for each in findings:
        if each.ok:
            print("  " + each.found.replace("\n", "\n  "))
    return "; ".join(each.found for each in findings if not each.ok) or None


# --- written --------------------------------------------------------------------------------------


def _written(sections: Mapping[str, Mapping[str, Any]]) -> str:
    from rejoinder.config.show import as_toml

    tables: dict[str, Any] = {}
    for name, section in sections.items():
        outer, inner = name.split(".")
        tables.setdefault(outer, {})[inner] = dict(section)
    return as_toml(tables).strip() + "\n"
