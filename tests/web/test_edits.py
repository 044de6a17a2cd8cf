"""An edit on the page asks the agent anew (CH-8): what it did about the old words is taken back."""

from tests.web.running import running, settings


async def test_a_reaction_to_the_old_words_does_not_stand_beside_the_new_answer():
    """The same sign that is given again stands; the one that is not given again goes."""
    signs = ("👍", "👍", "", "🎉")
    replies = tuple(
        f'<actions><react emoji="{sign}"/></actions>\nNo {n}.' if sign else f"No {n}." for n, sign in enumerate(signs)
    )
    async with running(settings(replies)) as site, site.page() as page:
        await page.send(type="say", client="0", room="helper~you", text="What about 0?")
        said = (await page.told("done"))["id"]
        for number, sign in enumerate(signs):
            if number:
                await page.send(type="edit", client=str(number), message=said, text=f"What about {number}?")
            await page.hears(f"No {number}.")
            while sign and reactions(page, said) != [sign]:
                await page.told("reacted")
            assert reactions(page, said) == ([sign] if sign else [])


def reactions(page, message: str) -> list[str]:
    """Those that the page shows now."""
    told = [frame["reactions"] for frame in page.frames if frame["type"] == "reacted" and frame["message"] == message]
    return [each["emoji"] for each in told[-1]] if told else []
