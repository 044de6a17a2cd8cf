"""`rejoinder init`: a few questions, each answer verified where it can be, and a `rejoinder.toml` in the end.

Rule 1: a key or token is never written to the file: `${VARIABLE}` is, and the user is told which one to set.
Rule 2: what is verified is what would run: the section is read and checked as `rejoinder doctor` does.
"""

import os
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.cli.folders import must_be_writable
from rejoinder.cli.options import File
from rejoinder.errors import BadUse

if TYPE_CHECKING:
    from rejoinder.agents.declaration import Offer
    from rejoinder.cli.addresses import Found

VARIABLE = re.compile(r"\$\{(\w+)\}")
TELEGRAM = "https://api.telegram.org"
ADDRESSES = ("base_url",)
QUESTIONS = {"base_url": "  Its address", "model": "  Its model", "api_root": "  Bot API (Enter: Telegram's own)"}
LARGEST_ID = 2**52 - 1  # as Telegram promises
ON_UNKNOWN = """\
  When the connection breaks while a message is sent, Telegram cannot be asked whether it arrived. `on_unknown` says
  what happens then: "hold" never sends it twice, you and the person are told, and /resend repeats it; "resend" repeats
  it at once: nothing is lost, now and then it is there twice. It is "hold" unless you change it in the file."""


def make_configuration(
    force: Annotated[bool, typer.Option("--force", help="Put it in the place of a file that is there.")] = False,
    file: File = None,
) -> None:
    """Ask a few questions and write rejoinder.toml."""
    from rejoinder.config.load import FILE

    target = Path(file or FILE)
    if target.exists() and not force:
        raise BadUse(f"{target} exists already; change it by hand, name another one with -c, or say --force")
    if not target.absolute().parent.is_dir():
        raise BadUse(f"there is no folder {target.parent} for {target.name}; make it first")
    must_be_writable(target.absolute().parent, "go to another folder, or name a file elsewhere with -c")
    given: dict[str, str] = {}
    sections = {"agents.helper": _agent(given)}
    if typer.confirm("Serve the chat page?", default=True):
        sections["channels.web"] = {"port": _number("  port", 8765, 0, 65535)}
    if typer.confirm("Serve a Telegram bot?", default=False):
        sections["channels.telegram"] = _telegram(given)
    try:
        target.write_text(_written(sections), "utf-8")
    except OSError as problem:
        raise BadUse(f"{target} cannot be written ({problem.strerror}); name another file with -c") from None
    print(f"\n{target} is written.")
    for variable in dict.fromkeys(VARIABLE.findall(_written(sections))):
        if not os.environ.get(variable):
            print(f"Set {variable} in the environment before you start: export {variable}=...")
    this = "" if str(target) == FILE else f" -c {shlex.quote(str(target))}"
    print(f"Start it with `rejoinder run{this}`; `rejoinder doctor{this}` looks whether all is well.")


# --- the questions --------------------------------------------------------------------------------


def _agent(given: dict[str, str]) -> dict[str, Any]:
    from rejoinder.programs.agent_choice import offered

    offers = offered()
    while True:
        print("Who answers?")
        for number, offer in enumerate(offers, 1):
            print(f"  {number}  {offer.title}")
        section, found = _asked(offers[_number("Number", 1, 1, len(offers)) - 1])
        if found == "kept" or (found == "answers" and _is_fine("agents.helper", section, given)):
            return section


def _number(question: str, default: int, least: int, most: int) -> int:
    while True:
        said: str = typer.prompt(question, default=str(default))
        if said.strip().isdecimal() and least <= int(said) <= most:
            return int(said)
        print(f"  It is a number from {least} to {most}.")


def _asked(offer: "Offer") -> tuple[dict[str, Any], "Found"]:
    """Its section, and what was found at its address, if it has one: where that is dropped, no more is asked."""
    section, found = dict(offer.section), "answers"
    for key in offer.asks:
        if key in ADDRESSES:
            found = _address("agents.helper", section, key)
        elif found != "dropped":
            section[key] = typer.prompt(QUESTIONS[key], default=section[key] or None)
    return section, found


def _address(name: str, section: dict[str, Any], key: str) -> "Found":
    """Asks for an address, puts it into the section and looks who is there."""
    from rejoinder.cli.addresses import ask_address

    def misspelled(said: str) -> str | None:
        return _mistake({name: {**section, key: said}}, f"{name}.{key}")

    section[key], found = ask_address(QUESTIONS[key], section[key] or None, misspelled)
    return found


def _telegram(given: dict[str, str]) -> dict[str, Any]:
    print("Write to @BotFather in Telegram: /newbot. It answers with a token.")
    section: dict[str, Any] = {"token": "${TELEGRAM_TOKEN}", "api_root": TELEGRAM}
    while (found := _address("channels.telegram", section, "api_root")) == "dropped":
        section["api_root"] = TELEGRAM
    if section["api_root"] == TELEGRAM:
        del section["api_root"]
    while found == "answers" and not _is_fine("channels.telegram", section, given):
        pass
    owner = _number("  Your own Telegram id, a number (0: `rejoinder pair` lets you in later)", 0, 0, LARGEST_ID)
    section["streaming"] = "preview"
    print(ON_UNKNOWN)
    section["on_unknown"] = "hold"
    return {**section, "owners": [str(owner)]} if owner else section


# --- verified -------------------------------------------------------------------------------------


def _is_fine(name: str, section: Mapping[str, Any], given: dict[str, str]) -> bool:
    """Whether the section works, or the user keeps it all the same."""
    from rejoinder.cli.errors import run

    for variable in VARIABLE.findall(_written({name: section})):
        _ask_secret(variable, given)
        if not given.get(variable) and not os.environ.get(variable):
            print(f"  {variable} is not known here, so nothing could be verified.")
            return True
    wrong = run(_look(_written({name: section}), {**os.environ, **given}))
    if wrong is None:
        return True
    print(f"  That does not work: {wrong}")
    for variable in VARIABLE.findall(_written({name: section})):
        given.pop(variable, None)
    return typer.confirm("  Keep it all the same?", default=False)


def _ask_secret(variable: str, given: dict[str, str]) -> None:
    if os.environ.get(variable) or given.get(variable):
        return
    hidden = sys.stdin.isatty()
    given[variable] = typer.prompt(
        f"  {variable} is not set. Its value, to verify it (it is not kept; empty: later)",
        default="",
        show_default=False,
        hide_input=hidden,
    ).strip()


def _mistake(sections: Mapping[str, Mapping[str, Any]], key: str) -> str | None:
    """What is wrong with the value of this key alone."""
    from rejoinder.config.load import FILE, read
    from rejoinder.errors import BadConfiguration

    try:
        read(_written(sections), FILE, os.environ)
    except BadConfiguration as mistakes:
        return next((each.sentence for each in mistakes.mistakes if each.key == key), None)
    return None


async def _look(text: str, environment: Mapping[str, str]) -> str | None:
    """What is wrong with the agents and channels of this configuration; None when all is well."""
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
            print(f"  {each.found}")
    return next((each.found for each in findings if not each.ok), None)


# --- written --------------------------------------------------------------------------------------


def _written(sections: Mapping[str, Mapping[str, Any]]) -> str:
    from rejoinder.config.show import as_toml

    tables: dict[str, Any] = {}
    for name, section in sections.items():
        outer, inner = name.split(".")
        tables.setdefault(outer, {})[inner] = dict(section)
    return as_toml(tables).strip() + "\n"
