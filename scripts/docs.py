"""Fills the marked blocks of README.md, DESIGN.md and docs/*.md from the code and from docs/figures.toml, so that
nothing is written twice.

<!-- generated: reactions -->
what the function of that name in BLOCKS returns
<!-- end -->

python scripts/docs.py            writes the blocks
python scripts/docs.py --check    writes nothing, fails when one is stale
"""

import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple, get_args

from rejoinder.agents.anthropic.thinking import THINK
from rejoinder.agents.chat_completions import EFFORTS
from rejoinder.agents.failures import SENTENCES
from rejoinder.agents.thinking_levels import LEVELS
from rejoinder.channels.base import Limits
from rejoinder.channels.telegram.emoji import NEAREST
from rejoinder.cli.commands import OPERATE
from rejoinder.cli.commands import app as command_line
from rejoinder.config.describe import markdown_tables
from rejoinder.config.kinds import channel_kinds
from rejoinder.events import Ability
from rejoinder.inbound import tables as inbound
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Argument, Declaration
from rejoinder.outbound.tables import BLOCKS as delivery_blocks
from rejoinder.rendering.emoji import Projection, project
from rejoinder.store.tables import BLOCKS as store_blocks
from rejoinder.tables import table
from rejoinder.turns.tables import BLOCKS as turns_blocks
from rejoinder.web.metrics import Metrics

ROOT = Path(__file__).resolve().parent.parent


# --- what is generated --------------------------------------------------------------------------


REQUIRED = r"\*"


def directives_keys() -> str:
    """Every header key, with the flags that stand without a value."""
    rows: list[list[str]] = []
    for declared in default_registry().declarations:
        if (key := declared.key) and not key.instead_of_tag:
            written = [f"`[[{key.name}:...]]`"] if key.argument else []
            written += [f"`[[{flag}]]`" for flag in key.flags]
            rows.append([", ".join(written), key.shown, _effect(declared)])
    return table(["write", "value", "effect"], rows)


def directives_tags() -> str:
    """Every tag, with its attributes and whether it has a body."""
    rows: list[list[str]] = []
    for declared in default_registry().declarations:
        if tag := declared.tag:
            attributes = [_attribute(argument) for argument in tag.arguments]
            body = {"none": [], "optional": ["body"], "required": [f"body{REQUIRED}"]}[tag.body]
            rows.append([f"`<{tag.name}>`", ", ".join(attributes + body), _effect(declared)])
    return table(["tag", f"attributes ({REQUIRED} required; aliases)", "effect"], rows)


def _attribute(argument: Argument) -> str:
    aliases = f" ({', '.join(f'`{alias}`' for alias in argument.aliases)})" if argument.aliases else ""
    return f"`{argument.attribute}`" + (REQUIRED if argument.required else "") + aliases


def _effect(declared: Declaration) -> str:
    return declared.help + (" (needs a grant)" if declared.granted else "")


CHANNELS = dict(sorted(channel_kinds().items(), key=lambda named: (named[1].open is None, named[0])))
"""What each channel declares, in the order of the tables: first those that are here."""

COMMON_REACTIONS = """
eyes thumbsup thumbsdown heart fire smile laughing joy tada clap ok_hand pray wave
white_check_mark x thinking rocket hourglass memo 100 warning
"""


def reactions() -> str:
    """The names agents use most, and what each channel is sent for them."""
    styles = dict.fromkeys(known.reactions for known in CHANNELS.values())
    channels = {style: [name for name, known in CHANNELS.items() if known.reactions == style] for style in styles}
    rows: list[list[str]] = []
    for name in COMMON_REACTIONS.split():
        sent = [_sent(project(name, style), is_name=style.words == "its names") for style in channels]
        rows.append([f"`{name}`", *sent])
    return table(["name", *map(", ".join, channels.values())], rows)


def _sent(projected: Projection, *, is_name: bool) -> str:
    if projected.value is None:
        return "not sent"
    value = f"`{projected.value}`" if is_name else projected.value
    return value + (" (nearest)" if projected.note else "")


def reactions_telegram() -> str:
    """Telegram's set is fixed: what each of its reactions also stands for."""
    return table(["Telegram shows", "for"], [[allowed, others] for allowed, others in NEAREST.items()])


def abilities() -> str:
    """What each directive needs, and which channel has it."""
    rows: list[list[str]] = []
    for ability in get_args(Ability):
        asking = [declared.name for declared in default_registry().declarations if declared.ability == ability]
        can = ["yes" if ability in known.can else "" for known in CHANNELS.values()]
        rows.append([f"`{ability}`", ", ".join(f"`{name}`" for name in asking), *can])
    rows.append(["", "longest message", *(_longest(known.limits) for known in CHANNELS.values())])
    rows.append(["", "reactions", *(known.reactions.words for known in CHANNELS.values())])
    rows.append(["", "the channel is", *("here" if known.open else "to come" for known in CHANNELS.values())])
    return table(["ability", "needed by", *CHANNELS], rows)


def _longest(limits: Limits) -> str:
    unit = {"characters": "", "utf16": " UTF-16 units", "bytes": " bytes"}[limits.unit]
    return f"{limits.length}{unit}" if limits.length else "any"


def operate_commands() -> str:
    """The commands on a store, each with its own first words."""
    commands = [each for each in command_line.registered_commands if each.rich_help_panel == OPERATE]
    rows: list[list[str]] = []
    for command in commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        rows.append([f"`rejoinder {name}`", inspect.getdoc(command.callback) or ""])
    return table(["command", "does"], rows)


def metrics() -> str:
    """What `/metrics` tells, by name."""
    rows = [
        [f"`{each.name}{'_total' if each.type == 'counter' else ''}`", each.type, each.documentation]
        for each in Metrics().registry.collect()
    ]
    return table(["metric", "type", "what"], rows)


def think_levels() -> str:
    """What each level of /think adds to a request."""
    rows: list[list[str]] = []
    for level in LEVELS:
        words = EFFORTS[level], THINK[level].efforts
        said = [*(", ".join(f"`{word}`" for word in each) for each in words), str(THINK[level].tokens or "")]
        rows.append([f"`{level}`", *(each or "nothing added" for each in said)])
    return table(["level", "openai: `reasoning_effort`", "anthropic: `output_config.effort`", "thinking tokens"], rows)


def agent_failures() -> str:
    """The sentence for each kind of failure."""
    return table(["kind", "what the person reads"], [[f"`{kind}`", said] for kind, said in SENTENCES.items()])


def figures(rows: str, headings: Sequence[str]) -> str:
    """Measured figures, each of which stands once, in docs/figures.toml."""
    page = tomllib.loads((ROOT / "docs" / "figures.toml").read_text("utf-8"))
    values = {name: value for measured in page["values"].values() for name, value in measured.items()}
    filled: list[list[str]] = []
    for row in page[rows]:
        beside = row.get("beside", "")
        cells = [row["what"], row["ours"], *([beside] if isinstance(beside, str) else beside)]
        command = [f"`{row['command']}`"] if "command" in row else []
        filled.append([cell.format(**values) for cell in cells] + command)
    return table(headings, filled)


CRASHED = {
    "discord": "Discord",
    "slack": "Slack",
    "telegram hold": "Telegram, `hold`",
    "telegram resend": "Telegram, `resend`",
    "web": "the chat page",
}


def crashes() -> str:
    """What people saw of gateways that were killed, as `make crash` last counted it."""
    counted = json.loads((ROOT / "tests" / "crash" / "counted.json").read_text("utf-8"))
    rows: list[list[str]] = []
    for name, where in CRASHED.items():
        its, holds = counted[name], name == "telegram hold"
        also = its["under way beside it"]
        twice, kept = its["duplicated"] + also * (not holds), its["held"] + also * holds
        figures = (its["trials"], its["messages"], its["lost"], its["leaked bytes"], twice, kept)
        rows.append([where, *(f"{figure:,}" for figure in figures)])
    return table(["", "trials", "messages", "lost", "bytes of directives shown", "said twice", "kept back"], rows)


TROUBLES = {
    "point": "`kill -9` at each point of the crash suite, of the gateway that listens and of a worker",
    "kill": "`kill -9` at any moment",
    "freeze": "it is frozen (SIGSTOP) for longer than its leases, then goes on",
    "partition": "nothing passes between it and the database for longer than its leases, then what was held arrives",
    "database": "the database is stopped (`immediate`) and started again after 2 s",
    "database, longer than the leases": "the same, after longer than the leases",
}
NOT_YET = "No whole run has been written down yet."


def cluster_trials(counted: Mapping[str, Any]) -> str:
    """What people saw of five processes, one of which was in trouble, as `make cluster` last counted it."""
    if not counted:
        return NOT_YET
    rows: list[list[str]] = []
    for trouble, what in TROUBLES.items():
        if its := counted.get(trouble):
            figures = (its["trials"], its["messages"], its["lost"], its["held"] + its["twice"], its["violations"])
            times = (f"{its[f'takeover {which}']:g} s" for which in ("p50", "longest"))
            command = f"`python -m tests.cluster.suite --trouble {trouble.partition(',')[0]}`"
            rows.append([what, *(f"{figure:,}" for figure in figures), *times, f"{its['load']:g}", command])
    unsure = "held, or twice (DU-3)"
    heads = ("trials", "messages", "lost", unsure, "trials over a bar", "takeover p50", "longest", "load", "command")
    return table(["what happens to one of the five", *heads], rows)


def cluster_figures(measured: Mapping[str, Any]) -> str:
    """Speed, memory and takeovers, as `python -m bench.cluster` last measured them."""
    made = [make(measured[name]) for name, make in CLUSTER_FIGURES.items() if name in measured]
    return "\n\n".join(made) or NOT_YET


def _cluster_rate(its: Mapping[str, Any]) -> str:
    base = its["ways"][0]["per_second"]
    rows: list[list[str]] = []
    for way in its["ways"]:
        count = way["processes"]
        what = f"PostgreSQL, {count} process{'es' if count > 1 else ''}" if count else "SQLite, 1 process"
        times = (f"{1000 * way[name]:.1f} ms" for name in ("p50", "p50_alone", "cpu"))
        rows.append([what, f"{way['per_second']:.0f}", f"{way['per_second'] / base:.2f}", *times])
    heads = ["", f"messages/s, {its['chats']} chats", "of SQLite", "p50", "p50, one chat", "CPU a message"]
    return f"`python -m bench.cluster rate`, load {its['load']:g}:\n\n" + table(heads, rows)


def _cluster_sessions(its: Mapping[str, Any]) -> str:
    rows = [
        [f"{count:,}", *(f"{each:.0f} MB" for each in memory)]
        for count, memory in zip(its["sessions"], its["memory"], strict=True)
    ]
    heads = ["sessions", *(f"process {number + 1}" for number in range(len(its["memory"][0])))]
    return f"`python -m bench.cluster sessions`, load {its['load']:g}, resident memory:\n\n" + table(heads, rows)


def _cluster_takeover(its: Mapping[str, Any]) -> str:
    rows: list[list[str]] = []
    for name, what in (("shards", "others hold all of its shards"), ("answers", "the last of its chats is answered")):
        times = quantiles(its[name], n=100, method="inclusive")
        rows.append([what, f"{times[49]:.1f} s", f"{times[98]:.1f} s", f"{max(its[name]):.1f} s"])
    what = (
        f"`python -m bench.cluster takeover`, load {its['load']:g}: {len(its['answers'])} times `kill -9` of one of "
        f"{its['processes']} gateways with leases of {its['lease']:g} s; {its['messages']:,} messages, {its['lost']} "
        f"lost, {its['twice']} twice:"
    )
    return f"{what}\n\n" + table(["from the kill until", "p50", "p99", "longest"], rows)


CLUSTER_FIGURES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "rate": _cluster_rate,
    "sessions": _cluster_sessions,
    "takeover": _cluster_takeover,
}


def _kept(*path: str) -> dict[str, Any]:
    file = ROOT.joinpath(*path)
    return json.loads(file.read_text("utf-8")) if file.exists() else {}


SCENES = {
    "test_plain_and_streamed": "streams",
    "test_a_tool_with_permission yes": "tool allowed once, reply after it",
    "test_a_tool_with_permission no": "tool denied",
    "test_stop": "`/stop`",
    "test_a_second_message_while_it_is_busy": "message while busy",
    "test_kill_9_of_the_agent": "`kill -9` of the agent",
    "test_kill_9_of_the_gateway": "of the gateway",
    "test_an_image": "picture",
}


def tested_agents() -> str:
    """What became of each scene when `make test-agents` last ran it, as it wrote it down."""
    written = ROOT / "tests" / "agents" / "tested.json"
    if not written.exists():
        return "No run has been written down yet."
    ran = json.loads(written.read_text())
    rows: list[list[str]] = []
    for each in ran["agents"]:
        scenes = each["scenes"]
        ends = ["passed" if scenes.get(scene) else "failed" if scene in scenes else "not run" for scene in SCENES]
        ends[-1] += ", in words" if scenes.get("pictures") == "told in words" else ""
        where = " (PyPI)" if each["registry"] == "pypi" else ""
        rows.append([f"`{each['package']}`{where}", each["version"], *ends])
    return f"As of {ran['ran']}:\n\n" + table(["package", "version", *SCENES.values()], rows)


BLOCKS: dict[str, Callable[[], str]] = {
    "crashes": crashes,
    "cluster-trials": lambda: cluster_trials(_kept("tests", "cluster", "counted.json")),
    "cluster-figures": lambda: cluster_figures(_kept("docs", "cluster.json")),
    "figures": partial(figures, "all", ("what", "rejoinder", "compared with", "command")),
    "figures-few": partial(figures, "few", ("what", "rejoinder", "compared with", "`.venv/bin/python -m`")),
    "figures-others": partial(
        figures, "others", ("", "rejoinder", "nanobot 0.3.5", "Hermes 0.19.0", "OpenClaw 2026.9.6")
    ),
    "abilities": abilities,
    "agent-failures": agent_failures,
    "directives-keys": directives_keys,
    "directives-tags": directives_tags,
    "metrics": metrics,
    "operate-commands": operate_commands,
    "reactions": reactions,
    "reactions-telegram": reactions_telegram,
    "tested-agents": tested_agents,
    "think-levels": think_levels,
    "inbound-stages": inbound.stages,
    "inbound-commands": inbound.commands,
    "inbound-directives": inbound.directives,
    "inbound-levels": inbound.levels,
    "inbound-who-may": inbound.who_may,
    "inbound-entries": inbound.what_entries_carry,
    "inbound-stop-words": inbound.stop_words,
    **turns_blocks,
    **store_blocks,
    **delivery_blocks,
    **{name: partial(str, written) for name, written in markdown_tables().items()},
}


# --- how it gets into the pages -----------------------------------------------------------------

START = re.compile(r"<!-- generated: (\S+) -->")
END = "<!-- end -->"


class BrokenPage(Exception):
    """A page whose marks cannot be read; its text says where and what to do."""


class Filled(NamedTuple):
    text: str
    stale: list[str]


def fill(text: str, page: str, blocks: Mapping[str, Callable[[], str]]) -> Filled:
    """The page with its blocks made anew, and the names of those that were stale."""
    out: list[str] = []
    stale: list[str] = []
    name, opened, old = None, 0, []
    for number, line in enumerate(text.split("\n"), 1):
        start = START.fullmatch(line)
        if start and name is None:
            name, opened, old = start[1], number, []
            if name not in blocks:
                known = ", ".join(sorted(blocks))
                raise BrokenPage(f"{page}:{number}: no generated block is called {name!r}; there are: {known}")
            out.append(line)
        elif start:
            raise BrokenPage(f"{page}:{number}: block {name!r} of line {opened} needs its {END} before this line")
        elif line == END and name is not None:
            new = blocks[name]().strip("\n").split("\n")
            if new != old:
                stale.append(name)
            out += [*new, line]
            name = None
        elif line == END:
            raise BrokenPage(f"{page}:{number}: {END} ends no block; remove it")
        elif name is not None:
            old.append(line)
        else:
            out.append(line)
    if name is not None:
        raise BrokenPage(f"{page}:{opened}: block {name!r} has no {END}; add it after the block")
    return Filled("\n".join(out), stale)


def main(arguments: Sequence[str], root: Path = ROOT, blocks: Mapping[str, Callable[[], str]] = BLOCKS) -> int:
    if list(arguments) not in ([], ["--check"]):
        print("usage: python scripts/docs.py [--check]", file=sys.stderr)
        return 2
    check = bool(arguments)
    stale: list[str] = []
    for page in [*sorted(root.glob("*.md")), *sorted((root / "docs").glob("**/*.md"))]:
        shown = page.relative_to(root).as_posix()
        try:
            filled = fill(page.read_text("utf-8"), shown, blocks)
        except BrokenPage as broken:
            print(broken, file=sys.stderr)
            return 1
        stale += [f"{name} in {shown}" for name in filled.stale]
        if filled.stale and not check:
            page.write_text(filled.text, "utf-8")
    if stale and check:
        print(f"Generated blocks are stale: {', '.join(stale)}. `make docs` writes them again.", file=sys.stderr)
        return 1
    print(f"Updated: {', '.join(stale)}." if stale else "The generated blocks are up to date.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
