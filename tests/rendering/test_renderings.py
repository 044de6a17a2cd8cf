"""What each platform makes of the same Markdown (DE-12, DE-34)."""

import pytest
from msgspec.structs import replace

from rejoinder import rendering
from rejoinder.channels.telegram import CHANNEL
from rejoinder.channels.telegram import render as telegram
from rejoinder.events import Entity, TableStyle
from rejoinder.rendering import RenderOptions
from tests.rendering.platforms import render

ZWSP = "\u200b"

TABLE = [
    # source, telegram, slack, whatsapp, signal
    ("plain text", "plain text", "plain text", "plain text", "plain text"),
    ("**b** *i* ~~s~~ `c`", "b i s c", "*b* _i_ ~s~ `c`", "*b* _i_ ~s~ `c`", "b i s `c`"),
    ("**a *b* c**", "a b c", "*a _b_ c*", "*a _b_ c*", "a b c"),
    ("*a **b** c*", "a b c", "_a *b* c_", "_a *b* c_", "a b c"),
    ("***x***", "x", "_*x*_", "_*x*_", "x"),
    ("**two\nlines**", "two\nlines", "*two*\n*lines*", "*two*\n*lines*", "two\nlines"),
    ("**API**s", "APIs", f"*API*{ZWSP}s", f"*API*{ZWSP}s", "APIs"),
    ("这是**重点**内容", "这是重点内容", f"这是{ZWSP}*重点*{ZWSP}内容", f"这是{ZWSP}*重点*{ZWSP}内容", "这是重点内容"),
    # what is no markup stays
    ("snake_case_name", *["snake_case_name"] * 4),
    ("2*3*4 and 2**3**4", *["2*3*4 and 2**3**4"] * 4),
    ("*args and **kwargs", "*args and **kwargs", f"*{ZWSP}args and **{ZWSP}kwargs", *["*args and **kwargs"] * 2),
    (r"\*no\* bold", "*no* bold", f"*{ZWSP}no* bold", "*no* bold", "*no* bold"),
    ("<id> & <!channel>", "<id> & <!channel>", "&lt;id&gt; &amp; &lt;!channel&gt;", *["<id> & <!channel>"] * 2),
    ("<script>x</script>", "<script>x</script>", "&lt;script&gt;x&lt;/script&gt;", *["<script>x</script>"] * 2),
    ("&lt;b&gt; &amp;", "<b> &", "&lt;b&gt; &amp;", "<b> &", "<b> &"),
    ("[1]: https://e.org", *["[1]: https://e.org"] * 4),
    ("#hashtag", *["#hashtag"] * 4),
    ("#", *["#"] * 4),  # nothing but markup: it was meant to be seen
    # blocks
    ("# Title\ntext", "Title\ntext", "*Title*\ntext", "*Title*\ntext", "Title\ntext"),
    ("# A **b**", "A b", "*A b*", "*A b*", "A b"),
    ("Intro:\n- a\n- b", "Intro:\n• a\n• b", "Intro:\n• a\n• b", "Intro:\n- a\n- b", "Intro:\n- a\n- b"),
    ("* a\n\n* b\n  - c\n\n  d", *["• a\n\n• b\n  • c\n\n  d"] * 2, *["- a\n\n- b\n  - c\n\n  d"] * 2),
    ("3. x\n5) y", *["3. x\n5) y"] * 4),
    ("3. x\n7. y", *["3. x\n7. y"] * 4),  # numbers are those of the agent
    ("- [x] done\n- [ ] open", "• [x] done\n• [ ] open", "• [x] done\n• [ ] open", *["- [x] done\n- [ ] open"] * 2),
    ("> a\n>\n> b\n\nc", "a\n\nb\n\nc", "> a\n>\n> b\n\nc", "> a\n>\n> b\n\nc", "> a\n>\n> b\n\nc"),
    ("a\n---\nb", *["a\n———\nb"] * 4),
    ("a  \nb\\\nc", *["a\nb\nc"] * 4),
    # code is never rewritten
    ("```py\na*b < d_e_f\n```", "a*b < d_e_f", "```\na*b &lt; d_e_f\n```", "```\na*b < d_e_f\n```", "a*b < d_e_f"),
    ("`a*b*c`", "a*b*c", "`a*b*c`", "`a*b*c`", "`a*b*c`"),
    ("``a`b``", "a`b", "a`b", "a`b", "a`b"),
    ("```\nopen", "open", "```\nopen\n```", "```\nopen\n```", "open"),
    ("- x\n  ```\n    y\n  ```", "• x\n  y", "• x\n```\n  y\n```", "- x\n```\n  y\n```", "- x\n  y"),
    ("````\n```\n````", "```", f"```\n``{ZWSP}`\n```", f"```\n``{ZWSP}`\n```", "```"),
    # links
    ("[l](https://e.org/a_(b)?c&d)", "l", "<https://e.org/a_(b)?c&amp;d|l>", *["l (https://e.org/a_(b)?c&d)"] * 2),
    ("[a **b**](https://e.org)", "a b", "<https://e.org|a b>", *["a b (https://e.org)"] * 2),
    ("[a|b>](https://e.org/x|y)", "a|b>", "<https://e.org/x%7Cy|a|b&gt;>", *["a|b> (https://e.org/x%7Cy)"] * 2),
    ("[rel](docs/a.md)", *["rel (docs/a.md)"] * 4),
    ("[me](tg://user?id=1)", *["me (tg://user?id=1)"] * 4),
    ("[](https://e.org)", *["https://e.org"] * 4),
    ("<https://e.org> <a@e.org>", *["https://e.org a@e.org"] * 4),
    ("![cat](https://e.org/c.png)", "cat", "<https://e.org/c.png|cat>", *["cat (https://e.org/c.png)"] * 2),
    ("[x](javascript:alert(1))", *["[x](javascript:alert(1))"] * 4),
]  # fmt: skip


@pytest.mark.parametrize(("source", "telegram", "slack", "whatsapp", "signal"), TABLE)
def test_texts(source: str, telegram: str, slack: str, whatsapp: str, signal: str) -> None:
    """DE-12: rendered by a real parser; `<id>` is escaped, never dropped; code is never rewritten."""
    shown = [render(source, platform).text for platform in ("telegram", "slack", "whatsapp", "signal")]
    assert shown == [telegram, slack, whatsapp, signal]


@pytest.mark.parametrize(
    ("source", "entities"),
    [
        ("plain", []),
        ("👍 **b**", [Entity("bold", 3, 1)]),
        ("**a *b* c**", [Entity("bold", 0, 5), Entity("italic", 2, 1)]),
        ("**a `c` b**", [Entity("bold", 0, 1), Entity("code", 2, 1), Entity("bold", 4, 1)]),
        ("# H ~~s~~", [Entity("bold", 0, 3), Entity("strikethrough", 2, 1)]),
        ("```py x\na\n\nb\n```", [Entity("pre", 0, 4, language="py")]),
        ("[l *i*](https://e.org)", [Entity("text_link", 0, 3, url="https://e.org"), Entity("italic", 2, 1)]),
        ("[`f`](https://e.org)", [Entity("text_link", 0, 1, url="https://e.org")]),
        ("> a\n> > b\n\nc", [Entity("blockquote", 0, 3)]),
        ("> a\n\n<!-- -->\n\n> b", [Entity("blockquote", 0, 1), Entity("blockquote", 13, 1)]),
        ("> `a`", [Entity("blockquote", 0, 1), Entity("code", 0, 1)]),
        ("**one\ntwo**", [Entity("bold", 0, 7)]),
        ("[me](tg://user?id=1)", []),
        (
            "*a **b***~~c~~",
            [Entity("italic", 0, 3), Entity("bold", 2, 1), Entity("strikethrough", 3, 1)],
        ),
        (
            "[l](https://e.org)*[l](https://e.org)a*",  # one link, and half of the italics in it
            [Entity("text_link", 0, 2, url="https://e.org"), Entity("italic", 1, 1), Entity("italic", 2, 1)],
        ),
    ],
)
def test_entities(source: str, entities: list[Entity]) -> None:
    """DE-12: Telegram's entities, in UTF-16 units; code has no other format in it."""
    assert list(render(source, "telegram").entities) == entities


PRICES = "| Name | € |\n|:-----|--:|\n| 日本 | 1 |\n| **b** `c` | 200 |"


@pytest.mark.parametrize(
    ("tables", "shown"),
    [
        ("code", "Name |   €\n---- | ---\n日本 |   1\nb c  | 200"),
        ("bullets", "• Name: 日本\n• €: 1\n\n• Name: b c\n• €: 200"),
        ("off", "| Name | € |\n| :-- | --: |\n| 日本 | 1 |\n| **b** `c` | 200 |"),
    ],
)
def test_tables(tables: TableStyle, shown: str) -> None:
    """DE-12: aligned by display width, as bullets, or as written."""
    assert render(PRICES, "telegram", tables).text == shown
    assert render(f"a\n\n{PRICES}\n\nb", "telegram", tables).text == f"a\n\n{shown}\n\nb"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("| a |\n|---|\n| x | lost? |", "| a |\n|---|\n| x | lost? |"),  # a cell without a head is no reason to lose it
        ("| a | b |\n|---|---|\n| x |", "a   | b\n--- | ---\nx   |"),
        ("- i\n\n  | a |\n  |---|\n  | x |", "• i\n\na\n---\nx"),
        ("| [d](https://e.org) |\n|---|", "d (https://e.org)\n-----------------"),
    ],
)
def test_odd_tables(source: str, shown: str) -> None:
    """DE-12: no cell is lost."""
    assert render(source, "telegram").text == shown


@pytest.mark.parametrize(
    ("source", "tables", "shown"),
    [
        ("**b** [l](https://e.org)\n~~~\nx\n~~~", "code", "**b** [l](https://e.org)\n~~~\nx\n~~~"),
        (f"a\n\n{PRICES}\n\nb", "code", "a\n\n```\nName |   €\n---- | ---\n日本 |   1\nb c  | 200\n```\n\nb"),
        (PRICES, "bullets", "- Name: 日本\n- €: 1\n\n- Name: **b** `c`\n- €: 200"),
        (PRICES, "off", PRICES),
        ("@everyone @here <@&42> <@42>", "off", f"@{ZWSP}everyone @{ZWSP}here <@{ZWSP}&42> <@42>"),
        ("`@everyone`\n```\n@here\n```", "off", "`@everyone`\n```\n@here\n```"),
        ("~~~\n@here\n~~~", "off", f"~~~\n@{ZWSP}here\n~~~"),  # Discord knows no such fence
        ("```\n@here", "off", f"```\n@{ZWSP}here"),  # nor one that is open
    ],
)
def test_discord(source: str, tables: TableStyle, shown: str) -> None:
    """DE-12, DE-34: Markdown passes, tables are converted, nobody is called but by name."""
    assert render(source, "discord", tables).text == shown


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("just text\nin lines", ""),
        ("**b** *i* ~~s~~ `c<`", "<p><strong>b</strong> <em>i</em> <del>s</del> <code>c&lt;</code></p>"),
        ("# H\n- a\n- b", "<h1>H</h1>\n<ul><li>a</li>\n<li>b</li>\n</ul>"),
        ("3. x", '<ol start="3"><li>x</li>\n</ol>'),
        ("```py\na<b\n```", '<pre><code class="language-py">a&lt;b\n</code></pre>'),
        ("**b** <script>", "<p><strong>b</strong> &lt;script&gt;</p>"),
        ('[l](https://e.org/?a&b")', '<p><a href="https://e.org/?a&amp;b%22">l</a></p>'),
        ("[l](docs/a.md)", "<p>l (docs/a.md)</p>"),
        ("![c](https://e.org/c.png)", '<p><a href="https://e.org/c.png">c</a></p>'),
        ("[![c](https://e.org/c.png)](https://e.org)", '<p><a href="https://e.org">c (https://e.org/c.png)</a></p>'),
        ("@room `@room`", f"<p>@{ZWSP}room <code>@room</code></p>"),
        (
            "|a|\n|-|\n|b|",
            "<table><thead><tr><th>a</th>\n</tr>\n</thead>\n<tbody><tr><td>b</td>\n</tr>\n</tbody>\n</table>",
        ),
    ],
)
def test_matrix(source: str, html: str) -> None:
    """DE-12, DE-34: HTML beside the source; no tag but known ones; nobody is called."""
    rendering = render(source, "matrix")
    assert rendering.html == html
    assert rendering.text == source.replace("@room", f"@{ZWSP}room")


@pytest.mark.parametrize("platform", ["web", "terminal"])
def test_a_platform_without_a_renderer_gets_markdown(platform: str) -> None:
    assert render("**b** <id>", platform).text == "**b** <id>"


def test_a_frame_of_a_long_answer_renders_only_what_is_new():
    """DE-20: an answer that grows is cut again for each frame; what its earlier messages look like is known."""
    rendered = []

    def counting(source, tables):
        rendered.append(source)
        return telegram.render(source, tables)

    options = RenderOptions(replace(CHANNEL.renderer, render=counting), 4096, "utf16")

    def messages(text):
        return rendering.messages(text, options)

    text = "".join(f"{number} **bold** and `code`, a line of a long answer.\n\n" for number in range(400))
    whole = messages(text)
    first = len(rendered)
    assert [each.source for each in messages(text)] == [each.source for each in whole]
    assert len(rendered) == first
    messages(text + "And *more*.")
    assert len(rendered) - first < len(whole)
