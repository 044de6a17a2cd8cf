"""The Markdown dialect of the gateway.

CommonMark with tables and strike-through, but no rule that makes a word of the agent vanish or a growing text jump:

- there is no HTML: `<id>` is text;
- there are no link definitions: a line `[1]: https://example.org` is text;
- a line of dashes is a rule, and never makes the text above it a heading: a list that streams in begins with a dash;
- a `*` inside a word opens nothing: `2*3*4` is arithmetic (it may close: `**API**s`);
- a table that has a row with more cells than its head is text: the rest of that row would be lost;
- a text nested deeper than anybody writes is plain text: a parser leaves out what lies below its maximum depth.
"""

from collections.abc import Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit as split_cells
from markdown_it.rules_block.table import table as table_rule
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.emphasis import tokenize as emphasis_rule
from markdown_it.token import Token

_DEEPEST = 40


def is_too_deep(tokens: Sequence[Token]) -> bool:
    return any(token.level >= _DEEPEST - 1 for token in tokens)


# A parser compiles its rules when it reads its first text, which is not thread-safe.
@cache
def whole() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    parser.enable(["table", "strikethrough"]).disable(["reference", "lheading"])
    parser.block.ruler.at("table", _table, {"alt": ["paragraph"]})
    parser.inline.ruler.at("emphasis", _emphasis)
    parser.parse("a")
    return parser


@cache
def blocks() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST})
    parser.enable("table").disable(["reference", "lheading"])
    parser.block.ruler.at("table", _table, {"alt": ["paragraph"]})
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.parse("a")
    return parser


@cache
def no_markdown() -> MarkdownIt:
    parser = MarkdownIt("zero")
    parser.parse("a")
    return parser


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    tokens = len(state.tokens)
    if not table_rule(state, start, end, silent):
        return False
    if silent or not any(_cells(state, line) > _cells(state, start) for line in range(start + 2, state.line)):
        return True
    del state.tokens[tokens:]
    state.line = start
    return False


def _cells(state: StateBlock, line: int) -> int:
    row = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()
    cells = split_cells(row)
    return len(cells) - (cells[0] == "") - (len(cells) > 1 and cells[-1] == "")


def _emphasis(state: StateInline, silent: bool) -> bool:
    known, start = len(state.delimiters), state.pos
    if not emphasis_rule(state, silent):
        return False
    if start and state.pos < state.posMax and _is_word(state.src[start - 1]) and _is_word(state.src[state.pos]):
        for delimiter in state.delimiters[known:]:
            delimiter.open = False
    return True


def _is_word(character: str) -> bool:
    """Letters and digits of scripts that put blanks between words; in other scripts all emphasis is inside a word."""
    return character.isalnum() and character < "\u0e00"
