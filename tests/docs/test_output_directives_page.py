"""docs/output-directives.md tells the truth: its examples are read, its frames streamed, its code run (OD-56).

A block `reply` is what an agent writes, and the block `result` behind it what becomes of it: the text people see, a
line with an arrow for each directive and for silence, a line with `!` for each problem. A line `--- a tool call ---`
parts two segments. `reply remind` is read with the directive that the page adds. `stream N` and `frames` are what
`rejoinder reply --stream N` prints.
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec import Struct
from typer.testing import CliRunner

from rejoinder import Reading, plugins, read_reply
from rejoinder.cli.commands import app
from rejoinder.config.load import read as read_settings
from rejoinder.outbound.directives import built_in, default_registry
from rejoinder.outbound.directives.declaration import Declaration, Registry
from rejoinder.testing import ScriptedAgent, conversation
from rejoinder.turns.prompt import QuotedMessage, SenderContext, TurnMessage, sender_context

PAGE = (Path(__file__).parents[2] / "docs" / "output-directives.md").read_text("utf-8")


class Block(Struct, frozen=True):
    line: int
    info: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line}"


def blocks() -> list[Block]:
    found = re.finditer(r"^(`{3,})([^\n`]*)\n(.*?)\n\1$", PAGE, re.M | re.S)
    return [Block(PAGE.count("\n", 0, block.start()) + 1, block[2], block[3]) for block in found]


def pairs(first: str, second: str) -> list[tuple[Block, Block]]:
    """Blocks of one kind, each with the block behind it, which must be of the other kind."""
    found: list[tuple[Block, Block]] = []
    every = blocks()
    for block, behind in zip(every, [*every[1:], Block(0, "", "")], strict=True):
        if block.info.split(" ")[0] == first:
            assert behind.info == second, f"line {block.line}: a block {second!r} must follow"
            found.append((block, behind))
    return found


def of_kind(info: str) -> list[str]:
    return [block.text for block in blocks() if block.info == info]


def added() -> dict[str, Any]:
    """What the file of the page's own directive defines."""
    names: dict[str, Any] = {}
    exec(compile(of_kind("python")[0], "remind.py", "exec"), names)
    return names


def registry_with(name: str) -> Registry:
    if not name:
        return default_registry()
    declared: Declaration = added()["DIRECTIVE"]
    assert declared.name == name
    return Registry((*built_in(), declared))


def written(reading: Reading) -> str:
    """A reading as the page writes it."""
    lines = [reading.text] if reading.text else []
    for directive in reading.directives:
        args = "".join(f" {name}={_value(value)}" for name, value in directive.args.items())
        body = f' "{directive.body}"' if directive.body is not None else ""
        lines.append(f"→ {directive.name}{args}{body}")
    if reading.silent:
        lines.append("→ silence")
    return "\n".join([*lines, *(f"! {problem.code}" for problem in reading.problems)])


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(("said", "result"), pairs("reply", "result"), ids=str)
def test_what_an_agent_writes_becomes_what_the_page_says(said: Block, result: Block) -> None:
    """OD-56: every example is true."""
    segments = said.text.split("--- a tool call ---\n")
    registry = registry_with(said.info.removeprefix("reply").strip())
    assert written(read_reply(*segments, registry=registry)) == result.text


@pytest.mark.parametrize(("said", "frames"), pairs("stream", "frames"), ids=str)
def test_what_is_held_back_is_what_the_page_says(said: Block, frames: Block) -> None:
    """OD-3: piece by piece, as the command shows it."""
    size = said.info.split(" ")[1]
    shown = CliRunner().invoke(app, ["reply", "--stream", size], input=said.text).stdout
    steps = shown.split("\n\n")[0].splitlines()[1:]
    assert [line.split() for line in frames.text.splitlines()] == [line.split() for line in steps]


def test_the_page_has_examples() -> None:
    """A block that is no longer found would be a test that no longer fails."""
    assert len(pairs("reply", "result")) >= 20
    assert len(pairs("stream", "frames")) == 2
    assert PAGE.count("```result") == len(pairs("reply", "result"))


def test_the_code_of_the_page_runs() -> None:
    """OD-55: one file is a directive, and it can be read with."""
    _, _, reading = of_kind("python")
    exec(compile(reading, "reading.py", "exec"), added())


async def test_the_directive_of_another_package_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    """OD-55: the module of the page, found by its entry point, does what the page says."""
    module = ModuleType("my_package.note")
    exec(compile(of_kind("python")[1], "note.py", "exec"), vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    (named,) = map(tomllib.loads, of_kind("toml"))
    points = named["project"]["entry-points"]
    monkeypatch.setattr(plugins, "installed", lambda: points)
    assert module.__name__ == points["rejoinder.directives"]["note"]
    async with conversation(ScriptedAgent("<actions><note>It is hot.</note></actions>\nYes.")) as chat:
        await chat.says("Is the oven on?")
        await chat.hears("Yes.")
    assert list(module.kept.values()) == ["scripted in room: It is hot."]


def test_the_added_directive_checks_its_value() -> None:
    with pytest.raises(ValueError, match="30s, 10m, 2h"):
        added()["seconds"]("soon")


def test_the_sender_context_is_that_of_a_turn() -> None:
    """TU-30: the fields are those that an agent is told."""
    (page,) = map(json.loads, of_kind("json"))
    sender = SenderContext(
        sender_id="845835116920307722",
        sender_name="mira",
        display_name="Mira",
        channel="discord",
        channel_id="1491365150664560881",
        message_id="1502606076451885136",
        handle="m42",
    )
    quoted = QuotedMessage("Which of the two?", author="bot-a", handle="m40")
    said = TurnMessage("", sender, reply_to=quoted)
    assert page == sender_context(said, sender)


def test_the_template_speaks_of_what_there_is() -> None:
    """OD-54: it names only what the registry knows, and says the four rules."""
    (template,) = of_kind("prompt")
    known = default_registry()
    keys = re.findall(r"\[\[(\w+):", template)
    tags = re.findall(r"<([\w-]+)", template)
    assert keys
    assert set(keys) <= set(known.keys)
    assert set(tags) - {"actions"} <= set(known.tags)
    for rule in (
        "alone on the first line",
        "never invent one",
        "no [[...]] line in the middle of a message",
        "Never begin a message with [[ or <actions> otherwise",
    ):
        assert rule in " ".join(template.split())


def test_settings_named_in_the_page_exist() -> None:
    """What is written as a setting is one."""
    settings = re.findall(r"`\[directives\] ([^`]+)`", PAGE)
    assert len(settings) >= 2
    for setting in settings:
        read_settings(f"[directives]\n{setting}", "page.toml", {})  # raises when a key or a value is unknown


def test_the_contents_lead_somewhere() -> None:
    """Every link inside the page has its heading."""
    headings = {heading.lower().replace(" ", "-") for heading in re.findall(r"^## ([\w ]+)$", PAGE, re.M)}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) == headings
