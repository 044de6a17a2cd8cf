"""The operator's page: what happens, why, and what to do about what went wrong."""

import re
import time
from datetime import UTC, datetime

import pytest
from playwright.async_api import expect

from rejoinder.events import Step
from rejoinder.web import console_frames as c
from tests.browser.conftest import Open, Playing, RealGateway
from tests.browser.hands import say

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_flow_is_live_and_tells_the_reason(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/console")
    await expect(page.locator(".journey")).to_have_count(3)
    at = int(time.time() * 1000)
    await staged.stage.show(c.FlowReceived(at, "web", "lobby", "w99", "Mira", "anybody here?"))
    first = page.locator(".journey").first
    await expect(first).to_contain_text("anybody here?")
    await expect(first).to_contain_text("arrived")
    steps = (Step("activation", "drop", "nobody was mentioned", 0.00004),)
    await staged.stage.show(c.FlowDecided(at, "web", "lobby", "w99", "drop", steps))
    await expect(first).to_contain_text("not answered")
    await expect(first).to_contain_text("nobody was mentioned")
    await first.get_by_role("button").click()
    await expect(first.locator("tbody tr")).to_contain_text("activation")
    await page.get_by_label("Filter the flow").fill("anybody")
    await expect(page.locator(".journey")).to_have_count(1)


async def test_what_was_sent_stands_with_what_it_answers(open_page: Open, staged: Playing) -> None:
    """An agent's words with the messages of its turn, whenever they come; the gateway's with the command it answered;
    neither with a newer message of the chat."""
    page = await open_page(f"{staged.url}/console")
    at, here = int(time.time() * 1000), ("web", "lobby")
    for message, text in (("w90", "review this"), ("w91", "and this"), ("w92", "/status"), ("w93", "thanks")):
        await staged.stage.show(c.FlowReceived(at, *here, message, "Mira", text))
    await staged.stage.show(c.FlowDecided(at, *here, "w92", "answer", ()))
    who = ("web:lobby", "ada", "answered")
    await staged.stage.show(c.FlowSent(at, *here, "w94", "Two things:", 7))
    await staged.stage.show(c.FlowSent(at, *here, "w95", "Levels: think off"))
    for message in ("w90", "w91"):
        await staged.stage.show(c.FlowTurn(at, *here, message, *who, turn=7))
    await staged.stage.show(c.FlowSent(at, *here, "w96", "And a third.", 7))
    for text, sent in (
        ("review this", ["Two things:", "And a third."]),
        ("and this", ["Two things:", "And a third."]),
        ("/status", ["Levels: think off"]),
        ("thanks", []),
    ):
        row = page.locator(".journey", has_text=text)
        await row.get_by_role("button").first.click()
        await expect(row.locator("h3:text('Sent') + ul > li")).to_have_text(sent)


async def test_a_row_says_that_the_agent_stayed_silent(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/console")
    at = int(time.time() * 1000)
    await staged.stage.show(c.FlowReceived(at, "web", "lobby", "w98", "Mira", "never mind"))
    await staged.stage.show(c.FlowTurn(at, "web", "lobby", "w98", "web:lobby", "ada", "silent", turn=8))
    row = page.locator(".journey", has_text="never mind")
    await expect(row.locator(".outcome")).to_have_text("stayed silent")
    await row.get_by_role("button").first.click()
    await expect(row.locator("h3:text('Turns') + ul > li")).to_have_text("ada stayed silent")
    await expect(row.locator("i.bad")).to_have_count(0)


async def test_why_of_any_message(open_page: Open, staged: Playing) -> None:
    """By a click in the chat, by its id, and a sentence when there is none."""
    page = await open_page(f"{staged.url}/console#w37")
    await expect(page.locator(".trace")).to_contain_text("owner of this gateway")
    await page.get_by_label("Id or handle of the message to explain").fill("w1000")
    await page.get_by_role("button", name="Why?", exact=True).click()
    await expect(page.locator(".why-answer")).to_contain_text("No message has the id w1000.")
    await page.locator(".why-answer").get_by_role("button", name="Close").click()
    await expect(page.locator(".why-answer")).to_be_empty()


async def test_the_flow_is_in_the_order_in_which_messages_came(open_page: Open, quiet: Playing) -> None:
    """Also one of before a restart, of which the console hears only when it is answered."""
    page = await open_page(f"{quiet.url}/console")
    at = int(time.time() * 1000)
    await quiet.stage.show(c.FlowReceived(at, "web", "lobby", "w2", "Mira", "after the restart"))
    await quiet.stage.show(c.FlowReceived(at - 5000, "web", "lobby", "w1", "Mira", "before the restart"))
    said = page.locator(".journey .said")
    await expect(said).to_have_text(["Mira after the restart", "Mira before the restart"])


async def test_dead_letters_are_sent_again_and_strangers_let_in(open_page: Open, staged: Playing) -> None:
    page = await open_page(f"{staged.url}/console")
    outbox = page.get_by_role("region", name="Outbox")
    await expect(outbox).to_contain_text("bot was blocked by the user")
    await outbox.get_by_role("button", name="Send part 7 again").click()
    await page.get_by_role("button", name="Let Noor (991) in").click()
    await expect(page.get_by_role("region", name="Channels")).to_contain_text("the token was revoked")
    await expect(page.get_by_role("region", name="Channels")).to_contain_text("the bot lacks a permission in #ideas")
    await expect(page.get_by_role("region", name="Waiting for a turn")).to_contain_text("and in French")
    assert staged.stage.posted == ["outbox/7/retry", "pairing/K7QF2M/approve"]


async def test_a_dead_letter_is_dropped_only_by_who_means_it(open_page: Open, staged: Playing) -> None:
    """It cannot be taken back: the button asks first, and who goes elsewhere has not answered."""
    page = await open_page(f"{staged.url}/console")
    outbox = page.get_by_role("region", name="Outbox")
    await outbox.get_by_role("button", name="Drop part 7").click()
    await expect(outbox.get_by_text("Really?")).to_be_visible()
    await page.get_by_label("Filter the flow").focus()
    await expect(outbox.get_by_text("Really?")).to_have_count(0)
    await outbox.get_by_role("button", name="Drop part 7").click()
    async with page.expect_response("**/api/outbox/7/drop"):
        await outbox.get_by_role("button", name="Drop part 7: Really?").click()
    assert staged.stage.posted == ["outbox/7/drop"]


async def test_the_clock(open_page: Open, staged: Playing) -> None:
    """Jobs and heartbeats with when they are due and what became of the last; run, paused and resumed from here."""
    page = await open_page(f"{staged.url}/console")
    clock = page.get_by_role("region", name="Scheduled jobs")
    row = clock.locator("li")
    await expect(row.nth(0)).to_contain_text("every 30m · in 14 min")
    await expect(row.nth(0)).to_contain_text("skipped 16 min ago: these are quiet hours")
    await expect(row.nth(1)).to_contain_text("answered · 10 h ago")
    await expect(row.nth(2)).to_contain_text("paused")
    for name, path in (
        ("Run heartbeat/bee now", "heartbeat/bee/run"),
        ("Pause standup", "standup/pause"),
        ("Resume weekly", "weekly/resume"),
    ):
        async with page.expect_response(lambda answer: answer.request.method == "POST"):
            await clock.get_by_role("button", name=name).click()
        assert staged.stage.posted[-1] == f"jobs/{path}"


async def test_ticks_are_in_the_flow(open_page: Open, staged: Playing) -> None:
    """TU-27: each is a journey of its own, with its turn; one that gets none has the reason."""
    page = await open_page(f"{staged.url}/console")
    await expect(page.locator(".journey")).to_have_count(3)
    at, session = int(time.time() * 1000), "bee:cron:heartbeat/bee"
    await staged.stage.show(c.FlowTick(at, "heartbeat/bee", "bee", session, "these are quiet hours"))
    first = page.locator(".journey").first
    await expect(first).to_contain_text("heartbeat/bee is due")
    await expect(first).to_contain_text("no turn")
    await expect(first).to_contain_text("these are quiet hours")
    for number in (1, 2):
        await staged.stage.show(c.FlowTick(at + number, "heartbeat/bee", "bee", session))
        await staged.stage.show(c.FlowSent(at, "telegram", "42", f"9{number}", f"Look {number}", 40 + number))
        await staged.stage.show(c.FlowTurn(at, "telegram", "42", "", session, "bee", "answered", turn=40 + number))
    await expect(page.locator(".journey")).to_have_count(6)
    await expect(first).to_contain_text("answered")
    await first.get_by_role("button").first.click()
    await expect(first.locator("h3:text('Sent') + ul > li")).to_have_text(["Look 2"])
    await expect(first.get_by_text("The recorded trace")).to_have_count(0)


async def test_programs_that_are_told_what_happens(open_page: Open, quiet: Playing) -> None:
    """IN-8: what waits for each, since when and why; what was given up; and that nothing is wrong with another."""
    quiet.stage.api["hooks"] = {"hooks": []}
    page = await open_page(f"{quiet.url}/console")
    card = page.get_by_role("region", name="Hooks")
    await expect(card).to_contain_text("No webhook is configured")
    fine = {"hook": "log", "waiting": 0, "dead": 0, "oldest": None, "error": ""}
    oldest = datetime.fromtimestamp(time.time() - 300, UTC).isoformat()
    sad = {"hook": "n8n", "waiting": 3, "dead": 2, "oldest": oldest, "error": "it answered 500"}
    quiet.stage.api["hooks"] = {"hooks": [fine, sad]}
    rows = card.get_by_role("listitem")
    await expect(rows.nth(0)).to_have_text("lognothing waiting")
    await expect(rows.nth(1)).to_have_text(re.compile("n8n3 waiting2 given up5 min agoit answered 500"))
    await expect(rows.nth(1)).to_have_class("bad")


async def test_processes_on_one_store(open_page: Open, quiet: Playing) -> None:
    """SC-24: what each holds and does, how far behind it is, and what nobody holds."""
    front = {"name": "a:1", "claims": False, "shards": 0, "duties": ["telegram"], "lease_seconds": 8.4}
    worker = {"name": "b:2", "claims": True, "shards": 60, "duties": [], "lease_seconds": 7.6}
    behind = {"waiting": 2, "lag_seconds": 31.0}
    on_time = {"waiting": 0, "lag_seconds": 0.0}
    several = [front | on_time, worker | behind]
    quiet.stage.api["processes"] = {"deployment": {"shards": 64, "unowned": 4, "processes": several}}
    page = await open_page(f"{quiet.url}/console")
    card = page.get_by_role("region", name="Processes")
    rows = card.get_by_role("listitem")
    await expect(rows.nth(0)).to_have_text("a:1frontlease 8 stelegram")
    await expect(rows.nth(1)).to_have_text("b:260 shardslease 8 s2 waiting, 31 s")
    await expect(rows.nth(1)).to_have_class("bad")
    await expect(card).to_contain_text("4 of 64 shards are held by no process.")


async def test_a_configuration_that_does_not_hold_is_said(open_page: Open, staged: Playing) -> None:
    """As long as it does not."""
    staged.stage.api["gateway"]["configuration"] = "rejoinder.toml:3: this is no value."
    page = await open_page(f"{staged.url}/console")
    await expect(page.get_by_role("alert").first).to_have_text("rejoinder.toml:3: this is no value.")
    staged.stage.api["gateway"]["configuration"] = ""
    await expect(page.locator(".warning")).to_be_hidden()


async def test_charts_say_their_figures(open_page: Open, staged: Playing) -> None:
    """A chart is an image with its newest figures as its name; arrow keys read earlier ones."""
    page = await open_page(f"{staged.url}/console")
    chart = page.get_by_role("img", name="Latency")
    await expect(chart).to_have_accessible_name(re.compile("first word: .* ms, answer:"))
    await chart.focus()
    await chart.press("Home")
    await expect(chart).to_have_accessible_name(re.compile("first word: –"))


async def test_where_nobody_can_be_invited_the_reason_stands_in_place_of_the_form(
    open_page: Open, gateway: RealGateway
) -> None:
    """A page that is open to this machine only has no logins: an invitation would be refused."""
    page = await open_page(f"{gateway.url}/console")
    people = page.get_by_role("region", name="People")
    await expect(people).to_contain_text("to invite people, set channels.web.host or channels.web.token.")
    await expect(people.get_by_role("button", name="Invite")).to_have_count(0)


async def test_on_the_real_gateway(open_page: Open, gateway: RealGateway) -> None:
    """A message said in the chat appears in the flow with its turn; sessions and figures follow."""
    chat = await open_page(gateway.url)
    page = await open_page(f"{gateway.url}/console")
    await expect(page.get_by_text("live", exact=True)).to_be_visible()
    await say(chat, "reply to me")
    journey = page.locator(".journey").first
    await expect(journey).to_contain_text("reply to me")
    await expect(journey).to_contain_text("answered")
    await expect(page.locator(".figures")).to_contain_text("browsers")
    await expect(page.get_by_role("region", name="Channels").first).to_contain_text("listening")
