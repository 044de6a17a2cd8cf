"""`rejoinder doctor`: whether a gateway with this configuration would work, and what to do if it would not."""

import sys
from typing import TYPE_CHECKING

import typer
from msgspec import Struct

from rejoinder.cli.errors import FAILED
from rejoinder.cli.options import AsJson, File, configuration, print_json
from rejoinder.errors import BadConfiguration

if TYPE_CHECKING:
    from rejoinder.config.schema import Settings
    from rejoinder.programs.doctor import Finding


class Report(Struct, frozen=True):
    """The keys of `--json`."""

    ok: bool
    checks: "tuple[Finding, ...]"


def examine(as_json: AsJson = False, file: File = None) -> None:
    """Check the configuration, agents, tokens, store, disk and clock; each line is ok or says what to do."""
    from rejoinder.cli.chat import settings_to_serve
    from rejoinder.cli.errors import run
    from rejoinder.config.load import FILE
    from rejoinder.programs import serving
    from rejoinder.programs.agent_choice import with_agent
    from rejoinder.programs.doctor import Finding

    try:
        settings, _, sentence = with_agent(settings_to_serve(file), None)
    except BadConfiguration as error:
        if as_json:
            print_json(Report(False, (Finding("configuration", False, str(error)),)))
        raise
    found = configuration(file)
    read = f"{found} can be read." if found else f"There is no {FILE}: the defaults apply."
    first = Finding("configuration", True, f"{read} {sentence}".strip())
    findings = run(_gather(first, serving.with_page(settings), prints=not as_json))
    report = Report(all(each.ok for each in findings), findings)
    if as_json:
        print_json(report)
    if not report.ok:
        raise typer.Exit(FAILED)


async def _gather(first: "Finding", settings: "Settings", *, prints: bool) -> "tuple[Finding, ...]":
    """Reports each finding as soon as it is known: an agent may take long to start."""
    from rich.console import Console

    from rejoinder.programs.doctor import examined

    findings = [first]
    if prints:
        _tell(first)
    with Console(stderr=True).status("Looking ...") as status:  # animated on a terminal, otherwise silent
        async for each in examined(settings):
            findings.append(each)
            if prints:
                status.stop()
                _tell(each)
                status.start()
    return tuple(findings)


def _tell(finding: "Finding") -> None:
    from rich.text import Text

    from rejoinder.cli.layout import console
    from rejoinder.unicode_repair import one_line

    mark = ("ok   ", "green") if finding.ok else ("wrong", "bold red")
    lines = [one_line(line) for line in finding.found.split("\n")]
    console().print(Text.assemble(mark, f"  {finding.what}: " + "\n       ".join(lines)))
    sys.stdout.flush()
