"""The chat as a person sees it: finished messages scroll up, growing ones are shown live above the prompt.

The text of people and agents reaches the terminal only through a `ScreenBlock`, which makes it harmless.
"""

import asyncio

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import set_app
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.shortcuts import print_formatted_text
from prompt_toolkit.styles import Style

from rejoinder.channels.base import Delivered, Inlet, Limits, Outcome, OutgoingFile, Rejected
from rejoinder.channels.terminal.files import FILES, ChatFolder
from rejoinder.channels.terminal.frames import Frames
from rejoinder.channels.terminal.layout import Row, wrap
from rejoinder.channels.terminal.prompt import SIGN, TALLEST, Prompt
from rejoinder.channels.terminal.room import TerminalRoom
from rejoinder.channels.terminal.transcript import INDENT, ScreenBlock, Scrollback
from rejoinder.channels.terminal.typed_lines import EmptyLine, InvalidLine, MessageLine, QuitLine, read_typed
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
GATEWAY = "rejoinder"
"""The name above answers to commands; the agent's name is shown only above what the agent says."""
HINTS = ("Ctrl-C stops", "Ctrl-D leaves", "/reply m2 text", "Alt-Enter new line")
REDRAW_AFTER = 0.02  # seconds; what arrives meanwhile is drawn together
BELOW = TALLEST + 2  # rows kept free for the prompt and its hint
NARROWEST = 8


class Screen:
    limits = Limits()
    file_limits = FILES

    def __init__(self, name: str, agent: str) -> None:
        self.name = name
        self._agent = agent
        self._room = TerminalRoom()
        self._folder = ChatFolder()
        self._transcript = Scrollback()
        self._open: dict[str, ScreenBlock] = {}
        self._typed: asyncio.Queue[Inbound] = asyncio.Queue()
        self._busy = False
        self._left = False
        self._newest = ""
        self._drawing: asyncio.TimerHandle | None = None
        self._output = Frames()
        self._prompt = Prompt(enter=self._enter, interrupt=self._stop, leave=lambda: self._app.exit())
        self._app = self._build()

    # --- the channel ------------------------------------------------------------------------------

    async def listen(self, deliver: Inlet) -> None:
        async def hand_over() -> None:
            while True:
                await deliver(await self._typed.get())

        def start_handing_over() -> None:
            self._app.create_background_task(hand_over())

        self._note(f"You are talking to {self._agent}.")
        try:
            await self._app.run_async(pre_run=start_handing_over)
        finally:
            self._left = True
        await deliver(self._room.command(self.name, "/stop"))

    async def send_files(self, part: Part, files: tuple[OutgoingFile, ...]) -> Outcome:
        return await self.send(await self._folder.with_paths(part, files))

    async def send(self, part: Part) -> Outcome:
        return self._show(part, complete=True)

    async def begin(self, part: Part) -> Outcome:
        return self._show(part, complete=False)

    async def append(self, route: Route, message: str, text: str) -> None:
        self._open[message].append(text)
        if self._drawing is None:
            self._drawing = asyncio.get_running_loop().call_later(REDRAW_AFTER, self._draw)

    async def complete(self, route: Route, message: str) -> None:
        block = self._open.pop(message)
        block.finish()
        self._room.remember(message, block.opening)
        self._draw()

    async def delete(self, route: Route, message: str) -> Outcome:
        block = self._open.pop(message, None)
        if block is None:
            return Rejected("what has scrolled away cannot be deleted")
        self._transcript.remove(block)
        self._room.forget(message)
        if block.left:
            self._note(f"{self._agent} deleted {message}")
        self._draw()
        return Delivered(message)

    async def react(self, route: Route, message: str, emoji: str, *, remove: bool = False, author: str = "") -> Outcome:
        where = message if message == self._newest else self._room.mention(message)
        how = "removed from" if remove else "on"
        self._line([("", f"{INDENT}{emoji} "), ("class:handle", f"{how} {where}")])
        return Delivered(message)

    async def notify_operator(self, route: Route, text: str) -> None:
        self._note(text)

    async def typing(self, route: Route, *, author: str = "") -> None:
        self._busy = True
        self._draw()

    # --- what is typed ----------------------------------------------------------------------------

    def _enter(self, line: str) -> bool:
        match read_typed(line, self._room):
            case MessageLine(text=text, reply_to=reply_to):
                message = self._room.say(self.name, self._prompt.unfolded(text), reply_to)
                self._show_own(message.message_id, text, reply_to)
                self._typed.put_nowait(message)
            case InvalidLine(advice=advice):
                self._show_refused(line, advice)
                return False
            case QuitLine():
                self._app.exit()
            case EmptyLine():
                pass
        return True

    def _stop(self) -> None:
        self._typed.put_nowait(self._room.command(self.name, "/stop"))

    # --- what is shown ----------------------------------------------------------------------------

    def _show(self, part: Part, *, complete: bool) -> Outcome:
        if self._left:
            return Rejected("the chat in the terminal has ended")
        handle = self._newest = self._room.add(part.text)
        who = ("class:agent", self._agent) if part.author else ("class:note", GATEWAY)
        head = self._head(handle, who, part.reply_to)
        block = self._transcript.add(ScreenBlock(head, part.text, complete=complete))
        if not complete:
            self._open[handle] = block
        self._busy = False
        self._draw()
        return Delivered(handle)

    def _show_own(self, handle: str, text: str, reply_to: str | None) -> None:
        """The person's own words are shown on the line of their head if they fit; a blank line sets the turn off."""
        self._newest = handle
        head = self._head(handle, ("class:you", "you"), reply_to)
        beside: Row = [*head, ("", f"  {text}")]
        fits = "\n" not in text and len(wrap(beside, self._width)) == 1
        self._transcript.add(ScreenBlock([]))
        self._transcript.add(ScreenBlock(beside) if fits else ScreenBlock(head, text))
        self._draw()

    def _show_refused(self, line: str, advice: str) -> None:
        """Shows the line again with the reason. It cannot stay in the prompt: the next line would be glued to it."""
        self._transcript.add(ScreenBlock([("class:note", f"{INDENT}not sent: {advice}")], line))
        self._draw()

    def _head(self, handle: str, who: tuple[str, str], reply_to: str | None) -> Row:
        head: Row = [("class:handle", f"{handle} "), who]
        if reply_to is not None:
            head.append(("class:handle", f" ↩ {self._room.mention(reply_to)}"))
        return head

    def _note(self, text: str) -> None:
        self._line([("class:note", f"{INDENT}{text}")])

    def _line(self, row: Row) -> None:
        self._busy = False
        self._transcript.add(ScreenBlock(row))
        self._draw()

    # --- how it is drawn --------------------------------------------------------------------------

    def _draw(self) -> None:
        """Moves finished rows into the scrollback, above the live ones, in one frame."""
        if self._drawing is not None:
            self._drawing.cancel()
            self._drawing = None
        rows = self._transcript.settle(self._width, self._height)
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
        if rows:
            text = FormattedText(_joined(rows))
            print_formatted_text(text, style=STYLE, output=self._output, include_default_pygments_style=False)

    @property
    def _width(self) -> int:
        return max(self._output.get_size().columns - 1, NARROWEST)

    @property
    def _height(self) -> int:
        return max(self._output.get_size().rows - BELOW, 3)

    def _live(self) -> list[Row]:
        rows = self._transcript.rows(self._width)
        if self._busy:
            rows.append([("class:note", f"{INDENT}{self._agent} …")])
        return rows[-self._height :]

    def _hint(self) -> StyleAndTextTuples:
        line = HINTS[0]
        for hint in HINTS[1:]:
            if len(SIGN) + len(f"{line} · {hint}") <= self._width:
                line = f"{line} · {hint}"
        return [("class:hint", " " * len(SIGN) + line)]

    def _build(self) -> Application[None]:
        live = Window(
            FormattedTextControl(lambda: FormattedText(_joined(self._live()))),
            height=lambda: Dimension.exact(len(self._live())),
            dont_extend_height=True,
        )
        hint = Window(FormattedTextControl(self._hint), height=1, dont_extend_height=True)
        return Application(
            layout=Layout(HSplit([live, self._prompt.window, hint]), focused_element=self._prompt.window),
            key_bindings=self._prompt.keys,
            style=STYLE,
            output=self._output,
            include_default_pygments_style=False,
            erase_when_done=True,
        )


def _joined(rows: list[Row]) -> Row:
    """Rows as one text, a newline between each two."""
    return [part for number, row in enumerate(rows) for part in ([("", "\n"), *row] if number else row)]
