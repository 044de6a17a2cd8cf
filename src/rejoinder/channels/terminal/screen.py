"""The chat as a person sees it: what was said scrolls up, what is being written stands live above the prompt.

Rule 1: every change of the screen is one write, so nothing flickers (`_Frames`).
Rule 2: nothing anybody wrote reaches the terminal but through `clean`.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor, TabsProcessor
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts import print_formatted_text
from prompt_toolkit.styles import Style

from rejoinder.channels.base import Delivered, Limits, Outcome, Rejected
from rejoinder.channels.terminal.layout import Row, wrap
from rejoinder.channels.terminal.room import Room
from rejoinder.channels.terminal.transcript import INDENT, Block, Transcript
from rejoinder.channels.terminal.typed import Leave, Misread, Nothing, Said, read_typed
from rejoinder.events import Inbound, Part, Route

STYLE = Style.from_dict(
    {
        "handle": "ansibrightblack",
        "you": "ansigreen bold",
        "agent": "ansicyan bold",
        "bold": "bold",
        "code": "ansiyellow",
        "fence": "ansibrightblack",
        "quote": "italic",
        "note": "ansibrightblack italic",
        "prompt": "ansigreen bold",
        "hint": "ansibrightblack",
    }
)
HINTS = ("Ctrl-C stops", "Ctrl-D leaves", "/reply m2 text", "Alt-Enter new line")
PLACEHOLDER = "say hello"
PROMPT = "› "
TALLEST_INPUT = 6
LONGEST_PASTE = 2000  # a longer one is kept aside: a prompt of a megabyte helps nobody
REDRAW_AFTER = 0.02


class _Frames(Vt100_Output):
    """Holds back what is drawn until the whole frame is there."""

    holding = False

    @contextmanager
    def frame(self) -> Iterator[None]:
        self.holding = True
        try:
            yield
        finally:
            self.holding = False
            self.flush()

    def flush(self) -> None:
        if not self.holding:
            super().flush()


def _size() -> Size:
    columns, rows = os.get_terminal_size(sys.stdout.fileno())
    return Size(rows=rows or 24, columns=columns or 80)  # a terminal nobody has sized says 0


class Screen:
    limits = Limits()

    def __init__(self, name: str, agent: str) -> None:
        self.name = name
        self._agent = agent
        self._room = Room()
        self._transcript = Transcript()
        self._open: dict[str, Block] = {}
        self._written: dict[str, list[str]] = {}
        self._busy = False
        self._left = False
        self._drawing: asyncio.TimerHandle | None = None
        self._newest = ""
        self._typed: asyncio.Queue[Inbound] = asyncio.Queue()
        self._pastes: dict[str, str] = {}
        self._input = Buffer(multiline=True)
        self._output = _Frames(sys.stdout, _size, term=os.environ.get("TERM"), enable_cpr=False)
        self._app = self._build()

    # --- the channel --------------------------------------------------------------------------------

    async def listen(self, deliver: Callable[[Inbound], Awaitable[None]]) -> None:
        async def hand_over() -> None:
            while True:
                await deliver(await self._typed.get())

        self._note(f"You talk to {self._agent}.")

        def start_handing_over() -> None:
            self._app.create_background_task(hand_over())

        try:
            await self._app.run_async(pre_run=start_handing_over)
        finally:
            self._left = True
        await deliver(self._stop())

    async def send(self, part: Part) -> Outcome:
        return self._open_block(part, complete=True)

    async def begin(self, part: Part) -> Outcome:
        return self._open_block(part, complete=False)

    async def append(self, route: Route, message: str, text: str) -> None:
        self._open[message].append(text)
        self._written[message].append(text)
        if self._drawing is None:
            self._drawing = asyncio.get_running_loop().call_later(REDRAW_AFTER, self._draw)

    async def complete(self, route: Route, message: str) -> None:
        self._open.pop(message).finish()
        self._room.remember(message, "".join(self._written.pop(message)))
        self._draw()

    async def delete(self, route: Route, message: str) -> Outcome:
        block = self._open.pop(message)
        del self._written[message]
        block.finish()
        self._transcript.remove(block)
        if block.left:
            self._note(f"{self._agent} took {message} back")
        self._draw()
        return Delivered(message)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False) -> Outcome:
        self._busy = False
        where = message if message == self._newest else self._room.mention(message)
        how = "taken back from" if remove else "on"
        self._show([("", f"{INDENT}{emoji} "), ("class:handle", f"{how} {where}")])
        return Delivered(message)

    async def note(self, route: Route, text: str) -> None:
        self._busy = False
        self._note(text)

    async def typing(self, route: Route) -> None:
        self._busy = True
        self._draw()

    def _open_block(self, part: Part, *, complete: bool) -> Outcome:
        if self._left:
            return Rejected("the terminal chat has ended")
        self._busy = False
        handle = self._newest = self._room.add(part.text)
        block = Block(self._head(handle, "agent", self._agent, part.reply_to), part.text, complete=complete)
        if not complete:
            self._open[handle] = block
            self._written[handle] = [part.text]
        self._transcript.add(block)
        self._draw()
        return Delivered(handle)

    # --- what is typed ------------------------------------------------------------------------------

    def _enter(self) -> None:
        match read_typed(self._input.text, self._room):
            case Said(text=words, reply_to=reply_to):
                message = self._room.say(self.name, self._unfolded(words), reply_to)
                self._transcript.add(self._own_block(message.message_id, words, reply_to))
                self._typed.put_nowait(message)
            case Misread(advice=advice):
                self._note(advice)
                return
            case Leave():
                self._app.exit()
                return
            case Nothing():
                pass
        self._pastes.clear()
        self._input.append_to_history()
        self._input.reset()
        self._draw()

    def _unfolded(self, text: str) -> str:
        for folded, whole in self._pastes.items():
            text = text.replace(folded, whole)
        return text

    def _interrupt(self) -> None:
        if self._input.text:
            self._input.reset()
        else:
            self._typed.put_nowait(self._stop())

    def _stop(self) -> Inbound:
        return self._room.command(self.name, "/stop")

    def _paste(self, text: str) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if len(text) > LONGEST_PASTE:
            folded = f"[pasted {len(text):,} characters, no. {len(self._pastes) + 1}]"
            self._pastes[folded] = text
            text = folded
        self._input.insert_text(text)

    # --- what is drawn ------------------------------------------------------------------------------

    def _head(self, handle: str, style: str, who: str, reply_to: str | None) -> Row:
        head: Row = [("class:handle", f"{handle} "), (f"class:{style}", who)]
        if reply_to is not None:
            head.append(("class:handle", f" ↩ {self._room.mention(reply_to)}"))
        return head

    def _own_block(self, handle: str, text: str, reply_to: str | None) -> Block:
        """A short message of one's own needs no line for its head; a blank line sets off what follows."""
        self._transcript.add(Block([]))
        self._newest = handle
        head = self._head(handle, "you", "you", reply_to)
        beside: Row = [*head, ("", f"  {text}")]
        fits = "\n" not in text and len(wrap(beside, self._width)) == 1
        return Block(beside) if fits else Block(head, text)

    def _note(self, text: str) -> None:
        self._show([("class:note", f"{INDENT}{text}")])

    def _show(self, head: Row) -> None:
        self._transcript.add(Block(head))
        self._draw()

    def _draw(self) -> None:
        """Moves what is final into the scrollback, above what is live, in one frame."""
        if self._drawing is not None:
            self._drawing.cancel()
            self._drawing = None
        size = self._output.get_size()
        rows = self._transcript.settle(self._width, max(size.rows - TALLEST_INPUT - 4, 3))
        if not self._app.is_running:
            self._print(rows)
        elif not rows:
            self._app.invalidate()
        else:
            with self._output.frame(), set_app(self._app):
                self._app.renderer.erase()
                self._print(rows)
                self._app.renderer.reset()
                self._app.renderer.render(self._app, self._app.layout)

    def _print(self, rows: list[Row]) -> None:
        for row in rows:
            print_formatted_text(
                FormattedText(row), style=STYLE, output=self._output, include_default_pygments_style=False
            )

    @property
    def _width(self) -> int:
        return max(self._output.get_size().columns - 1, 8)

    def _live(self) -> StyleAndTextTuples:
        rows = self._transcript.rows(self._width)
        if self._busy:
            rows.append([("class:note", f"{INDENT}{self._agent} …")])
        shown = rows[-max(self._output.get_size().rows - TALLEST_INPUT - 2, 3) :]
        text: StyleAndTextTuples = []
        for number, row in enumerate(shown):
            text += [("", "\n"), *row] if number else [*row]
        return text

    def _has_live(self) -> bool:
        return self._busy or bool(self._transcript.rows(self._width))

    def _hint(self) -> StyleAndTextTuples:
        line = ""
        for hint in HINTS:
            longer = f"{line} · {hint}" if line else hint
            if len(longer) > self._width - len(PROMPT):
                break
            line = longer
        return [("class:hint", " " * len(PROMPT) + line)]

    def _build(self) -> Application[None]:
        keys = KeyBindings()
        for key, act in (("enter", self._enter), ("c-c", self._interrupt)):
            keys.add(key, eager=True)(lambda _, act=act: act())
        keys.add("escape", "enter")(lambda _: self._input.insert_text("\n"))
        keys.add("c-d", filter=Condition(lambda: not self._input.text))(lambda _: self._app.exit())

        @keys.add(Keys.BracketedPaste, eager=True)
        def _(event: KeyPressEvent) -> None:
            self._paste(event.data)

        fresh = Condition(lambda: not self._input.text and not self._newest)
        live = Window(
            FormattedTextControl(self._live),
            height=lambda: None if self._has_live() else Dimension.exact(0),
            dont_extend_height=True,
        )
        prompt = Window(
            BufferControl(
                self._input,
                input_processors=[
                    TabsProcessor(),
                    ConditionalProcessor(AfterInput(PLACEHOLDER, style="class:hint"), fresh),
                ],
            ),
            get_line_prefix=lambda number, wrapped: (
                [("class:prompt", PROMPT)] if number == 0 and not wrapped else [("", " " * len(PROMPT))]
            ),
            height=Dimension(min=1, max=TALLEST_INPUT),
            wrap_lines=True,
            dont_extend_height=True,
        )
        hint = Window(FormattedTextControl(self._hint), height=1, dont_extend_height=True)
        return Application(
            layout=Layout(HSplit([live, prompt, hint]), focused_element=prompt),
            key_bindings=keys,
            style=STYLE,
            output=self._output,
            include_default_pygments_style=False,
            erase_when_done=True,
            min_redraw_interval=REDRAW_AFTER,
        )
