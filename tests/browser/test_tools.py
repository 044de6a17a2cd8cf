"""What one can do with a message, and where Back leads: the tool bar, its explanation, rooms and threads as history."""

import re

import pytest
from playwright.async_api import expect

from rejoinder.channels.web import nouns as n
from tests.browser.conftest import PHONE, Open, Playing
from tests.browser.hands import box, message, messages, say, tool, whole

pytestmark = pytest.mark.asyncio(loop_scope="session")

# --- the tool bar -------------------------------------------------------------------------------------


@pytest.mark.parametrize("button", ["Like", "Copy text"])
async def test_after_a_click_the_tool_bar_goes_with_the_pointer(open_page: Open, quiet: Playing, button: str) -> None:
    """The focus that a click leaves behind does not keep the bar at the message."""
    for author, text in (("ada", "one"), ("bee", "two")):
        await quiet.stage.post("lobby", author, text)
    page = await open_page(f"{quiet.url}/#lobby")
    await message(page, "one").hover()
    await message(page, "one").get_by_role("button", name=button, exact=True).click()
    await message(page, "two").hover()
    await expect(message(page, "two").get_by_role("toolbar")).to_be_visible()
    await expect(message(page, "two").get_by_role("button", name="Reply", exact=True)).to_be_visible()


@pytest.mark.parametrize("granted", [["clipboard-read", "clipboard-write"], []])
async def test_what_is_copied_is_on_the_clipboard(open_page: Open, quiet: Playing, granted: list[str]) -> None:
    """Also where the browser keeps its clipboard from the page."""
    await quiet.stage.post("lobby", "ada", "```\nmake run\n```")
    page = await open_page(f"{quiet.url}/#lobby", permissions=granted)
    await page.get_by_role("button", name="Copy", exact=True).click()
    await expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    written = box(page)
    await written.focus()
    await page.keyboard.press("Control+V")
    await expect(written).to_have_value(re.compile("make run"))


async def test_copying_a_message_says_so(open_page: Open, quiet: Playing) -> None:
    """By the button and by its key, for a moment."""
    await quiet.stage.post("lobby", "ada", "make run")
    page = await open_page(f"{quiet.url}/#lobby")
    copy = message(page, "make run").get_by_role("button", name="Copy text", exact=True)
    await tool(page, message(page, "make run"), "Copy text")
    await expect(copy).to_have_text("Copied")
    await expect(copy).to_have_text("")
    await message(page, "make run").focus()
    await page.keyboard.press("c")
    await expect(copy).to_have_text("Copied")


async def test_a_message_that_grew_under_the_pointer_gets_all_its_tools(open_page: Open, quiet: Playing) -> None:
    """Without a move of the pointer; and what is copied is the whole text."""
    growing = await quiet.stage.post("lobby", "ada", "Step by", growing=True)
    page = await open_page(f"{quiet.url}/#lobby")
    await message(page, "Step by").hover()
    tools = message(page, "Step by").get_by_role("toolbar")
    await expect(tools.get_by_role("button", name="Reply", exact=True)).to_be_visible()
    await expect(tools.get_by_role("button", name="Like", exact=True)).to_have_count(0)
    await quiet.stage.edit(growing.id, "Step by step.")
    await expect(tools.get_by_role("button", name="Like", exact=True)).to_be_visible()
    await expect(tools.get_by_role("button", name="React", exact=True)).to_be_visible()


async def test_on_a_phone_the_tool_bar_covers_nobody(open_page: Open, quiet: Playing) -> None:
    for author, text in (("ada", "one"), ("bee", "two")):
        await quiet.stage.post("lobby", author, text)
    page = await open_page(f"{quiet.url}/#lobby", viewport=PHONE)
    await message(page, "two").focus()
    bar = await message(page, "two").get_by_role("toolbar").bounding_box()
    assert bar is not None
    for name in await page.locator("main .head").all():
        head = await name.bounding_box()
        assert head is None or head["y"] + head["height"] <= bar["y"] or bar["y"] + bar["height"] <= head["y"]


async def test_on_a_phone_what_a_command_does_is_told_whole(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#lobby", viewport=PHONE)
    await expect(page.locator("h1")).to_have_text("lobby")
    await box(page).fill("/")
    await expect(page.get_by_role("option").first).to_be_visible()
    cut = await page.locator(".completion li span:last-child").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth).length"
    )
    assert cut == 0


# --- why ----------------------------------------------------------------------------------------------

TRACE = {
    "events": [
        {
            "sentence": "Answered by ada in 1.9 s; it did not have to wait.",
            "sender": "You",
            "text": "hello",
            "steps": [{"stage": "access", "decision": "continue", "reason": "let in as owner", "took": 0.00002}],
        }
    ]
}


async def test_why_opens_beside_the_chat_with_a_sentence_first(open_page: Open, quiet: Playing) -> None:
    """IN-64: an answer is explained by what it answers; the stages stand below the sentence."""
    page = await open_page(f"{quiet.url}/#lobby")
    said = await say(page, "hello")
    id = await said.get_attribute("data-id") or ""
    await quiet.stage.post("lobby", "ada", "Hello!", answers=id)
    quiet.stage.api[f"messages/{id}/trace"] = TRACE
    await tool(page, message(page, "Hello!"), "Why? What was decided about it")
    panel = page.get_by_role("complementary", name="Why?")
    await expect(panel.locator(".why article > *").first).to_have_text(TRACE["events"][0]["sentence"])
    await expect(panel.get_by_role("row", name=re.compile("access continue let in as owner"))).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(panel).to_be_hidden()


async def test_what_nobody_knows_of_is_said(open_page: Open, quiet: Playing) -> None:
    await quiet.stage.post("lobby", "ada", "Hello!")
    page = await open_page(f"{quiet.url}/#lobby")
    await tool(page, message(page, "Hello!"), "Why? What was decided about it")
    panel = page.get_by_role("complementary", name="Why?")
    await expect(panel).to_contain_text("Nothing is recorded about this message: it answers no other message")
    await expect(panel.get_by_role("link", name="Open in the console")).to_have_count(0)


# --- Back and forward ---------------------------------------------------------------------------------


async def test_back_leads_through_rooms_and_threads(open_page: Open, quiet: Playing) -> None:
    """A room and a thread are entries of the browser's history, and a reload opens both again."""
    root = await quiet.stage.post("lobby", "ada", "the root")
    await quiet.stage.post("lobby", "bee", "below it", thread=root.id)
    await quiet.stage.post("design", "bee", "elsewhere")
    page = await open_page(f"{quiet.url}/#lobby")
    title, thread = page.locator("h1"), page.get_by_role("complementary", name="Thread")
    await page.locator(".thread-link").click()
    await expect(message(page, "below it", thread=True)).to_be_visible()
    await page.reload()
    await expect(message(page, "below it", thread=True)).to_be_visible()
    await page.get_by_role("link", name="design").click()
    await expect(title).to_have_text("design")
    await expect(thread).to_be_hidden()
    await page.go_back()
    await expect(title).to_have_text("lobby")
    await expect(message(page, "below it", thread=True)).to_be_visible()
    await page.go_back()
    await expect(thread).to_be_hidden()
    await expect(title).to_have_text("lobby")
    await page.go_forward()
    await page.go_forward()
    await expect(title).to_have_text("design")


async def test_on_a_phone_back_closes_what_covers_the_room(open_page: Open, quiet: Playing) -> None:
    """Why?, the search and the rooms; what was closed by hand, or led to another room, costs no Back."""
    await quiet.stage.post("lobby", "ada", "a needle")
    await quiet.stage.post("design", "bee", "elsewhere")
    page = await open_page("about:blank", viewport=PHONE)
    await page.goto(f"{quiet.url}/#lobby")
    title, panel, rooms = page.locator("h1"), page.locator(".panel"), page.locator(".sidebar")
    search, menu = (page.get_by_role("button", name=name, exact=True) for name in ("Search", "Rooms and direct chats"))
    await tool(page, message(page, "a needle"), "Why? What was decided about it")
    await expect(panel).to_be_visible()
    await page.go_back()
    await expect(panel).to_be_hidden()
    await search.click()
    await expect(panel).to_be_visible()
    await page.go_back()
    await expect(panel).to_be_hidden()
    await menu.click()
    await expect(rooms).to_be_visible()
    await page.go_back()
    await expect(rooms).to_be_hidden()
    await expect(title).to_have_text("lobby")
    await search.click()
    await panel.get_by_role("button", name="Close").click()
    await expect(panel).to_be_hidden()
    await page.wait_for_function("() => !history.state")
    await menu.click()
    await page.get_by_role("link", name="design").click()
    await expect(title).to_have_text("design")
    await expect(rooms).to_be_hidden()
    await search.click()
    await page.get_by_label("Search messages").fill("needle")
    await page.locator(".hit").click()
    await expect(title).to_have_text("lobby")
    await expect(panel).to_be_hidden()
    for room in ("design", "lobby"):
        await page.go_back()
        await expect(title).to_have_text(room)
    await page.go_back()
    await expect(page).to_have_url("about:blank")


@pytest.mark.parametrize(
    ("address", "called"), [("doesnotexist", "doesnotexist"), ("%E0%A4%A", "%E0%A4%A"), ("gone/w1", "gone")]
)
@pytest.mark.parametrize("spoken", [True, False])
async def test_an_address_of_no_room_says_so_and_opens_the_first(
    open_page: Open, quiet: Playing, address: str, called: str, spoken: bool
) -> None:
    """Whether or not anything has been said in the first room."""
    if spoken:
        await quiet.stage.post("lobby", "ada", "Hello!")
    page = await open_page(f"{quiet.url}/#{address}")
    await expect(page.locator("h1")).to_have_text("lobby")
    await expect(page.get_by_role("note")).to_contain_text(f"There is no room “{called}” here.")
    await expect(page).to_have_url(f"{quiet.url}/#lobby")


async def test_an_address_of_no_room_that_is_typed_later_changes_nothing_else(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#design")
    await expect(page.locator("h1")).to_have_text("design")
    await page.evaluate("location.hash = 'doesnotexist'")
    await expect(page.get_by_role("note")).to_contain_text("There is no room “doesnotexist” here.")
    await expect(page.locator("h1")).to_have_text("design")
    await expect(page).to_have_url(f"{quiet.url}/#design")


# --- what is drawn differently ------------------------------------------------------------------------


async def test_a_command_and_its_answer_take_little_room(open_page: Open, quiet: Playing) -> None:
    """Two lines, without the gateway's face; what only looks like a command is a message."""
    page = await open_page(f"{quiet.url}/#lobby")
    await say(page, "/think high")
    await quiet.stage.post("lobby", "", "Thinking: high.")
    answer = message(page, "Thinking: high.")
    await expect(answer).to_have_class(re.compile(r"\btold\b"))
    await expect(answer.locator(".face")).to_have_count(0)
    await expect(message(page, "/think high")).to_have_class(re.compile(r"\bcommand\b"))
    await say(page, "/etc/hosts is a file")
    await expect(message(page, "/etc/hosts")).not_to_have_class(re.compile(r"\bcommand\b"))
    rows = await messages(page).evaluate_all("rows => rows.map(row => row.clientHeight)")
    assert rows[0] + rows[1] < rows[2] * 1.6


async def test_a_command_is_not_edited(open_page: Open, quiet: Playing) -> None:
    """It would not run again: it has no Edit, and the Up key leads to the message before it. It can be deleted."""
    page = await open_page(f"{quiet.url}/#lobby")
    await say(page, "what do you think?")
    await say(page, "/status")
    await say(page, "/statsu")
    await quiet.stage.post("lobby", "", "Did you mean /status?")
    for text in ("/status", "/statsu"):
        row = messages(page).and_(page.locator(".command")).filter(has_text=text).first
        await row.focus()
        await expect(row.get_by_role("button", name="Delete", exact=True)).to_be_visible()
        await expect(row.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
        await page.keyboard.press("u")
        await expect(box(page)).to_have_value("")
    await box(page).press("ArrowUp")
    await expect(box(page)).to_have_value("what do you think?")


async def test_an_answer_to_what_was_edited_is_folded(open_page: Open, quiet: Playing) -> None:
    old = await quiet.stage.post("lobby", "ada", "It is Tuesday.")
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(message(page, "It is Tuesday.").get_by_text("It is Tuesday.")).to_be_visible()
    await quiet.stage.mark(old.id, outdated=True)
    for _ in range(2):
        folded = messages(page).first.locator("details")
        await expect(folded.locator("summary")).to_have_text("Answer to the message as it was before the edit")
        await expect(folded.get_by_text("It is Tuesday.")).to_be_hidden()
        await page.reload()
    await folded.locator("summary").click()
    await expect(folded.get_by_text("It is Tuesday.")).to_be_visible()


async def test_code_has_colours_and_is_copied_as_it_is(open_page: Open, quiet: Playing) -> None:
    code = 'def greet(name):\n    return f"Hello {name}"  # 2 words'
    await quiet.stage.post("lobby", "ada", f"```python\n{code}\n```")
    page = await open_page(f"{quiet.url}/#lobby")
    shown = page.locator("main pre code")
    assert await shown.inner_text() == code
    assert await shown.locator(".t-keyword").all_inner_texts() == ["def", "return"]
    assert await shown.locator(".t-comment").all_inner_texts() == ["# 2 words"]
    assert await shown.locator(".t-called").all_inner_texts() == ["greet"]


async def test_everybody_has_a_face_of_their_own(open_page: Open, quiet: Playing) -> None:
    """Drawn from the id: the same after a reload, another for somebody else; a file beside it keeps its size."""
    file = n.File("f1", "plan.txt", "text/plain", 8, "/files/f1")
    picture = n.File("f2", "cat.png", "image/png", 8, "/static/icon.svg")
    for author in ("ann", "bob"):
        await quiet.stage.post("lobby", author, "hello", files=(file, picture))
    page = await open_page(f"{quiet.url}/#lobby")
    faces = page.locator("main .message .side svg")
    await expect(faces).to_have_count(2)
    drawn = await faces.evaluate_all("all => all.map(face => face.innerHTML)")
    assert drawn[0] != drawn[1]
    await page.reload()
    await expect(faces).to_have_count(2)
    assert await faces.evaluate_all("all => all.map(face => face.innerHTML)") == drawn
    await whole(page)
    assert await page.locator("a.file").first.evaluate("chip => chip.clientHeight") < 60
