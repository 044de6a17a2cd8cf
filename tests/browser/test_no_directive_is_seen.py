"""No frame ever shows a byte of a directive: an observer reads the room after every change of the page."""

import random

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Open, RealGateway
from tests.browser.hands import box, messages

pytestmark = pytest.mark.asyncio(loop_scope="session")

WORDS = ("well,", "the build", "is green", "I would ship", "**after**", "*soon*", "🙂", "a < b", "[1]")
WORDS += ("`make test`", "[docs](https://example.org)", "\n\n- one\n- two\n\n")
HEADERS = ("[[reply_to:m1]]\n", "[[silent:true]]\n", "[[title:On reviews]]\n", "[[reply_to:m1]]\n[[silent:true]]\n", "")
ACTIONS = (
    '<actions><react emoji="tada"/></actions>\n',
    '<actions>\n  <react emoji="eyes" message="m1"/>\n  <react emoji="tada"/>\n</actions>\n',
    "<actions></actions>",
    "",
)
SHOWN = r"\[\[|\]\]|reply_to|<\/?act|<rea|emoji=|no-reply|silent:|title:|NO_REPLY"

WATCH = """(shown) => {
    const forbidden = new RegExp(shown);
    window.seen = []; window.looks = 0;
    new MutationObserver(() => {
        window.looks += 1;
        for (const body of document.querySelectorAll("main .message:not(.mine) .body, .preview")) {
            const hit = forbidden.exec(body.textContent);
            if (hit && window.seen.length < 20) window.seen.push(body.textContent);
        }
    }).observe(document.body, { childList: true, characterData: true, subtree: true });
}"""


def stream(chance: random.Random, number: int) -> list[str | float]:
    """One answer with directives in the places they may stand, cut anywhere, its end marked by its number."""
    words = " ".join(chance.choices(WORDS, k=chance.randint(3, 18)))
    text = f"{chance.choice(HEADERS)}{chance.choice(ACTIONS)}{words}\n\nend {number}."
    pieces: list[str | float] = []
    while text:
        size = chance.choice((1, 1, 2, 3, 5, 9, 30))
        pieces.append(text[:size])
        text = text[size:]
        if chance.random() < 0.3:
            pieces.append(0.004)
    return pieces


async def watch(open_page: Open, real: RealGateway, count: int) -> None:
    page = await open_page(real.url)
    await expect(box(page)).to_be_focused()
    await page.evaluate(WATCH, SHOWN)
    for number in range(count):
        await box(page).fill(f"go {number}")
        await box(page).press("Enter")
        await expect(messages(page).last).to_contain_text(f"end {number}.", timeout=20_000)
    assert await page.evaluate("window.looks") > count * 3
    assert await page.evaluate("window.seen") == []


@pytest.mark.parametrize("count", [25, pytest.param(1000, marks=pytest.mark.deep)])
async def test_random_streams(open_page: Open, scripted, count: int) -> None:
    chance = random.Random(count)
    real: RealGateway = scripted([stream(chance, number) for number in range(count)])
    await real.start()
    try:
        await watch(open_page, real, count)
    finally:
        await real.kill()
