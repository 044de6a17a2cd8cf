"""The reader: pieces of agent output in, `Text`, `Directive`, `Problem` and at last `Silent` out (OD-1 to OD-45).

Rule 1: no character is looked at twice but for a bounded, counted hold; there is no other look-ahead.
Rule 2: what may still become a directive is held back, with the white space before it; all else is passed on.
Rule 3: what turns out not to be a directive is shown, byte for byte.
Rule 4: nothing here raises on input, waits, or acts.

`header.py` knows what `[[key:value]]` is, `actions.py` what a tag is, `code_spans.py` what is code, `visible.py`
what becomes of text and white space, `silence.py` the tokens. This file knows where each may stand.

A step reads some of the text from `at` on and returns the index it has come to; `~index` means that it needs more
text before it can decide about what begins at `index`.
"""

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from msgspec import Struct

from rejoinder.events import Directive, ReplyEvent
from rejoinder.outbound import actions, header
from rejoinder.outbound.code_spans import Fence, Ticks, fence_may_open
from rejoinder.outbound.directives import default_registry
from rejoinder.outbound.directives.declaration import Declaration, Registry
from rejoinder.outbound.silence import SILENT, Mode, Silence
from rejoinder.outbound.visible import WHITE, Visible

LONGEST = actions.LONGEST

_ANY_TAG = r"<(?![^/A-Za-z])(?=/?[A-Za-z]|/?\Z)"
_RUN = {"`": re.compile("`+"), "~": re.compile("~+")}
_TICK_OR_NEWLINE = re.compile(r"[`\n]")
_BEFORE_HEADER = re.compile("[ \t\r\n\ufeff\u180e\u200b-\u200f\u2060-\u2064]*")
_ZERO_WIDTH = dict.fromkeys((0xFEFF, 0x180E, *range(0x200B, 0x2010), *range(0x2060, 0x2065)))
_BLANKS = re.compile(r"[ \t\r]*")
_TOKEN_LINE = re.compile(
    rf"(?:{'|'.join(SILENT[:size] for size in range(len(SILENT), 0, -1))})(?:[ \t\r]*\n|[ \t\r]*\Z)"
)
_CLOSER = re.compile(r"</([A-Za-z][A-Za-z0-9_-]{0,63})[ \t\r\n]{0,16}>")
_CLOSER_LENGTH = 2 + 64 + 16 + 1
_LONGEST_NAME = 64
_PREFIX = 12  # so much of a line's beginning tells a quote, and a list item that a fence may open in
_MOST_SUGGESTIONS = 20  # finding a near name is slow; nobody reads the twenty-first

_BLOCK = "actions"
_MARKER = "no-reply"


class _Bare(Struct, frozen=True):
    """A tag outside a block, or blanks behind one, waiting for the end of the line (OD-34)."""

    raw: str
    name: str = ""
    escaped: bool = False


class _Child(Struct):
    """A child of a block whose body is being read."""

    raw: str
    name: str
    declared: Declaration | None
    searched: int = 0


class ReplyReader:
    """Reads one turn of one agent.

    `feed(piece)`, `next_segment()` where the agent called a tool or began a new message, and `finish()` return the
    events that have become certain. However the text is cut, the events are the same, text joined.
    """

    def __init__(
        self,
        *,
        registry: Registry | None = None,
        silence: Mode = "edges",
        has_trigger: bool = True,
        heartbeat: bool = False,
        ack_max_chars: int = 300,
    ) -> None:
        self._registry = registry or default_registry()
        self._interruptions = _interruptions(self._registry)
        self._has_trigger = has_trigger
        self._silence = Silence(silence)
        self._visible = Visible(self._silence, heartbeat=heartbeat, ack_max_chars=ack_max_chars)
        self._rest = ""  # what is held back
        self._offset = 0  # where it begins in the whole turn
        self._over = False
        self._finished_silent = False

        self._marker = False  # a <no-reply/> was taken out
        self._opened: set[str] = set()  # tags whose closing tag is to be taken out as well
        self._unfamiliar: list[str] = []
        self._suggestions = 0
        self._begin_segment()

    def _begin_segment(self) -> None:
        self._step: Callable[[str, int, bool], int] = self._in_text
        self._header = True
        self._in_block = False
        self._stray_told = False
        self._scanner: actions.TagScanner | None = None
        self._child: _Child | None = None
        self._without_body: dict[str, int] = {}  # tag name -> offset before which it is known never to be closed
        self._bare: list[_Bare] = []
        self._bare_size = 0
        self._fence: Fence | None = None
        self._fence_line: str | None = None
        self._ticks = Ticks()
        self._run = 0  # length of the run of back-ticks or tildes being read
        self._run_opens_fence = False
        self._hold_scanned = 0
        self._resolved_until = 0  # up to here the back-ticks of the line are known
        self._code: list[tuple[int, int]] = []  # and this is code, last span first
        self._begin_line()

    def _begin_line(self) -> None:
        self._indent = 0
        self._prefix = ""  # the line's first visible characters
        self._cut_on_line = False
        self._behind_known = False  # a known header directive stands on this line

    # --- the verbs ------------------------------------------------------------------------------

    @property
    def silent(self) -> bool:
        """Whether the reply asks for silence, as far as that is known."""
        return self._finished_silent or self._silence.silent

    def feed(self, piece: str) -> list[ReplyEvent]:
        """More of the agent's text, cut anywhere."""
        self._advance(self._rest + piece if self._rest else piece, final=False)
        return self._visible.take()

    def next_segment(self) -> list[ReplyEvent]:
        """The agent called a tool or began a new message: a header may stand at the start of what follows."""
        self._end_segment()
        self._begin_segment()
        return self._visible.take()

    def finish(self) -> list[ReplyEvent]:
        """The turn is over. Called again, there is nothing more."""
        if not self._over:
            self._over = True
            self._end_segment()
            self._finished_silent = self._visible.finish(
                marker=self._marker, otherwise="".join(self._unfamiliar).rstrip("\n")
            )
        return self._visible.take()

    def _advance(self, text: str, *, final: bool) -> None:
        at, end = 0, len(text)
        while at < end:
            to = self._step(text, at, final)
            if to < 0:
                at = ~to
                break
            at = to
        self._rest = text[at:]
        self._offset += at

    def _end_segment(self) -> None:
        self._advance(self._rest, final=True)
        if self._bare:
            self._settle_bare(filled=True)
        if self._child:
            self._unclosed(self._child)
        self._visible.end_segment()

    # --- lines of text --------------------------------------------------------------------------

    def _in_text(self, text: str, at: int, final: bool) -> int:
        if self._header:
            white = _BEFORE_HEADER.match(text, at)
            if white and white.end() > at:
                self._follow_line(white[0].translate(_ZERO_WIDTH))
                self._visible.white(white[0], in_block=self._in_block)
                return white.end()
            if self._indent < 4 and text[at] in "[\\":
                to = self._in_header(text, at, final)
                if to is not None:
                    return to
        if at == 0 and not self._ticks and _is_quiet(text):
            found = None
        else:
            found = self._interruptions[self._in_block][bool(self._ticks)].search(text, at)
        if found is None:
            self._plain(text[at:])
            return len(text)
        hit = found.start()
        if hit > at:
            self._plain(text[at:hit])
        mark = found[0]
        if mark == "\n":
            return self._end_line_with_ticks(hit)
        if self._is_inert():
            end = text.find("\n", hit)
            end = len(text) if end < 0 else end
            self._plain(text[hit:end])
            return end
        if self._offset + hit < self._resolved_until:
            end = self._code_end(hit)
            if end or mark == "`":
                end = end or hit + 1
                self._plain(text[hit:end])
                return end
        if mark == "<":
            return self._in_tag(text, hit, final)
        if mark == "\\":
            return self._at_backslash(text, hit, final)
        self._run_opens_fence = fence_may_open(self._prefix)
        self._step = self._in_tick_run if mark == "`" else self._in_tilde_run
        return hit

    def _plain(self, text: str) -> None:
        """Text that is shown as it stands."""
        if not text.strip(WHITE):
            self._white(text)
            return
        if self._bare:
            self._settle_bare(filled=False)
        if self._in_block and not self._stray_told:
            self._stray_told = True
            self._problem("stray_text", "text inside <actions> that belongs to no action is shown as it stands")
        self._header = False
        self._follow_line(text)
        self._visible.text(text, code=self._fence is not None)

    def _white(self, white: str) -> None:
        self._follow_line(white)
        self._visible.white(white, in_block=self._in_block)

    def _follow_line(self, text: str) -> None:
        """Keep in mind how the current line begins."""
        if len(self._prefix) >= _PREFIX and "\n" not in text:
            return
        newline = text.rfind("\n")
        if newline >= 0:
            self._begin_line()
            text = text[newline + 1 :]
        if not self._prefix:
            visible = text.lstrip(" \t\r")
            if not self._cut_on_line:
                blanks = text[: len(text) - len(visible)]
                self._indent += blanks.count(" ") + 4 * blanks.count("\t")
            text = visible
        self._prefix = (self._prefix + text)[:_PREFIX]

    def _is_inert(self) -> bool:
        """Whether the line is a quote or indented code (OD-36). Inside a block children may be indented."""
        if self._indent >= 4:
            return bool(self._prefix) or not self._in_block
        return self._prefix[:1] == ">"

    def _cut(self) -> None:
        self._visible.cut()
        if not self._prefix:
            self._indent, self._cut_on_line = 0, True

    def _problem(self, code: str, detail: str) -> None:
        self._visible.problem(code, detail)

    # --- code -----------------------------------------------------------------------------------

    def _in_tick_run(self, text: str, at: int, final: bool) -> int:
        end = self._extend_run("`", text, at)
        if end == len(text) and not final:
            return end
        stop = self._offset + end
        fence = self._run >= 3 and self._run_opens_fence
        self._ticks.run(self._run, stop - self._run, stop, fence=fence)
        self._run, self._step = 0, self._in_text
        return end

    def _in_tilde_run(self, text: str, at: int, final: bool) -> int:
        end = self._extend_run("~", text, at)
        if end == len(text) and not final:
            return end
        self._step = self._in_text
        if self._run >= 3 and self._run_opens_fence:
            self._open_fence("~", self._run)
        self._run = 0
        return end

    def _extend_run(self, mark: str, text: str, at: int) -> int:
        run = _RUN[mark].match(text, at)
        end = run.end() if run else at
        if end > at:
            if not self._run:
                self._in_list = bool(self._prefix)
            self._run += end - at
            self._plain(text[at:end])
        return end

    def _open_fence(self, mark: str, length: int) -> None:
        self._fence = Fence(mark, length, in_list=self._in_list)
        self._fence_line = None  # the opening line closes nothing
        self._step = self._in_fence

    def _in_fence(self, text: str, at: int, final: bool) -> int:
        start = at
        while True:
            newline = text.find("\n", at)
            end = newline if newline >= 0 else len(text)
            if self._fence_line is not None and len(self._fence_line) < header.LONGEST:
                self._fence_line += text[at : min(end, at + header.LONGEST)]
            if newline < 0:
                self._plain(text[start:])
                return len(text)
            if self._fence_line is not None and self._fence and self._fence.closes(self._fence_line):
                self._plain(text[start:newline])
                self._fence, self._step = None, self._in_text
                return newline
            self._fence_line = ""
            at = newline + 1
            if at == len(text):
                self._plain(text[start:])
                return at

    def _end_line_with_ticks(self, newline: int) -> int:
        fence = self._ticks.fence
        self._ticks.end_line()
        if fence:
            self._open_fence("`", fence)
            return newline
        self._white("\n")
        return newline + 1

    def _hold_in_ticks(self, at: int) -> int:
        self._hold_scanned = 0
        self._step = self._in_ticks
        return at

    def _in_ticks(self, text: str, at: int, final: bool) -> int:
        """From a `<` in an open span on: whether it is code is known at the closing run, or at the line's end."""
        stop = min(len(text), at + LONGEST)
        scan = at + self._hold_scanned
        while scan < stop:
            if self._run or text[scan] == "`":
                run = _RUN["`"].match(text, scan, stop)
                end = run.end() if run else scan
                self._run += end - scan
                scan = end
                if end == stop:
                    break
                where = self._offset + end
                self._ticks.run(self._run, where - self._run, where, fence=False)
                self._run = 0
                if not self._ticks:
                    return self._release_hold(text, at, end)
            found = _TICK_OR_NEWLINE.search(text, scan, stop)
            if found is None:
                scan = stop
            elif found[0] == "\n":
                return self._resolve_ticks(text, at, found.start())
            else:
                scan = found.start()
        if stop - at >= LONGEST:
            self._run = 0
            self._ticks.end_line()
            return self._release_hold(text, at, stop)
        if final:
            if self._run:
                where = self._offset + stop
                self._ticks.run(self._run, where - self._run, where, fence=False)
                self._run = 0
                if not self._ticks:
                    return self._release_hold(text, at, stop)
            return self._resolve_ticks(text, at, stop)
        self._hold_scanned = scan - at
        return ~at

    def _release_hold(self, text: str, at: int, end: int) -> int:
        self._step = self._in_text
        self._plain(text[at:end])
        return end

    def _resolve_ticks(self, text: str, at: int, line_end: int) -> int:
        """The line is over and its first run was never closed: the held part is read again, knowing what is code."""
        fence = self._ticks.fence
        spans = self._ticks.end_line()
        self._step = self._in_text
        if fence:
            self._plain(text[at:line_end])
            self._open_fence("`", fence)
            return line_end
        self._code = spans[::-1]
        self._resolved_until = self._offset + line_end
        return at

    def _code_end(self, hit: int) -> int:
        """The end of the known span that `hit` stands in, or 0."""
        where = self._offset + hit
        while self._code and self._code[-1][1] <= where:
            self._code.pop()
        return self._code[-1][1] - self._offset if self._code and self._code[-1][0] <= where else 0

    def _at_backslash(self, text: str, at: int, final: bool) -> int:
        follows = text[at + 1 : at + 2]
        if not follows and not final:
            return ~at
        if follows != "<":
            self._plain("\\")
            return at + 1
        return self._in_tag(text, at, final, escaped=True)

    # --- headers --------------------------------------------------------------------------------

    def _in_header(self, text: str, at: int, final: bool) -> int | None:
        """A line that begins with `[[`, or with `\\[[`; None: something else begins here."""
        escaped = text[at] == "\\"
        start = at + escaped
        brackets = text[start : start + 2]
        if brackets != "[[":
            return ~at if not final and "[[".startswith(brackets) else None
        begin = start + 2
        stop = min(len(text), start + header.LONGEST)
        close = text.find("]]", begin, stop)
        newline = text.find("\n", begin, close if close >= 0 else stop)
        if newline >= 0 or close < 0:
            unfinished = newline < 0 and not final and stop - start < header.LONGEST
            return ~at if unfinished and header.may_become(text[begin:], self._registry) else None
        line = header.classify(text[begin:close], self._registry)
        end = behind = close + 2
        if isinstance(line, header.Unfamiliar):
            blanks = _BLANKS.match(text, end, stop)
            behind = blanks.end() if blanks else end
            if behind == len(text) and not final and not self._behind_known and behind - start < header.LONGEST:
                return ~at
            alone = text[behind : behind + 1] in ("", "\n")
            if not alone or self._behind_known:
                return None
        if line is None:
            return None
        if escaped:
            self._plain(text[start:end])
            return end
        self._cut()
        if isinstance(line, header.Known):
            self._behind_known = True
            self._obey_key(line)
        else:
            self._unfamiliar.append(text[start:end] + text[behind : behind + 1])
            hint = self._suggest(line.key, (*self._registry.keys, *self._registry.flags))
            self._visible.problem("unknown_key", f"[[{line.key}]] is no key we know{hint}", level="debug")
        return end

    def _obey_key(self, line: header.Known) -> None:
        key = line.declared.key
        assert key is not None
        args: dict[str, Any] = {}
        try:
            if key.argument:
                args[key.argument.name] = key.argument.check(line.value)
            elif line.value:
                raise ValueError("it takes no value")
        except ValueError as reason:
            self._problem("invalid_value", f"[[{key.name}:{line.value[:40]}]] dropped: {reason}")
            return
        self._directive(line.declared, Directive(line.declared.name, args))

    def _directive(self, declared: Declaration, directive: Directive) -> None:
        about_trigger = declared.speaks_of_trigger
        if not self._has_trigger and about_trigger and about_trigger(directive.args):
            self._problem("no_trigger", f"{declared.name} dropped: this turn answers no message")
            return
        self._visible.directive(directive)

    def _suggest(self, name: str, known: tuple[str, ...]) -> str:
        self._suggestions += 1
        if self._suggestions > _MOST_SUGGESTIONS:
            return ""
        near = get_close_matches(name[:_LONGEST_NAME].lower(), known, 1)
        return f": did you mean {near[0]}?" if near else ""

    # --- tags -----------------------------------------------------------------------------------

    def _in_tag(self, text: str, at: int, final: bool, *, escaped: bool = False) -> int:
        start = at + escaped
        whole = actions.PLAIN_TAG.match(text, start)
        if whole:
            self._scanner = None
            name, end, broken = whole[1].lower(), whole.end(), None
            if not self._is_tag(name):
                return self._no_tag(text, at, start)
            if self._ticks:
                return self._hold_in_ticks(at)
        else:
            found = actions.NAME.match(text, start)
            behind_name = found.end() if found else start + 1
            name = text[start + 1 : behind_name].lower()
            if behind_name == len(text) and self._may_be_tag(name):
                if not final:
                    return ~at
                if self._in_block and name.strip("/") and not escaped:
                    return self._drop_unfinished(name, behind_name)
            if text[behind_name : behind_name + 1] not in (
                " ",
                "\t",
                "\r",
                "\n",
                "/",
                ">",
            ) or not self._is_tag(name):
                return self._no_tag(text, at, start)
            if self._scanner is None:
                self._scanner = actions.TagScanner(behind_name - start)
            stop = min(len(text), start + LONGEST)
            tag_end = self._scanner.scan(text, start, stop, final=final)
            if tag_end is None:
                return self._unfinished_tag(text, at, start, stop, final, name)
            self._scanner = None
            end, broken = tag_end.end, tag_end.broken
            if broken == "tag" and not self._in_block and name != _BLOCK:
                self._plain(text[at:end])
                self._step = self._in_text
                return end
        return self._whole_tag(text[start:end], name, end, broken=broken, escaped=escaped)

    def _no_tag(self, text: str, at: int, start: int) -> int:
        self._plain(text[at : start + 1])
        self._step = self._in_text
        return start + 1

    def _unfinished_tag(self, text: str, at: int, start: int, stop: int, final: bool, name: str) -> int:
        if stop - start < LONGEST:
            if not final:
                return ~at
            if self._in_block and start == at:
                return self._drop_unfinished(name, stop)
        self._scanner = None
        self._plain(text[at:stop])
        self._step = self._in_text
        return stop

    def _drop_unfinished(self, name: str, end: int) -> int:
        """The end of the input cut a tag short inside an open block (OD-38)."""
        self._cut()
        self._problem("unfinished_tag", f"<{name} dropped: it has no end")
        return end

    def _is_tag(self, name: str) -> bool:
        """Whether a tag of this name means something here."""
        if name in (_BLOCK, _MARKER):
            return True
        opening = name.removeprefix("/")
        if self._in_block:
            return 0 < len(opening) <= _LONGEST_NAME
        if name[:1] == "/":
            if opening in (_BLOCK, _MARKER):
                return opening in self._opened
            closes = opening in self._opened or (bool(self._bare) and opening in self._registry.bodiless)
            return closes and not self._prefix
        return not self._prefix and name in self._registry.bodiless

    def _may_be_tag(self, beginning: str) -> bool:
        if self._in_block:
            return len(beginning.removeprefix("/")) <= _LONGEST_NAME
        names = [_BLOCK, _MARKER, *("/" + name for name in self._opened)]
        if not self._prefix:
            names += self._registry.bodiless
        if self._bare:
            names += ("/" + name for name in self._registry.bodiless)
        return any(name.startswith(beginning) for name in names)

    def _whole_tag(self, raw: str, name: str, end: int, *, broken: str | None, escaped: bool) -> int:
        opening = name.removeprefix("/")
        waits_for_line = not self._in_block and opening != _BLOCK and (opening != _MARKER or self._bare)
        if waits_for_line and not broken:
            self._bare.append(_Bare(raw, name, escaped))
            self._bare_size += len(raw)
            self._step = self._in_bare
            return end
        if self._bare:
            self._settle_bare(filled=True)
        self._step = self._in_text
        if escaped:
            self._plain(raw)
            return end
        self._cut()
        self._opened.add(opening)
        if name == _BLOCK:
            if not self._in_block:
                self._in_block, self._stray_told = not raw.endswith("/>"), False
        elif name == "/" + _BLOCK:
            self._in_block = False
        elif name == _MARKER:
            self._marker = True
        elif broken:
            why = "a quote is not closed on its line" if broken == "quote" else "another tag begins inside it"
            self._problem("broken_tag", f"<{name}> dropped: {why}")
        elif name != "/" + opening:
            self._begin_child(raw, name, self._offset)
        return end

    # --- bare tags ------------------------------------------------------------------------------

    def _in_bare(self, text: str, at: int, final: bool) -> int:
        """Behind a bare tag: only if tags fill the line are they obeyed (OD-34)."""
        blanks = _BLANKS.match(text, at)
        if blanks and blanks.end() > at:
            self._bare.append(_Bare(blanks[0]))
            self._bare_size += blanks.end() - at
            return blanks.end()
        if text[at] == "\n":
            self._settle_bare(filled=True)
            return at
        if self._bare_size < LONGEST:
            if text[at] == "<":
                return self._in_tag(text, at, final)
            if text[at] == "\\" and text[at + 1 : at + 2] in ("", "<") and not (final and at + 1 == len(text)):
                return self._at_backslash(text, at, final)
            token = _TOKEN_LINE.match(text, at)
            if token and not final and token.end() == len(text) and not token[0].endswith("\n"):
                return ~at
            if token and (final or token[0].endswith("\n")):
                self._settle_bare(filled=True)  # `<react .../> NO_REPLY`: no sentence either
                return at
        self._settle_bare(filled=False)
        return at

    def _settle_bare(self, *, filled: bool) -> None:
        waiting, self._bare, self._bare_size = self._bare, [], 0
        self._step = self._in_text
        obeyed = filled and not any(bare.escaped for bare in waiting)
        for bare in waiting:
            opening = bare.name.removeprefix("/")
            if not bare.name:
                self._plain(bare.raw)
            elif obeyed or (opening == _MARKER and not bare.escaped):
                self._cut()
                self._opened.add(opening)
                if bare.name == _MARKER:
                    self._marker = True
                elif bare.name == opening:
                    self._obey(self._registry.tags[bare.name], bare.raw, None)
            else:
                self._plain(bare.raw if filled or not bare.escaped else "\\" + bare.raw)

    # --- children of a block --------------------------------------------------------------------

    def _begin_child(self, raw: str, name: str, where: int) -> None:
        declared = self._registry.tags.get(name)
        if declared is None:
            hint = self._suggest(name, tuple(self._registry.tags))
            self._problem("unknown_action", f"<{name[:_LONGEST_NAME]}> dropped: no action we know{hint}")
        if raw.endswith("/>") or (declared and declared.tag and declared.tag.body == "none"):
            if declared:
                self._obey(declared, raw, None)
        elif where >= self._without_body.get(name if declared else "", 0):
            self._child = _Child(raw, name, declared)
            self._step = self._in_body
        elif declared:
            self._problem("unclosed_body", f"<{name}> dropped: it is not closed")

    def _obey(self, declared: Declaration, raw: str, body: str | None) -> None:
        directive, problems = actions.obey(declared, actions.attributes(raw), body)
        for code, detail in problems:
            self._problem(code, detail)
        if directive:
            self._directive(declared, directive)

    def _in_body(self, text: str, at: int, final: bool) -> int:
        child = self._child
        assert child is not None
        stop = min(len(text), at + LONGEST)
        scan = at + child.searched
        while closer := _CLOSER.search(text, scan, stop):
            name = closer[1].lower()
            if name == child.name:
                self._child, self._step = None, self._in_text
                if child.declared:
                    self._obey(child.declared, child.raw, text[at : closer.start()])
                return closer.end()
            if name == _BLOCK:
                return self._end_body(child, at, closer.start(), drop=not _is_speech(child))
            scan = closer.end()
        if stop - at >= LONGEST:
            return self._end_body(child, at, stop, drop=False)
        if final:
            return self._end_body(child, at, stop, drop=child.declared is not None and not _is_speech(child))
        child.searched = max(scan - at, stop - at - _CLOSER_LENGTH, 0)
        return ~at

    def _end_body(self, child: _Child, at: int, end: int, *, drop: bool) -> int:
        """The body has no closing tag: it is dropped, or read again as text of the block."""
        self._unclosed(child)
        if drop:
            return end
        self._without_body[child.name if child.declared else ""] = self._offset + end
        return at

    def _unclosed(self, child: _Child) -> None:
        self._child, self._step = None, self._in_text
        if child.declared:
            self._problem("unclosed_body", f"<{child.name}> dropped: it is not closed")


@lru_cache(maxsize=16)
def _interruptions(registry: Registry) -> tuple[tuple[re.Pattern[str], ...], ...]:
    """What interrupts plain text: outside and inside a block, without and with an open back-tick span."""
    tags = (actions.beginnings((_BLOCK, *sorted(registry.bodiless))), _ANY_TAG)
    return tuple((re.compile(tag + r"|[`\\~]"), re.compile(tag + r"|[`\\\n]")) for tag in tags)


def _is_quiet(text: str) -> bool:
    """Whether nothing in it interrupts text: most of what agents say, and this is the fastest way to know."""
    return "<" not in text and "`" not in text and "\\" not in text and "~" not in text


def _is_speech(child: _Child) -> bool:
    return bool(child.declared and child.declared.tag and child.declared.tag.body_is_speech)
