"""The prompt: a line that grows, keys, and folding of long pastes."""

from collections.abc import Callable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Window
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor, TabsProcessor

SIGN = "› "
INVITATION = "say hello"
TALLEST = 6
LONGEST_PASTE = 2000  # a longer paste is folded: a prompt of a megabyte helps nobody


class Prompt:
    def __init__(
        self, *, enter: Callable[[str], bool], interrupt: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        """`enter` takes the typed text and returns whether it was accepted; `interrupt` is Ctrl-C on an empty line."""
        self._enter = enter
        self._interrupt = interrupt
        self._leave = leave
        self._used = False
        self._pastes: dict[str, str] = {}
        self._buffer = Buffer(multiline=True)
        self.keys = self._bind()
        self.window = self._build()

    def unfolded(self, text: str) -> str:
        """The text with every folded paste in full again."""
        for folded, whole in self._pastes.items():
            text = text.replace(folded, whole)
        return text

    def _bind(self) -> KeyBindings:
        keys = KeyBindings()
        empty = Condition(lambda: not self._buffer.text)

        @keys.add("enter", eager=True)
        def _(_: KeyPressEvent) -> None:
            was_of_use = self._enter(self._buffer.text)
            self._buffer.append_to_history()
            if was_of_use:
                self._used = True
                self._clear()
            else:
                self._buffer.reset()  # its pastes are kept: the up arrow brings the line back to be corrected

        @keys.add("escape", "enter")
        def _(_: KeyPressEvent) -> None:
            self._buffer.insert_text("\n")

        @keys.add("c-c", eager=True)
        @keys.add(Keys.SIGINT)
        def _(_: KeyPressEvent) -> None:
            if self._buffer.text:
                self._clear()
            else:
                self._interrupt()

        @keys.add("c-d", filter=empty)
        def _(_: KeyPressEvent) -> None:
            self._leave()

        @keys.add("c-@", eager=True)
        def _(_: KeyPressEvent) -> None:
            """A NUL would begin a selection, and the next key would replace it."""

        @keys.add(Keys.BracketedPaste, eager=True)
        def _(event: KeyPressEvent) -> None:
            self._paste(event.data.replace("\r\n", "\n").replace("\r", "\n"))

        return keys

    def _clear(self) -> None:
        self._pastes.clear()
        self._buffer.reset()

    def _paste(self, text: str) -> None:
        if len(text) > LONGEST_PASTE:
            folded = f"[pasted {len(text):,} characters, no. {len(self._pastes) + 1}]"
            self._pastes[folded] = text
            text = folded
        self._buffer.insert_text(text)

    def _build(self) -> Window:
        unused = Condition(lambda: not self._buffer.text and not self._used)
        invitation = ConditionalProcessor(AfterInput(INVITATION, style="class:hint"), unused)
        return Window(
            BufferControl(self._buffer, input_processors=[TabsProcessor(), invitation]),
            get_line_prefix=_before_line,
            height=Dimension(min=1, max=TALLEST),
            wrap_lines=True,
            dont_extend_height=True,
        )


def _before_line(number: int, wrapped: int) -> StyleAndTextTuples:
    return [("", " " * len(SIGN))] if number or wrapped else [("class:prompt", SIGN)]
