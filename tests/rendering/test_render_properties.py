"""What holds for every text on every platform (DE-1, DE-10 to DE-14, DE-34)."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rejoinder.config.kinds import channel_kind
from rejoinder.events import Entity, Rendering, TableStyle
from rejoinder.rendering.chunk import length
from rejoinder.rendering.white_space import is_seen
from tests.rendering.platforms import PLATFORMS, RENDERED, messages, render, renderer

TABLES: tuple[TableStyle, ...] = ("code", "bullets", "off")
PIECES = st.sampled_from(
    [
        *"ab19 é日👍*_~`#>-+|<!@[]\\\n.:=^&\"'\u0301\u200d\u200b",
        "\n\n",
        "    ",
        "**",
        "~~",
        "- ",
        "1. ",
        "> ",
        "| a | b |\n|---|---|\n",
    ]
)
WILD = st.lists(PIECES, max_size=60).map("".join)
WITH_CODE_AND_LINKS = st.lists(
    PIECES
    | st.sampled_from(
        ["```py\n", "```", "~~~\n", "[l](https://e.org/x)", "![i](u)", "<https://e.org>", "&lt;", "<!channel>"]
    ),
    max_size=60,
).map("".join)


def words(text: str) -> str:
    return "".join(re.findall(r"[^\W_]", text))


class Seen(HTMLParser):
    """The text of an HTML document, and the tags in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.tags, self.open = "", set[str](), list[str]()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert {name for name, _ in attrs} <= {"href", "start", "class"}
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


ALLOWED = {"h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "a", "strong", "em", "del", "code", "pre"} | {
    *("blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td")
}


@given(WILD, st.sampled_from(RENDERED), st.sampled_from(TABLES))
def test_no_letter_and_no_digit_is_lost_or_moved(source: str, platform: str, tables: TableStyle) -> None:
    """DE-12: the letters and digits of the rendering are those of the source, in order."""
    assume("```" not in source and "~~~" not in source)  # the language of a block of code is no text
    assume("|" not in source or tables == "off")  # heads are repeated in bullets
    shown = render(source, platform, tables).text
    if platform == "slack":
        shown = shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert words(shown) == words(source)


@given(WILD)
def test_no_letter_is_lost_in_html(source: str) -> None:
    """DE-12: the same for Matrix, where a list is numbered by the client."""
    assume("```" not in source and "~~~" not in source)
    html = render(source, "matrix").html
    assert not html or re.sub("[0-9]", "", words(Seen(html).text)) == re.sub("[0-9]", "", words(source))


@given(WITH_CODE_AND_LINKS)
def test_html_is_of_known_tags_and_closed(source: str) -> None:
    """DE-12: allow-listed tags and attributes, each closed."""
    seen = Seen(render(source, "matrix").html)
    assert seen.tags <= ALLOWED
    assert not seen.open


def check_entities(rendering: Rendering) -> None:
    units = rendering.text.encode("utf-16-le", "surrogatepass")
    for entity in rendering.entities:
        assert 0 <= entity.offset < entity.offset + entity.length <= len(units) // 2
        piece = units[entity.offset * 2 : (entity.offset + entity.length) * 2].decode("utf-16-le")  # or torn
        assert piece.strip()
        assert piece == piece.strip() or entity.type == "pre"
        assert (entity.type == "text_link") is bool(entity.url)
    for one in rendering.entities:
        for other in rendering.entities:
            if one is not other:
                check_pair(one, other)


def check_pair(one: Entity, other: Entity) -> None:
    end, other_end = one.offset + one.length, other.offset + other.length
    apart = end <= other.offset or other_end <= one.offset
    if one.type in ("code", "pre"):
        assert apart or other.type == "blockquote"
    if one.type == other.type:
        assert apart
    assert (
        apart or (one.offset <= other.offset and other_end <= end) or (other.offset <= one.offset and end <= other_end)
    )


@given(WITH_CODE_AND_LINKS, st.sampled_from(TABLES))
def test_telegram_takes_every_entity(source: str, tables: TableStyle) -> None:
    """DE-10, DE-12: inside the text, tearing no pair of surrogates, nested as Telegram allows."""
    check_entities(render(source, "telegram", tables))


@pytest.mark.parametrize("platform", RENDERED)
@settings(deadline=None)
@given(
    source=WITH_CODE_AND_LINKS.map(lambda text: text * 9), limit=st.integers(120, 400), tables=st.sampled_from(TABLES)
)
def test_every_message_fits_as_it_is_sent(platform: str, source: str, limit: int, tables: TableStyle) -> None:
    """DE-10, DE-11, DE-13: rendered, and as the plain text that is sent instead, in the platform's own unit."""
    unit = channel_kind(platform).limits.unit
    by = renderer(platform)
    for message in messages(source, platform, limit, unit, tables):
        for rendering in (message.rendering, message.fallback):
            assert length(rendering.text, unit) <= limit
            assert not by.size or by.size(rendering) <= limit
        assert is_seen(message.rendering.text)  # DE-14
        if platform == "telegram":
            check_entities(message.rendering)


STYLED = ("alpha", "**bold beta**", "_so so_", "~~not this~~", "[a link](https://e.org/p)", "`co de`", "Well.", "日本")
LINE = st.lists(st.sampled_from(STYLED), min_size=1, max_size=8).map(" ".join)
LINES = st.lists(LINE, min_size=1, max_size=8)
DOCUMENT = st.lists(
    LINE
    | LINES.map(lambda lines: "\n".join(f"> {line}" for line in lines))
    | LINES.map(lambda lines: "- top\n" + "\n".join(f"  - {line}" for line in lines))
    | LINES.map(lambda lines: "- top\n  - sub\n" + "\n".join(f"    - {line}" for line in lines))
    | LINES.map(lambda lines: "1. top\n\n" + "\n\n".join(f"    {line}" for line in lines))
    | LINES.map(lambda lines: "```py\n" + "\n".join(lines) + "\n```"),
    min_size=1,
    max_size=6,
).map("\n\n".join)


def in_style(rendering: Rendering, style: str) -> str:
    units = rendering.text.encode("utf-16-le")
    spans = [(2 * each.offset, 2 * (each.offset + each.length)) for each in rendering.entities if each.type == style]
    return "".join("".join(units[start:end].decode("utf-16-le").split()) for start, end in spans)


@settings(deadline=None)
@given(DOCUMENT, st.sampled_from([200, 400]))
def test_a_cut_changes_no_style(source: str, limit: int) -> None:
    """DE-11, DE-12: what is bold, italic, struck out, a link or code in the whole is so in its messages."""
    whole = render(source, "telegram")
    parts = [message.rendering for message in messages(source, "telegram", limit, "utf16")]
    for style in ("bold", "italic", "strikethrough", "text_link", "code", "pre"):
        assert "".join(in_style(part, style) for part in parts) == in_style(whole, style)


@given(WITH_CODE_AND_LINKS, st.sampled_from(TABLES))
def test_nobody_is_called(source: str, tables: TableStyle) -> None:
    """DE-34: on Slack no `<` of the agent is one, in the rendering and in what is sent instead of it."""
    source = source + "<!channel> <!here|x> <@U1> [<!everyone>](https://e.org) `<!channel>`"
    for rendering in (render(source, "slack", tables), renderer("slack").plain(source)):
        assert all(found.startswith("<https://e.org") for found in re.findall("<.*?>", rendering.text))
    for rendering in (render("@room " + source, "matrix"), renderer("matrix").plain("`@room`")):
        assert "@room" not in rendering.text


@pytest.mark.parametrize("platform", sorted(PLATFORMS))
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "\n\n\t",
        "\u200b",
        "\ufeff \u2060",
        "\xad",
        "\u3164",
        "\u2800\n\u00a0",
        "\ufe0f",
        "\x00",
        "\u200b" * 500,
    ],
)
def test_nothing_to_see_is_no_message(platform: str, text: str) -> None:
    """DE-14."""
    assert messages(text, platform, 100) == []


def test_many_entities_make_more_messages() -> None:
    """Telegram looks at a hundred entities of a message."""
    sent = messages("**a** b " * 300, "telegram", 4096, "utf16")
    assert len(sent) > 1
    assert max(len(message.rendering.entities) for message in sent) <= 100


@pytest.mark.parametrize("platform", RENDERED)
@pytest.mark.parametrize(
    "text", [">" * 4000 + "deep", "- " * 2000 + "deep", "*a **b " * 500 + "deep", "[" * 2000 + "deep"]
)
def test_depth_loses_nothing(platform: str, text: str) -> None:
    """DE-12: nor does a text nested deeper than a parser goes."""
    assert "deep" in "".join(message.rendering.text for message in messages(text, platform, 4000))
