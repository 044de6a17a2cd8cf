"""The page's own reader of Markdown, run where it lives: in the browser, without a room."""

import pytest
from playwright.async_api import expect

from bench.page import FAMILIES
from rejoinder.channels.web.protocol import LONGEST_TEXT
from tests.browser.conftest import Open, Playing
from tests.browser.hands import message

pytestmark = pytest.mark.asyncio(loop_scope="session")

READ = """async ([text, growing]) => {
    const { markdown } = await import("/static/shared/markdown.js");
    const short = (tree) => typeof tree === "string" ? tree
        : tree.tag === "br" || tree.tag === "hr" ? `<${tree.tag}>`
        : `<${tree.tag}>${(tree.children ?? []).map(short).join("")}</${tree.tag}>`;
    const mentions = new Map([["ada", "Ada"]]);
    return markdown(text, { growing, mentions }).map(short).join("");
}"""

WHOLE = [
    ("plain\nnext line", "<p>plain<br>next line</p>"),
    ("**bold *and* more** x", "<p><strong>bold <em>and</em> more</strong> x</p>"),
    ("***both***", "<p><em><strong>both</strong></em></p>"),
    ("snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"),
    ("~~gone~~ ~stays~", "<p><s>gone</s> ~stays~</p>"),
    ("`a*b*` ``c`d``", "<p><code>a*b*</code> <code>c`d</code></p>"),
    (r"\*no\* &lt;b&gt; <b>", "<p>*no* <b> <b></p>"),
    ("# One\n### Three", "<h3>One</h3><h5>Three</h5>"),
    ("- a\n  - b\n- c", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
    ("1. a\n2. b\n\ntext", "<ol><li>a</li><li>b</li></ol><p>text</p>"),
    ("- [x] done\n- [ ] open", "<ul><li><span>✓</span>done</li><li><span></span>open</li></ul>"),
    ("> a\n> b\n\nc", "<blockquote><p>a<br>b</p></blockquote><p>c</p>"),
    ("a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"),
    (
        "|a|b|\n|-|-:|\n|1|`x|y`|",
        "<div><table><thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>1</td><td><code>x|y</code></td></tr></tbody></table></div>",
    ),
    ("a | b is no table", "<p>a | b is no table</p>"),
    ("see https://a.b/c_(d). Yes", "<p>see <a>https://a.b/c_(d)</a>. Yes</p>"),
    ("[https://good.example](https://evil.example)", "<p><a>https://good.example</a></p>"),
    ("[x](javascript:alert(1))", "<p>x</p>"),
    ("<https://a.b> ![alt](https://a.b/c.png)", "<p><a>https://a.b</a> <a>🖼 alt</a></p>"),
    ("hi @ada and @nobody, me@ada.org", "<p>hi <span>@Ada</span> and @nobody, me@ada.org</p>"),
    ("```\n**raw**\n```", "<figure><figcaption><span>text</span><button>Copy</button></figcaption>"
     "<pre><code>**raw**</code></pre></figure>"),
    ("", ""),
]  # fmt: skip

GROWING = [
    ("**bol", "<p><strong>bol</strong></p>"),
    ("some **", "<p>some </p>"),
    ("some `cod", "<p>some <code>cod</code></p>"),
    ("see [the li", "<p>see the li</p>"),
    ("see [the link](https://exam", "<p>see the link</p>"),
    ("text\n-", "<p>text</p>"),
    ("text\n``", "<p>text</p>"),
    ("| a | b |", "<div><table><thead><tr><th>a</th><th>b</th></tr></thead></table></div>"),
    ("| a | b |\n|--", "<div><table><thead><tr><th>a</th><th>b</th></tr></thead></table></div>"),
    ("done **here** and\n\nnext *wor", "<p>done <strong>here</strong> and</p><p>next <em>wor</em></p>"),
    ("a * b\n\nmore", "<p>a * b</p><p>more</p>"),
]


@pytest.fixture
def module_page(open_page: Open, quiet: Playing):
    async def opened():
        return await open_page(f"{quiet.url}/login")

    return opened


async def test_readings(module_page) -> None:
    """Whole texts as people expect them; growing ones as if what is open were closed."""
    page = await module_page()
    for text, expected in WHOLE:
        assert await page.evaluate(READ, [text, False]) == expected, text
    for text, expected in GROWING:
        assert await page.evaluate(READ, [text, True]) == expected, text


async def test_any_text_has_a_reading_in_time(module_page) -> None:
    """No text hangs or breaks the page: 200,000 characters of nothing but marks, and soups of marks of every length."""
    page = await module_page()
    read = await page.evaluate("""async () => {
        const { markdown } = await import("/static/shared/markdown.js");
        const marks = ["*a **b ", "[", "`a``", "> ", "- a\\n", "*a_ ", "|a", "http://a ", "![](", "<", "1. ", "~~"];
        let read = 0;
        for (const mark of marks) {
            const text = mark.repeat(200000 / mark.length);
            for (const growing of [true, false]) read += markdown(text, { growing }).length;
        }
        const soup = marks.join("").repeat(20);
        for (let i = 0; i < soup.length; i += 7) markdown(soup.slice(0, i), { growing: true });
        return read;
    }""")
    assert read > 0


@pytest.mark.parametrize("growing", [True, False])
async def test_no_text_costs_more_than_its_budget(module_page, growing: bool) -> None:
    """Whatever 200,000 characters say, they make few nodes; what is over the budget is read when it is unfolded."""
    page = await module_page()
    for name, unit in FAMILIES.items():
        text = (unit * (LONGEST_TEXT // len(unit) + 1))[:LONGEST_TEXT]
        nodes, letters, deepest = await page.evaluate(COUNT, [text, growing, False])
        assert nodes < 6_000, name
        assert deepest < 60, name
        assert letters > 0, name


async def test_what_is_over_the_budget_is_all_there(module_page) -> None:
    page = await module_page()
    text = FAMILIES["line breaks"] * 50_000
    assert (await page.evaluate(COUNT, [text, False, True]))[1] == text.count("a")


COUNT = """async ([text, growing, unfolds]) => {
    const { markdown } = await import("/static/shared/markdown.js");
    const { grow } = await import("/static/shared/patch.js");
    const unfolded = async (tree) => {
        const details = grow(tree);
        document.body.append(details);
        details.open = true;
        let [before, now] = [-1, 0];
        while (now === 0 || before < now) {
            await new Promise(requestAnimationFrame);
            [before, now] = [now, details.lastChild.childElementCount];
        }
        const letters = details.lastChild.textContent.replace(/\\s/g, "").length;
        details.remove();
        return letters;
    };
    let [nodes, letters, deepest] = [0, 0, 0];
    const visit = (tree, depth) => {
        nodes += 1;
        deepest = Math.max(deepest, depth);
        if (typeof tree === "string") letters += tree.replace(/\\s/g, "").length;
        else for (const child of tree.children ?? []) visit(child, depth + 1);
    };
    const trees = markdown(text, { growing });
    for (const tree of trees) visit(tree, 1);
    const folded = trees.find((tree) => tree.draw);
    if (folded && grow(folded).lastChild.firstChild) throw new Error("It was read before it was unfolded.");
    if (folded && unfolds) letters += await unfolded(folded);
    return [nodes, letters, deepest];
}"""


@pytest.mark.parametrize("mark", ["\u0301", "\u0316", "\u1038", "\ua9c0", "\U0001f3fc", "\u0316\u200d"])
async def test_marks_are_not_piled_up(module_page, mark: str) -> None:
    """A letter with thousands of marks takes a browser the square of their number; it keeps as many as can be read."""
    page = await module_page()
    shown = await page.evaluate(READ, ["a" + mark * 4_000 + " b", False])
    assert shown == f"<p>a{(mark * 16)[:16]} b</p>"


SHOWN = """async (text) => {
    const { markdown } = await import("/static/shared/markdown.js");
    const length = (tree) => typeof tree === "string" ? tree.length
        : tree.tag === "details" ? 0 : (tree.children ?? []).map(length).reduce((a, b) => a + b, 0);
    return markdown(text).map(length).reduce((a, b) => a + b, 0);
}"""


@pytest.mark.parametrize("name", ["two scripts", "signs of another script", "accents of many scripts"])
async def test_a_soup_of_scripts_is_folded(module_page, name: str) -> None:
    """A browser looks for a font wherever the script changes: what changes it with each letter is mostly folded."""
    page = await module_page()
    text = FAMILIES[name] * 2_000
    assert 0 < await page.evaluate(SHOWN, text) <= 1_000


@pytest.mark.parametrize(
    "sentence",
    [
        "कर्मण्येवाधिकारस्ते मा फलेषु कदाचन। In English: act. ",
        "ἐν ἀρχῇ ἦν ὁ λόγος, καὶ ὁ λόγος ἦν πρὸς τὸν θεόν. ",
        "今天天气很好,我们用 Python 写程序。はい、そうです。",
        "Привет, это обычный текст с одним English словом. ",
        "မင်္ဂလာပါ ခင်ဗျာ။ ",
    ],
)
async def test_what_people_write_in_any_script_is_not_folded(module_page, sentence: str) -> None:
    """Ten thousand characters of an ordinary text are shown whole, whatever its script."""
    page = await module_page()
    text = "\n\n".join([sentence * 8] * (10_000 // len(sentence * 8)))
    assert await page.evaluate(SHOWN, text) >= len(text.replace("\n", "")) - 100


async def test_a_long_message_unfolds(open_page: Open, quiet: Playing) -> None:
    """What is over the budget is a click away, whole, and stays unfolded when the message changes."""
    log = "".join(f"line {i} of a long log\n" for i in range(4_000))
    long = await quiet.stage.post("lobby", "ada", f"Here it is:\n\n{log}")
    page = await open_page(f"{quiet.url}/#lobby")
    rest = message(page, "Here it is").locator("details")
    await expect(rest.locator("summary")).to_contain_text("Show the rest as plain text")
    await expect(rest.get_by_text("line 3999 of")).to_be_hidden()
    await rest.locator("summary").click()
    await expect(rest.get_by_text("line 3999 of")).to_be_visible()
    await quiet.stage.edit(long.id, f"Here it is:\n\n{log}Done.", edited=True)
    await expect(rest.get_by_text("Done.")).to_be_visible()


async def test_growing_never_takes_back_a_finished_block(module_page) -> None:
    """Of a text fed letter by letter, every block but the last two is what it will be in the end."""
    page = await module_page()
    changed = await page.evaluate("""async () => {
        const { markdown } = await import("/static/shared/markdown.js");
        const text = "Intro **bold**\\n\\n- one\\n- two `x`\\n\\n```py\\ncode\\n```\\n\\n" +
            "| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n> quote\\n\\nEnd.";
        const whole = markdown(text).map((tree) => JSON.stringify(tree));
        const bad = [];
        for (let i = 1; i < text.length; i++) {
            const now = markdown(text.slice(0, i), { growing: true }).map((tree) => JSON.stringify(tree));
            now.slice(0, -2).forEach((tree, at) => { if (tree !== whole[at]) bad.push([i, tree]); });
        }
        return bad;
    }""")
    assert changed == []
