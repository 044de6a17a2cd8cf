"""The layer that knows tags: the block and its children, bare tags, bodies (OD-30 to OD-38)."""

import re
from difflib import get_close_matches
from functools import lru_cache

from msgspec import Struct

from rejoinder.events import Directive
from rejoinder.outbound import actions
from rejoinder.outbound.actions import LONGEST
from rejoinder.outbound.code_reader import CodeReader
from rejoinder.outbound.directives.declaration import Declaration, Registry
from rejoinder.outbound.line_reader import hold
from rejoinder.outbound.silence import ACKNOWLEDGED, SILENT, cut_short
from rejoinder.outbound.visible import VisibleText
from rejoinder.rendering.white_space import BLANKS, WHITE

BLOCK = "actions"
MARKER = "no-reply"

_LONGEST_NAME = 64
CLOSER = re.compile(r"</([A-Za-z][A-Za-z0-9_-]{0,63})(?:[ \t\r\n/][^<>]{0,255})?>")
UNFINISHED_CLOSER = re.compile(r"</?\Z|</[A-Za-z][A-Za-z0-9_-]{0,63}(?:[ \t\r\n/][^<>]{0,255})?\Z")
CLOSER_LENGTH = 2 + 64 + 256 + 1
_TOKEN = f"(?:{SILENT}|{ACKNOWLEDGED})"
_TOKEN_FIRST = re.compile(rf"{_TOKEN}(?!\w)")
_TOKEN_ALONE = re.compile(rf"{_TOKEN}[ \t\r]{{0,64}}(?:\n|\Z)")
_TOKEN_UNFINISHED = re.compile(rf"(?:{cut_short(SILENT, ACKNOWLEDGED)})[ \t\r]{{0,64}}\Z")
_NEXT_TAG = re.compile(rf"[{WHITE}]*{actions.ANY_TAG}")
_MOST_SUGGESTIONS = 20  # finding a near name is slow; nobody reads the twenty-first


class _Bare(Struct, frozen=True):
    """A tag outside a block, or blanks after one, waiting for the end of the line (OD-34)."""

    raw: str
    name: str = ""
    escaped: bool = False
    broken: str | None = None


class _Child(Struct):
    """A child of a block whose body is being read."""

    raw: str
    name: str
    declared: Declaration | None
    searched: int = 0


@lru_cache(maxsize=16)
def _names(registry: Registry) -> tuple[frozenset[str], frozenset[str]]:
    """The names of tags that are never mere noise in a block, and the names of closing tags."""
    significant = frozenset((BLOCK, f"/{BLOCK}", MARKER, *registry.tags)) - registry.wanting
    return significant, frozenset(f"/{name}" for name in registry.tags)


class TagReader(CodeReader):
    __slots__ = (
        "_bare",
        "_bare_size",
        "_child",
        "_closing",
        "_has_trigger",
        "_marker",
        "_opened",
        "_registry",
        "_scanned_name",
        "_scanner",
        "_significant",
        "_stray_told",
        "_suggestions",
        "_wanting",
        "_without_body",
    )

    def __init__(self, visible: VisibleText, registry: Registry, *, has_trigger: bool) -> None:
        self._registry = registry
        self._wanting = registry.wanting
        self._significant, self._closing = _names(registry)
        self._has_trigger = has_trigger
        self._marker = False  # whether a <no-reply/> was taken out
        self._opened: set[str] = set()  # tags whose closing tag must be taken out as well
        self._suggestions = 0
        super().__init__(visible)

    def _begin_segment(self) -> None:
        super()._begin_segment()
        self._stray_told = False
        self._scanner: actions.TagScanner | None = None
        self._scanned_name = ""
        self._child: _Child | None = None
        self._without_body: dict[str, int] = {}  # tag name -> offset up to which it is known never to be closed
        self._bare: list[_Bare] = []
        self._bare_size = 0

    def _end_tags(self) -> None:
        """The segment is over, and with it the line and the block."""
        if self._bare:
            self._settle_bare(filled=True)
        if self._child:
            self._unclosed(self._child)

    def _plain(self, text: str) -> None:
        if self._bare and text.strip(WHITE):
            self._settle_bare(filled=False)
        super()._plain(text)

    def _show(self, text: str) -> None:
        if not text.strip(WHITE):
            self._visible.white(text, in_block=self._in_block)
            return
        self._header = False
        if self._in_block and not self._stray_told:
            self._stray_told = True
            self._problem("stray_text", "text inside <actions> that belongs to no action is shown as it stands")
        self._visible.text(text)

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

    # --- one tag --------------------------------------------------------------------------------

    def _in_tag(self, text: str, at: int, final: bool, found: re.Match[str] | None) -> int:
        """Reads a tag, or a backslash before one; `found` is its match of `actions.ANY_TAG`."""
        escaped = text[at] == "\\"
        start = at + escaped
        if self._scanner is None:
            if found is None:
                return self._no_tag(text, at, start)
            name, end, is_whole = (found[1] or found[0][1:]).lower(), found.end(), bool(found[2])
            if not is_whole and end == len(text):
                if self._may_be_tag(name):
                    if not final:
                        return hold(at)
                    if self._in_block and name.strip("/") and not escaped:
                        return self._drop_unfinished(name, end)
                return self._no_tag(text, at, start)
            if not (self._in_block or self._is_tag(name)):
                return self._no_tag(text, at, start)
            if self._ticks.open:
                return self._hold_in_ticks(at)
            if is_whole:
                broken = None if text[end - 1] == ">" else "tag"
                return self._tag_ends(text, at, start, end, name, broken)
            self._scanner, self._scanned_name = actions.TagScanner(end - start), name
        stop = min(len(text), start + LONGEST)
        tag_end = self._scanner.scan(text, start, stop, final=final)
        name = self._scanned_name
        if tag_end is None:
            return self._unfinished_tag(text, at, start, stop, final, name)
        self._scanner = None
        return self._tag_ends(text, at, start, tag_end.end, name, tag_end.broken)

    def _tag_ends(self, text: str, at: int, start: int, end: int, name: str, broken: str | None) -> int:
        if broken == "tag" and text[end - 1] == "\\":
            end -= 1  # the backslash escapes the tag that follows it
        behind_name = start + len("<" + name)
        if broken == "tag" and not self._in_block and (name != BLOCK or text[behind_name:end].strip(WHITE)):
            self._step = self._in_text
            if text.find("`", behind_name, end) >= 0 or text.find("~~~", behind_name, end) >= 0:
                end = behind_name  # prose that names a tag: the rest may open code, so it is read again
            self._plain(text[at:end])
            return end
        return self._whole_tag(text, start, end, name, broken=broken, escaped=at < start)

    def _no_tag(self, text: str, at: int, start: int) -> int:
        self._plain(text[at : start + 1])
        self._step = self._in_text
        return start + 1

    def _unfinished_tag(self, text: str, at: int, start: int, stop: int, final: bool, name: str) -> int:
        if stop - start < LONGEST:
            if not final:
                return hold(at)
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
        if name in (BLOCK, MARKER):
            return True
        opening = name.removeprefix("/")
        if self._in_block:
            return 0 < len(opening) <= _LONGEST_NAME
        if name[:1] == "/":
            if self._stands_anywhere(opening):
                return opening in self._opened
            closes = opening in self._opened or (bool(self._bare) and opening in self._registry.bodiless)
            return closes and not self._prefix
        if self._prefix or name not in self._registry.tags:
            return False
        return name in self._registry.bodiless or not self._bare

    def _stands_anywhere(self, name: str) -> bool:
        """Whether the tag also counts inside a sentence: the block, the marker, the closing tag of a tag with a
        body."""
        return name in (BLOCK, MARKER) or (name in self._registry.tags and name not in self._registry.bodiless)

    def _noise_end(self, text: str, found: re.Match[str]) -> int:
        """The end of a run of tags in a block that are dropped without notice, with the white space between them; 0 if
        there is none.

        These are closing tags and, once no more problems are reported, unknown tags and those without attributes.
        """
        end = 0
        silent = not self._visible.tells_problems
        bodiless_until = self._without_body.get("", 0) - self._offset
        tag: re.Match[str] | None = found
        while tag:
            name, rest = tag.group(1, 2)
            if not rest or (name := name.lower()) in self._significant:
                break
            tag_end = tag.end()
            if name[0] == "/" and rest[-1] == ">":
                if name in self._closing:
                    self._opened.add(name[1:])
            elif not silent or rest[-1] == "\\":
                break
            elif name in self._wanting:
                if rest not in (">", "/>"):
                    break
                self._opened.add(name)
            elif rest[-1] == ">" and rest[-2:] != "/>" and tag_end >= bodiless_until:
                closer = CLOSER.search(text, tag_end, tag_end + LONGEST)
                if not closer or closer[1].lower() != name:
                    break
                tag_end = closer.end()
            end = tag_end
            tag = _NEXT_TAG.match(text, end)
        if end and "\n" in text[found.end() : end]:
            self._begin_line()
        return end

    def _may_be_tag(self, beginning: str) -> bool:
        if self._in_block:
            return len(beginning.removeprefix("/")) <= _LONGEST_NAME
        names = [BLOCK, MARKER, *("/" + name for name in self._opened)]
        if self._prefix:
            names += self._registry.with_body  # it is text, but is reported once its name is complete
        else:
            names += self._registry.bodiless if self._bare else self._registry.tags
        if self._bare:
            names += ("/" + name for name in self._registry.bodiless)
        return any(name.startswith(beginning) for name in names)

    def _whole_tag(self, text: str, start: int, end: int, name: str, *, broken: str | None, escaped: bool) -> int:
        raw = text[start:end]
        opening = name.removeprefix("/")
        self._step = self._in_text
        if not self._in_block and name in self._registry.with_body:
            return self._begin_stray(text, start, end, name, broken=broken, escaped=escaped)
        if not self._in_block and opening != BLOCK and (self._bare or not self._stands_anywhere(opening)):
            if not (self._bare or escaped) and text.startswith("\n", end):
                self._take_out(raw, name, opening, broken)
            else:
                self._bare.append(_Bare(raw, name, escaped, broken))
                if name == MARKER and not escaped:
                    self._remember(name)  # the marker is taken out, whether or not tags fill the line
                self._bare_size += len(raw)
                self._step = self._in_bare
            return end
        if self._bare:
            self._settle_bare(filled=True)
        if escaped:
            self._plain(raw)
            return end
        self._cut()
        self._remember(opening)
        if name == BLOCK:
            if not self._in_block:
                self._in_block, self._stray_told = not raw.endswith("/>"), False
        elif name == "/" + BLOCK:
            self._in_block = False
        elif name == MARKER:
            self._marker = True
        elif broken:
            self._tell_broken(name, broken)
        elif name != "/" + opening:
            self._begin_child(raw, name, self._offset + end)
        return end

    def _begin_stray(self, text: str, start: int, end: int, name: str, *, broken: str | None, escaped: bool) -> int:
        """Begins a tag that needs a block, at the start of a line outside one."""
        raise NotImplementedError

    def _take_out(self, raw: str, name: str, opening: str, broken: str | None) -> None:
        """Takes out, and obeys, a tag outside a block."""
        self._cut()
        self._remember(opening)
        if name == MARKER:
            self._marker = True
        elif broken:
            self._tell_broken(name, broken)
        elif name == opening:
            self._obey(self._registry.tags[name], raw, None)

    def _remember(self, name: str) -> None:
        """Notes that its closing tag must be taken out as well."""
        if name == BLOCK or name in self._registry.tags:
            self._opened.add(name)

    def _tell_broken(self, name: str, broken: str) -> None:
        if not self._visible.tells_problems:
            return
        why = "a quote is not closed on its line" if broken == "quote" else "another tag begins inside it"
        self._problem("broken_tag", f"<{name}> dropped: {why}")

    # --- bare tags ------------------------------------------------------------------------------

    def _in_bare(self, text: str, at: int, final: bool) -> int:
        """After a bare tag: the tags are obeyed only if they fill the line (OD-34)."""
        if self._bare_size >= LONGEST:
            self._settle_bare(filled=False)
            return at
        if text[at] == "\n":
            self._settle_bare(filled=True)
            return at
        if blanks := BLANKS.match(text, at, at + LONGEST - self._bare_size):
            self._bare.append(_Bare(blanks[0]))
            self._bare_size += len(blanks[0])
            return blanks.end()
        if text[at] == "<":
            return self._in_tag(text, at, final, actions.TAG.match(text, at))
        if text[at] == "\\" and text[at + 1 : at + 2] == "<":
            return self._in_tag(text, at, final, actions.TAG.match(text, at + 1))
        if text[at:] == "\\" and not final:
            return hold(at)
        if not final and _TOKEN_UNFINISHED.match(text, at):
            return hold(at)
        token = (_TOKEN_FIRST if self._header else _TOKEN_ALONE).match(text, at)
        self._settle_bare(filled=token is not None)  # `<react .../> NO_REPLY` is no sentence
        return at

    def _settle_bare(self, *, filled: bool) -> None:
        waiting, self._bare, self._bare_size = self._bare, [], 0
        self._step = self._in_text
        obeyed = filled and not any(bare.escaped for bare in waiting)
        for bare in waiting:
            opening = bare.name.removeprefix("/")
            if not bare.name:
                self._plain(bare.raw)
            elif obeyed or (self._stands_anywhere(opening) and not bare.escaped):
                self._take_out(bare.raw, bare.name, opening, bare.broken)
            else:
                stripped = filled or self._stands_anywhere(opening)  # without the backslash it would be taken out
                self._plain(bare.raw if stripped or not bare.escaped else "\\" + bare.raw)

    # --- children of a block --------------------------------------------------------------------

    def _begin_child(self, raw: str, name: str, where: int) -> None:
        declared = self._registry.tags.get(name)
        if declared is None and self._visible.tells_problems:
            hint = self._suggest(name, tuple(self._registry.tags))
            self._problem("unknown_action", f"<{name[:_LONGEST_NAME]}> dropped: no known action{hint}")
        if raw.endswith("/>") or (declared and declared.tag and declared.tag.body == "none"):
            if declared:
                self._obey(declared, raw, None)
        elif where >= self._without_body.get(name if declared else "", 0):
            self._child = _Child(raw, name, declared)
            self._step = self._in_body
        elif declared and self._visible.tells_problems:
            self._problem("unclosed_body", f"<{name}> dropped: it is not closed")

    def _obey(self, declared: Declaration, raw: str, body: str | None) -> None:
        assert declared.tag is not None
        directive, problems = actions.directive_of_tag(
            declared, actions.attributes(raw, len("<" + declared.tag.name)), body
        )
        if self._visible.tells_problems:
            for code, detail in problems:
                self._problem(code, detail)
        if directive:
            self._directive(declared, directive)

    def _in_body(self, text: str, at: int, final: bool) -> int:
        child = self._child
        assert child is not None
        longest = at + LONGEST
        stop = min(len(text), longest + CLOSER_LENGTH)
        scan = at + child.searched
        while (closer := CLOSER.search(text, scan, stop)) and closer.start() <= longest:
            name = closer[1].lower()
            if name == child.name:
                self._child, self._step = None, self._in_text
                if child.declared:
                    self._obey(child.declared, child.raw, text[at : closer.start()])
                return closer.end()
            if name == BLOCK:
                return self._end_body(child, at, closer.start(), drop=not _is_speech(child))
            scan = closer.end()
        if len(text) > longest and not UNFINISHED_CLOSER.match(text, longest, stop):
            return self._end_body(child, at, longest, drop=False)
        if final:
            return self._end_body(child, at, len(text), drop=child.declared is not None and not _is_speech(child))
        child.searched = max(scan - at, stop - at - CLOSER_LENGTH, 0)
        return hold(at)

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


def _is_speech(child: _Child) -> bool:
    return bool(child.declared and child.declared.tag and child.declared.tag.body_is_speech)
