"""A permission that an agent asks for on the page: pressed there, and then no more (TU-34)."""

import pytest

from rejoinder.agents.base import Option, Question
from tests.conversations.agents import Asking
from tests.web.running import running, settings


@pytest.mark.parametrize(
    ("label", "heard", "became"),
    [("Allow once", "I was told allow-once.", "Allowed once."), ("Deny", "I was told None.", "Denied.")],
)
async def test_a_button_answers_and_is_gone(label, heard, became):
    """TU-33, TU-34: the press reaches the agent; the question says what became of it and has no buttons any more."""
    async with running(settings(agents=("scripted",)), agents={"scripted": Asking()}) as site, site.page() as page:
        await page.send(type="say", client="1", room="scripted~you", text="clean up")
        asked = await page.asked()
        says = next(choice["says"] for choice in asked["choices"] if choice["label"] == label)
        await page.send(type="press", client="2", message=asked["id"], says=says)
        assert await page.hears(f"May I delete it all?\n\n{became}") == asked["id"]
        assert not page.frames[-1].get("choices")
        await page.hears(heard)


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        (("Yes", Option("no!", "No, nothing")), ["Yes", "No, nothing"]),
        ((Option("go", "Go on"),), ["Go on", "Deny"]),
        ((Option("", " "), Option("\n", "")), ["1", "2"]),
        (tuple(f"{number} {'x' * 99}" for number in range(10, 99)), [f"{n} {'x' * 57}" for n in range(10, 30)]),
    ],
)
async def test_the_options_of_a_question_are_its_buttons(options, labels):
    """TU-33: as the agent calls them; beside a single one there is a no."""
    asks = {"scripted": Asking(*options)}
    async with running(settings(agents=("scripted",)), agents=asks) as site, site.page() as page:
        await page.send(type="say", client="1", room="scripted~you", text="clean up")
        asked = await page.asked()
        assert [choice["label"] for choice in asked["choices"]] == labels
        await page.send(type="press", client="2", message=asked["id"], says=asked["choices"][0]["says"])
        await page.hears(f"I was told {Question('', '', options).offered[0].id}.")


async def test_a_question_of_a_run_that_was_stopped_is_closed():
    async with running(settings(agents=("scripted",)), agents={"scripted": Asking()}) as site, site.page() as page:
        await page.send(type="say", client="1", room="scripted~you", text="clean up")
        asked = await page.asked()
        await page.send(type="say", client="2", room="scripted~you", text="/stop")
        assert await page.hears("May I delete it all?\n\nNo longer valid: the run has ended.") == asked["id"]
        await page.send(type="press", client="3", message=asked["id"], says=asked["choices"][0]["says"])
        await page.told("refused", reason="This button no longer exists.")
