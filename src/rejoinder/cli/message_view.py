"""The output of `rejoinder message` for people: the outcome, what would be said, each stage with its reason."""

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from rejoinder.cli.layout import COLOURS, print_table, worded
from rejoinder.inbound.directives.store import spoken
from rejoinder.inbound.dry_run import as_document
from rejoinder.inbound.outcome import StageResult

_SENTENCES = {
    "turn": "The agent runs",
    "answer": "Answered without the agent",
    "drop": "Nothing happens",
}


def show(result: StageResult) -> None:
    document = as_document(result)
    outcome = document["outcome"]
    console = Console(highlight=False, soft_wrap=True)
    reason = f": [dim]{escape(document['reason'])}[/]" if document["reason"] else "."
    console.print(f"[bold {COLOURS[outcome]}]{outcome}[/]  {_SENTENCES[outcome]}{reason}")
    for reply in document["replies"]:
        console.print(_labelled("says", reply, "cyan"))
    if document["agent_text"] is not None:
        console.print(_labelled("agent", document["agent_text"], "green"))
    for name, value in document["directives"].items():
        console.print(_labelled(name, spoken(value), "magenta"))
    console.print()
    _print_stages(console, result)


def _labelled(label: str, text: str, colour: str) -> Text:
    """The text unchanged, its lines aligned under each other."""
    margin = "\n" + " " * 12
    return Text.assemble((f"{label:>10}  ", colour), text.replace("\n", margin))


def _print_stages(console: Console, result: StageResult) -> None:
    rows = [
        (
            Text(step.stage),
            worded(step.decision),
            Text(f"{step.took * 1e6:.0f}", style="dim"),
            Text(step.reason or "", style="dim" if step.decision == "continue" else ""),
        )
        for step in result.trace
    ]
    print_table(console, ("stage", "decision", "µs", "reason"), rows, right=("µs",))
