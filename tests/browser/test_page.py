"""The chat page on a stage where every word and every moment is the test's."""

import re

import pytest
from playwright.async_api import Route, expect

from rejoinder.channels.web import nouns as n
from rejoinder.channels.web import protocol as p
from rejoinder.testing.patience import until
from tests.browser.conftest import PHONE, Open, Playing
from tests.browser.hands import at_bottom, box, message, messages, say, tool, whole
from tests.browser.scenes import STREAM, in_pieces

pytestmark = pytest.mark.asyncio(loop_scope="session")


# --- streaming and the reader's place -----------------------------------------------------------------


async def test_a_growing_message_keeps_its_nodes(open_page: Open, quiet: Playing) -> None:
    """Without flicker: while it streams, finished blocks are never taken out, and the height never shrinks."""
    page = await open_page(f"{quiet.url}/#lobby")
    await say(page, "go")
    await page.evaluate("""() => {
        const list = document.querySelector("main .list");
        window.removed = []; window.heights = [];
        new MutationObserver((records) => {
            for (const record of records)
                for (const node of record.removedNodes)
                    if (node.nodeType === 1 && node.textContent.length > 12) window.removed.push(node.textContent);
            window.heights.push(list.scrollHeight);
        }).observe(list, { childList: true, characterData: true, subtree: true });
    }""")
    await quiet.stage.stream("lobby", "ada", in_pieces(STREAM, 3), pause=0.005)
    await whole(page)
    await expect(message(page, "All tests pass.").locator("li strong code")).to_have_text("drain()")
    assert await page.evaluate("window.removed") == []
    heights = await page.evaluate("window.heights")
    assert heights == sorted(heights)


async def test_half_written_marks_are_never_seen(open_page: Open, quiet: Playing) -> None:
    """Half a `**word`, `code` or [link](… looks as it will look: no mark flickers by."""
    page = await open_page(f"{quiet.url}/#lobby")
    await say(page, "go")
    await page.evaluate("""() => {
        window.seen = new Set();
        const watch = () => {
            const text = document.querySelector("main .message:last-child .body")?.innerText ?? "";
            if (/[*`[\\]|]|https/.test(text)) window.seen.add(text);
        };
        new MutationObserver(watch).observe(document.querySelector("main .list"),
            { childList: true, characterData: true, subtree: true });
    }""")
    text = "Some **bold words**, *leaning*, `code()` and [a link](https://example.org/x).\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |"
    await quiet.stage.stream("lobby", "ada", list(text), pause=0.002)
    await whole(page)
    await expect(page.locator("main td").last).to_have_text("2")
    assert await page.evaluate("[...window.seen]") == []


async def test_who_is_at_work_can_be_stopped(open_page: Open, quiet: Playing) -> None:
    """Without words in the box its button stops; with words it sends them, and when all is said it only sends."""
    page = await open_page(f"{quiet.url}/#lobby")
    await say(page, "go")
    stop, send = (page.locator("main").get_by_role("button", name=name, exact=True) for name in ("Stop", "Send"))
    await expect(send).to_be_disabled()
    await quiet.stage.live(p.TypingNow("lobby", "ada"))
    await expect(stop).to_be_enabled()
    growing = await quiet.stage.post("lobby", "ada", "Step by", growing=True)
    await box(page).fill("and then")
    await expect(send).to_be_enabled()
    await box(page).fill("")
    await box(page).press("Enter")
    await stop.click()
    await expect(stop).to_be_disabled()
    await quiet.stage.edit(growing.id, "Step by")
    await quiet.stage.mark(growing.id, stopped=True)
    await quiet.stage.post("lobby", "", "Agent was aborted.")
    await expect(send).to_be_disabled()
    await expect(message(page, "Step by").locator(".stopped")).to_have_text("■ stopped")
    await expect(messages(page)).to_have_count(2)
    assert [frame.room for frame in quiet.stage.heard if isinstance(frame, p.Stop)] == ["lobby"]


async def test_the_reader_keeps_the_place(open_page: Open, staged: Playing) -> None:
    """The newest message is followed only from the bottom; elsewhere a pill counts what came, and leads there."""
    page = await open_page(f"{staged.url}/#lobby")
    await expect(message(page, "Ship it.")).to_be_visible()
    assert await at_bottom(page)
    await staged.stage.post("lobby", "ada", "one\n\n" * 20)
    await expect(message(page, "one")).to_be_visible()
    await expect(message(page, "one").locator("p").last).to_be_in_viewport()
    scroller = page.locator("main .scroller")
    await scroller.evaluate("e => e.scrollTop -= 700")
    await expect(page.get_by_role("button", name="Newest messages")).to_be_visible()
    before = await scroller.evaluate("e => e.scrollTop")
    await staged.stage.stream("lobby", "bee", in_pieces(STREAM, 20), pause=0.001)
    await expect(page.get_by_role("button", name="1 new message")).to_be_visible()
    assert await scroller.evaluate("e => e.scrollTop") == before
    await page.get_by_role("button", name="1 new message").click()
    assert await at_bottom(page)
    await expect(page.locator(".pill")).to_be_hidden()


async def test_older_messages_come_when_scrolling_up(open_page: Open, quiet: Playing) -> None:
    """History by pages, without moving what one reads, down to the first message."""
    for i in range(130):
        await quiet.stage.post("lobby", "ada", f"message number {i}", ago=7200 - i)
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(message(page, "message number 129")).to_be_visible()
    while (shown := await messages(page).count()) < 130:
        await page.locator("main .scroller").evaluate("e => e.scrollTop = 0")
        await expect(messages(page)).not_to_have_count(shown)
    await expect(messages(page)).to_have_count(130)
    texts = await page.locator("main .message .body").all_inner_texts()
    assert texts == [f"message number {i}" for i in range(130)]
    await expect(page.get_by_text("Older messages…")).to_have_count(0)


async def test_jump_to_a_message_that_is_not_loaded(open_page: Open, quiet: Playing) -> None:
    """The quoted message may be far: its surroundings are loaded, and the pill leads back to the present."""
    first = await quiet.stage.post("lobby", "ada", "the very first", ago=9000)
    for i in range(200):
        await quiet.stage.post("lobby", "bee", f"message number {i}", ago=8000 - i)
    await quiet.stage.post("lobby", "cod", "I mean this", reply_to=first.id)
    page = await open_page(f"{quiet.url}/#lobby")
    await message(page, "I mean this").locator(".quote").click()
    await expect(message(page, "the very first")).to_be_in_viewport()
    await quiet.stage.post("lobby", "ada", "news from the present")
    await page.get_by_role("button", name=re.compile("new message|Newest")).click()
    await expect(message(page, "news from the present")).to_be_in_viewport()


async def test_jump_to_a_message_that_is_gone(open_page: Open, quiet: Playing) -> None:
    """It says so, and the room stays as it was."""
    await quiet.stage.post("lobby", "ada", "I mean what is gone", reply_to="w9999")
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(message(page, "I mean what is gone")).to_be_visible()
    quiet.stage.page = lambda ask: p.Page(ask.client, (), False)  # type: ignore[method-assign]
    await message(page, "I mean what is gone").locator(".quote").click()
    await expect(page.get_by_role("note")).to_contain_text("no longer exists")
    await quiet.stage.post("lobby", "bee", "and on we go")
    await expect(message(page, "and on we go")).to_be_visible()
    await expect(messages(page)).to_have_count(2)


async def test_unread_marks(open_page: Open, quiet: Playing) -> None:
    """A room one does not look at counts; opened, it shows where the new begins, and the count is gone everywhere."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    await quiet.stage.post("design", "bee", "first")
    await quiet.stage.post("design", "bee", "second")
    await expect(page.get_by_role("link", name="design, 2 unread")).to_be_visible()
    assert (await page.title()).startswith("(2)")
    await page.get_by_role("link", name="design").click()
    await expect(page.get_by_role("separator").filter(has_text="New")).to_be_visible()
    await expect(page.locator(".unread")).to_have_count(0)
    await expect(page).to_have_title(re.compile(r"^design"))
    assert ("you", "design") in quiet.stage.read


# --- what a message can be ----------------------------------------------------------------------------


async def test_agent_text_is_never_markup(open_page: Open, quiet: Playing) -> None:
    """Nothing an agent writes becomes an element, a script, a foreign image or a line that runs backwards."""
    evil = '<img src=x onerror="window.hit=1"><script>window.hit=1</script> [x](javascript:window.hit=1) '
    evil += '![p](https://evil.example/p.png) \u202egnp.exe\u202c \u0007bell <b onclick="1">bold</b>'
    await quiet.stage.post("lobby", "ada", evil)
    page = await open_page(f"{quiet.url}/#lobby")
    body = message(page, "onerror").locator(".body")
    await expect(body).to_be_visible()
    assert await body.locator("img, script, b").count() == 0
    assert await page.evaluate("window.hit") is None
    text = await body.inner_text()
    assert "\u202e" not in text
    assert "\u0007" not in text
    hrefs = await body.locator("a").evaluate_all("all => all.map(a => [a.getAttribute('href'), a.rel])")
    assert hrefs == [["https://evil.example/p.png", "noopener noreferrer nofollow"]]


async def test_a_choice_is_pressed_once(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/#lobby")
    await page.get_by_role("button", name="Allow once").click()
    await expect(page.get_by_text("You chose allow.")).to_be_visible()
    await expect(page.locator(".choice")).to_have_count(0)
    assert [frame.says for frame in staged.stage.heard if isinstance(frame, p.Press)] == ["allow"]


async def test_what_only_i_see_is_marked_and_notes_are_dismissed(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/#lobby")
    await expect(message(page, "Session of Ada").get_by_text("Only you can see this")).to_be_visible()
    await staged.stage.post("lobby", "", "Ada chose to stay silent", only_for="you", note=True)
    note = page.get_by_role("note")
    await expect(note).to_contain_text("stay silent")
    await page.reload()
    await expect(note).to_contain_text("stay silent")
    await note.get_by_role("button", name="Dismiss").click()
    await expect(note).to_have_count(0)
    await page.reload()
    await expect(message(page, "Session of Ada")).to_be_visible()
    await expect(note).to_have_count(0)


async def test_files_are_uploaded_and_too_large_ones_are_not(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    chooser = page.locator("main input[type=file]")
    await chooser.set_input_files(
        [
            {"name": "plan.txt", "mimeType": "text/plain", "buffer": b"one, two"},
            {"name": "big.bin", "mimeType": "application/octet-stream", "buffer": b"x" * 1_000_001},
        ]
    )
    await expect(page.locator(".chip.problem")).to_contain_text("larger than")
    await say(page, "here it is")
    await expect(message(page, "here it is").locator("a.file")).to_contain_text("plan.txt")
    assert [file.name for file, _ in quiet.stage.files.values()] == ["plan.txt"]


async def test_a_file_that_was_not_sent_stays_until_it_is_removed(open_page: Open, quiet: Playing) -> None:
    """The message goes out without it, and so does the next one with its own file."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    chooser, failed = page.locator("main input[type=file]"), page.locator(".chip.problem")
    big = {"name": "big.bin", "mimeType": "application/octet-stream", "buffer": b"x" * 1_000_001}
    await chooser.set_input_files([big])
    await say(page, "here it is")
    await expect(failed).to_contain_text("larger than")
    held: list[Route] = []
    await page.route("**/files?*", lambda route: held.append(route))
    await chooser.set_input_files([{"name": "plan.txt", "mimeType": "text/plain", "buffer": b"one, two"}])
    await box(page).fill("and the plan")
    await box(page).press("Enter")
    await until(lambda: held, "the upload")
    await held[0].continue_()
    await expect(message(page, "and the plan").locator("a.file")).to_contain_text("plan.txt")
    await expect(page.locator(".chip")).to_have_count(1)
    await failed.get_by_role("button", name="Remove big.bin").click()
    await expect(page.locator(".chip")).to_have_count(0)


NO_MICROPHONE = """() => {
    const missing = new DOMException("Requested device not found", "NotFoundError");
    navigator.mediaDevices.getUserMedia = () => Promise.reject(missing);
}"""


@pytest.mark.parametrize("thread", [False, True])
async def test_a_recording_that_cannot_begin_leaves_the_box_as_it_was(
    open_page: Open, quiet: Playing, thread: bool
) -> None:
    """Why is told in a note, which goes; also in a room where nothing has been said."""
    address = f"{quiet.url}/#lobby"
    if thread:
        root = await quiet.stage.post("lobby", "ada", "the root")
        address += f"/{root.id}"
    page = await open_page(address)
    await expect(page.locator("h1")).to_have_text("lobby")
    await page.evaluate(NO_MICROPHONE)
    pane = page.locator(".panel" if thread else "main")
    await box(page, thread).fill("half a thought")
    await pane.get_by_role("button", name="Record a voice message").click()
    note = pane.get_by_role("note")
    await expect(note).to_contain_text("No microphone was found.")
    await expect(pane.locator(".recording")).to_be_hidden()
    await expect(box(page, thread)).to_have_value("half a thought")
    await note.get_by_role("button", name="Dismiss").click()
    await expect(note).to_have_count(0)


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
async def test_messages_in_a_row_stand_close_together(open_page: Open, quiet: Playing, locale: str) -> None:
    """A line of text takes the height of a line, however the reader's language tells the time beside it."""
    page = await open_page(f"{quiet.url}/#lobby", locale=locale)
    for text in ("one", "two", "three"):
        await say(page, text)
    rows = await messages(page).evaluate_all("rows => rows.map(row => row.clientHeight)")
    line = await messages(page).last.locator(".body").evaluate("body => body.clientHeight")
    assert rows[1] == rows[2] < line * 2


OVERLAP = """row => {
    const mark = row.querySelector(".status .mark").getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(row.querySelector(".body"));
    return [...range.getClientRects()].some((words) => words.right > mark.left && words.bottom > mark.top);
}"""


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 800}, PHONE])
async def test_words_that_run_to_the_left_have_their_place(open_page: Open, quiet: Playing, viewport: dict) -> None:
    """Not under the mark of what was sent, and with the bullets of a list beside them."""
    page = await open_page(f"{quiet.url}/#lobby", viewport=viewport)
    await box(page).fill("one\n\n- two\n- שלוש\n- أربعة\n\nخمسة")
    await page.get_by_role("button", name="Send").click()
    row = messages(page).last
    await expect(row.get_by_role("img", name="Sent")).to_be_visible()
    assert not await row.evaluate(OVERLAP)
    edges = "items => items.map(item => [item.getBoundingClientRect().left, item.getBoundingClientRect().right])"
    left, right = await row.locator(".body").evaluate("e => [e.getBoundingClientRect().left, e.clientWidth]")
    spans = [[a - left, b - left] for a, b in await row.locator("li").evaluate_all(edges)]
    assert spans == [[24, right], [0, right - 24], [0, right - 24]]


PASTE = """(box, text) => {
    const pasted = new DataTransfer();
    pasted.setData("text/plain", text);
    const event = new ClipboardEvent("paste", { clipboardData: pasted, bubbles: true, cancelable: true });
    if (!box.dispatchEvent(event)) return;
    box.setRangeText(text);
    box.dispatchEvent(new InputEvent("input", { bubbles: true }));
}"""


async def test_a_long_text_is_pasted_whole(open_page: Open, quiet: Playing) -> None:
    """A hundred kilobytes are a message; what no message holds becomes a file. Nothing is cut off without a word."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    log = "".join(f"{i} of a long log\n" for i in range(5_000))
    await box(page).focus()
    await box(page).evaluate(PASTE, log)
    await box(page).press("Enter")
    await expect(messages(page)).to_have_count(1)
    await messages(page).first.locator("summary").click()
    await expect(messages(page).first).to_contain_text("4999 of a long log")
    await box(page).evaluate(PASTE, log * 3)
    await expect(page.locator(".chip")).to_contain_text("pasted text.txt")
    assert await box(page).input_value() == ""
    await say(page, "all of it")
    assert [content.decode() for _, content in quiet.stage.files.values()] == [log * 3]


async def test_a_message_sent_during_an_upload_goes_out_with_its_file(open_page: Open, quiet: Playing) -> None:
    """Enter is not lost while a file is on its way; who changes the words meanwhile sends them again."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    held: list[Route] = []
    await page.route("**/files?*", lambda route: held.append(route))
    await box(page).evaluate(PASTE, "a long log\n" * 30_000)
    await expect(page.locator(".chip")).to_contain_text("pasted text.txt")
    await box(page).fill("all of it")
    await box(page).press("Enter")
    await expect(messages(page)).to_have_count(0)
    await held[0].continue_()
    await expect(messages(page).first).to_contain_text("all of it")
    assert len(quiet.stage.files) == 1


async def test_a_refused_message_says_why_and_can_be_sent_again(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#lobby")
    quiet.stage.refuse = "This room is closed for today."
    await box(page).fill("may I?")
    await box(page).press("Enter")
    failed = page.locator(".message.failed")
    await expect(failed).to_contain_text("This room is closed for today.")
    await page.reload()
    await expect(failed).to_contain_text("may I?")
    quiet.stage.refuse = None
    await failed.get_by_role("button", name="Try again").click()
    await expect(failed).to_have_count(0)
    await expect(messages(page)).to_have_count(1)


async def test_two_tabs_send_an_unsent_message_once(open_page: Open, quiet: Playing) -> None:
    """The line is dead, the page is reloaded, another tab opens: each would send it, and it arrives once."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    quiet.stage.deaf = True
    await quiet.stage.drop()
    await box(page).fill("once")
    await box(page).press("Enter")
    await page.reload()
    other = await page.context.new_page()
    await other.goto(f"{quiet.url}/#lobby")
    quiet.stage.deaf = False
    for tab in (page, other):
        await tab.evaluate("dispatchEvent(new Event('online'))")
        await expect(messages(tab)).to_have_count(1)
        await expect(messages(tab).first).to_have_attribute("data-id", re.compile("^w"))
    assert [m.text for m in quiet.stage.messages.values()] == ["once"]


async def test_a_hole_in_a_stream_is_filled(open_page: Open, quiet: Playing) -> None:
    """A delta that does not fit makes the page ask for the message again."""
    page = await open_page(f"{quiet.url}/#lobby")
    await say(page, "go")
    grown = await quiet.stage.post("lobby", "ada", "", growing=True)
    quiet.stage.messages[grown.id] = n.Message(grown.id, "lobby", "ada", grown.at, grown.seq, "Hello wor", growing=True)
    await quiet.stage.live(p.Delta("lobby", grown.id, 6, "wor"))
    await expect(message(page, "Hello wor")).to_be_visible()
    await quiet.stage.live(p.Delta("lobby", grown.id, 9, "ld"))
    await expect(message(page, "Hello world")).to_be_visible()


# --- finding ------------------------------------------------------------------------------------------


async def test_search_finds_and_jumps(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/#lobby")
    await page.keyboard.press("Control+Shift+F")
    await page.get_by_label("Search messages").fill("nested three")
    hit = page.locator(".hit")
    await expect(hit).to_have_count(1)
    await expect(hit.locator("mark").first).to_be_visible()
    await hit.click()
    await expect(page.locator("h1")).to_have_text("Ada")
    await expect(page.locator("main .message.flash")).to_contain_text("Nested")


async def test_older_hits_are_there_for_the_asking(open_page: Open, quiet: Playing) -> None:
    for number in range(70):
        await quiet.stage.post("lobby", "ada", f"needle {number}")
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    await page.get_by_role("button", name="Search", exact=True).click()
    await page.get_by_label("Search messages").fill("needle")
    older = page.get_by_role("button", name="Show older")
    for count, last in ((30, 40), (60, 10), (70, 0)):
        await expect(page.locator(".hit")).to_have_count(count)
        await expect(page.locator(".hit").last).to_contain_text(f"needle {last}")
        if count < 70:
            await older.click()
    await expect(older).to_be_hidden()
    await page.get_by_label("Search messages").fill("needle 69")
    await expect(page.locator(".hit")).to_have_count(1)


async def test_a_search_waits_for_the_line(open_page: Open, quiet: Playing) -> None:
    await quiet.stage.post("lobby", "ada", "a needle")
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    await page.get_by_role("button", name="Search", exact=True).click()
    quiet.stage.deaf = True
    await quiet.stage.drop()
    await expect(page.get_by_text("Reconnecting…")).to_be_visible()
    await page.get_by_label("Search messages").fill("needle")
    await expect(page.get_by_text("Not connected; the search")).to_be_visible()
    quiet.stage.deaf = False
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.locator(".hit")).to_have_count(1)


@pytest.mark.parametrize("sign", ["offline", "said"])
async def test_a_line_that_went_without_a_word_is_noticed(open_page: Open, quiet: Playing, sign: str) -> None:
    """When the browser knows that the network went, or what was said has no answer: within seconds, and what was said
    arrives by the next line. No real second passes here."""
    page = await open_page("about:blank")
    await page.clock.install()
    await page.goto(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    quiet.stage.gone = set(quiet.stage.sockets)
    if sign == "offline":
        await page.evaluate("dispatchEvent(new Event('offline'))")
    else:
        await box(page).fill("hello?")
        await box(page).press("Enter")
        await expect(message(page, "hello?")).to_be_visible()
    await page.clock.run_for(12_000)
    if sign == "said":
        await expect(message(page, "hello?")).to_have_attribute("data-id", re.compile("^w"))
    await say(page, "again")


async def test_completion(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    await box(page).press_sequentially("/th")
    await expect(page.get_by_role("option", name="/think")).to_be_visible()
    await box(page).press("Tab")
    await expect(box(page)).to_have_value("/think ")
    await box(page).fill("")
    await box(page).press_sequentially("hi @b")
    await box(page).press("Enter")
    await expect(box(page)).to_have_value("hi @bee ")
    await box(page).press_sequentially(":rock")
    await box(page).press("Enter")
    await expect(box(page)).to_have_value("hi @bee 🚀 ")
    await box(page).press_sequentially(":smi")
    await expect(page.get_by_role("option").first).to_have_text("😄smilehappy grin")
    await box(page).press_sequentially("le:")
    await box(page).press("Enter")
    await expect(box(page)).to_have_value("hi @bee 🚀 😄 ")
    await box(page).press_sequentially(":thumbs_up:")
    await box(page).press("Enter")
    await expect(box(page)).to_have_value("hi @bee 🚀 😄 👍 ")


async def test_a_command_that_is_typed_out_is_sent(open_page: Open, quiet: Playing) -> None:
    """By any of its names, also where a longer one begins with it; an arrow key means the list, half a word is
    completed."""
    quiet.stage.commands = (
        p.Command("export-session", "Export it.", ("export",)),
        p.Command("think", "Think.", ("t",)),
    )
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    offered = page.get_by_role("option", name="/export-session")
    for typed, key, stands in (
        ("/expo", "Enter", "/export-session "),
        ("/export", "Tab", "/export-session "),
        ("/t", "Tab", "/think "),
    ):
        await box(page).fill(typed)
        await expect(page.get_by_role("option")).to_have_count(1)
        await box(page).press(key)
        await expect(box(page)).to_have_value(stands)
    await box(page).fill("/export")
    await expect(offered).to_be_visible()
    await box(page).press("ArrowDown")
    await expect(offered).to_have_attribute("aria-selected", "true")
    await box(page).press("Enter")
    await expect(box(page)).to_have_value("/export-session ")
    for typed in ("/export", "/t"):
        await box(page).fill(typed)
        await expect(page.get_by_role("option")).to_have_count(1)
        await box(page).press("Enter")
        await expect(messages(page).locator(".body").get_by_text(typed, exact=True)).to_be_visible()
        await expect(box(page)).to_have_value("")


@pytest.mark.parametrize(
    ("text", "author", "is_small"),
    [("/think", "", True), ("/thnik", "", True), ("/thnik", "ada", False), ("/etc/hosts is gone", "", False)],
)
async def test_a_command_and_its_answer_take_little_room(
    open_page: Open, quiet: Playing, text: str, author: str, is_small: bool
) -> None:
    """Also one that was mistyped, if the gateway asks about it."""
    quiet.stage.commands = (p.Command("think", "Think."),)
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    await quiet.stage.post("lobby", "you", text)
    await quiet.stage.post("lobby", author, "What about it?")
    both = messages(page).filter(has_text=re.compile(f"{text}|What about it"))
    await expect(both).to_have_count(2)
    small = re.compile(r"\b(command|told)\b")
    for each in (both.first, both.last):
        if is_small:
            await expect(each).to_have_class(small)
        else:
            await expect(each).not_to_have_class(small)


async def test_the_side_bar_follows_what_grows(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#dm-ada")
    await expect(page.locator("h1")).to_have_text("Ada")
    preview = page.locator("[data-room=lobby] .preview")
    growing = await quiet.stage.post("lobby", "ada", "I", growing=True)
    await expect(preview).to_have_text("Ada: I")
    await quiet.stage.live(p.Delta("lobby", growing.id, 1, " read it, @bee."))
    await expect(preview).to_have_text("Ada: I read it, @Bee.")


async def test_the_side_bar_of_a_page_that_comes_later_knows_what_has_grown(open_page: Open, quiet: Playing) -> None:
    """What the server keeps of a growing message is its beginning."""
    growing = await quiet.stage.post("lobby", "ada", "I read it.", growing=True)
    quiet.stage.kept[growing.id] = "I"
    page = await open_page(f"{quiet.url}/#dm-ada")
    await expect(page.locator("[data-room=lobby] .preview")).to_have_text("Ada: I read it.")


async def test_one_line_of_a_message_calls_people_as_the_message_does(open_page: Open, quiet: Playing) -> None:
    """In a quote; and of code only the code is told, not its fence."""
    page = await open_page(f"{quiet.url}/#lobby")
    first = await quiet.stage.post("lobby", "ada", "@bee, mail ann@bee.org about @all: ```python x = 1 ```")
    await quiet.stage.post("lobby", "bee", "Done.", reply_to=first.id)
    await expect(message(page, "Done.").locator(".quote .words")).to_have_text(
        "@Bee, mail ann@bee.org about @all: x = 1"
    )


async def test_what_was_typed_before_the_page_knew_its_commands_is_completed(open_page: Open, quiet: Playing) -> None:
    quiet.stage.deaf = True
    page = await open_page(f"{quiet.url}/#lobby")
    await box(page).fill("/th")
    quiet.stage.deaf = False
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(page.get_by_role("option", name="/think")).to_be_visible()
    await box(page).press("Tab")
    await expect(box(page)).to_have_value("/think ")


async def test_a_slip_in_a_command_is_seen_before_it_is_sent(open_page: Open, quiet: Playing) -> None:
    """The nearest command is offered; Tab takes it, Enter sends what was typed, for the agent may know it (IN-60)."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    offered = page.get_by_role("option", name="/think")
    await box(page).press_sequentially("/thnik")
    await expect(offered).to_contain_text("Did you mean this?")
    await box(page).press("Tab")
    await expect(box(page)).to_have_value("/think ")
    await box(page).fill("/thnik")
    await expect(offered).to_be_visible()
    await box(page).press("Enter")
    await expect(message(page, "/thnik")).to_be_visible()
    await box(page).press_sequentially("/tmp")
    await expect(page.get_by_role("option")).to_have_count(0)


async def test_first_visit_invites(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#dm-ada")
    await expect(page.get_by_role("heading", name="Say hello to Ada")).to_be_visible()
    await page.get_by_role("button", name=re.compile("^react with 🎉")).click()
    await expect(message(page, "react with 🎉")).to_be_visible()


@pytest.mark.parametrize(
    ("wake", "told", "offered"),
    [
        ("lead", "Ada answers messages that name nobody.", "reply to me"),
        ("all", "A message that names nobody goes to every agent", "reply to me"),
        ("mentions", "An agent answers when it is named", "@ada reply to me"),
    ],
)
async def test_a_room_tells_who_takes_what_names_nobody(
    open_page: Open, quiet: Playing, wake: str, told: str, offered: str
) -> None:
    """IN-25: as `wake` says, and what it offers to try is answered."""
    quiet.stage.wake = wake
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator(".empty")).to_contain_text(told)
    await page.get_by_role("button", name=offered).click()
    await expect(message(page, offered)).to_be_visible()


async def test_a_room_is_made(open_page: Open, quiet: Playing) -> None:
    page = await open_page(f"{quiet.url}/#lobby")
    await page.get_by_role("button", name="New room").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Review")
    await dialog.get_by_label("Cod").uncheck()
    await dialog.get_by_role("button", name="Create room").click()
    await expect(page.locator("h1")).to_have_text("Review")
    assert quiet.stage.rooms["review"].agents == ("ada", "bee")


@pytest.mark.parametrize(
    ("name", "problem"), [("LOBBY", "There is a room of that name already."), ("   ", "Give it a name.")]
)
async def test_a_room_needs_a_name_of_its_own(open_page: Open, quiet: Playing, name: str, problem: str) -> None:
    """Two rooms of one name could not be told apart, and a room cannot be renamed."""
    page = await open_page(f"{quiet.url}/#lobby")
    rooms = len(quiet.stage.rooms)
    await page.get_by_role("button", name="New room").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill(name)
    await dialog.get_by_role("button", name="Create room").click()
    await expect(dialog.get_by_role("alert")).to_have_text(problem)
    await dialog.get_by_label("Name").fill("Review")
    await expect(dialog.get_by_role("alert")).to_be_hidden()
    await dialog.get_by_role("button", name="Create room").click()
    await expect(page.locator("h1")).to_have_text("Review")
    assert len(quiet.stage.rooms) == rooms + 1


async def test_a_room_without_agents_is_not_made(open_page: Open, quiet: Playing) -> None:
    """The dialog stays and says what is missing."""
    page = await open_page(f"{quiet.url}/#lobby")
    await page.get_by_role("button", name="New room").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Review")
    for name in ("Ada", "Bee", "Cod"):
        await dialog.get_by_label(name).uncheck()
    create, problem = dialog.get_by_role("button", name="Create room"), dialog.get_by_role("alert")
    await create.click()
    await expect(problem).to_have_text("Choose at least one agent.")
    await dialog.get_by_label("Bee").check()
    await expect(problem).to_be_hidden()
    await create.click()
    await expect(page.locator("h1")).to_have_text("Review")
    assert quiet.stage.rooms["review"].agents == ("bee",)


# --- hands, eyes, sizes -------------------------------------------------------------------------------


async def test_keyboard_only(open_page: Open, staged: Playing) -> None:
    """Write, switch the room, walk through messages, reply, react, open a thread and come back without a mouse."""
    staged.stage.answer = None
    page = await open_page(f"{staged.url}/#lobby")
    await expect(box(page)).to_be_focused()
    await page.keyboard.press("Control+K")
    await page.keyboard.type("desi")
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_have_text("design")
    await expect(box(page)).to_be_focused()
    await page.keyboard.press("Control+K")
    await page.keyboard.type("lobby")
    await page.keyboard.press("Enter")
    await expect(message(page, "Ship it.")).to_be_visible()
    await expect(box(page)).to_be_focused()
    await page.keyboard.press("Shift+Tab")
    await expect(messages(page).last).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")
    await expect(message(page, "May I run")).to_be_focused()
    await page.keyboard.press("r")
    await page.keyboard.type("yes")
    await page.keyboard.press("Enter")
    await expect(message(page, "yes").locator(".quote")).to_contain_text("May I run")
    await expect(message(page, "yes").get_by_role("img", name="Sent")).to_be_visible()  # before that it has no id
    await messages(page).last.focus()
    await page.keyboard.press("e")
    await page.keyboard.type("heart")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(message(page, "yes").locator(".reaction[data-emoji='❤️']")).to_be_visible()
    await expect(messages(page).last).to_be_focused()
    await page.keyboard.press("t")
    await expect(box(page, thread=True)).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(box(page)).to_be_focused()


async def test_a_message_whose_words_are_all_taken_away_is_deleted(open_page: Open, quiet: Playing) -> None:
    """After a question; without a yes it stays as it was."""
    quiet.stage.answer = None
    page = await open_page(f"{quiet.url}/#lobby")
    said = await say(page, "a slip")
    for choice, left in (("Cancel", 1), ("Delete", 0)):
        await box(page).press("ArrowUp")
        await box(page).fill("")
        await box(page).press("Enter")
        await page.get_by_role("dialog").get_by_role("button", name=choice).click()
        await expect(page.get_by_text("Editing your message")).to_have_count(0)
        await expect(said).to_have_count(left)


async def test_escape_closes_go_to_at_once(open_page: Open, quiet: Playing) -> None:
    """Also when something is typed."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(box(page)).to_be_focused()
    await page.keyboard.press("Control+K")
    await page.keyboard.type("desi")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(box(page)).to_be_focused()


@pytest.mark.parametrize("opener", ["New room", "You are You", "Go to…"])
async def test_a_dialog_above_the_drawer_is_closed_first(open_page: Open, quiet: Playing, opener: str) -> None:
    """On a phone Escape closes the dialog and leaves the list of rooms; Back closes both, nothing stays on the room."""
    page = await open_page(f"{quiet.url}/#lobby", viewport=PHONE)
    await page.get_by_role("button", name="Rooms and direct chats").click()
    await page.get_by_role("button", name=opener).click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.locator(".sidebar")).to_be_visible()
    await page.get_by_role("button", name=opener).click()
    await page.go_back()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(page.locator(".sidebar")).to_be_hidden()
    await expect(page.locator("h1")).to_have_text("lobby")


async def test_the_message_box_fits_its_words_in_every_width(open_page: Open, quiet: Playing) -> None:
    """Also after the window became narrower, or a phone was turned: no scroll bar in the box, no word cut off."""
    page = await open_page(f"{quiet.url}/#lobby", viewport={"width": 1280, "height": 800})
    await expect(box(page)).to_have_css("text-overflow", "ellipsis")  # of the room's name, where it is long
    await box(page).fill("a few words that fill more than one line of a narrow window " * 3)
    await page.set_viewport_size(PHONE)
    await page.wait_for_function(
        "() => { const b = document.querySelector('#room-text'); return b.scrollHeight <= b.clientHeight; }"
    )
    await expect(box(page)).to_have_css("white-space-collapse", "preserve")
    await expect(box(page)).to_have_css("text-wrap-mode", "wrap")


async def test_the_message_list_is_one_tab_stop(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/#lobby")
    await expect(message(page, "Ship it.")).to_be_visible()
    assert await page.locator("main .message[tabindex='0']").count() == 1


async def test_whole_messages_are_announced_once(open_page: Open, quiet: Playing) -> None:
    """A screen reader hears a streamed message when it is whole, not with every word."""
    page = await open_page(f"{quiet.url}/#lobby")
    await say(page, "go")
    await page.evaluate("""() => {
        window.heard = [];
        const hear = (record) => record.addedNodes.forEach((node) => window.heard.push(node.textContent));
        new MutationObserver((records) => records.forEach(hear))
            .observe(document.querySelector("[aria-live=polite].sr-only"), { childList: true, subtree: true });
    }""")
    await quiet.stage.stream("lobby", "ada", in_pieces("Many small pieces make one sentence.", 3), pause=0.001)
    await whole(page)
    await page.wait_for_function("() => window.heard.length > 0")
    assert await page.evaluate("window.heard") == ["Ada: Many small pieces make one sentence."]


async def test_phone_width(open_page: Open, staged: Playing) -> None:
    """At 360 pixels nothing is cut off: the side bar is a drawer, a thread covers the room."""
    page = await open_page(f"{staged.url}/#lobby", viewport=PHONE, has_touch=True)
    await expect(message(page, "Ship it.")).to_be_visible()
    width = "() => document.scrollingElement.scrollWidth"
    assert await page.evaluate(width) == 360
    assert await page.locator("main .scroller").evaluate("e => e.scrollWidth - e.clientWidth") == 0
    await expect(page.locator(".sidebar")).to_be_hidden()
    await page.get_by_role("button", name="Rooms and direct chats").click()
    await page.get_by_role("link", name="Ada").click()
    await expect(page.locator(".sidebar")).to_be_hidden()
    await expect(page.locator("h1")).to_have_text("Ada")
    assert await page.locator("main .scroller").evaluate("e => e.scrollWidth - e.clientWidth") == 0
    await page.goto(f"{staged.url}/console")
    await expect(page.locator(".journey").first).to_be_visible()
    assert await page.evaluate(width) == 360


async def test_light_and_dark(open_page: Open, quiet: Playing) -> None:
    """The system's theme, until the switch chooses another, which is kept."""
    page = await open_page(f"{quiet.url}/#lobby", color_scheme="dark")
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await page.get_by_role("button", name="Theme: same as the system").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")


async def test_a_bell_that_may_not_ring_says_so(open_page: Open, quiet: Playing) -> None:
    """A browser that was told to block notifications does not ask again."""
    page = await open_page(f"{quiet.url}/#lobby")
    await expect(page.locator("h1")).to_have_text("lobby")
    await page.evaluate("() => void (Notification.requestPermission = async () => 'denied')")
    bell = page.get_by_role("button", name="Notifications")
    await bell.click()
    dialog = page.get_by_role("dialog", name="Notifications")
    await expect(dialog).to_contain_text("The browser blocks notifications for this page.")
    await dialog.get_by_role("button", name="Close").click()
    await expect(dialog).to_have_count(0)
    await expect(bell).to_have_attribute("aria-pressed", "false")


async def test_the_tool_bar_of_own_messages_only_changes_own_messages(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/#lobby")
    await message(page, "May I run").hover()
    await expect(page.get_by_role("toolbar").get_by_role("button", name="Delete")).to_have_count(0)
    await tool(page, message(page, "Ship it."), "Edit")
    await expect(box(page)).to_have_value("Ship it.")
    await box(page).press("Escape")
    await expect(box(page)).to_have_value("")
