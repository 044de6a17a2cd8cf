"""`rejoinder reply`: shows what people would see of an agent's output, and what would be done."""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rejoinder.errors import BadConfiguration, BadUse

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from rejoinder.channels.declaration import ChannelKind
    from rejoinder.events import ReplyEvent
    from rejoinder.outbound.directives.declaration import Registry
    from rejoinder.outbound.reading import Reading
    from rejoinder.rendering import RenderedMessage


def reply(
    channel: Annotated[
        str | None,
        typer.Option("--channel", metavar="NAME", help="Show messages and actions as this platform would get them."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document, with the Markdown of each message.")
    ] = False,
    jsonl: Annotated[
        bool,
        typer.Option("--jsonl", help='Answer each line of {"input": ...} or {"segments": [...]} with one of JSON.'),
    ] = False,
    stream: Annotated[
        int,
        typer.Option(
            "--stream",
            min=0,
            metavar="N",
            show_default=False,
            help="Feed it N characters at a time and show each step.",
        ),
    ] = 0,
) -> None:
    """Read agent output on standard input; print what people would see and what would be done."""
    from rejoinder.cli import json_lines

    if as_json and jsonl:
        raise BadUse("--json and --jsonl exclude each other: --json reads one answer, --jsonl a line of JSON for each")
    on = _on(channel) if channel is not None else None
    if jsonl:
        for number, asked in json_lines.read():
            json_lines.write(_document(_reading(_read(_segments(asked, number), stream)), on))
        return
    if sys.stdin.isatty():
        print("Write what the agent says, then press Ctrl-D.", file=sys.stderr)
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    steps = list(_read([text], stream))
    reading = _reading(steps)
    if as_json:
        json_lines.write(_document(reading, on))
    else:
        _print_layout(reading, steps if stream else [], on)


class _On(NamedTuple):
    """The channel whose limits and formatting are used."""

    name: str
    kind: "ChannelKind"


def _on(channel: str) -> _On:
    from rejoinder.config.kinds import channel_kind

    try:
        return _On(channel, channel_kind(channel))
    except BadConfiguration as problem:
        raise BadUse(str(problem)) from None


def _read(segments: list[str], size: int) -> "Iterator[tuple[str, list[ReplyEvent]]]":
    """Each piece with the events it produced; then the events of the end."""
    from rejoinder.outbound.reader import ReplyReader

    reader = ReplyReader(registry=_registry())
    for number, segment in enumerate(segments):
        if number:
            yield "", reader.next_segment()
        for at in range(0, len(segment), size or max(1, len(segment))):
            piece = segment[at : at + size] if size else segment
            yield piece, reader.feed(piece)
    yield "", reader.finish()


def _reading(steps: "Iterable[tuple[str, list[ReplyEvent]]]") -> "Reading":
    from rejoinder.outbound.reading import Reading

    return Reading.of([event for _, events in steps for event in events], _registry())


@cache
def _registry() -> "Registry":
    """The directives a gateway would know: ours, and those of other packages here."""
    from rejoinder import plugins
    from rejoinder.outbound.directives import registry_with

    return registry_with(module.DIRECTIVE for module in plugins.others("directive"))


def _document(reading: "Reading", on: "_On | None") -> dict[str, Any]:
    return {
        "text": reading.text,
        "silent": reading.silent,
        "directives": [{"name": d.name, "args": d.args, "body": d.body} for d in reading.directives],
        "problems": [{"code": problem.code, "detail": problem.detail} for problem in reading.problems],
        "chunks": [message.source for message in _messages(reading, on)],
    }


def _messages(reading: "Reading", on: "_On | None") -> "list[RenderedMessage]":
    from rejoinder.rendering import RenderOptions, messages

    options = RenderOptions(on.kind.renderer, on.kind.limits.length, on.kind.limits.unit) if on else RenderOptions()
    return messages(reading.text, options)


def _segments(asked: Any, number: int) -> list[str]:
    from rejoinder.documents import is_array, is_object

    if is_object(asked):
        if isinstance(text := asked.get("input"), str):
            return [text]
        segments = asked.get("segments")
        if is_array(segments) and all(isinstance(segment, str) for segment in segments):
            return segments
    raise BadUse(f'line {number}: expected {{"input": "..."}} or {{"segments": ["...", ...]}}')


# --- the layout for people ----------------------------------------------------------------------


def _print_layout(reading: "Reading", steps: "list[tuple[str, list[ReplyEvent]]]", on: "_On | None") -> None:
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    if steps:
        _print_steps(console, steps)
        console.print()
    _print_seen(console, reading, on)
    console.print()
    _print_done(console, reading, on)
    if reading.problems:
        console.print()
        _print_problems(console, reading)


def _heading(console: "Console", title: str, note: str = "") -> None:
    from rich.text import Text

    console.print(Text.assemble((title, "bold"), (f"  {note}" if note else "", "dim")))


def _print_rows(console: "Console", rows: "list[tuple[Text, Text]]") -> None:
    """Two columns, or one below the other if the first leaves the second too little room."""
    from rich.text import Text

    width = max(left.cell_len for left, _ in rows)
    if console.is_terminal and 2 * width > console.width:
        for left, right in rows:
            _print_indented(console, left, 2)
            _print_indented(console, right, 4)
        return
    for left, right in rows:
        margin = Text.assemble("  ", left, " " * (width - left.cell_len + 2))
        _print_indented(console, right, width + 4, margin)


def _print_indented(console: "Console", text: "Text", by: int, first: "Text | None" = None) -> None:
    """Wraps for a terminal; a pipe gets the lines as they are, without trailing blanks."""
    from rich.text import Text

    room = max(8, console.width - by)
    lines = text.wrap(console, room, overflow="fold") if console.is_terminal else text.split("\n", allow_blank=True)
    for line in lines or [text]:
        whole = Text.assemble(first or " " * by, line)
        whole.rstrip()
        console.print(whole, soft_wrap=True)
        first = None


def _print_seen(console: "Console", reading: "Reading", on: "_On | None") -> None:
    from rich.text import Text

    chunks = [message.rendering.text for message in _messages(reading, on)]
    where = [f"on {on.name}"] if on else []
    if len(chunks) > 1:
        where.append(f"{len(chunks)} messages")
    _heading(console, "What people see", ", ".join(where))
    for number, chunk in enumerate(chunks):
        if number:
            console.print(Text(f"  - {number + 1} -", style="dim"))
        _print_indented(console, Text(_clean(chunk).strip("\n")), 2)
    if not chunks:
        _print_indented(console, Text(_why_nothing(reading), style="dim italic"), 2)


def _why_nothing(reading: "Reading") -> str:
    if reading.silent:
        return "nothing: the agent chose silence"
    if any(directive.name not in _registry().shaping for directive in reading.directives):
        return "nothing: there is no text, only actions"
    return "_(no response)_, if a person asked: there is no text and no action"


def _print_done(console: "Console", reading: "Reading", on: "_On | None") -> None:
    from rich.text import Text

    from rejoinder.outbound.directive_outcome import directive_outcome

    _heading(console, "What is done")
    known, rows = _registry(), list[tuple[Text, Text]]()
    for directive in reading.directives:
        lines = [Text(", ".join(f"{name}={_clean(str(value))}" for name, value in directive.args.items()))]
        if directive.body is not None:
            lines.append(Text(_clean(directive.body), style="italic"))
        if on:
            outcome = directive_outcome(
                directive, known, can=on.kind.can, reactions=on.kind.reactions, granted=known.brought
            )
            style = {"done": "green", "unsupported": "yellow", "denied": "red"}[outcome.outcome]
            lines.append(Text.assemble((outcome.outcome, style), f": {_clean(outcome.note)}"))
        rows.append((Text(directive.name, style="cyan"), Text("\n").join(filter(None, lines))))
    if rows:
        _print_rows(console, rows)
    else:
        _print_indented(console, Text("nothing", style="dim italic"), 2)


def _print_problems(console: "Console", reading: "Reading") -> None:
    from rich.text import Text

    _heading(console, "Problems")
    styles = {"warning": "yellow", "info": "cyan", "debug": "dim"}
    _print_rows(
        console,
        [
            (Text(problem.code, style=styles[problem.level]), Text(_clean(problem.detail)))
            for problem in reading.problems
        ],
    )


def _print_steps(console: "Console", steps: "list[tuple[str, list[ReplyEvent]]]") -> None:
    """Prints each piece that was fed, and what was certain after it."""
    from rich.text import Text

    _heading(console, "As it streams", "fed, and what came out")
    rows: list[tuple[Text, Text]] = []
    for piece, events in steps:
        came = Text(" ").join(map(_brief, events)) if events else Text("held back" if piece else "nothing", style="dim")
        rows.append((Text(_quoted(piece) if piece else "the end", style="dim"), came))
    _print_rows(console, rows)


def _brief(event: "ReplyEvent") -> "Text":
    from rich.text import Text

    from rejoinder import events

    match event:
        case events.Text(text=text):
            return Text(_quoted(text))
        case events.Directive(name=name):
            return Text(name, style="cyan")
        case events.Problem(code=code):
            return Text(code, style="yellow")
        case events.Silent():
            return Text("silence", style="magenta")


def _quoted(text: str) -> str:
    import json

    return _clean(json.dumps(text, ensure_ascii=False))


def _clean(text: str) -> str:
    from rejoinder.channels.terminal.clean import clean

    return clean(text)
