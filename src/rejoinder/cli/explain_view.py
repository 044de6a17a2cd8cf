"""The output of `rejoinder explain` for people: who said what where, then the events from top to bottom."""

from collections.abc import Iterable
from datetime import datetime

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from rejoinder.cli.explanation import ExplainedEvent, ExplainedInput, ExplainedPart, ExplainedTurn, Explanation
from rejoinder.cli.layout import console, counted, print_table, quoted, worded
from rejoinder.cli.parts import what, where
from rejoinder.durations import duration_text
from rejoinder.events import Route
from rejoinder.store.base import EVENT_STATES, INPUT_STATES, TURN_STATES
from rejoinder.unicode_repair import harmless, one_line

INDENT = 2


def show(explained: Explanation) -> None:
    out = console()
    if explained.answer_of is not None:
        this = "this message" if explained.message else "this"
        out.print(f"{harmless(explained.answer_of)} is an answer to {this}:", style="dim")
    name, id = one_line(explained.sender_name), one_line(explained.sender)
    sender = f"{name} ({id})" if name and name != id else id
    route = Route(explained.channel, explained.chat, explained.thread, explained.account)
    handle = f" {explained.handle}" if explained.handle and explained.handle != explained.message else ""
    if explained.message:
        said = Text.assemble((f"message {harmless(explained.message)}", "bold"), (handle, "cyan"), f" from {sender}")
    else:
        said = Text(f"handed over by {sender}" if sender else "a turn that was not started by a message,", "bold")
    out.print(said + Text(f" in {harmless(where(route))}"))
    for event in explained.events:
        _show_event(out, event)


def _show_event(out: Console, event: ExplainedEvent) -> None:
    out.print()
    how = "arrived" if event.entry == "text" else f"arrived as {event.entry}"
    late = _delay(event)
    out.print(Text.assemble((f"{_clock(event.accepted)}", "bold"), f"  {how}{late}"))
    _indented(out, quoted(event.text))
    if not event.sessions or event.attempts > 1:
        _indented(out, _state(event.state, event.reason or EVENT_STATES[event.state], _attempts(event.attempts)))
    if event.stages:
        out.print()
        _show_stages(out, event)
    if event.parts:
        out.print()
        _show_parts(out, event.parts, event.accepted)
    for handed in event.sessions:
        out.print()
        _show_session(out, handed)


def _show_stages(out: Console, event: ExplainedEvent) -> None:
    rows = (
        [
            Text(line.stage),
            worded(line.decision),
            Text(duration_text(line.took) if line.took else "", "dim"),
            Text(one_line(line.reason or ""), "dim" if line.decision == "continue" else ""),
        ]
        for line in event.stages
    )
    print_table(out, ["stage", "decision", "took", "why"], rows, ("took",), INDENT)


def _show_session(out: Console, handed: ExplainedInput) -> None:
    out.print(Text.assemble(("session ", "dim"), (harmless(handed.session), "bold")))
    if handed.state != "taken":
        _indented(out, _state(handed.state, handed.reason or INPUT_STATES[handed.state]))
    if handed.turn is not None:
        _show_turn(out, handed.turn)


def _show_turn(out: Console, turn: ExplainedTurn) -> None:
    state = turn.outcome or turn.state
    took = f"after {duration_text(turn.seconds)}" if turn.seconds is not None else f"since {_clock(turn.opened)}"
    why = turn.detail or ("" if turn.outcome else TURN_STATES[turn.state])
    line = Text.assemble((f"turn {turn.id}  ", "dim"), worded(state), f" {took}", _attempts(turn.attempts))
    if why:
        line.append(f": {one_line(why)}")
    if turn.outcome == "failed" and turn.detail:
        line.append("; the gateway's log of that time has the reason")
    _indented(out, line)
    if len(turn.messages) > 1:
        _indented(out, Text(f"together with {counted(len(turn.messages) - 1, 'other message')}", "dim"), 2)
    if turn.parts:
        _show_parts(out, turn.parts, turn.opened)
    else:
        _indented(out, Text("nothing was said", "dim"))


def _show_parts(out: Console, parts: Iterable[ExplainedPart], since: datetime) -> None:
    heads = ["part", "state", "after", "tries", "message", "what"]
    print_table(out, heads, (_part(each, since) for each in parts), ("part", "after", "tries"), INDENT)


def _part(each: ExplainedPart, since: datetime) -> list[Text]:
    part = each.part
    after = duration_text((each.sent - since).total_seconds()) if each.sent is not None else ""
    receipt = " ".join(filter(None, (each.handle if each.handle != part.receipt else None, part.receipt)))
    said = what(part)
    if part.why:
        said = Text.assemble((one_line(part.why), "red" if part.state == "dead" else "yellow"), "\n", said)
        said.no_wrap, said.overflow = True, "ellipsis"
    return [
        Text(str(part.id), "dim"),
        worded(part.state),
        Text(after, "dim"),
        Text(str(part.attempts), "dim"),
        Text(harmless(receipt), "cyan"),
        said,
    ]


def _state(state: str, why: str, more: str = "") -> Text:
    return Text.assemble(worded(state), f"{more}: {one_line(why)}")


def _attempts(attempts: int) -> str:
    return f" in {counted(attempts, 'attempt')}" if attempts > 1 else ""


def _delay(event: ExplainedEvent) -> str:
    if event.sent is None or (late := (event.accepted - event.sent).total_seconds()) < 1:
        return ""
    return f", {duration_text(late)} after it was sent"


def _clock(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def _indented(out: Console, shown: RenderableType, depth: int = 1) -> None:
    out.print(Padding(shown, (0, 0, 0, INDENT * depth), expand=False))
