"""`rejoinder reply`: what people would see of an agent's output, and what would be done."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rejoinder.errors import BadUse

if TYPE_CHECKING:
    from rejoinder.channels.platforms import Platform
    from rejoinder.events import ReplyEvent
    from rejoinder.outbound.reading import Reading


def reply(
    channel: Annotated[
        str, typer.Option("--channel", help="Show the messages and actions as this platform would get them.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    jsonl: Annotated[
        bool,
        typer.Option("--jsonl", help='Answer each line of {"input": ...} or {"segments": [...]} with one of JSON.'),
    ] = False,
    stream: Annotated[
        int,
        typer.Option("--stream", min=0, metavar="N", help="Feed it N characters at a time and show each step."),
    ] = 0,
) -> None:
    """Read agent output on standard input; print what people would see and what would be done."""
    from rejoinder.channels.platforms import platform

    on = platform(channel) if channel else None
    if jsonl:
        _answer_lines(on, stream)
        return
    if sys.stdin.isatty():
        print("Write what the agent says, then press Ctrl-D.", file=sys.stderr)
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    steps = list(_read([text], stream))
    reading = _reading(steps)
    if as_json:
        _print_json(_document(reading, on))
    else:
        _print_layout(reading, steps if stream else [], on)


def _read(segments: list[str], size: int) -> "Iterator[tuple[str, list[ReplyEvent]]]":
    """Each piece, and the events that came out when it was fed; at last what the end brought."""
    from rejoinder.outbound.reader import ReplyReader

    reader = ReplyReader()
    for number, segment in enumerate(segments):
        if number:
            yield "", reader.next_segment()
        for at in range(0, len(segment), size or max(1, len(segment))):
            piece = segment[at : at + size] if size else segment
            yield piece, reader.feed(piece)
    yield "", reader.finish()


def _reading(steps: "Iterable[tuple[str, list[ReplyEvent]]]") -> "Reading":
    from rejoinder.outbound.reading import Reading

    return Reading.of([event for _, events in steps for event in events])


def _document(reading: "Reading", on: "Platform | None") -> dict[str, Any]:
    return {
        "text": reading.text,
        "silent": reading.silent,
        "directives": [{"name": d.name, "args": d.args, "body": d.body} for d in reading.directives],
        "problems": [{"code": problem.code, "detail": problem.detail} for problem in reading.problems],
        "chunks": _chunks(reading, on),
    }


def _chunks(reading: "Reading", on: "Platform | None") -> list[str]:
    from rejoinder.outbound.chunk import split

    return split(reading.text, on.limits.length, on.limits.unit) if on else split(reading.text, None)


def _print_json(document: Any) -> None:
    import json

    # A lone surrogate cannot be written as UTF-8, but every JSON reader understands its escape.
    text = json.dumps(document, ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in text):
        text = json.dumps(document)
    sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


def _answer_lines(on: "Platform | None", stream: int) -> None:
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            _print_json(_document(_reading(_read(_segments(line, number), stream)), on))


def _segments(line: bytes, number: int) -> list[str]:
    import json

    try:
        asked: Any = json.loads(line.decode("utf-8", "replace"))
    except ValueError as why:
        raise BadUse(f"line {number} is not JSON: {why}") from None
    if isinstance(asked, dict):
        if isinstance(text := asked.get("input"), str):
            return [text]
        segments = asked.get("segments")
        if isinstance(segments, list) and all(isinstance(segment, str) for segment in segments):
            return segments
    raise BadUse(f'line {number}: expected {{"input": "..."}} or {{"segments": ["...", ...]}}')


# --- the layout for people ----------------------------------------------------------------------


def _print_layout(reading: "Reading", steps: "list[tuple[str, list[ReplyEvent]]]", on: "Platform | None") -> None:
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    if steps:
        _print_steps(console, steps)
    _print_seen(console, reading, on)
    _print_done(console, reading, on)
    _print_problems(console, reading)


def _grid() -> Any:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    return grid


def _heading(console: Any, title: str, note: str = "") -> None:
    from rich.text import Text

    console.print(Text.assemble((title, "bold"), (f"  {note}" if note else "", "dim")))


def _print_seen(console: Any, reading: "Reading", on: "Platform | None") -> None:
    from rich.padding import Padding
    from rich.text import Text

    chunks = _chunks(reading, on)
    where = f"on {on.name}" if on else ""
    if len(chunks) > 1:
        where = f"{where}, {len(chunks)} messages"
    _heading(console, "What people see", where)
    for number, chunk in enumerate(chunks):
        if number:
            console.print(Text(f"  - {number + 1} -", style="dim"))
        console.print(Padding(Text(_clean(chunk)), (0, 0, 0, 2)))
    if not chunks:
        silence = "nothing: the agent chose silence"
        console.print(Text(f"  {silence if reading.silent else 'nothing: there is no text'}", style="dim italic"))
    console.print()


def _print_done(console: Any, reading: "Reading", on: "Platform | None") -> None:
    from rich.text import Text

    from rejoinder.outbound.directives import default_registry
    from rejoinder.outbound.fate import fate

    _heading(console, "What is done")
    table = _grid()
    for directive in reading.directives:
        args = ", ".join(f"{name}={_clean(str(value))}" for name, value in directive.args.items())
        what = Text(args)
        if directive.body is not None:
            what.append(("\n" if args else "") + _clean(directive.body), style="italic")
        row = [Text(f"  {directive.name}", style="cyan"), what]
        if on:
            known = fate(directive, default_registry(), can=on.can, reactions=on.reactions, granted=())
            style = {"done": "green", "unsupported": "yellow", "denied": "red"}[known.outcome]
            row.append(Text.assemble((known.outcome, style), f": {_clean(known.note)}"))
        table.add_row(*row)
    console.print(table if reading.directives else Text("  nothing", style="dim italic"))
    console.print()


def _print_problems(console: Any, reading: "Reading") -> None:
    from rich.text import Text

    if not reading.problems:
        return
    _heading(console, "Problems")
    table = _grid()
    for problem in reading.problems:
        style = "yellow" if problem.level == "warning" else "dim"
        table.add_row(Text(f"  {problem.code}", style=style), Text(_clean(problem.detail)))
    console.print(table)
    console.print()


def _print_steps(console: Any, steps: "list[tuple[str, list[ReplyEvent]]]") -> None:
    """Piece by piece: what was fed, and what had become certain by then."""
    from rich.text import Text

    _heading(console, "As it streams", "fed, and what came out")
    table = _grid()
    for piece, events in steps:
        came = Text(" ").join(map(_brief, events)) if events else Text("held back" if piece else "", style="dim")
        table.add_row(Text(f"  {_quoted(piece)}" if piece else "  the end", style="dim"), came)
    console.print(table)
    console.print()


def _brief(event: "ReplyEvent") -> Any:
    from rich.text import Text

    from rejoinder.events import Directive, Problem, Silent
    from rejoinder.events import Text as Shown

    match event:
        case Shown(text=text):
            return Text(_quoted(text))
        case Directive(name=name):
            return Text(name, style="cyan")
        case Problem(code=code):
            return Text(code, style="yellow")
        case Silent():
            return Text("silence", style="magenta")


def _quoted(text: str) -> str:
    import json

    return _clean(json.dumps(text, ensure_ascii=False))


def _clean(text: str) -> str:
    from rejoinder.channels.terminal.clean import clean

    return clean(text)
