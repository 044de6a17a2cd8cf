"""The certain part of a reply: its visible text, with the white space that stays, and the events beside it.

White space is held back until a visible character follows, so that it can be removed with a directive.
"""

from collections.abc import Sequence
from typing import Literal

from rejoinder.events import Directive, Problem, ReplyEvent, Silent, Text
from rejoinder.outbound.gap import CUT, SEGMENT_END, closed
from rejoinder.outbound.silence import SilenceFilter
from rejoinder.rendering.white_space import MOST_WHITE, WHITE

MOST_PROBLEMS = 100
"""How many problems of a turn are reported, so that an output full of mistakes does not fill the log."""

MOST_KEPT = 65_536
"""How much of the text is kept for a directive that takes it as its body (OD-5)."""


class VisibleText:
    """Collects the events of one turn; `take()` hands them over."""

    def __init__(self, silence: SilenceFilter, *, heartbeat: bool, ack_max_chars: int) -> None:
        self._silence = silence
        self._pending: list[str | None] = []  # text not joined yet, with None where something was taken out
        self._in_code = False
        self._acknowledging = heartbeat
        self._ack_max_chars = ack_max_chars
        self._unsaid = ""  # the text of a heartbeat turn, while it may still be just an acknowledgement
        self._events: list[ReplyEvent] = []
        self._fresh: list[str] = []  # text not yet made an event
        self._space = ""  # white space since the last visible character
        self._gap: list[str] | None = None  # the same, once something was taken out of it
        self._gap_width = 0
        self._behind_cut = False  # no visible character has come since something was taken out
        self._tentative: list[str | None] | None = None
        """Text that is taken out if nothing visible follows, and what followed it."""
        self._kept: list[str] | None = None  # the text so far, if it is wanted as a body
        self._kept_size = 0
        self._inside = ""  # white space after a child of a block, dropped if only markup follows
        self._problems = 0
        self._begun = False  # a visible character has come, though the silence filter may still hold it
        self.said = False
        """Text went out."""
        self.directives = 0
        self.tells_problems = True
        """Whether problems are still reported: there were no more than `MOST_PROBLEMS`."""

    # --- text -----------------------------------------------------------------------------------

    def code(self, begins: bool) -> None:
        """Notes that code begins or ends here."""
        if self._pending:
            self._join()
        self._in_code = begins

    def text(self, text: str) -> None:
        """Adds text that people see, with at least one visible character."""
        if self._tentative is not None:
            self._pending += self._tentative
            self._tentative = None
        if self._inside:
            text, self._inside = self._inside + text, ""
        self._behind_cut = False
        self._pending.append(text)

    def white(self, white: str, *, in_block: bool = False) -> None:
        if in_block and self._behind_cut:
            self._inside = (self._inside + white)[:MOST_WHITE]
        else:
            (self._pending if self._tentative is None else self._tentative).append(white)

    def cut(self) -> None:
        """Notes that a directive was taken out here."""
        self._inside = ""
        self._behind_cut = True
        (self._pending if self._tentative is None else self._tentative).append(None)

    def tentative(self, text: str) -> None:
        """Adds text that may be taken out: it stays if something visible follows it in this segment."""
        self.text(text)
        self._tentative = [self._pending.pop()]

    def end_tentative(self, instead: str = "") -> bool:
        """The segment ends. Returns whether the last visible text in it was tentative; then it is taken out, or
        replaced."""
        if self._tentative is None:
            return False
        self._pending += [instead or None, *self._tentative[1:]]
        self._tentative = None
        return True

    def keep(self) -> None:
        """From here on the text is also kept, up to a limit."""
        self._kept = self._kept if self._kept is not None else []

    def flow(self, text: str) -> list[ReplyEvent]:
        """`text` and `take` in one, for a piece without a directive: the fast path of most of a stream."""
        if self._gap is not None or self._acknowledging or self._kept is not None:
            self.text(text)
            return self.take()
        self._begun = True
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
        """Joins what is pending and passes it on, except for the white space at its end."""
        joined: list[str] = []
        gap = self._gap
        for piece in self._pending:
            if piece is None:
                if gap is None:
                    gap = self._open_gap(joined)
                if gap[-1] != CUT:
                    gap.append(CUT)
            elif gap is None:
                joined.append(piece)
            elif core := piece.lstrip(WHITE):
                joined += self._close_gap(gap, piece[: len(piece) - len(core)]), core
                gap = None
            else:
                self._widen(gap, piece)
        self._pending.clear()
        text = "".join(joined)
        core = text.rstrip(WHITE) if gap is None else text
        if core:
            self._begun = self._begun or gap is None
            self._pass(self._space + core, code=self._in_code)
            self._space = ""
        if gap is None and len(core) < len(text):
            self._keep(self._space + text[len(core) :])
        self._gap = gap
        if self._space or (gap and gap[0]):
            self._say(self._silence.pause())

    def _keep(self, white: str) -> None:
        """Holds white space after text until it is known what follows; beyond the limit it is passed on as text."""
        while len(white) >= MOST_WHITE:
            self._pass(white[:MOST_WHITE])
            white = white[MOST_WHITE:]
        self._space = white

    def end_segment(self) -> None:
        self.code(False)
        if self._gap is None:
            self._gap = self._open_gap([])
        if self._inside:
            self._widen(self._gap, self._inside)
            self._inside = ""
        self._gap.append(SEGMENT_END)
        self._say(self._silence.next_segment())

    def _open_gap(self, joined: list[str]) -> list[str]:
        """Begins a gap with the white space at the end of the text so far."""
        white = ""
        while joined:
            last = joined[-1]
            if core := last.rstrip(WHITE):
                self._begun = True
                if core != last:
                    joined[-1], white = core, last[len(core) :] + white
                break
            white = joined.pop() + white
        else:
            white, self._space = self._space + white, ""
        if len(white) >= MOST_WHITE:
            surplus = len(white) // MOST_WHITE * MOST_WHITE
            joined.append(white[:surplus])
            white = white[surplus:]
        self._gap_width = len(white)
        return [white]

    def _widen(self, gap: list[str], white: str) -> None:
        """Adds white space where something was taken out; beyond the limit it is dropped."""
        room = MOST_WHITE - self._gap_width
        if white and room > 0:
            gap.append(white[:room])
        self._gap_width += len(white)

    def _close_gap(self, gap: list[str], white: str) -> str:
        if white:
            self._widen(gap, white)
        text_before, self._begun = self._begun, True
        return closed("".join(gap), text_before)

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
        if self._kept is not None and self._kept_size < MOST_KEPT:
            self._kept.append(text)
            self._kept_size += len(text)
        self._fresh.append(text)
        self.said = self.said or bool(text.strip(WHITE))

    # --- events beside it -----------------------------------------------------------------------

    def directive(self, directive: Directive) -> None:
        self.directives += 1
        self._event(directive)

    def problem(self, code: str, detail: str, *, level: Literal["debug", "info", "warning"] = "warning") -> None:
        self._problems += 1
        if self._problems <= MOST_PROBLEMS:
            self._event(Problem(code, level, detail))
        elif self._problems == MOST_PROBLEMS + 1:
            self.tells_problems = False
            self._event(Problem("more_problems", "warning", f"more than {MOST_PROBLEMS}; the rest is not listed"))

    def _event(self, event: ReplyEvent) -> None:
        if self._pending:
            self._join()
        if self._fresh:
            self._flush()
        self._events.append(event)

    def _flush(self) -> None:
        self._events.append(Text("".join(self._fresh)))
        self._fresh.clear()

    def take(self) -> list[ReplyEvent]:
        if self._pending:
            self._join()
        if self._fresh:
            self._flush()
        events, self._events = self._events, []
        return events

    def finish(self, *, marker: bool, otherwise: str, taking_text: Sequence[Directive] = ()) -> bool:
        """Ends the turn; returns whether it is silent.

        `otherwise`: shown if the reply would be empty. `taking_text`: directives with the text as their body.
        """
        if self._pending:
            self._join()
        if self._gap is not None and CUT not in self._gap:
            self._space = closed("".join(self._gap), True)
        if self._space:
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
                self.problem("no_reply_with_text", "<no-reply/> stands next to text: the text is sent")
        if not (silent or self.said or self.directives or taking_text):
            self._say(otherwise)
        for directive in taking_text:
            body = "" if silent else "".join(self._kept or ())[:MOST_KEPT].strip()
            self.directive(Directive(directive.name, directive.args, body or None))
        if silent:
            self._event(Silent())
        return silent
