"""What of a reply has become certain: its visible text, with the white space that stays, and the events beside it.

White space is kept back until a visible character follows, so that it can go with a directive taken out of it.
"""

from typing import Literal

from rejoinder.events import Directive, Problem, ReplyEvent, Silent, Text
from rejoinder.outbound.gap import MOST_WHITE, Gap
from rejoinder.outbound.silence import Silence

MOST_PROBLEMS = 100
"""So many problems are told of one turn: an output that is all mistakes must not become a log that is all noise."""

WHITE = " \t\r\n"


class Visible:
    """Collects the events of one turn; `take()` hands them over."""

    def __init__(self, silence: Silence, *, heartbeat: bool, ack_max_chars: int) -> None:
        self._silence = silence
        self._pending: list[str] = []  # visible text not yet joined: many small pieces are one text
        self._pending_code = False
        self._acknowledging = heartbeat
        self._ack_max_chars = ack_max_chars
        self._unsaid = ""  # the text of a heartbeat turn, as long as it may be a mere acknowledgement
        self._events: list[ReplyEvent] = []
        self._fresh: list[str] = []  # text not yet made an event
        self._space = ""  # white space since the last visible character
        self._gap: Gap | None = None  # the same, where lines matter: something was taken out, or a segment ended
        self._gap_width = 0
        self._inside = ""  # white space behind a child of a block: it goes if only markup follows
        self._problems = 0
        self.begun = False
        """A visible character came, if only to be held by the silence filter."""
        self.said = False
        """Text went out."""
        self.directives = 0

    # --- text -----------------------------------------------------------------------------------

    def text(self, text: str, *, code: bool = False) -> None:
        """Text that people see, with at least one visible character."""
        if code is not self._pending_code:
            self._join()
            self._pending_code = code
        self._pending.append(text)

    def flow(self, text: str) -> list[ReplyEvent]:
        """The same for a piece in the middle of a line, and its events at once: most of a stream comes this way."""
        if self._gap is not None or self._acknowledging:
            self.text(text)
            return self.take()
        core = text.rstrip(WHITE)
        certain = self._silence.push(self._space + core if self._space else core)
        self._space = text[len(core) :]
        if self._space:
            certain += self._silence.pause()
        if not certain:
            return []
        self.said = True
        return [Text(certain)]

    def _join(self) -> None:
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending.clear()
        core = text.rstrip(WHITE)
        behind = text[len(core) :]
        if self._gap is not None:
            bare = core.lstrip(WHITE)
            self._widen(self._inside + core[: len(core) - len(bare)])
            core = self._gap.close(text_before=self.begun) + bare
            self._gap, self._inside = None, ""
        elif self._space:
            core = self._space + core
        self._space = ""
        self.begun = True
        self._pass(core, code=self._pending_code)
        self._keep(behind)
        if behind:
            self._say(self._silence.pause())

    def white(self, white: str, *, in_block: bool = False) -> None:
        if self._pending:
            self._pending.append(white)
        elif self._gap is None:
            self._keep(self._space + white)
            self._say(self._silence.pause())
        elif in_block:
            self._inside = (self._inside + white)[:MOST_WHITE]
        else:
            self._widen(white)

    def _keep(self, white: str) -> None:
        """White space behind text, which waits for what follows; past the limit it is text like any other."""
        while len(white) >= MOST_WHITE:
            self._pass(white[:MOST_WHITE])
            white = white[MOST_WHITE:]
        self._space = white

    def _widen(self, white: str) -> None:
        """White space where something was taken out; past the limit it goes as well."""
        assert self._gap is not None
        self._gap.add(white[: max(0, MOST_WHITE - self._gap_width)])
        self._gap_width += len(white)

    def cut(self) -> None:
        """A directive was taken out here."""
        if self._pending:
            self._join()
        gap = self._gap or self._open_gap()
        self._inside = ""
        gap.cut()

    def end_segment(self) -> None:
        self._join()
        gap = self._gap or self._open_gap()
        self._widen(self._inside)
        self._inside = ""
        gap.end_line("")
        self._say(self._silence.next_segment())

    def _open_gap(self) -> Gap:
        self._gap, self._gap_width, self._space = Gap(self._space), len(self._space), ""
        return self._gap

    def _pass(self, text: str, *, code: bool = False) -> None:
        self._say(self._silence.push(text, code=code))

    def _say(self, text: str) -> None:
        if not text:
            return
        if self._acknowledging:
            self._unsaid += text
            if len(self._unsaid) <= self._ack_max_chars:
                return
            text, self._unsaid, self._acknowledging = self._unsaid, "", False
        self._fresh.append(text)
        self.said = self.said or bool(text.strip(WHITE))

    # --- events beside it -----------------------------------------------------------------------

    def directive(self, directive: Directive) -> None:
        self.directives += 1
        self._event(directive)

    @property
    def tells_problems(self) -> bool:
        return self._problems <= MOST_PROBLEMS

    def problem(self, code: str, detail: str, *, level: Literal["debug", "warning"] = "warning") -> None:
        self._problems += 1
        if self._problems <= MOST_PROBLEMS:
            self._event(Problem(code, level, detail))
        elif self._problems == MOST_PROBLEMS + 1:
            self._event(Problem("more_problems", "warning", f"more than {MOST_PROBLEMS}; the rest is not listed"))

    def _event(self, event: ReplyEvent) -> None:
        self._join()
        self._flush()
        self._events.append(event)

    def _flush(self) -> None:
        if self._fresh:
            self._events.append(Text("".join(self._fresh)))
            self._fresh.clear()

    def take(self) -> list[ReplyEvent]:
        self._join()
        self._flush()
        events, self._events = self._events, []
        return events

    def finish(self, *, marker: bool, otherwise: str) -> bool:
        """The turn is over; whether it is silent. `otherwise` is shown where the reply would be empty."""
        self._join()
        if self._gap is not None and not self._gap.was_cut:
            self._space = self._gap.close(text_before=True)
        self._pass(self._space)
        self._say(self._silence.finish())
        silent = self._silence.silent
        if self._acknowledging:
            self._acknowledging = False
            if self._silence.acknowledged and len(self._unsaid.strip()) <= self._ack_max_chars:
                silent = True
            else:
                self._say(self._unsaid)
        if marker and not silent:
            silent = not self.said
            if not silent:
                self.problem("no_reply_with_text", "<no-reply/> stands beside text: the text is sent")
        if not silent and not self.said and not self.directives:
            self._say(otherwise)
        if silent:
            self._event(Silent())
        return silent
